// Finding nodes and partitions that a new configuration drops and that jobs still use.
#include "daemons/spurctld/settings/config_warnings.hpp"

#include <fmt/ranges.h>

#include <map>
#include <set>

namespace spur::ctld {

namespace {

using JobIds = std::vector<std::uint32_t>;

// "job 12", "jobs 12, 15 and 4 more"
std::string list_jobs(const JobIds& jobs) {
    constexpr std::size_t most = 20;
    const auto shown = std::min(jobs.size(), most);
    auto text = fmt::format("job{} {}", jobs.size() == 1 ? "" : "s",
                            fmt::join(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (jobs.size() > most) text += fmt::format(" and {} more", jobs.size() - most);
    return text;
}

std::string run_text(const JobIds& jobs) {
    return fmt::format("{} run{} there and may end as usual", list_jobs(jobs), jobs.size() == 1 ? "s" : "");
}

}  // namespace

std::vector<std::string> warn_of_removals(const planning::ReadModel& model, const ClusterConfig& fresh) {
    std::set<std::string_view> nodes, partitions;
    for (const auto& entry : fresh.nodes)
        for (const auto& name : entry.names) nodes.insert(name.view());
    for (const auto& partition : fresh.partitions) partitions.insert(partition.name.view());

    std::map<std::string, JobIds> by_node, by_partition;
    model.jobs.for_each([&](std::uint32_t id, const std::shared_ptr<const Job>& job) {
        if (!job->allocation || !(job->is_active() || job->is_completing())) return;
        for (const auto place : job->open_shares) {
            const auto& node = model.nodes.get(job->allocation->shares[place].node.value);
            if (node && node->configured && !nodes.contains(node->name.view())) by_node[node->name.str()].push_back(id);
        }
        const auto& partition = job->allocation->partition;
        if (model.find_partition(partition.view()) != nullptr && !partitions.contains(partition.view()))
            by_partition[partition.str()].push_back(id);
    });
    std::vector<std::string> warnings;
    for (const auto& [name, jobs] : by_node)
        warnings.push_back(
            fmt::format("node {} leaves the configuration: {}; nothing new starts there", name, run_text(jobs)));
    for (const auto& [name, jobs] : by_partition)
        warnings.push_back(
            fmt::format("partition {} leaves the configuration: {}; nothing new starts there", name, run_text(jobs)));
    return warnings;
}

}  // namespace spur::ctld
