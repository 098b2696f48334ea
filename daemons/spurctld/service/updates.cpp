// Reads what users change of jobs, nodes and partitions into the state machine's terms.
#include "daemons/spurctld/service/updates.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/common/records/job.hpp"

namespace spur::ctld {

namespace {

using records::Setting;
constexpr std::size_t longest_value = 64U << 10;  // the longest of core/machine/request_limits.hpp that can be changed

template <class Target>
struct Setter {
    std::string_view key;
    Result<void> (*set)(Target&, const Setting&);
};

// `find` gives the setter of a key, or nullptr.
template <class Target, class Find>
Result<void> apply_all(const Settings& settings, Target& target, std::string_view what, Find find) {
    for (const auto& [key, value] : settings) {
        if (value.size() > longest_value)
            return fail(ErrorCode::invalid, "{} is {} bytes long, at most {} are taken", key, value.size(),
                        longest_value);
        const auto set = find(key);
        if (set == nullptr)
            return fail(ErrorCode::invalid, "{} cannot be changed: a {} has no such setting in this release", key,
                        what);
        SPUR_CHECK(set(target, Setting{key, value}));
    }
    return {};
}

template <class Target, std::size_t Size>
Result<void> apply_all(const Settings& settings, Target& target, std::string_view what,
                       const Setter<Target> (&setters)[Size]) {
    return apply_all(settings, target, what, [&](std::string_view key) {
        const auto* found = std::ranges::find(setters, key, &Setter<Target>::key);
        return found == std::end(setters) ? nullptr : found->set;
    });
}

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

Result<NodeAction> node_action(std::string_view state) {
    static const std::map<std::string, NodeAction, std::less<>> actions{
        {"DOWN", NodeAction::down},
        {"DRAIN", NodeAction::drain},
        {"DRAINED", NodeAction::drain},
        {"DRAINING", NodeAction::drain},
        {"UNDRAIN", NodeAction::undrain},
        {"RESUME", NodeAction::resume},
        {"IDLE", NodeAction::idle},
        {"FAIL", NodeAction::fail},
        {"FAILING", NodeAction::fail},
        {"FUTURE", NodeAction::future},
        {"POWER_DOWN", NodeAction::power_down},
        {"POWER_UP", NodeAction::power_up},
        {"CANCEL_REBOOT", NodeAction::cancel_reboot},
        {"REBOOT", NodeAction::reboot},
        {"REBOOT_ASAP", NodeAction::reboot_asap},
    };
    std::string upper{state};
    for (auto& letter : upper) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    const auto found = actions.find(upper);
    if (found == actions.end()) return fail(refusal::invalid_node_state.as(ErrorCode::invalid, " ({})", state));
    return found->second;
}

}  // namespace

Result<JobChanges> job_changes(const Settings& settings, const Job& job, const planning::ReadModel& model,
                               UnixSeconds now) {
    JobChanges changes;
    const std::function<Result<std::vector<NodeId>>(std::string_view)> nodes = [&](std::string_view names) {
        return node_ids(names, model);
    };
    records::JobChange change{changes, job, now, nodes};
    SPUR_CHECK(apply_all(settings, change, "job", [](std::string_view key) {
        const auto* field = records::find_change(records::job_fields(), key);
        return field ? field->change.set : nullptr;
    }));
    return changes;
}

Result<UpdateNode> node_update(std::string_view names, const Settings& settings, const Actor& actor,
                               const planning::ReadModel& model) {
    UpdateNode update;
    update.actor = actor;
    SPUR_TRY(update.nodes, node_ids(names, model));
    static constexpr Setter<UpdateNode> setters[] = {
        {"reason", records::set_text<&UpdateNode::reason>},
        {"comment", records::set_text<&UpdateNode::comment>},
        {"extra", records::set_text<&UpdateNode::extra>},
        {"nodeaddr", records::set_text<&UpdateNode::addr>},
        {"nodehostname", records::set_text<&UpdateNode::hostname>},
        {"weight", records::set_count<&UpdateNode::weight>},
        {"availablefeatures", records::set_names_or_all<&UpdateNode::features>},
        {"features", records::set_names_or_all<&UpdateNode::features>},
        {"activefeatures", records::set_names_or_all<&UpdateNode::active_features>},
        {"nextstate",
         [](UpdateNode& target, const Setting& setting) -> Result<void> {
             SPUR_TRY(const auto next, node_action(setting.value));
             if (next != NodeAction::resume && next != NodeAction::down)
                 return fail(refusal::invalid_node_state.as(ErrorCode::invalid, " (nextstate is RESUME or DOWN)"));
             target.after_reboot = next == NodeAction::down ? AfterReboot::down : AfterReboot::resume;
             return {};
         }},
        {"state",
         [](UpdateNode& target, const Setting& setting) -> Result<void> {
             SPUR_TRY(target.action, node_action(setting.value));
             return {};
         }},
    };
    SPUR_CHECK(apply_all(settings, update, "node", setters));
    const bool reboots = update.action == NodeAction::reboot || update.action == NodeAction::reboot_asap;
    if (update.after_reboot != AfterReboot::as_before && !reboots)
        return fail(refusal::invalid_node_state.as(ErrorCode::invalid, " (nextstate is for scontrol reboot)"));
    return update;
}

Result<Partition> changed_partition(Partition partition, const Settings& settings) {
    static constexpr Setter<Partition> setters[] = {
        {"nodes", records::set_text<&Partition::node_text>},
        {"default", records::set_flag<&Partition::is_default>},
        {"hidden", records::set_flag<&Partition::hidden>},
        {"rootonly", records::set_flag<&Partition::root_only>},
        {"lln", records::set_flag<&Partition::lln>},
        {"exclusiveuser", records::set_flag<&Partition::exclusive_user>},
        {"reqresv", records::set_flag<&Partition::require_reservation>},
        {"maxtime", records::set_minutes<&Partition::max_time_min>},
        {"defaulttime", records::set_minutes<&Partition::default_time_min>},
        {"maxnodes", records::set_count<&Partition::max_nodes>},
        {"minnodes", records::set_count<&Partition::min_nodes>},
        {"maxcpuspernode", records::set_count<&Partition::max_cpus_per_node>},
        {"gracetime", records::set_count<&Partition::grace_time_s>},
        {"allowaccounts", records::set_names_or_all<&Partition::allow_accounts>},
        {"denyaccounts", records::set_names_or_all<&Partition::deny_accounts>},
        {"allowqos", records::set_names_or_all<&Partition::allow_qos>},
        {"denyqos", records::set_names_or_all<&Partition::deny_qos>},
        {"allowgroups", records::set_names_or_all<&Partition::allow_groups>},
        {"qos", records::set_text<&Partition::qos>},
        {"alternate", records::set_text<&Partition::alternate>},
        {"defmempercpu", records::set_mib<&Partition::default_mem_per_cpu_mib>},
        {"defmempernode", records::set_mib<&Partition::default_mem_per_node_mib>},
        {"maxmempercpu", records::set_mib<&Partition::max_mem_per_cpu_mib>},
        {"maxmempernode", records::set_mib<&Partition::max_mem_per_node_mib>},
        {"preemptmode",
         [](Partition& p, const Setting& setting) -> Result<void> {
             const auto mode = find_preempt_mode(setting.value);
             if (!mode || *mode == PreemptMode::unset)
                 return fail(ErrorCode::invalid, "PreemptMode={} is not OFF, CANCEL, REQUEUE, SUSPEND or GANG",
                             setting.value);
             p.preempt_mode = *mode;
             return {};
         }},
        {"prioritytier",
         [](Partition& p, const Setting& setting) -> Result<void> {
             SPUR_TRY(const auto tier, records::read_count(setting));
             p.priority_tier = static_cast<std::uint16_t>(std::min(tier, 65533U));
             return {};
         }},
        {"priorityjobfactor",
         [](Partition& p, const Setting& setting) -> Result<void> {
             SPUR_TRY(const auto factor, records::read_count(setting));
             p.priority_job_factor = static_cast<std::uint16_t>(std::min(factor, 65533U));
             return {};
         }},
        {"state",
         [](Partition& p, const Setting& setting) -> Result<void> {
             const auto state = find_partition_state(setting.value);
             if (!state) return fail(ErrorCode::invalid, "State={} is not UP, DOWN, DRAIN or INACTIVE", setting.value);
             p.state = *state;
             return {};
         }},
        {"oversubscribe",
         [](Partition& p, const Setting& setting) -> Result<void> {
             const auto colon = setting.value.find(':');
             const auto word = setting.value.substr(0, colon);
             if (word == "NO")
                 p.oversubscribe = OverSubscribe::no;
             else if (word == "EXCLUSIVE")
                 p.oversubscribe = OverSubscribe::exclusive;
             else if (word == "YES")
                 p.oversubscribe = OverSubscribe::yes;
             else if (word == "FORCE")
                 p.oversubscribe = OverSubscribe::force;
             else
                 return fail(ErrorCode::invalid, "OverSubscribe={} is not NO, YES, FORCE or EXCLUSIVE", setting.value);
             if (colon != std::string_view::npos) {
                 SPUR_TRY(const auto jobs, records::read_count({setting.key, setting.value.substr(colon + 1)}));
                 p.oversubscribe_jobs = static_cast<std::uint16_t>(std::min(jobs, 65535U));
             }
             return {};
         }},
    };
    SPUR_CHECK(apply_all(settings, partition, "partition", setters));
    return partition;
}

}  // namespace spur::ctld
