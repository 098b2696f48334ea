#include "daemons/spurctld/tres.hpp"

#include <cctype>
#include <cmath>

#include "core/validate.hpp"

namespace spur::ctld {

namespace {

void add_gres(TresList& list, std::string_view name, std::string_view type, std::uint64_t count) {
    list.add(fmt::format("gres/{}", name), count);
    if (!type.empty()) list.add(fmt::format("gres/{}:{}", name, type), count);
}

void add_gres_text(TresList& list, std::string_view text, std::uint64_t times) {
    if (const auto parsed = parse_gres(text); parsed)
        for (const auto& gres : *parsed) add_gres(list, gres.name, gres.type, gres.count * times);
}

// Slurm's billing: weights times counts where the partition has weights, else the number of CPUs.
std::uint64_t billing(const Partition* partition, const TresList& list) {
    if (partition == nullptr || partition->billing_weights.empty()) return list.get("cpu");
    double sum = 0;
    for (const auto& weight : partition->billing_weights) {
        std::string name = weight.tres.str();
        for (auto& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        const auto count = static_cast<double>(list.get(name));
        sum += weight.weight * (name == "mem" ? count / 1024.0 : count);
    }
    return static_cast<std::uint64_t>(std::llround(sum));
}

}  // namespace

TresList requested_tres(const Directory& directory, const JobSpec& spec) {
    const auto demand = demand_of(spec);
    TresList list;
    list.set("cpu", demand.min_cpus);
    if (demand.memory_mib != 0) list.set("mem", demand.memory_mib);
    list.set("node", demand.min_nodes);
    add_gres_text(list, spec.gres_per_node, demand.min_nodes);
    add_gres_text(list, spec.gres_per_job, 1);
    add_gres_text(list, spec.gres_per_task, demand.tasks);
    const auto* partition = spec.partitions.empty() ? nullptr : directory.find_partition(spec.partitions.front());
    list.set("billing", billing(partition, list));
    return list;
}

TresList allocated_tres(const Directory& directory, const Allocation& allocation) {
    TresList list;
    list.set("cpu", allocation.cpus);
    if (allocation.memory_mib != 0) list.set("mem", allocation.memory_mib);
    list.set("node", allocation.shares.size());
    for (const auto& share : allocation.shares)
        for (const auto& gres : share.gres) add_gres(list, gres.name, gres.type, gres.count);
    list.set("billing", billing(directory.find_partition(allocation.partition), list));
    return list;
}

TresList configured_tres(const Node& node) {
    TresList list;
    list.set("cpu", node.cpus);
    list.set("mem", node.memory_mib);
    list.set("billing", node.cpus);
    for (const auto& pool : node.gres) add_gres(list, pool.name, pool.type, pool.count);
    return list;
}

TresList used_tres(const Node& node) {
    TresList list;
    if (node.use.cpus != 0) list.set("cpu", node.use.cpus);
    if (node.use.memory_mib != 0) list.set("mem", node.use.memory_mib);
    for (std::size_t i = 0; i < node.gres.size() && i < node.use.gres.size(); ++i)
        if (node.use.gres[i] != 0) add_gres(list, node.gres[i].name, node.gres[i].type, node.use.gres[i]);
    return list;
}

TresList partition_tres(const ReadModel& model, const Partition& partition) {
    TresList list;
    for (const auto id : partition.nodes)
        if (const auto& node = model.nodes.get(id.value)) {
            list.add("cpu", node->cpus);
            list.add("mem", node->memory_mib);
            list.add("node", 1);
            for (const auto& pool : node->gres) add_gres(list, pool.name, pool.type, pool.count);
        }
    list.set("billing", billing(&partition, list));
    return list;
}

}  // namespace spur::ctld
