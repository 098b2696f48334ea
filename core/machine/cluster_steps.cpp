// Steps: tasks inside a job's allocation.
#include <algorithm>

#include "core/machine/cluster_ops.hpp"

#include "core/slurm/refusal.hpp"

namespace spur {

namespace {

const NodeShare* find_share(const Job& job, NodeId node) {
    for (const auto share : job.open_shares)
        if (job.allocation->shares[share].node == node) return &job.allocation->shares[share];
    return nullptr;
}

std::uint64_t count_of(const std::vector<GresShare>& shares, const GresShare& wanted) {
    std::uint64_t count = 0;
    for (const auto& share : shares)
        if (share.name == wanted.name && (wanted.type.empty() || share.type.empty() || share.type == wanted.type))
            count += share.count;
    return count;
}

bool lies_within(const NodeShare& part, const NodeShare& whole) {
    return whole.cores.contains(part.cores) && part.cpus <= whole.cpus &&
           (whole.memory_mib == 0 || part.memory_mib <= whole.memory_mib) &&
           std::ranges::all_of(part.gres,
                               [&](const GresShare& gres) { return count_of(whole.gres, gres) >= gres.count; });
}

}  // namespace

// Steps that do not overlap keep to themselves: no core and no device is given to two of them at a time.
Result<void> ClusterOps::check_step(const Job& job, const CreateStep& cmd) const {
    if (cmd.shares.empty()) return fail(refusal::node_count);
    if (cmd.task_ids.size() != cmd.shares.size()) return fail(refusal::bad_distribution);
    std::size_t tasks = 0;
    for (const auto& ids : cmd.task_ids) tasks += ids.size();
    if (tasks != cmd.tasks) return fail(refusal::bad_task_count);
    for (const auto& share : cmd.shares) {
        const auto* whole = find_share(job, share.node);
        if (!whole) return fail(refusal::invalid_node);
        if (!lies_within(share, *whole)) return fail(refusal::too_many_cpus);
    }
    if (cmd.overlap) return {};
    for (auto place = c.steps_.lower_bound({job.id, {0}}); place != c.steps_.end() && place->first.job == job.id;
         ++place) {
        const auto& other = place->second;
        if (other.is_over() || other.overlap) continue;
        for (const auto& mine : cmd.shares)
            for (const auto& theirs : other.shares) {
                if (mine.node != theirs.node) continue;
                bool clash = mine.cores.intersects(theirs.cores);
                for (const auto& a : mine.gres)
                    for (const auto& b : theirs.gres) clash |= a.name == b.name && a.devices.intersects(b.devices);
                if (clash) return fail(refusal::nodes_busy);
            }
    }
    return {};
}

// A job may have thousands of steps one after the other: the controller keeps the last few, accounting keeps all.
void ClusterOps::trim_steps(const Job& job) {
    constexpr std::size_t kept = 16;
    std::vector<StepKey> over;
    for_steps(job.id, [&](const Step& step) {
        if (step.is_over() && step.open_shares.empty()) over.push_back(step.key);
    });
    if (over.size() <= kept) return;
    over.resize(over.size() - kept);
    for (const auto& key : over) c.steps_.erase(key);
}

Result<void> ClusterOps::on(const CreateStep& cmd) {
    SPUR_TRY(Job * job, job_at(cmd.job, cmd.attempt));
    if (!c.may_change(cmd.actor, *job)) return fail(refusal::denied);
    if (!job->is_running() || job->is_completing())
        return fail(job->state == JobState::suspended ? refusal::job_suspended
                    : job->state == JobState::pending ? refusal::job_pending
                                                      : refusal::already_done);
    SPUR_CHECK(check_step(*job, cmd));
    // The components of a heterogeneous job number their steps together.
    Job* const counter = job->het_job && this->job(job->het_job) ? this->job(job->het_job) : job;
    if (!cmd.id && counter->next_step >= c.policies_.max_step_count) return fail(refusal::step_limit);
    const StepKey key{job->id, cmd.id.value_or(StepId{counter->next_step})};
    if (const auto* other = c.find_step(key); other && !other->is_over()) return fail(refusal::duplicate_step);
    Step step;
    step.key = key;
    step.attempt = cmd.attempt;
    step.overlap = cmd.overlap;
    step.name = cmd.name;
    step.tasks = cmd.tasks;
    step.cpus_per_task = cmd.cpus_per_task;
    step.time_limit_min = cmd.time_limit_min;
    step.start_time = at;
    step.shares = cmd.shares;
    step.task_ids = cmd.task_ids;
    step.submit_host = cmd.submit_host;
    step.srun_pid = cmd.srun_pid;
    step.distribution = cmd.distribution;
    step.version = version;
    open_step(step);
    trim_steps(*job);
    c.steps_.insert_or_assign(key, std::move(step));
    if (!cmd.id) {
        Change change{*this, *counter};
        ++counter->next_step;
    }
    events.push_back(StepStarted{key, cmd.attempt});
    events.push_back(JobChanged{job->id});
    if (counter != job) events.push_back(JobChanged{counter->id});
    return {};
}

Result<void> ClusterOps::on(const FinishStep& cmd) {
    const auto place = c.steps_.find(cmd.key);
    if (place == c.steps_.end()) return fail(refusal::invalid_job_id);
    auto& step = place->second;
    if (step.attempt != cmd.attempt || step.is_over()) return fail(refusal::already_done);
    if (cmd.node && std::ranges::find(step.shares, *cmd.node, &NodeShare::node) == step.shares.end())
        return fail(ErrorCode::denied, "the node that reports the end of step {}.{} has no part in it",
                    cmd.key.job.value, cmd.key.step.value);
    step.exit_status = cmd.exit_status;
    step.open_shares.clear();
    end_step(step, cmd.cause);
    return {};
}

Result<void> ClusterOps::on(const StepNodeDone& cmd) {
    const auto place = c.steps_.find(cmd.key);
    if (place == c.steps_.end()) return fail(refusal::invalid_job_id);
    auto& step = place->second;
    const auto is_open = [&](NodeId node) {
        return std::ranges::any_of(step.open_shares, [&](auto share) { return step.shares[share].node == node; });
    };
    if (step.attempt != cmd.attempt || std::ranges::none_of(cmd.nodes, is_open))
        return fail(ErrorCode::conflict, "step {}.{} has nothing to end on the nodes named", cmd.key.job.value,
                    print_step_id(cmd.key.step.value));
    leave_step(step, cmd);
    return {};
}

// Before that version nobody may write down which nodes are done with a step.
void ClusterOps::open_step(Step& step) const {
    if (c.state_version_ < version_with_step_ends) return;
    for (std::uint32_t share = 0; share < step.shares.size(); ++share)
        if (c.jobs_on(step.shares[share].node).contains(step.key.job)) step.open_shares.push_back(share);
}

// Nodes that are done with the step already are not heard a second time.
void ClusterOps::leave_step(Step& step, const StepNodeDone& done) {
    auto nodes = done.nodes;
    std::ranges::sort(nodes);
    const auto left = std::erase_if(step.open_shares, [&](std::uint32_t share) {
        return std::ranges::binary_search(nodes, step.shares[share].node);
    });
    if (left == 0) return;
    step.usage += done.usage;
    step.exit_status = std::max(step.exit_status, done.exit_status);
    if (step.cause == EndCause::exited && !step.is_over()) step.cause = done.cause;
    step.version = version;
    if (!step.open_shares.empty()) return;
    if (step.is_over())
        say_step_ended(step);
    else
        end_step(step, step.cause);
}

// Its agent would have reported first; this one is lost, or never heard of the step.
void ClusterOps::leave_steps(const Job& job, NodeId node) {
    for_steps(job.id, [&](Step& step) {
        const auto cause = job.is_completing() ? EndCause::exited : EndCause::node_failed;
        leave_step(step, {.key = step.key, .nodes = {node}, .cause = cause, .usage = {}});
    });
}

void ClusterOps::end_step(Step& step, EndCause cause) {
    step.end_time = at;
    step.version = version;
    switch (cause) {
        case EndCause::timed_out:
            step.state = JobState::timeout;
            break;
        case EndCause::out_of_memory:
            step.state = JobState::out_of_memory;
            break;
        case EndCause::node_failed:
            step.state = JobState::node_fail;
            break;
        default:
            step.state = step.exit_status ? JobState::failed : JobState::completed;
            break;
    }
    if (Job* job = this->job(step.key.job)) {
        Change change{*this, *job};
        const bool special = step.key.step.value == step_batch || step.key.step.value == step_extern;
        if (!special) job->derived_exit_status = std::max(job->derived_exit_status, step.exit_status);
        events.push_back(JobChanged{job->id});
    }
    say_step_ended(step);
}

void ClusterOps::end_steps(const Job& job, JobState state) {
    for_steps(job.id, [&](Step& step) {
        if (step.is_over()) return;
        step.state = state;
        step.end_time = at;
        if (step.key.step.value == step_batch) step.exit_status = job.exit_status;
        step.version = version;
        if (step.open_shares.empty()) say_step_ended(step);
    });
}

// Nothing will be added to its record. Accounting gets it at once, for a job that is requeued loses its steps; logs of
// earlier versions say that it came after the other records.
void ClusterOps::say_step_ended(const Step& step) {
    events.push_back(StepEnded{step.key, step.attempt});
    const Job* job = this->job(step.key.job);
    if (job && keeps_outbox() && c.state_version_ >= version_with_step_ends) post(OutboxKind::step_ended, *job, &step);
}

}  // namespace spur
