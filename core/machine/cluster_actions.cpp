// What users and operators do to jobs: cancel, signal, hold, release, requeue, suspend, resume.
// A reference may mean many records. The command is done for all to which it applies, and refused if that is none.
#include <fmt/format.h>

#include <algorithm>

#include "core/machine/cluster_ops.hpp"

#include "core/slurm/refusal.hpp"

namespace spur {

namespace {

using Target = ClusterOps::Target;
using Judge = std::optional<Refusal> (*)(const Job&);  // why the action does not apply to a job

// Those of `found` to which the action applies; if none, the sentence about the first.
Result<std::vector<Target>> applicable(std::vector<Target> found, Judge judge) {
    const auto why = judge(*found.front().job);
    std::erase_if(found, [&](const Target& target) { return judge(*target.job).has_value(); });
    if (found.empty()) return fail(*why);
    return found;
}

std::optional<Refusal> no_cancel(const Job& job) {
    if (job.is_finished()) return refusal::already_done;
    return std::nullopt;
}
std::optional<Refusal> no_signal(const Job& job) {
    if (job.is_finished() || job.is_completing()) return refusal::already_done;
    if (job.state == JobState::pending) return refusal::job_pending;
    return std::nullopt;
}
// A running job that is held stays so when it goes back into the queue.
std::optional<Refusal> no_hold(const Job& job) {
    if (job.is_finished()) return refusal::finished;
    return std::nullopt;
}
std::optional<Refusal> no_top(const Job& job) {
    if (job.is_finished()) return refusal::finished;
    if (job.is_active()) return refusal::not_pending;
    return std::nullopt;
}
std::optional<Refusal> no_requeue(const Job& job) {
    if (job.spec->kind != JobKind::batch) return refusal::batch_only;
    if (job.state == JobState::pending) return refusal::job_pending;
    return std::nullopt;
}
std::optional<Refusal> no_suspend(const Job& job) {
    if (job.is_finished() || job.is_completing()) return refusal::finished;
    if (job.state == JobState::pending) return refusal::job_pending;
    return std::nullopt;
}
std::optional<Refusal> no_resume(const Job& job) {
    if (job.is_finished() || job.is_completing()) return refusal::finished;
    if (job.state == JobState::pending) return refusal::job_pending;
    if (job.state != JobState::suspended) return refusal::not_suspended;
    return std::nullopt;
}

}  // namespace

Result<void> ClusterOps::on(const CancelJob& cmd) {
    SPUR_TRY(auto found, own_targets(cmd.job, cmd.actor));
    SPUR_TRY(found, applicable(std::move(found), no_cancel));
    // A waiting component is not cancelled by itself: the others could never start. A running one may be given up.
    const auto is_part = [&](const Job& job) {
        return job.het_job && job.het_job != job.id &&
               std::ranges::none_of(found, [&](const Target& other) { return other.job->id == job.het_job; });
    };
    for (const auto& target : found)
        if (is_part(*target.job) && !target.job->is_active()) return fail(refusal::het_component);
    for (const auto& target : found)
        for (Job* job : separate(target)) {
            {
                Change change{*this, *job};
                job->cancelled_by = cmd.actor.uid;
            }
            if (job->is_active() && is_part(*job)) {
                end_alone(*job, JobState::cancelled, Reason::none);
            } else if (job->is_active()) {
                end_active(*job, JobState::cancelled, Reason::none);
            } else if (job->is_completing()) {  // on its way back into the queue: it ends instead
                Change change{*this, *job};
                job->state = JobState::cancelled;
                job->flags &= ~(job_flag::requeued | job_flag::requeue_hold | job_flag::special_exit);
                job->end_time = at;
                events.push_back(JobChanged{job->id});
            } else {
                end_pending(*job, JobState::cancelled, job->reason);
            }
        }
    return {};
}

Result<void> ClusterOps::on(const SignalJob& cmd) {
    SPUR_TRY(auto found, own_targets(cmd.job, cmd.actor));
    SPUR_TRY(found, applicable(std::move(found), no_signal));
    std::optional<StepId> step;
    if (cmd.job.step) step = StepId{*cmd.job.step};
    if (step)
        for (const auto& target : found) {
            const auto* running = c.find_step({target.job->id, *step});
            if (!running) return fail(refusal::invalid_job_id);
            if (running->is_over()) return fail(refusal::already_done);
        }
    for (const auto& target : found)
        events.push_back(JobSignalled{target.job->id, target.job->attempt, step, cmd.signal, cmd.batch_only, cmd.full});
    return {};
}

Result<void> ClusterOps::on(const HoldJob& cmd) {
    SPUR_TRY(auto found, targets(cmd.job));
    for (const auto& target : found)
        if (!c.may_change(cmd.actor, *target.job)) return fail(refusal::invalid_user);
    SPUR_TRY(found, applicable(std::move(found), no_hold));
    const auto hold = cmd.actor.is_operator() && !cmd.as_user ? Hold::admin : Hold::user;
    for (const auto& target : found)
        for (Job* job : separate(target)) {
            {
                Change change{*this, *job};
                job->hold = hold;
                job->priority = 0;
                job->priority_set = false;
            }
            refresh(*job);
            events.push_back(JobChanged{job->id});
        }
    return {};
}

Result<void> ClusterOps::on(const ReleaseJob& cmd) {
    SPUR_TRY(auto found, targets(cmd.job));
    for (const auto& target : found) {
        const bool own = c.may_change(cmd.actor, *target.job);
        if (!own) return fail(refusal::invalid_user);
        if (target.job->hold == Hold::admin && !cmd.actor.is_operator()) return fail(refusal::denied);
    }
    SPUR_TRY(found, applicable(std::move(found), no_hold));
    for (const auto& target : found)
        for (Job* job : separate(target)) {
            {
                Change change{*this, *job};
                if (job->hold != Hold::none) job->priority = 1;  // until the priority plugin has looked at it
                job->hold = Hold::none;
                job->flags &= ~(job_flag::requeue_hold | job_flag::special_exit | job_flag::launch_failed |
                                job_flag::resv_del_hold);
                job->reason_text = {};
            }
            refresh(*job);
            events.push_back(JobChanged{job->id});
        }
    return {};
}

Result<void> ClusterOps::on(const RequeueJob& cmd) {
    SPUR_TRY(auto found, own_targets(cmd.job, cmd.actor));
    SPUR_TRY(found, applicable(std::move(found), no_requeue));
    for (const auto& target : found)
        if (!can_requeue(*target.job)) return fail(refusal::disabled);
    const std::uint32_t flag = cmd.special_exit ? job_flag::special_exit : cmd.hold ? job_flag::requeue_hold : 0;
    for (const auto& target : found) {
        auto& job = *target.job;
        if (job.is_active()) {
            begin_requeue(job, flag);
        } else if (job.is_completing()) {  // its end is decided, but it may have another life
            Change change{*this, job};
            job.state = JobState::pending;
            job.flags |= job_flag::requeued | flag;
            events.push_back(JobChanged{job.id});
        } else {
            requeue_finished(job, flag);
        }
    }
    return {};
}

void ClusterOps::requeue_finished(Job& job, std::uint32_t flag) {
    const auto tasks = static_cast<std::uint32_t>(job.task_count());
    if (const auto place = c.arrays_.find(job.array_job); place != c.arrays_.end()) {
        auto& array = place->second;
        array.ended -= std::min(array.ended, tasks);
        if (job.state != JobState::completed) array.failed -= std::min(array.failed, tasks);
    }
    count_submitted(job, tasks);
    {
        Change change{*this, job};
        job.flags |= flag;
    }
    enter_queue(job);
}

Result<void> ClusterOps::on(const SuspendJob& cmd) {
    SPUR_TRY(auto found, targets(cmd.job));
    if (!cmd.actor.is_operator()) return fail(refusal::denied);
    SPUR_TRY(found, applicable(std::move(found), no_suspend));
    for (const auto& target : found)
        if (target.job->is_running()) suspend(*target.job);
    return {};
}

void ClusterOps::suspend(Job& job) {
    charge(job);
    for (const auto share : job.open_shares) {
        auto& busy = c.nodes_[job.allocation->shares[share].node.value];
        give_cores(busy, job.allocation->shares[share], job.allocation->sharing);
        if (busy.job_count) --busy.job_count;
        touch(busy);
        events.push_back(NodeFreed{busy.id});
    }
    {
        Change change{*this, job};
        job.pre_suspend_s = job.run_time_s(at);
        job.state = JobState::suspended;
        job.suspend_time = at;
        job.cores_released = true;
    }
    for (const auto share : job.open_shares) mark_exclusive(c.nodes_[job.allocation->shares[share].node.value]);
    events.push_back(JobSuspended{job.id, job.attempt});
}

Result<void> ClusterOps::on(const ResumeJob& cmd) {
    SPUR_TRY(auto found, targets(cmd.job));
    if (!cmd.actor.is_operator()) return fail(refusal::denied);
    SPUR_TRY(found, applicable(std::move(found), no_resume));
    for (const auto& target : found) {
        const auto& job = *target.job;
        for (const auto share : job.open_shares) {
            if (auto lack = resume_lack(*job.allocation, job.allocation->shares[share]))
                return fail(refusal::nodes_busy.with(": {}", *lack));
        }
    }
    // Two of them may have had the same cores in turn; those that no longer fit stay suspended.
    for (const auto& target : found) resume(*target.job);
    return {};
}

// Why a suspended job cannot have its cores back on one of its nodes.
std::optional<std::string> ClusterOps::resume_lack(const Allocation& allocation, const NodeShare& share) const {
    const auto& node = c.nodes_[share.node.value];
    if (node.exclusive || (allocation.exclusive == Exclusive::node && node.job_count != 0))
        return fmt::format("{} is in use by another job", node.name);
    return find_core_lack(node, share, allocation.sharing);
}

void ClusterOps::resume(Job& job) {
    const auto& allocation = *job.allocation;
    for (const auto share : job.open_shares)
        if (resume_lack(allocation, allocation.shares[share])) return;
    for (const auto share : job.open_shares) {
        auto& busy = c.nodes_[allocation.shares[share].node.value];
        take_cores(busy, allocation.shares[share], allocation.sharing);
        ++busy.job_count;
        touch(busy);
    }
    {
        Change change{*this, job};
        const auto paused = at - job.suspend_time;
        job.state = JobState::running;
        job.suspended_s += static_cast<std::uint32_t>(paused);
        job.suspend_time = at;
        job.preempt_time = 0;
        if (job.end_time) job.end_time += paused;
        job.cores_released = false;
    }
    for (const auto share : job.open_shares) mark_exclusive(c.nodes_[allocation.shares[share].node.value]);
    events.push_back(JobResumed{job.id, job.attempt});
}

// To the front of the owner's own queue: it gets the highest priority among his waiting jobs, which shift down by one.
Result<void> ClusterOps::on(const TopJob& cmd) {
    SPUR_TRY(auto found, own_targets(cmd.job, cmd.actor));
    SPUR_TRY(found, applicable(std::move(found), no_top));
    const auto& chosen = *found.front().job;
    std::uint32_t highest = chosen.priority;
    for (const auto id : c.pending_) {
        const auto& other = c.jobs_.at(id);
        if (other.spec->uid == chosen.spec->uid) highest = std::max(highest, other.priority);
    }
    for (const auto& target : found)
        for (Job* job : separate(target)) {
            if (job->hold != Hold::none) continue;
            Change change{*this, *job};
            job->priority = highest;
            job->priority_set = true;
            events.push_back(JobChanged{job->id});
        }
    return {};
}

Result<void> ClusterOps::on(const SetPending& cmd) {
    for (const auto& note : cmd.notes) {
        Job* job = this->job(note.job);
        if (!job || !job->is_pending()) continue;
        const bool reason = note.reason && job->eligible && *note.reason != job->reason;
        const bool text = note.reason_text && job->eligible && *note.reason_text != job->reason_text;
        const bool priority =
            note.priority && !job->priority_set && job->hold == Hold::none && *note.priority != job->priority;
        const bool start = note.expected_start && *note.expected_start != job->start_time;
        const bool nodes = note.expected_nodes && *note.expected_nodes != job->scheduled_nodes;
        if (!reason && !text && !priority && !start && !nodes)
            continue;  // a cycle that finds nothing new changes nothing
        Change change{*this, *job};
        if (reason) job->reason = *note.reason;
        if (text) job->reason_text = *note.reason_text;
        if (priority) job->priority = *note.priority;
        if (start) job->start_time = *note.expected_start;
        if (nodes) job->scheduled_nodes = *note.expected_nodes;
        job->last_sched_eval = at;
        events.push_back(JobChanged{job->id});
    }
    return {};
}

}  // namespace spur
