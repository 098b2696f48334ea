// Requests, allocations and nodes as trackable resources.
#include "core/model/tres.hpp"

#include <algorithm>
#include <cctype>

namespace spur {

namespace {

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b,
                              [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

void add_gres(TresList& tres, std::string_view name, std::string_view type, std::uint64_t count) {
    if (count == 0) return;
    tres.add("gres/" + std::string{name}, count);
    if (!type.empty()) tres.add("gres/" + std::string{name} + ":" + std::string{type}, count);
}

void add_gres(TresList& tres, const GresList& list, std::uint64_t times) {
    for (const auto& gres : list) add_gres(tres, gres.name, gres.type, gres.count * times);
}

void add_licenses(TresList& tres, const std::vector<LicenseCount>& licenses) {
    for (const auto& license : licenses) tres.add("license/" + license.name.str(), license.count);
}

}  // namespace

std::uint64_t billing_of(const Partition* partition, const TresList& tres, bool highest_only) {
    if (!partition || partition->billing_weights.empty()) return tres.get("cpu");
    double of_nodes = 0, global = 0;
    for (const auto& weight : partition->billing_weights)
        for (const auto& entry : tres.entries()) {
            if (!same_name(weight.tres, entry.name)) continue;
            const double cost = weight.weight * static_cast<double>(entry.count) / (entry.name == "mem" ? 1024.0 : 1.0);
            if (entry.name.starts_with("license/"))
                global += cost;
            else
                of_nodes = highest_only ? std::max(of_nodes, cost) : of_nodes + cost;
        }
    return static_cast<std::uint64_t>(std::max(of_nodes + global, 0.0));
}

TresList requested_tres(const Picture& picture, const JobSpec& spec, const Request& request) {
    const auto& demand = request.demand;
    TresList tres;
    tres.set("cpu", demand.min_cpus);
    if (demand.memory_mib) tres.set("mem", demand.memory_mib);
    tres.set("node", demand.min_nodes);
    add_gres(tres, request.gres_per_node, demand.min_nodes);
    add_gres(tres, request.gres_per_job, 1);
    add_gres(tres, request.gres_per_task, demand.tasks);
    add_licenses(tres, request.licenses);
    const auto* partition = spec.partitions.empty() ? nullptr : picture.find_partition(spec.partitions.front());
    tres.set("billing", billing_of(partition, tres, picture.policies().bill_highest_only));
    return tres;
}

TresList allocated_tres(const Picture& picture, const Allocation& allocation) {
    TresList tres;
    tres.set("cpu", allocation.cpus);
    if (allocation.memory_mib) tres.set("mem", allocation.memory_mib);
    tres.set("node", allocation.shares.size());
    for (const auto& share : allocation.shares) {
        if (share.gres.empty()) continue;
        const auto* node = picture.find_node(share.node);
        for (const auto& gres : share.gres) {
            std::string_view type = gres.type;
            if (type.empty() && node)
                for (const auto& pool : node->gres)
                    if (pool.name == gres.name) type = pool.type;
            add_gres(tres, gres.name, type, gres.count);
        }
    }
    add_licenses(tres, allocation.licenses);
    const auto* partition = picture.find_partition(allocation.partition);
    tres.set("billing", billing_of(partition, tres, picture.policies().bill_highest_only));
    return tres;
}

TresList step_tres(const Step& step) {
    TresList tres;
    tres.set("cpu", 0);
    tres.set("mem", 0);
    tres.set("node", step.shares.size());
    for (const auto& share : step.shares) {
        tres.add("cpu", share.cpus);
        tres.add("mem", share.memory_mib);
        for (const auto& gres : share.gres) add_gres(tres, gres.name, gres.type, gres.count);
    }
    return tres;
}

TresList configured_tres(const Node& node) {
    TresList tres;
    tres.set("cpu", node.cpus);
    tres.set("mem", node.memory_mib);
    tres.set("billing", node.cpus);
    for (const auto& pool : node.gres) add_gres(tres, pool.name, pool.type, pool.count);
    return tres;
}

TresList used_tres(const Node& node) {
    TresList tres;
    if (node.use.cpus != 0) tres.set("cpu", node.use.cpus);
    if (node.use.memory_mib != 0) tres.set("mem", node.use.memory_mib);
    for (std::size_t i = 0; i < node.gres.size() && i < node.use.gres.size(); ++i)
        add_gres(tres, node.gres[i].name, node.gres[i].type, node.use.gres[i]);
    return tres;
}

TresList partition_tres(const Picture& picture, const Partition& partition) {
    TresList tres;
    for (const auto id : partition.nodes)
        if (const auto* node = picture.find_node(id)) {
            tres.add("cpu", node->cpus);
            tres.add("mem", node->memory_mib);
            tres.add("node", 1);
            for (const auto& pool : node->gres) add_gres(tres, pool.name, pool.type, pool.count);
        }
    tres.set("billing", billing_of(&partition, tres, picture.policies().bill_highest_only));
    return tres;
}

}  // namespace spur
