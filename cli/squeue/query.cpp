// Which jobs and steps squeue shows.
#include "cli/squeue/query.hpp"

#include "cli/common/job_text.hpp"
#include "core/text/lexical.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace spur::cli::squeue {
namespace {

bool listed(const std::vector<std::string>& wanted, std::string_view value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

// Multi-partition jobs are found under each of their partitions, licences by name without their count.
bool any_listed(const std::vector<std::string>& wanted, std::string_view values, std::string_view stop = {}) {
    if (wanted.empty()) return true;
    for (auto value : split(values, ',')) {
        value = value.substr(0, std::min(value.size(), value.find_first_of(stop)));
        if (listed(wanted, value)) return true;
    }
    return false;
}

bool on_nodes(const std::optional<HostSet>& wanted, const std::string& node_list) {
    if (!wanted) return true;
    if (node_list.empty()) return false;
    const auto nodes = HostSet::parse(node_list);
    return nodes && nodes->intersects(*wanted);
}

// Does `ref` mean this job, ignoring the tasks it names?
bool names_job(const JobRef& ref, const v1::Job& job) {
    if (ref.component) return job.het_job_id() == ref.job && job.het_offset() == *ref.component;
    return ref.job == job.id() || (job.array_job_id() != 0 && ref.job == job.array_job_id()) ||
           (job.het_job_id() != 0 && ref.job == job.het_job_id());
}

bool names_record(const JobRef& ref, const v1::Job& job) {
    if (!names_job(ref, job)) return false;
    if (ref.tasks.empty()) return true;
    if (job.array_job_id() == 0) return false;
    if (job.has_array_task_id()) return ref.tasks.contains(job.array_task_id());
    const auto pending = ArraySpec::parse(job.array_tasks(), highest_max_array_size);
    return pending && !(pending->tasks & ref.tasks).empty();
}

}  // namespace

bool Query::names_tasks() const {
    return jobs && std::ranges::any_of(*jobs, [](const JobRef& ref) { return !ref.tasks.empty(); });
}

bool Query::accepts(const v1::Job& job) const {
    const auto& spec = job.spec();
    if (!(states ? *states : JobStateFilter::active()).accepts(job.state_bits())) return false;
    if (jobs && std::none_of(jobs->begin(), jobs->end(), [&](const auto& ref) { return names_record(ref, job); }))
        return false;
    return listed(users, user_name(job)) && any_listed(partitions, job.partition()) && listed(names, spec.name()) &&
           listed(accounts, job.account().empty() ? spec.account() : job.account()) &&
           listed(qos, job.qos().empty() ? spec.qos() : job.qos()) && listed(reservations, spec.reservation()) &&
           any_listed(licenses, spec.licenses(), ":@") && listed(wckeys, spec.wckey()) &&
           on_nodes(nodes, job.node_list());
}

bool Query::accepts_step(const v1::Job& job, const v1::Step& step) const {
    if (jobs && std::none_of(jobs->begin(), jobs->end(), [&](const auto& ref) {
            return names_record(ref, job) && (!ref.step || *ref.step == step.step_id());
        }))
        return false;
    return listed(users, user_name(job)) && any_listed(partitions, job.partition()) && listed(names, step.name()) &&
           on_nodes(nodes, step.node_list());
}

std::vector<v1::Job> split_arrays(const std::vector<const v1::Job*>& jobs, const Query& query) {
    std::vector<v1::Job> result;
    for (const auto* job : jobs) {
        const bool one_record = job->array_job_id() != 0 && !job->has_array_task_id();
        const auto pending = one_record ? ArraySpec::parse(job->array_tasks(), highest_max_array_size) : ArraySpec{};
        if (!one_record || !pending) {
            result.push_back(*job);
            continue;
        }
        TaskSet wanted = pending->tasks;
        if (query.jobs && !query.split_arrays) {
            TaskSet named;
            bool whole = false;
            for (const auto& ref : *query.jobs)
                if (names_job(ref, *job)) {
                    named = named | ref.tasks;
                    whole = whole || ref.tasks.empty();
                }
            if (whole) {
                result.push_back(*job);
                continue;
            }
            wanted = wanted & named;
        } else if (!query.split_arrays) {
            result.push_back(*job);
            continue;
        } else if (query.jobs) {
            TaskSet named;
            for (const auto& ref : *query.jobs)
                if (names_job(ref, *job)) named = named | (ref.tasks.empty() ? pending->tasks : ref.tasks);
            wanted = wanted & named;
        }
        for (auto task = wanted.first(); task; task = wanted.next(*task + 1)) {
            result.push_back(waiting_task(*job, *task));
        }
    }
    return result;
}

std::vector<v1::Job> merge_waiting_tasks(const std::vector<const v1::Job*>& jobs) {
    struct Line {
        TaskSet tasks;
        std::vector<std::string> reasons;
        bool merged = false;
    };
    std::map<std::uint32_t, Line> lines;  // by array: those whose record still waits
    const auto waits = [](const v1::Job& job) {
        const auto state = job_state(job);
        return job.array_job_id() != 0 && state.state == JobState::pending && !(state.flags & job_flag::completing);
    };
    for (const auto* job : jobs)
        if (waits(*job) && !job->has_array_task_id())
            if (const auto pending = ArraySpec::parse(job->array_tasks(), highest_max_array_size))
                lines[job->array_job_id()] = {pending->tasks, {reason_text(*job)}};
    for (const auto* job : jobs) {
        const auto line = lines.find(job->array_job_id());
        if (line == lines.end() || !waits(*job) || !job->has_array_task_id()) continue;
        line->second.merged = true;
        line->second.tasks.insert(job->array_task_id());
        if (auto reason = reason_text(*job);
            std::ranges::find(line->second.reasons, reason) == line->second.reasons.end())
            line->second.reasons.push_back(std::move(reason));
    }
    if (std::ranges::none_of(lines, [](const auto& line) { return line.second.merged; })) return {};

    std::vector<v1::Job> result;
    for (const auto* job : jobs) {
        const auto line = lines.find(job->array_job_id());
        const bool in_line = line != lines.end() && line->second.merged && waits(*job);
        if (in_line && job->has_array_task_id()) continue;
        result.push_back(*job);
        if (!in_line) continue;
        auto& shown = result.back();
        shown.set_array_tasks(line->second.tasks.str());
        shown.clear_array_limit();
        shown.set_reason(fmt::format("{}", fmt::join(line->second.reasons, ",")));
        shown.clear_reason_text();
    }
    return result;
}

}  // namespace spur::cli::squeue
