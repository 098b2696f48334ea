// Pushing running jobs out for others: at once, or after a warning and a time of grace; and letting go on again those
// that were only suspended.
#include <algorithm>
#include <csignal>

#include "core/machine/cluster_ops.hpp"

#include "core/slurm/refusal.hpp"

namespace spur {

namespace {

// Seconds between the warning and the end: the longer of what its partition and its QOS give.
std::uint32_t grace_of(const Cluster& cluster, const Job& job) {
    const auto* partition = cluster.find_partition(job.allocation->partition);
    const auto* qos = cluster.find_qos(job.spec->qos);
    return std::max(partition ? partition->grace_time_s : 0, qos ? qos->grace_time_s : 0);
}

}  // namespace

// The QOS decides before the partition, and that before the cluster; only those count by which jobs are compared.
PreemptMode preempt_mode_by(const Policies& policies, const Partition* partition, const Qos* qos) {
    const auto by = policies.preempt_type;
    if (by == PreemptType::none) return PreemptMode::off;
    if (qos && by != PreemptType::partition_prio && qos->preempt_mode != PreemptMode::unset) return qos->preempt_mode;
    if (partition && by != PreemptType::qos && partition->preempt_mode != PreemptMode::unset)
        return partition->preempt_mode;
    return policies.preempt_mode;
}

PreemptMode Cluster::preempt_mode_of(const Job& job) const {
    const auto& name = job.allocation ? job.allocation->partition : job.spec->partitions.front();
    return preempt_mode_by(policies_, find_partition(name), find_qos(job.spec->qos));
}

Result<void> ClusterOps::on(const PreemptJob& cmd) {
    SPUR_TRY(Job * job, job_at(cmd.job, cmd.attempt));
    if (!job->is_running()) return fail(refusal::not_running);
    const bool ends = cmd.mode != PreemptMode::suspend && cmd.mode != PreemptMode::gang;
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
        index().suspended_by_preemption.insert(job->id);
    } else if (grace != 0) {
        for (const auto signal : {SIGCONT, SIGTERM})
            events.push_back(
                JobSignalled{job->id, job->attempt, std::nullopt, static_cast<std::uint32_t>(signal), false, true});
        events.push_back(JobChanged{job->id});
    } else {
        preempt(*job, cmd.mode);
    }
    return {};
}

void ClusterOps::preempt(Job& job, PreemptMode mode) {
    if (mode == PreemptMode::requeue && can_requeue(job))
        begin_requeue(job, 0);
    else
        end_active(job, JobState::preempted, Reason::none);
}

// Something became free: jobs that were suspended for others go on where they fit again.
void ClusterOps::resume_preempted() {
    const auto waiting = index().suspended_by_preemption;
    for (const auto id : waiting) {
        Job* job = this->job(id);
        if (!job || job->state != JobState::suspended || job->preempt_time == 0) {
            index().suspended_by_preemption.erase(id);
            continue;
        }
        resume(*job);
        if (job->state == JobState::running) index().suspended_by_preemption.erase(id);
    }
}

}  // namespace spur
