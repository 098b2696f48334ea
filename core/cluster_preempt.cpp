// Pushing running jobs out for others: at once, or after a warning and a time of grace; and letting go on again those
// that were only put aside.
#include <algorithm>
#include <csignal>

#include "core/cluster_ops.hpp"

namespace spur {

namespace {

// Seconds between the warning and the end: the longer of what its partition and its QOS give.
std::uint32_t grace_of(const Cluster& cluster, const Job& job) {
    const auto* partition = cluster.find_partition(job.allocation->partition);
    const auto* qos = cluster.find_qos(job.spec->qos);
    return std::max(partition ? partition->grace_time_s : 0, qos ? qos->grace_time_s : 0);
}

}  // namespace

// Its QOS decides before its partition, and that before the cluster.
PreemptMode Cluster::preempt_mode_of(const Job& job) const {
    if (const auto* qos = find_qos(job.spec->qos); qos && qos->preempt_mode != PreemptMode::unset)
        return qos->preempt_mode;
    const auto& name = job.allocation ? job.allocation->partition : job.spec->partitions.front();
    const auto* partition = find_partition(name);
    return partition && partition->preempt_mode != PreemptMode::unset ? partition->preempt_mode
                                                                      : policies_.preempt_mode;
}

Result<void> ClusterOps::on(const PreemptJob& cmd) {
    SPUR_TRY(Job * job, job_at(cmd.job, cmd.attempt));
    if (!job->is_running()) return fail(ErrorCode::conflict, "{}", refusal::not_running);
    // Putting a job aside frees its cores; one that has its nodes to itself would keep everybody else out all the same.
    const bool asks_aside = cmd.mode == PreemptMode::suspend || cmd.mode == PreemptMode::gang;
    const bool ends = !asks_aside || job->allocation->exclusive == Exclusive::node;
    const auto grace = ends ? grace_of(c, *job) : 0;
    if (grace != 0 && job->preempt_time != 0)
        return fail(ErrorCode::conflict, "job {} has been warned and has until {}", job->display_id(), job->end_time);
    {
        Change change{*this, *job};
        job->preempt_time = at;
        if (grace != 0) job->end_time = job->end_time ? std::min(job->end_time, at + grace) : at + grace;
    }
    if (!ends) {
        suspend(*job);
        index().put_aside.insert(job->id);
    } else if (grace != 0) {
        for (const auto signal : {SIGCONT, SIGTERM})
            events.push_back(
                JobSignalled{job->id, job->attempt, std::nullopt, static_cast<std::uint32_t>(signal), false, true});
        events.push_back(JobChanged{job->id});
    } else {
        push_out(*job, asks_aside ? PreemptMode::requeue : cmd.mode);
    }
    return {};
}

void ClusterOps::push_out(Job& job, PreemptMode mode) {
    if (mode == PreemptMode::requeue && can_requeue(job))
        begin_requeue(job, 0);
    else
        end_active(job, JobState::preempted, Reason::none);
}

// Something became free: jobs that were put aside for others go on where they fit again.
void ClusterOps::resume_put_aside() {
    const auto waiting = index().put_aside;
    for (const auto id : waiting) {
        Job* job = this->job(id);
        if (!job || job->state != JobState::suspended || job->preempt_time == 0) {
            index().put_aside.erase(id);
            continue;
        }
        resume(*job);
        if (job->state == JobState::running) index().put_aside.erase(id);
    }
}

}  // namespace spur
