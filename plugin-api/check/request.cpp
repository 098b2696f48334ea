// Whether a placement is what the job asked for.
#include "ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace spur::check {

using plugin::has_bit;
using plugin::Records;
using plugin::view;

namespace {

using Why = std::optional<std::string>;
using Shares = Records<spur_node_share>;

std::uint64_t gres_on(const spur_node_share& share, const spur_gres_request& wanted) {
    std::uint64_t count = 0;
    for (const auto& gres : Records<spur_gres_share>(share.gres))
        if (gres.name == wanted.name && (wanted.type == 0 || gres.type == wanted.type)) count += gres.count;
    return count;
}

std::uint32_t cores_in(const spur_node_share& share) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < share.cores.count; ++i) count += has_bit(share.cores, i);
    return count;
}

Why node_not_allowed(const spur_cluster_view& cluster, const spur_job_view& job, std::uint32_t partition,
                     const spur_node_share& share) {
    const auto& node = *SPUR_AT(spur_node_view, cluster.nodes, share.node);
    const auto name = view(node.name);
    if (!has_bit(SPUR_AT(spur_partition_view, cluster.partitions, partition)->nodes, share.node))
        return fmt::format("node {} is not in the partition", name);
    if (job.eligible_nodes.words != nullptr && !has_bit(job.eligible_nodes, share.node))
        return fmt::format("node {} is not among the job's eligible nodes", name);
    if (node.tmp_mib < job.tmp_mib) return fmt::format("node {} has too little temporary disk", name);
    if (node.sockets < job.min_sockets || node.cores_per_socket < job.min_cores_per_socket ||
        node.threads_per_core < job.min_threads_per_core)
        return fmt::format("node {} has too few sockets, cores or threads", name);
    return std::nullopt;
}

Why too_small(const spur_cluster_view& cluster, const spur_job_view& job, const spur_node_share& share) {
    const auto& node = *SPUR_AT(spur_node_view, cluster.nodes, share.node);
    const auto name = view(node.name);
    const auto cores = cores_in(share);
    const std::uint64_t needed = std::uint64_t{share.tasks} * std::max(1u, job.cpus_per_task);
    if (cores > 0 && share.cpus > cores * node.threads_per_core)
        return fmt::format("{} CPUs on node {} need more than the {} cores given", share.cpus, name, cores);
    if ((job.flags & SPUR_JOB_OVERCOMMIT) == 0) {
        const bool by_core = (job.flags & SPUR_JOB_ONE_THREAD_PER_CORE) != 0 && cores > 0;
        const auto have = by_core ? cores : share.cpus;
        if (needed > have)
            return fmt::format("{} tasks on node {} need {} {}, it gets {}", share.tasks, name, needed,
                               by_core ? "cores" : "CPUs", have);
    }
    if (share.cpus == 0) return fmt::format("it gets no CPU on node {}", name);
    if (share.cpus < job.min_cpus_per_node)
        return fmt::format("it wants {} CPUs on each node, on {} it gets {}", job.min_cpus_per_node, name, share.cpus);
    if (job.tasks_per_node != 0 && share.tasks > job.tasks_per_node)
        return fmt::format("{} tasks on node {}, {} a node are allowed", share.tasks, name, job.tasks_per_node);
    auto memory = std::max(job.mem_per_node_mib, job.mem_per_cpu_mib * needed);
    if ((job.flags & SPUR_JOB_MEM_ALL) != 0) memory = node.memory_mib;
    if (share.memory_mib < memory)
        return fmt::format("it wants {} MiB on node {} and gets {}", memory, name, share.memory_mib);
    if ((job.flags & SPUR_JOB_EXCLUSIVE) != 0 && (share.flags & SPUR_SHARE_WHOLE_NODE) == 0)
        return fmt::format("it wants whole nodes, {} is not given whole", name);
    return std::nullopt;
}

Why gres_missing(const spur_job_view& job, const Shares& shares) {
    for (const auto& wanted : Records<spur_gres_request>(job.gres)) {
        std::uint64_t total = 0;
        for (const auto& share : shares) {
            const auto got = gres_on(share, wanted);
            const auto here = wanted.scope == SPUR_GRES_PER_NODE   ? wanted.count
                              : wanted.scope == SPUR_GRES_PER_TASK ? wanted.count * share.tasks
                                                                   : 0;
            if (got < here)
                return fmt::format("it wants {} of generic resource {} on a node and gets {}", here, wanted.name, got);
            total += got;
        }
        if (wanted.scope == SPUR_GRES_PER_JOB && total < wanted.count)
            return fmt::format("it wants {} of generic resource {} and gets {}", wanted.count, wanted.name, total);
    }
    return std::nullopt;
}

Why rules_broken(const spur_job_view& job, const std::set<std::uint32_t>& nodes) {
    for (std::uint32_t i = 0; i < job.required_nodes.count; ++i)
        if (has_bit(job.required_nodes, i) && !nodes.contains(i))
            return fmt::format("required node number {} is missing", i);
    const Records<spur_bits> alternatives(job.alternatives);
    const auto inside = [&](const spur_bits& set) {
        return std::ranges::all_of(nodes, [&](auto n) { return has_bit(set, n); });
    };
    if (!alternatives.empty()) {
        bool any = false;
        for (const auto& set : alternatives) any = any || inside(set);
        if (!any) return "its nodes are not all from one of the alternatives";
    }
    for (const auto& quota : Records<spur_node_quota>(job.quotas))
        if (std::ranges::count_if(nodes, [&](auto n) { return has_bit(quota.nodes, n); }) < quota.count)
            return fmt::format("fewer than {} of its nodes are from a set it names", quota.count);
    if ((job.flags & SPUR_JOB_CONTIGUOUS) != 0 && *nodes.rbegin() - *nodes.begin() + 1 != nodes.size())
        return "its nodes are not contiguous";
    return std::nullopt;
}

}  // namespace

Why unmet(const spur_cluster_view& cluster, const spur_job_view& job, std::uint32_t partition, spur_span span) {
    const Shares shares(span);
    if (shares.empty()) return "it gets no nodes";
    if (partition >= cluster.partitions.count) return fmt::format("partition number {} does not exist", partition);
    std::set<std::uint32_t> nodes;
    std::uint64_t tasks = 0;
    for (const auto& share : shares) {
        if (share.node >= cluster.nodes.count)
            return fmt::format("it names node number {}, there are {}", share.node, cluster.nodes.count);
        if (!nodes.insert(share.node).second) return fmt::format("node number {} is named twice", share.node);
        if (auto why = node_not_allowed(cluster, job, partition, share)) return why;
        if (auto why = too_small(cluster, job, share)) return why;
        tasks += share.tasks;
    }
    if (nodes.size() < job.min_nodes || nodes.size() > job.max_nodes)
        return fmt::format("it wants {} to {} nodes and gets {}", job.min_nodes, job.max_nodes, nodes.size());
    if (tasks < job.tasks) return fmt::format("it wants {} tasks and gets room for {}", job.tasks, tasks);
    if (auto why = gres_missing(job, shares)) return why;
    return rules_broken(job, nodes);
}

}  // namespace spur::check
