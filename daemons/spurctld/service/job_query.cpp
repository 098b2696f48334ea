// Reading job ids and filters, and finding the jobs they mean.
#include "daemons/spurctld/service/job_query.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/ranges.h>

#include "core/machine/request_limits.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"

namespace spur::ctld {

namespace {

using Jobs = std::vector<std::shared_ptr<const Job>>;
using Names = google::protobuf::RepeatedPtrField<std::string>;

bool any(const Names& names, std::string_view text) {
    return names.empty() || std::ranges::any_of(names, [&](const std::string& name) { return name == text; });
}

bool in_any_partition(const Names& names, const Job& job) {
    if (names.empty()) return true;
    if (job.allocation) return any(names, job.allocation->partition);
    return std::ranges::any_of(job.spec->partitions, [&](const Text& partition) { return any(names, partition); });
}

bool of_any_user(const Names& names, const Job& job) {
    return any(names, job.spec->user_name) || any(names, std::to_string(job.spec->uid));
}

// All that a list of ids asks of one job, so that each record is looked at once however long the list.
struct Wanted {
    bool itself{false};     // with all that belongs to it
    bool all_tasks{false};  // of an array, and of nothing else
    std::vector<TaskSet::Run> runs;
    std::set<std::uint32_t> components;
    std::size_t bytes{};

    void add(const JobRef& ref, std::size_t text_bytes) {
        itself |= !ref.has_tasks() && !ref.component;
        all_tasks |= ref.all_tasks;
        runs.insert(runs.end(), ref.tasks.runs().begin(), ref.tasks.runs().end());
        if (ref.component) components.insert(*ref.component);
        bytes += text_bytes;
    }
    Result<std::vector<JobRef>> refs(std::uint32_t job) {
        JobRef ref;
        ref.job = job;
        if (itself) return std::vector{ref};
        std::vector<JobRef> all;
        for (const auto component : components) all.push_back({.job = job, .component = component});
        auto tasks = TaskSet::united(std::move(runs), bytes * mixed_tasks_per_byte);
        if (!tasks) return fail(ErrorCode::limit, "Invalid job id: {} (its tasks overlap with different steps)", job);
        ref.all_tasks = all_tasks;
        ref.tasks = *std::move(tasks);
        if (ref.has_tasks()) all.push_back(std::move(ref));
        return all;
    }
};

Result<Jobs> find_all(const planning::ReadModel& model, const Names& ids) {
    SPUR_CHECK(check_id_count(ids.size()));
    std::map<std::uint32_t, Wanted> wanted;
    for (const auto& text : ids) {
        SPUR_TRY(const auto ref, JobRef::parse(text));
        wanted[ref.job].add(ref, text.size());
    }
    Jobs found;
    for (auto& [job, what] : wanted) {
        SPUR_TRY(const auto refs, what.refs(job));
        for (const auto& ref : refs) std::ranges::copy(find_jobs(model, ref), std::back_inserter(found));
    }
    return found;
}

// None named: those of jobs that are not done.
Result<JobStateFilter> states_of(const Names& names) {
    if (names.empty()) return JobStateFilter::active();
    return JobStateFilter::parse(fmt::format("{}", fmt::join(names, ",")));
}

}  // namespace

Result<void> check_id_count(int count) {
    if (count <= static_cast<int>(request_limit::job_ids)) return {};
    return fail(ErrorCode::invalid, "{} job ids at once are too many: at most {} are taken", count,
                request_limit::job_ids);
}

Jobs find_jobs(const planning::ReadModel& model, const JobRef& ref) {
    Jobs found;
    if (const auto named = model.resolve(ref))
        for (const auto& one : *named) found.push_back(model.jobs.get(one.job->id.value));
    return found;
}

Result<Jobs> select_jobs(const planning::ReadModel& model, const v1::ListJobsRequest& request) {
    SPUR_TRY(const auto states, states_of(request.states()));
    const auto wanted = [&](const Job& job) {
        return states.accepts(job.state_bits()) && of_any_user(request.users(), job) &&
               in_any_partition(request.partitions(), job);
    };
    Jobs selected;
    const auto keep = [&](const std::shared_ptr<const Job>& job) {
        if (wanted(*job)) selected.push_back(job);
    };
    if (request.ids().empty()) {
        model.jobs.for_each([&](std::uint32_t, const auto& job) { keep(job); });
        return selected;
    }
    SPUR_TRY(const auto found, find_all(model, request.ids()));
    for (const auto& job : found) keep(job);
    // As Slurm: one unknown id is an error, a list of them is an empty answer.
    if (found.empty() && request.ids().size() == 1) return fail(refusal::invalid_job_id);
    std::ranges::sort(selected, {}, [](const auto& job) { return job->id; });
    const auto repeated = std::ranges::unique(selected);
    selected.erase(repeated.begin(), repeated.end());
    return selected;
}

Result<Jobs> select_jobs(const planning::ReadModel& model, const v1::SignalJobsRequest& request) {
    SPUR_TRY(const auto states, states_of(request.states()));
    SPUR_TRY(const auto hosts, HostSet::parse(request.node_list()));
    const auto on_hosts = [&](const Job& job) {
        if (hosts.empty()) return true;
        return job.allocation && std::ranges::any_of(job.allocation->shares, [&](const NodeShare& share) {
                   const auto& node = model.nodes.get(share.node.value);
                   return node && hosts.contains(node->name);
               });
    };
    Jobs selected;
    model.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& job) {
        const auto& spec = *job->spec;
        if (!job->is_finished() && states.accepts(job->state_bits()) && of_any_user(request.users(), *job) &&
            in_any_partition(request.partitions(), *job) && any(request.names(), spec.name) &&
            any(request.accounts(), spec.account) && any(request.qos(), spec.qos) &&
            any(request.reservations(), spec.reservation) && any(request.wckeys(), spec.wckey) && on_hosts(*job))
            selected.push_back(job);
    });
    return selected;
}

}  // namespace spur::ctld
