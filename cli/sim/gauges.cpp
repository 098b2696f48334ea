// Counting busy CPUs and GPUs per node, and the GPUs that no job of the trace could use.
#include "cli/sim/gauges.hpp"

#include <algorithm>
#include <map>

#include "core/model/gres.hpp"
#include "core/model/gres_kind.hpp"

namespace spur::cli::sim {

std::uint32_t gpus_in(std::string_view gres) {
    std::uint64_t count = 0;
    if (const auto list = parse_gres(gres); list)
        for (const auto& one : *list)
            if (one.name == gpu_gres) count += one.count;
    return static_cast<std::uint32_t>(count);
}

std::uint32_t gpus_of(const Node& node) {
    std::uint64_t count = 0;
    for (const auto& pool : node.gres)
        if (pool.name == gpu_gres) count += pool.count;
    return static_cast<std::uint32_t>(count);
}

std::uint32_t used_gpus_of(const Node& node) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < node.gres.size() && i < node.use.gres.size(); ++i)
        if (node.gres[i].name == gpu_gres) count += node.use.gres[i];
    return static_cast<std::uint32_t>(count);
}

GpuFragments GpuFragments::of(const Trace& trace, std::uint32_t most_gpus_per_node) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> counts;
    std::size_t all = 0;
    for (const auto& job : trace.jobs) {
        auto gpus = gpus_in(job.gres);
        const auto in_all = gpus_in(job.gres_per_job);
        auto nodes = std::max(job.min_nodes.value_or(1), 1U);
        if (gpus == 0 && in_all != 0) {
            if (!job.min_nodes && most_gpus_per_node != 0)
                nodes = (in_all + most_gpus_per_node - 1) / most_gpus_per_node;
            gpus = (in_all + nodes - 1) / nodes;
        }
        if (gpus == 0) continue;
        const auto cpus = job.tasks.value_or(nodes * job.tasks_per_node.value_or(1)) * job.cpus_per_task.value_or(1);
        ++counts[{gpus, (cpus + nodes - 1) / nodes}];
        ++all;
    }
    std::vector<Kind> kinds;
    for (const auto& [size, count] : counts)
        kinds.push_back({size.first, size.second, static_cast<double>(count) / static_cast<double>(all)});
    return GpuFragments{std::move(kinds)};
}

double GpuFragments::stranded(std::uint32_t free_gpus, std::uint32_t free_cpus) const {
    double share = 0;
    for (const auto& kind : kinds_)
        if (free_gpus < kind.gpus || free_cpus < kind.cpus) share += kind.share;
    return share * free_gpus;
}

namespace {

std::uint32_t most_gpus(const std::vector<Node>& nodes) {
    std::uint32_t most = 0;
    for (const auto& node : nodes) most = std::max(most, gpus_of(node));
    return most;
}

}  // namespace

Gauges::Gauges(const Trace& trace, const std::vector<Node>& nodes)
    : fragments_{GpuFragments::of(trace, most_gpus(nodes))}, readings_(nodes.size()) {
    for (const auto& node : nodes) {
        total_cpus_ += node.usable_cpus();
        total_gpus_ += gpus_of(node);
        update(node);
    }
}

Gauges::Reading Gauges::read(const Node& node) const {
    Reading reading{node.use.cpus, used_gpus_of(node), 0};
    if (fragments_.empty()) return reading;
    const auto gpus = gpus_of(node);
    if (gpus != 0) reading.stranded = fragments_.stranded(gpus - reading.gpus, node.usable_cpus() - reading.cpus);
    return reading;
}

void Gauges::update(const Node& node) {
    auto& known = readings_[node.id.value];
    const auto fresh = read(node);
    cpus_ += fresh.cpus - known.cpus;
    gpus_ += fresh.gpus - known.gpus;
    stranded_ += fresh.stranded - known.stranded;
    known = fresh;
}

void Gauges::advance(UnixSeconds now, bool counts) {
    if (counts && now_ != 0) {
        const auto seconds = static_cast<double>(now - now_);
        free_gpu_s_ += seconds * (total_gpus_ - gpus_);
        stranded_gpu_s_ += seconds * stranded_;
    }
    now_ = now;
}

}  // namespace spur::cli::sim
