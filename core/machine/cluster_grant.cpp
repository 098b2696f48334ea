// Whether what a plan gives a job is what the job asked for. Policies are plugins: what one forgets is found here.
#include <algorithm>

#include <fmt/format.h>

#include "core/machine/cluster_ops.hpp"

namespace spur {

namespace {

const std::vector<Text>& features_of(const Node& node) {
    return node.active_features.empty() ? node.features : node.active_features;
}

bool has_feature(const Node& node, std::string_view name) {
    return std::ranges::any_of(features_of(node), [&](const Text& feature) { return feature == name; });
}

std::uint64_t given(const NodeShare& share, const Gres& wanted) {
    std::uint64_t count = 0;
    for (const auto& piece : share.gres)
        if (piece.name == wanted.name && (wanted.type.empty() || piece.type == wanted.type)) count += piece.count;
    return count;
}

// The constraint as a whole: each node serves it, all agree on one alternative, and there are enough of each kind.
bool meets(const Constraint& wanted, const std::vector<const Node*>& nodes) {
    if (wanted.empty()) return true;
    const auto serves = [](const Constraint::Node& what) {
        return [&what](const Node* node) {
            return Constraint::matches(what, [node](std::string_view name) { return has_feature(*node, name); });
        };
    };
    if (!std::ranges::all_of(nodes, serves(*wanted.root()))) return false;
    const auto alternatives = wanted.alternatives();
    if (!alternatives.empty() &&
        std::ranges::none_of(alternatives, [&](const auto& one) { return std::ranges::all_of(nodes, serves(one)); }))
        return false;
    return std::ranges::all_of(wanted.counts(), [&](const Constraint::Count& count) {
        return std::ranges::count_if(nodes, serves(count.what)) >= std::int64_t{count.nodes};
    });
}

std::uint64_t memory_wanted(const JobSpec& spec, const Node& node, const NodeShare& share) {
    if (spec.mem_per_node_mib) return *spec.mem_per_node_mib == 0 ? 0 : *spec.mem_per_node_mib;
    const auto cpus = std::uint64_t{share.tasks} * spec.cpus_per_task.value_or(1);
    return std::min(spec.mem_per_cpu_mib.value_or(0) * cpus, node.usable_memory_mib());
}

}  // namespace

Result<void> ClusterOps::check_grant(const Job& job, const Placement& part) const {
    const auto& spec = *job.spec;
    const auto& request = *job.request;
    const auto lacks = [&](std::string_view what, std::string_view where, std::uint64_t wanted, std::uint64_t got) {
        return fail(ErrorCode::invalid, "the plan gives job {} {} {}{}, and it asks for {}", job.display_id(), got,
                    what, where, wanted);
    };
    std::vector<const Node*> nodes;
    std::uint64_t cpus = 0;
    for (const auto& share : part.shares) {
        const auto& node = *nodes.emplace_back(c.find_node(share.node));
        const auto where = fmt::format(" on {}", node.name);
        if (request.excluded_nodes.contains(node.name))
            return fail(ErrorCode::conflict, "job {} excludes node {}", job.display_id(), node.name);
        const auto for_tasks =
            spec.overcommit.value_or(false) ? 0 : std::uint64_t{share.tasks} * spec.cpus_per_task.value_or(1);
        const auto least = std::max<std::uint64_t>({1, for_tasks, spec.min_cpus_per_node.value_or(1)});
        if (share.cpus < least) return lacks("cpus", where, least, share.cpus);
        if (const auto memory = memory_wanted(spec, node, share); share.memory_mib < memory)
            return lacks("MiB of memory", where, memory, share.memory_mib);
        for (const auto& wanted : request.gres_per_node)
            if (given(share, wanted) < wanted.count)
                return lacks(wanted.name, where, wanted.count, given(share, wanted));
        for (const auto& wanted : request.gres_per_task)
            if (given(share, wanted) < wanted.count * share.tasks)
                return lacks(wanted.name, where, wanted.count * share.tasks, given(share, wanted));
        cpus += share.cpus;
    }
    if (!spec.overcommit.value_or(false) && cpus < request.demand.min_cpus)
        return lacks("cpus", "", request.demand.min_cpus, cpus);
    for (const auto& wanted : request.gres_per_job) {
        std::uint64_t sum = 0;
        for (const auto& share : part.shares) sum += given(share, wanted);
        if (sum < wanted.count) return lacks(wanted.name, "", wanted.count, sum);
    }
    if (!meets(request.features, nodes))
        return fail(ErrorCode::conflict, "the nodes placed for job {} do not meet its constraint {}", job.display_id(),
                    spec.features);
    return {};
}

}  // namespace spur
