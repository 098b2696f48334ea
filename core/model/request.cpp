// Reading a request: each text by the grammar that its option has.
#include "core/model/request.hpp"

#include <algorithm>

#include "core/slurm/refusal.hpp"
#include "core/text/quantity.hpp"

namespace spur {

namespace {

Demand demand_of(const JobSpec& spec, const HostSet& required) {
    Demand demand;
    const auto listed = static_cast<std::uint32_t>(required.size());
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

}  // namespace

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

Request Request::of(const JobSpec& spec) {
    Request request;
    const auto read = [](const auto& parsed, auto& into) {
        if (parsed) into = *parsed;
    };
    if (!spec.gres_per_node.empty()) read(parse_gres(spec.gres_per_node), request.gres_per_node);
    if (!spec.gres_per_job.empty()) read(parse_gres(spec.gres_per_job), request.gres_per_job);
    if (!spec.gres_per_task.empty()) read(parse_gres(spec.gres_per_task), request.gres_per_task);
    if (!spec.gres_per_socket.empty()) read(parse_gres(spec.gres_per_socket), request.gres_per_socket);
    if (!spec.licenses.empty()) read(parse_licenses(spec.licenses), request.licenses);
    if (!spec.distribution.empty()) read(Distribution::parse(spec.distribution), request.distribution);
    if (!spec.features.empty()) read(Constraint::parse(spec.features), request.features);
    if (!spec.prefer.empty()) read(Constraint::parse(spec.prefer), request.prefer);
    if (!spec.node_list.empty()) read(HostSet::parse(spec.node_list), request.required_nodes);
    if (!spec.exclude_nodes.empty()) read(HostSet::parse(spec.exclude_nodes), request.excluded_nodes);
    request.demand = demand_of(spec, request.required_nodes);
    return request;
}

void set_spec(Job& job, std::shared_ptr<const JobSpec> spec, const std::shared_ptr<const Request>& known) {
    auto request = Request::of(*spec);
    job.request = known && *known == request ? known : std::make_shared<const Request>(std::move(request));
    job.spec = std::move(spec);
}

}  // namespace spur
