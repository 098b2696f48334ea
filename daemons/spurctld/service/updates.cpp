// Reads what users change of jobs, nodes and partitions into the state machine's terms.
#include "daemons/spurctld/service/updates.hpp"

#include <algorithm>
#include <functional>

#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/common/records/job.hpp"
#include "daemons/common/records/node.hpp"
#include "daemons/common/records/partition.hpp"

namespace spur::ctld {

namespace {

Result<std::vector<NodeId>> node_ids(std::string_view names, const planning::ReadModel& model) {
    std::vector<NodeId> ids;
    if (names == "ALL" || names == "all") {
        for (const auto& [name, id] : *model.node_ids) ids.push_back(id);
        std::ranges::sort(ids);
        return ids;
    }
    SPUR_TRY(const auto hosts, expand_hosts(names));
    if (hosts.empty()) return fail(refusal::invalid_node);
    for (const auto& host : hosts) {
        const auto* node = model.find_node(host);
        if (node == nullptr) return fail(refusal::invalid_node.as(ErrorCode::not_found, " ({})", host));
        ids.push_back(node->id);
    }
    return ids;
}

}  // namespace

Result<JobChanges> job_changes(const Settings& settings, const Job& job, const planning::ReadModel& model,
                               UnixSeconds now) {
    JobChanges changes;
    const std::function<Result<std::vector<NodeId>>(std::string_view)> nodes = [&](std::string_view names) {
        return node_ids(names, model);
    };
    records::JobChange change{changes, job, now, nodes};
    SPUR_CHECK(apply_all(settings, change, "job", records::job_fields()));
    return changes;
}

Result<UpdateNode> node_update(std::string_view names, const Settings& settings, const Actor& actor,
                               const planning::ReadModel& model) {
    UpdateNode update;
    update.actor = actor;
    SPUR_TRY(update.nodes, node_ids(names, model));
    SPUR_CHECK(apply_all(settings, update, "node", records::node_fields()));
    const bool reboots = update.action == NodeAction::reboot || update.action == NodeAction::reboot_asap;
    if (update.after_reboot != AfterReboot::as_before && !reboots)
        return fail(refusal::invalid_node_state.as(ErrorCode::invalid, " (nextstate is for scontrol reboot)"));
    return update;
}

Result<Partition> changed_partition(Partition partition, const Settings& settings) {
    SPUR_CHECK(apply_all(settings, partition, "partition", records::partition_fields()));
    return partition;
}

}  // namespace spur::ctld
