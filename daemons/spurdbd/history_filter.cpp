// The rules, as sacct(1) has them and Slurm 22.05 is seen to keep them.
#include "daemons/spurdbd/history_filter.hpp"

#include <algorithm>
#include <string_view>

#include "core/model/job.hpp"
#include "daemons/common/records/job_text.hpp"

namespace spur::dbd {
namespace {

bool is_requeued(const v1::Job& job) { return (job.state_bits() & job_flag::requeued) != 0; }

// Before `end`, which may be open.
bool is_before(std::int64_t time, const v1::ListHistoryRequest& request) {
    return request.end() == 0 || time < request.end();
}
bool is_over_within(const v1::Job& job, const v1::ListHistoryRequest& request) {
    return job.end_time() != 0 && job.end_time() >= request.start() && is_before(job.end_time(), request);
}
bool is_alive_at_start(const v1::Job& job, const v1::ListHistoryRequest& request) {
    return job.end_time() == 0 || job.end_time() >= request.start();
}

bool waited(const v1::Job& job, const v1::ListHistoryRequest& request) {
    if (job.eligible_time() == 0 || !is_before(job.eligible_time(), request)) return false;
    return job.start_time() == 0 ? is_alive_at_start(job, request) : job.start_time() >= request.start();
}
bool ran(const v1::Job& job, const v1::ListHistoryRequest& request) {
    return job.start_time() != 0 && is_before(job.start_time(), request) && is_alive_at_start(job, request);
}

bool was_in_state(std::string_view name, const v1::Job& job, const v1::ListHistoryRequest& request) {
    if (name == "REQUEUED") return is_requeued(job) && is_over_within(job, request);
    const auto wanted = find_job_state(name);
    if (!wanted) return false;
    switch (*wanted) {
        case JobState::pending:
            return waited(job, request);
        case JobState::running:
            return ran(job, request);
        case JobState::suspended:  // when it was is not kept, only for how long
            return (records::job_state(job).state == JobState::suspended || job.suspended_s() != 0) &&
                   ran(job, request);
        default:
            return !is_requeued(job) && records::job_state(job).state == *wanted && is_over_within(job, request);
    }
}

bool lies_in(std::uint32_t value, const v1::ListHistoryRequest::Range& range) {
    return value >= range.least() && value <= std::max(range.least(), range.most());
}

// A feature of "fast&amd", "[rack1*2|rack2]".
bool asks_for(std::string_view constraint, std::string_view feature) {
    constexpr std::string_view marks = "&|[]()*:,@";
    for (std::size_t at = constraint.find(feature); at != std::string_view::npos;
         at = constraint.find(feature, at + 1)) {
        const auto end = at + feature.size();
        const bool begins = at == 0 || marks.find(constraint[at - 1]) != std::string_view::npos;
        const bool ends = end == constraint.size() || marks.find(constraint[end]) != std::string_view::npos;
        if (begins && ends) return true;
    }
    return false;
}

}  // namespace

bool matches(const JobRef& ref, const v1::Job& job, const v1::ListHistoryRequest& request) {
    const bool is_whole = request.whole_het() && job.het_job_id() == ref.job && ref.job != 0;
    if (ref.component) return job.het_job_id() == ref.job && (job.het_offset() == *ref.component || is_whole);
    if (ref.has_tasks())
        return job.array_job_id() == ref.job &&
               (ref.all_tasks || (job.has_array_task_id() && ref.tasks.contains(job.array_task_id())));
    if (job.id() == ref.job || job.array_job_id() == ref.job) return true;
    return job.het_job_id() == ref.job && (!request.has_whole_het() || is_whole);
}

bool lies_in_window(const v1::Job& job, const v1::ListHistoryRequest& request) {
    if (!request.states().empty())
        return std::ranges::any_of(request.states(),
                                   [&](const auto& state) { return was_in_state(state, job, request); });
    if (!is_alive_at_start(job, request)) return false;
    if (!request.ids().empty()) return is_before(job.submit_time(), request);
    return job.eligible_time() != 0 && is_before(job.eligible_time(), request);
}

bool has_asked_properties(const v1::Job& job, const v1::ListHistoryRequest& request) {
    const bool has_run = !job.node_list().empty();
    if (request.has_nodes() && !(has_run && lies_in(job.node_count(), request.nodes()))) return false;
    if (request.has_cpus() && !(has_run && lies_in(job.cpus(), request.cpus()))) return false;
    if (request.has_time_limit_min() && !lies_in(job.time_limit_min(), request.time_limit_min())) return false;
    const auto is_asked = [&](const auto& feature) { return asks_for(job.features(), feature); };
    if (!std::ranges::all_of(request.constraints(), is_asked)) return false;
    const std::string_view reason = job.reason().empty() ? std::string_view{"None"} : std::string_view{job.reason()};
    return request.reasons().empty() || std::ranges::find(request.reasons(), reason) != request.reasons().end();
}

}  // namespace spur::dbd
