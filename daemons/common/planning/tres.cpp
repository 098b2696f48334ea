// Adding up CPUs, memory, nodes, billing and gres, and printing the sum.
#include "daemons/common/planning/tres.hpp"

#include "core/machine/validate.hpp"

namespace spur::planning {

namespace {

void add_gres(TresList& list, std::string_view name, std::string_view type, std::uint64_t count) {
    list.add(fmt::format("gres/{}", name), count);
    if (!type.empty()) list.add(fmt::format("gres/{}:{}", name, type), count);
}

}  // namespace

TresList requested_tres(const Directory& directory, const JobSpec& spec) {
    const auto* partition = spec.partitions.empty() ? nullptr : directory.find_partition(spec.partitions.front());
    return spur::requested_tres(spec, partition, directory.policies.bill_highest_only);
}

TresList allocated_tres(const Directory& directory, const Allocation& allocation) {
    TresList list;
    list.set("cpu", allocation.cpus);
    if (allocation.memory_mib != 0) list.set("mem", allocation.memory_mib);
    list.set("node", allocation.shares.size());
    for (const auto& share : allocation.shares)
        for (const auto& gres : share.gres) add_gres(list, gres.name, gres.type, gres.count);
    for (const auto& license : allocation.licenses) list.add("license/" + license.name.str(), license.count);
    const auto* partition = directory.find_partition(allocation.partition);
    list.set("billing", billing_of(partition, list, directory.policies.bill_highest_only));
    return list;
}

TresList step_tres(const Step& step) {
    TresList list;
    list.set("cpu", 0);
    list.set("mem", 0);
    list.set("node", step.shares.size());
    for (const auto& share : step.shares) {
        list.add("cpu", share.cpus);
        list.add("mem", share.memory_mib);
        for (const auto& gres : share.gres) add_gres(list, gres.name, gres.type, gres.count);
    }
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
    list.set("billing", billing_of(&partition, list, model.directory->policies.bill_highest_only));
    return list;
}

}  // namespace spur::planning
