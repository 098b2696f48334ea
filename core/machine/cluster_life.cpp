// How jobs end: through COMPLETING while their nodes clean up, back into the queue, or for good.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"

#include "core/slurm/refusal.hpp"

namespace spur {

bool ClusterOps::can_requeue(const Job& job) const {
    return job.spec->kind == JobKind::batch && job.spec->requeue.value_or(c.policies_.job_requeue);
}

// For %limit and for dependencies on the whole array.
void ClusterOps::count_end(const Job& job, std::uint32_t tasks, bool ok) {
    const auto place = c.arrays_.find(job.array_job);
    if (place == c.arrays_.end()) return;
    auto& array = place->second;
    array.ended += tasks;
    if (!ok) array.failed += tasks;
    array.version = version;
}

void ClusterOps::end_active(Job& job, JobState state, Reason reason) {
    end_alone(job, state, reason);
    // The components of a heterogeneous job live and end together.
    if (job.het_job && state != JobState::pending)
        for_active_components(job.het_job, [&](Job& other) { end_alone(other, state, reason); });
}

void ClusterOps::end_alone(Job& job, JobState state, Reason reason) {
    end_steps(job, state);
    count_running(job, -1);
    {
        Change change{*this, job};
        const bool was_suspended = job.state == JobState::suspended;
        if (was_suspended) job.suspended_s += static_cast<std::uint32_t>(at - job.suspend_time);
        job.state = state;
        job.reason = reason;
        job.flags = (job.flags & ~(job_flag::configuring | job_flag::stopped)) | job_flag::completing;
        job.end_time = at;
        for (const auto share : job.open_shares) {
            auto& busy = c.nodes_[job.allocation->shares[share].node.value];
            ++busy.completing_jobs;
            if (was_suspended) ++busy.job_count;
            touch(busy);
        }
    }
    events.push_back(JobEnding{job.id, job.attempt});
    finish_release(job);
}

void ClusterOps::end_pending(Job& job, JobState state, Reason reason) {
    const auto tasks = static_cast<std::uint32_t>(job.task_count());
    count_submitted(job, -std::int64_t{tasks});
    {
        Change change{*this, job};
        job.state = state;
        job.reason = reason;
        job.eligible = false;
        job.start_time = at;
        job.end_time = at;
        job.scheduled_nodes = {};
        job.flags &= ~(job_flag::requeue_hold | job_flag::special_exit);
    }
    count_end(job, tasks, false);
    events.push_back(JobEnded{job.id, job.attempt});
    wake_waiters(job);
}

// Pending at once for the eyes of the user, but COMPLETING until the nodes of this attempt are done with it.
void ClusterOps::begin_requeue(Job& job, std::uint32_t flag) {
    {
        Change change{*this, job};
        job.flags |= job_flag::requeued | flag;
    }
    end_active(job, JobState::pending, Reason::none);
    if (keeps_outbox()) post(OutboxKind::job_requeued, job, nullptr);
    if (!job.het_job) return;
    for_active_components(job.het_job, [&](Job& other) { begin_requeue(other, flag); });
}

void ClusterOps::release_share(Job& job, std::uint32_t share_index) {
    const auto& allocation = *job.allocation;
    const auto& share = allocation.shares[share_index];
    auto& busy = c.nodes_[share.node.value];
    if (!job.cores_released) give_cores(busy, share, allocation.sharing);
    give_rest(busy, share);
    std::erase(job.open_shares, share_index);
    if (job.is_completing() && busy.completing_jobs) --busy.completing_jobs;
    leave_node(job, busy);
}

void ClusterOps::release_leaving(Job& job, NodeId id) {
    const auto place = std::ranges::find(job.leaving, id, &NodeShare::node);
    if (place == job.leaving.end()) return;
    auto& busy = c.nodes_[id.value];
    give(busy, *place, job.allocation->sharing);
    job.leaving.erase(place);
    if (busy.completing_jobs) --busy.completing_jobs;
    leave_node(job, busy);
}

void ClusterOps::leave_node(const Job& job, Node& left) {
    leave_steps(job, left.id);
    index().jobs_on[left.id.value].erase(job.id);
    if (left.job_count && job.state != JobState::suspended) --left.job_count;
    if (left.job_count == 0) left.last_busy = at;
    if (left.exclusive || left.exclusive_uid != nobody) mark_exclusive(left);
    touch(left);
    events.push_back(NodeFreed{left.id});
    issue_reboot(left);
}

void ClusterOps::finish_release(Job& job) {
    if (!job.is_completing() || !job.open_shares.empty() || !job.leaving.empty()) return;
    for (const auto& license : job.allocation->licenses)
        if (const auto pool = c.licenses_.find(license.name); pool != c.licenses_.end())
            pool->second.used -= std::min(pool->second.used, license.count);
    if (const auto array = c.arrays_.find(job.array_job); array != c.arrays_.end() && array->second.active)
        --array->second.active;
    if (job.state == JobState::pending) {
        enter_queue(job);
        return;
    }
    count_submitted(job, -1);
    {
        Change change{*this, job};
        job.flags &= ~(job_flag::completing | job_flag::signaling);
        job.cores_released = false;
    }
    count_end(job, 1, job.state == JobState::completed);
    events.push_back(JobEnded{job.id, job.attempt});
    wake_waiters(job);
    if (!index().suspended_by_preemption.empty()) resume_preempted();
}

void ClusterOps::enter_queue(Job& job) {
    const auto flags = job.flags;
    c.steps_.erase(c.steps_.lower_bound({job.id, {0}}), c.steps_.upper_bound({job.id, {UINT32_MAX}}));
    {
        Change change{*this, job};
        job.state = JobState::pending;
        job.flags = flags & job_flag::special_exit;
        job.cores_released = false;
        job.warned = false;
        job.next_step = 0;
        job.eligible = false;
        job.reason = Reason::none;
        job.reason_text = {};
        job.submit_time = at;
        job.start_time = job.end_time = job.suspend_time = job.preempt_time = job.eligible_time = 0;
        job.pre_suspend_s = 0;
        job.suspended_s = 0;
        job.exit_status = job.derived_exit_status = 0;
        job.cancelled_by = nobody;
        job.time_limit_min = job.spec->time_limit_min.value_or(unlimited);
        job.allocation = nullptr;
        job.open_shares.clear();
        job.scheduled_nodes = {};
        ++job.restarts;
        if (flags & (job_flag::requeue_hold | job_flag::special_exit)) {
            job.hold = Hold::user;
            job.priority = 0;
        }
    }
    update_dependencies(job);
    refresh(job);
    if (flags & (job_flag::requeue_hold | job_flag::special_exit)) {
        Change change{*this, job};
        job.reason_text = flags & job_flag::launch_failed ? requeued_after_failure : requeued_in_hold;
    }
    events.push_back(JobRequeued{job.id, job.attempt});
}

// A node of the job is gone. What was there needs no cleaning up; the rest of it ends or goes back into the queue.
void ClusterOps::fail_on_node(Job& job, NodeId lost, std::string_view why) {
    const auto find_share = [&] {
        return std::ranges::find_if(job.open_shares,
                                    [&](std::uint32_t share) { return job.allocation->shares[share].node == lost; });
    };
    if (std::ranges::find(job.leaving, lost, &NodeShare::node) != job.leaving.end()) {
        Change change{*this, job};
        release_leaving(job, lost);
    }
    if (find_share() == job.open_shares.end()) {
        finish_release(job);
        return;
    }
    const bool lives_on = job.is_active() && job.spec->no_kill.value_or(false) && job.open_shares.size() > 1;
    if (job.is_active() && !lives_on) {
        {
            Change change{*this, job};
            job.failed_node = lost;
            job.reason_text = Text{why};
        }
        if (can_requeue(job))
            begin_requeue(job, 0);
        else
            end_active(job, JobState::node_fail, Reason::node_down);
    }
    if (const auto place = find_share(); place != job.open_shares.end()) {
        Change change{*this, job};
        release_share(job, *place);
    }
    events.push_back(JobChanged{job.id});
    finish_release(job);
}

// ---- reports from the nodes ----------------------------------------------------------------------------------------

Result<void> ClusterOps::on(const JobLaunched& cmd) {
    SPUR_TRY(Job * job, job_at(cmd.job, cmd.attempt));
    if (!(job->flags & job_flag::configuring)) return {};
    Change change{*this, *job};
    job->flags &= ~job_flag::configuring;
    events.push_back(JobChanged{job->id});
    return {};
}

namespace {
bool exits_with(const std::vector<std::uint32_t>& codes, std::uint32_t wait_status) {
    const bool exited = (wait_status & 0x7f) == 0;
    return exited && std::ranges::find(codes, (wait_status >> 8) & 0xff) != codes.end();
}

// Also if it has cleaned up there already, or was resized: only strangers have nothing to say about a job.
bool has_been_on(const Job& job, NodeId node) {
    const auto is_there = [&](const NodeShare& share) { return share.node == node; };
    return (job.allocation && std::ranges::any_of(job.allocation->shares, is_there)) ||
           std::ranges::any_of(job.leaving, is_there);
}
}  // namespace

Result<void> ClusterOps::on(const FinishJob& cmd) {
    SPUR_TRY(Job * job, job_at(cmd.job, cmd.attempt));
    const bool ending = job->is_completing();
    if (!job->is_active() && !ending) return fail(refusal::already_done);
    if (cmd.must_hold && (!cmd.node || !has_been_on(*job, *cmd.node)))
        return fail(ErrorCode::denied, "the node that reports the end of job {} has no part in it", cmd.job.value);
    if (ending && job->exit_status == 0 && cmd.exit_status != 0) {
        Change change{*this, *job};
        job->exit_status = cmd.exit_status;  // how the script took being ended
        events.push_back(JobChanged{job->id});
    }
    if (!ending) {
        {
            Change change{*this, *job};
            job->exit_status = cmd.exit_status;
            if (!cmd.detail.empty()) job->reason_text = cmd.detail;
        }
        const auto& policies = c.policies_;
        switch (cmd.cause) {
            case EndCause::exited:
            case EndCause::released:
                if (cmd.exit_status != 0 && job->preempt_time != 0)  // of the warning that it must leave
                    preempt(*job, c.preempt_mode_of(*job));
                else if (cmd.exit_status == 0)
                    end_active(*job, JobState::completed, Reason::none);
                else if (job->spec->kind == JobKind::batch && exits_with(policies.requeue_exit_hold, cmd.exit_status))
                    begin_requeue(*job, job_flag::special_exit);
                else if (job->spec->kind == JobKind::batch && exits_with(policies.requeue_exit, cmd.exit_status))
                    begin_requeue(*job, 0);
                else  // killed by a signal, or 0:53, files that could not be opened: Slurm has one word for both
                    end_active(*job, JobState::failed,
                               (cmd.exit_status & 0x7f) != 0 ? Reason::job_launch_failure : Reason::non_zero_exit_code);
                break;
            case EndCause::timed_out:
                end_active(*job, JobState::timeout, Reason::time_limit);
                break;
            case EndCause::out_of_memory:
                end_active(*job, JobState::out_of_memory, Reason::out_of_memory);
                break;
            case EndCause::launch_failed:
            case EndCause::prolog_failed:
                end_failed_launch(*job, cmd);
                break;
            case EndCause::boot_failed:
                end_active(*job, JobState::boot_fail, Reason::job_launch_failure);
                break;
            case EndCause::node_failed:
                if (can_requeue(*job))
                    begin_requeue(*job, 0);
                else
                    end_active(*job, JobState::node_fail, Reason::node_down);
                break;
        }
    }
    if (const auto batch = c.steps_.find({job->id, StepId{step_batch}}); batch != c.steps_.end() && cmd.node)
        leave_step(batch->second, {.key = batch->first,
                                   .attempt = cmd.attempt,
                                   .nodes = {*cmd.node},
                                   .cause = cmd.cause,
                                   .exit_status = cmd.exit_status,
                                   .usage = cmd.usage});
    const bool holds = cmd.node_done && cmd.node && std::ranges::any_of(job->open_shares, [&](std::uint32_t share) {
                           return job->allocation->shares[share].node == *cmd.node;
                       });
    if (holds) return on(NodeJobDone{cmd.job, cmd.attempt, {*cmd.node}});
    return {};
}

// A script of the site's has failed there: somebody must look before anything else starts.
void ClusterOps::drain_for(NodeId id, std::string_view why) {
    Node* culprit = node(id);
    if (culprit == nullptr) return;
    culprit->flags |= node_flag::drain;
    culprit->reason = std::string{why};
    culprit->reason_uid = 0;
    culprit->reason_time = at;
    touch(*culprit);
}

// The job is not to blame: it goes back into the queue, held, so that somebody looks; a failed prolog closes the node.
void ClusterOps::end_failed_launch(Job& job, const FinishJob& cmd) {
    if (cmd.node && cmd.cause == EndCause::prolog_failed) drain_for(*cmd.node, "Prolog error");
    {
        Change change{*this, job};
        job.flags |= job_flag::launch_failed;
        if (cmd.node) job.failed_node = *cmd.node;
    }
    if (can_requeue(job))
        begin_requeue(job, job_flag::requeue_hold | job_flag::launch_failed);
    else if (cmd.cause == EndCause::prolog_failed)
        end_active(job, JobState::cancelled, Reason::none);
    else
        end_active(job, JobState::failed, Reason::job_launch_failure);
}

Result<void> ClusterOps::on(const NodeJobDone& cmd) {
    SPUR_TRY(Job * job, job_at(cmd.job, cmd.attempt));
    const auto is_named = [&](NodeId id) { return std::ranges::find(cmd.nodes, id) != cmd.nodes.end(); };
    std::vector<std::uint32_t> shares;
    for (const auto share : job->open_shares)
        if (is_named(job->allocation->shares[share].node)) shares.push_back(share);
    std::vector<NodeId> leaving;
    for (const auto& share : job->leaving)
        if (is_named(share.node)) leaving.push_back(share.node);
    if (shares.empty() && leaving.empty())
        return fail(ErrorCode::conflict, "job {} holds nothing on the nodes named", cmd.job.value);
    if (!shares.empty() && !job->is_completing()) return fail(ErrorCode::conflict, "job {} still runs", cmd.job.value);
    if (cmd.epilog_failed)
        for (const auto id : cmd.nodes) drain_for(id, "Epilog error");
    {
        Change change{*this, *job};
        for (const auto share : shares) release_share(*job, share);
        for (const auto id : leaving) release_leaving(*job, id);
    }
    events.push_back(JobChanged{job->id});
    finish_release(*job);
    return {};
}

}  // namespace spur
