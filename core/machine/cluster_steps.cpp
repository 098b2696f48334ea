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
    for (auto place = c.steps_.lower_bound({job.id, {0}}); place != c.steps_.end() && place->first.job == job.id;
         ++place)
        if (place->second.is_over()) over.push_back(place->first);
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
    step.version = version;
    trim_steps(*job);
    c.steps_.insert_or_assign(key, std::move(step));
    if (!cmd.id) {
        Change change{*this, *counter};
        ++counter->next_step;
    }
    events.push_back(StepStarted{key, cmd.attempt});
    events.push_back(JobChanged{job->id});
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
    step.end_time = at;
    step.version = version;
    switch (cmd.cause) {
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
            step.state = cmd.exit_status ? JobState::failed : JobState::completed;
            break;
    }
    if (Job* job = this->job(cmd.key.job)) {
        Change change{*this, *job};
        const bool special = cmd.key.step.value == step_batch || cmd.key.step.value == step_extern;
        if (!special) job->derived_exit_status = std::max(job->derived_exit_status, cmd.exit_status);
        events.push_back(JobChanged{job->id});
    }
    events.push_back(StepEnded{cmd.key, cmd.attempt});
    return {};
}

}  // namespace spur
