// What the passing of time does: begin times come, limits and deadlines are reached, old records go.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"
#include "core/slurm/signal.hpp"

namespace spur {

// Only acts on what is really due: an index may name jobs that are not, and then nothing changes.
void ClusterOps::check_times(Job& job) {
    const auto& spec = *job.spec;
    if (job.is_pending()) {
        const auto shortest = spec.time_min_min.value_or(job.time_limit_min);
        const auto need_s = shortest == unlimited ? 0 : std::int64_t{shortest} * 60;
        if (spec.deadline && at > *spec.deadline - need_s) {
            end_pending(job, JobState::deadline, Reason::deadline);
            return;
        }
        update_dependencies(job);
        refresh(job);
        return;
    }
    if (job.state != JobState::running) return;
    if (job.preempt_time != 0 && job.end_time != 0 && at >= job.end_time) {
        preempt(job, c.preempt_mode_of(job));  // its time of grace is over
    } else if (spec.deadline && at >= *spec.deadline) {
        end_active(job, JobState::deadline, Reason::deadline);
    } else if (job.end_time && at >= job.end_time + std::int64_t{c.policies_.over_time_limit_min} * 60) {
        end_active(job, JobState::timeout, Reason::time_limit);
    } else if (job.end_time && !job.warned && !spec.signal.empty()) {
        const auto signal = WarningSignal::parse(spec.signal);
        if (!signal || at < job.end_time - signal->before_s) return;
        Change change{*this, job};
        job.warned = true;
        events.push_back(JobSignalled{job.id, job.attempt, std::nullopt, static_cast<std::uint32_t>(signal->number),
                                      signal->batch_only, false});
    }
}

void ClusterOps::forget_older(UnixSeconds ended_before) {
    auto& done = index().done;
    while (!done.empty() && done.begin()->first < ended_before) {
        forget(JobId{done.begin()->second});
    }
}

Result<void> ClusterOps::on(const Tick&) {
    std::vector<JobId> due;
    for (const auto& [time, id] : index().due) {
        if (time > at) break;
        due.push_back(id);
    }
    std::ranges::sort(due);  // the index may differ between controllers; the order of acting may not
    for (const auto id : due) {
        Job* job = this->job(id);
        if (!job) continue;
        check_times(*job);
        if (Job* still = this->job(id)) set_due(*still);
    }
    turn_reservations();
    if (c.policies_.min_job_age_s) forget_older(at - c.policies_.min_job_age_s + 1);
    return {};
}

Result<void> ClusterOps::on(const PruneJobs& cmd) {
    forget_older(cmd.ended_before);
    return {};
}

}  // namespace spur
