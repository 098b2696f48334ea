// What a request comes to in numbers, for checks, limits and listings.
#include <algorithm>
#include <cctype>

#include "core/machine/validate.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/quantity.hpp"

namespace spur {

Demand demand_of(const JobSpec& spec) {
    Demand demand;
    std::uint32_t listed = 0;
    if (!spec.node_list.empty())
        if (const auto hosts = HostSet::parse(spec.node_list)) listed = static_cast<std::uint32_t>(hosts->size());
    demand.cpus_per_task = std::max(1U, spec.cpus_per_task.value_or(1));
    demand.min_nodes = std::max({1U, spec.min_nodes.value_or(1), listed});
    demand.tasks = spec.tasks.value_or(demand.min_nodes * std::max(1U, spec.tasks_per_node.value_or(1)));
    demand.tasks = std::max(1U, demand.tasks);
    if (spec.tasks && spec.tasks_per_node && *spec.tasks_per_node)
        demand.min_nodes = std::max(demand.min_nodes, (demand.tasks + *spec.tasks_per_node - 1) / *spec.tasks_per_node);

    if (spec.max_nodes)
        demand.max_nodes = *spec.max_nodes;
    else if (spec.min_nodes)
        demand.max_nodes = *spec.min_nodes;
    else if (!spec.gres_per_job.empty())
        demand.max_nodes = unlimited;  // devices may lie on any number of nodes
    else
        demand.max_nodes = demand.tasks;
    demand.max_nodes = std::max(demand.max_nodes, demand.min_nodes);

    const std::uint64_t cpus = std::uint64_t{demand.tasks} * demand.cpus_per_task;
    const std::uint64_t by_node = std::uint64_t{demand.min_nodes} * spec.min_cpus_per_node.value_or(1);
    const std::uint64_t wanted = spec.overcommit.value_or(false) ? by_node : std::max(cpus, by_node);
    demand.min_cpus = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, unlimited - 1));
    if (spec.mem_per_node_mib)
        demand.memory_mib = *spec.mem_per_node_mib * demand.min_nodes;
    else if (spec.mem_per_cpu_mib)
        demand.memory_mib = *spec.mem_per_cpu_mib * demand.min_cpus;
    return demand;
}

Result<std::vector<LicenseCount>> parse_licenses(std::string_view text) {
    std::vector<LicenseCount> licenses;
    while (!text.empty()) {
        const auto comma = std::min(text.find_first_of(",;"), text.size());
        const auto entry = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        if (entry.empty()) continue;
        const auto mark = entry.find_first_of(":=");
        const auto name = entry.substr(0, mark);
        std::uint64_t count = 1;
        if (mark != std::string_view::npos) {
            const auto number = find_scaled(entry.substr(mark + 1));
            if (!number || *number > UINT32_MAX) return fail(refusal::invalid_license);
            count = *number;
        }
        if (name.empty()) return fail(refusal::invalid_license);
        licenses.push_back({Text{name}, static_cast<std::uint32_t>(count)});
    }
    return licenses;
}

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

void add_gres(TresList& tres, std::string_view text, std::uint64_t times) {
    const auto list = parse_gres(text);
    if (!list) return;
    for (const auto& gres : *list) add_gres(tres, gres.name, gres.type, gres.count * times);
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

TresList requested_tres(const Cluster& cluster, const JobSpec& spec) {
    const auto* partition = spec.partitions.empty() ? nullptr : cluster.find_partition(spec.partitions.front());
    return requested_tres(spec, partition, cluster.policies().bill_highest_only);
}

TresList requested_tres(const JobSpec& spec, const Partition* partition, bool bill_highest_only) {
    const auto demand = demand_of(spec);
    TresList tres;
    tres.set("cpu", demand.min_cpus);
    if (demand.memory_mib) tres.set("mem", demand.memory_mib);
    tres.set("node", demand.min_nodes);
    add_gres(tres, spec.gres_per_node, demand.min_nodes);
    add_gres(tres, spec.gres_per_job, 1);
    add_gres(tres, spec.gres_per_task, demand.tasks);
    if (const auto licenses = parse_licenses(spec.licenses)) add_licenses(tres, *licenses);
    tres.set("billing", billing_of(partition, tres, bill_highest_only));
    return tres;
}

TresList allocated_tres(const Cluster& cluster, const Allocation& allocation) {
    TresList tres;
    tres.set("cpu", allocation.cpus);
    if (allocation.memory_mib) tres.set("mem", allocation.memory_mib);
    tres.set("node", allocation.shares.size());
    for (const auto& share : allocation.shares) {
        const auto* node = cluster.find_node(share.node);
        for (const auto& gres : share.gres) {
            std::string_view type = gres.type;
            if (type.empty() && node)
                for (const auto& pool : node->gres)
                    if (pool.name == gres.name) type = pool.type;
            add_gres(tres, gres.name, type, gres.count);
        }
    }
    add_licenses(tres, allocation.licenses);
    const auto* partition = cluster.find_partition(allocation.partition);
    tres.set("billing", billing_of(partition, tres, cluster.policies().bill_highest_only));
    return tres;
}

}  // namespace spur
