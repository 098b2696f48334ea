// What agents are told: events of the cluster as orders for its nodes.
#include "daemons/spurctld/agents/agents.hpp"
#include "daemons/spurctld/agents/launch.hpp"
#include "daemons/spurctld/agents/registration.hpp"

namespace spur::ctld {

namespace {

constexpr std::size_t most_queued = 4U << 20;        // bytes in a session's queue beyond which launches wait
constexpr std::size_t largest_launch = 32U << 20;    // half of what closes a session
constexpr std::chrono::seconds launch_patience{60};  // for a directory service to say what groups a job's owner is in

}  // namespace

// The state's version goes with each message: it is what the agent has seen of it.
std::string Agents::pack(v1::ControllerMessage message) const {
    message.set_version(engine_.model()->version);
    return message.SerializeAsString();
}

std::shared_ptr<Agents::Link> Agents::link_of(NodeId node) const {
    const std::lock_guard lock{mutex_};
    const auto found = nodes_.find(node);
    return found == nodes_.end() ? nullptr : found->second.link;
}

bool Agents::send(NodeId node, const std::string& packed) {
    const auto link = link_of(node);
    return link && link->session.send(packed);
}

void Agents::send_to_job(const Job& job, v1::ControllerMessage message) {
    if (!job.allocation) return;
    const auto packed = pack(std::move(message));
    for (const auto index : job.open_shares) send(job.allocation->shares[index].node, packed);
}

void Agents::send_keys(const Cluster& cluster) {
    v1::ControllerMessage message;
    for (const auto& key : cluster.history().step_keys) message.mutable_keys()->add_keys(key.str());
    *message.mutable_keys()->mutable_now() = history_now(cluster);
    const auto packed = pack(std::move(message));
    for (const auto& node : cluster.nodes()) send(node.id, packed);
}

void Agents::launch(const Job& job, std::optional<NodeId> only) { launch({job.id, job.attempt, only, Clock::now()}); }

// [engine thread]
void Agents::launch(const Launch& wanted) {
    const auto* job = engine_.cluster().find_job(wanted.job);
    if (job == nullptr || job->attempt != wanted.attempt || !job->allocation || !job->is_active()) return;
    users_.find_with_groups(job->spec->uid, [this, wanted](const Result<Users::Record>& owner) {
        engine_.run([this, wanted, owner] { launch_as(wanted, owner); });
    });
}

// [engine thread]
void Agents::launch_as(const Launch& wanted, const Result<Users::Record>& owner) {
    const auto* job = engine_.cluster().find_job(wanted.job);
    if (job == nullptr || job->attempt != wanted.attempt || !job->allocation || !job->is_active()) return;
    if (owner) {
        const auto shares = job->allocation->shares.size();
        for (std::size_t i = 0; i < shares; ++i)
            if (!wanted.only || job->allocation->shares[i].node == *wanted.only) send_launch(wanted, *job, **owner, i);
        return;
    }
    log_(fmt::format("job {} cannot be launched: {}", wanted.job.value, owner.error().text));
    if (owner.error().code != ErrorCode::not_found && Clock::now() - wanted.since < launch_patience) {
        const std::lock_guard lock{mutex_};
        return postponed_.push_back(wanted);
    }
    fail_launch(wanted, owner.error().text);
}

// [engine thread] What an agent has not read yet is not added to without end: launches wait for their turn.
void Agents::send_launch(const Launch& wanted, const Job& job, const UserRecord& owner, std::size_t index) {
    const auto node = job.allocation->shares[index].node;
    const auto link = link_of(node);
    if (!link) return;
    if (link->session.queued_bytes() > most_queued) {
        link->waiting.push_back({wanted.job, wanted.attempt, node, wanted.since});
        link->has_waiting = true;
        // It may have been drained just before it was told that somebody waits.
        if (link->session.queued_bytes() == 0) engine_.post([this, link] { send_waiting(link); });
        return;
    }
    auto packed = pack(launch_message(*engine_.model(), job, owner, index, engine_.now()));
    if (packed.size() <= largest_launch) {
        link->session.send(std::move(packed));
        return;
    }
    const auto why = fmt::format(
        "its launch has {} bytes, and an agent takes {}: give it a smaller script, "
        "environment or list of arguments",
        packed.size(), largest_launch);
    log_(fmt::format("job {} cannot be launched: {}", wanted.job.value, why));
    fail_launch(wanted, why);
}

// [engine thread]
void Agents::send_waiting(const std::shared_ptr<Link>& link) {
    const auto waiting = std::exchange(link->waiting, {});
    link->has_waiting = false;
    for (const auto& wanted : waiting) launch(wanted);  // those that still find no room wait again, in this order
}

void Agents::fail_launch(const Launch& wanted, const std::string& why) {
    engine_.propose(FinishJob{.job = wanted.job,
                              .attempt = wanted.attempt,
                              .cause = EndCause::launch_failed,
                              .node = {},
                              .detail = Text{why}},
                    {});
}

void Agents::try_again() {
    std::vector<Launch> postponed;
    {
        const std::lock_guard lock{mutex_};
        postponed = std::exchange(postponed_, {});
        if (!leads_) return;
    }
    for (const auto& wanted : postponed) engine_.post([this, wanted] { launch(wanted); });
}

void Agents::on_applied(const Cluster& cluster, const Events& events, const planning::Changes&,
                        const std::shared_ptr<const planning::ReadModel>&, bool leads) {
    if (!leads) return;
    for (const auto& event : events) act(cluster, event);
}

void Agents::act(const Cluster& cluster, const Event& event) {
    if (const auto* started = std::get_if<JobStarted>(&event)) {
        if (const auto* job = cluster.find_job(started->job);
            job != nullptr && job->attempt == started->attempt && job->is_running())
            launch(*job, std::nullopt);
    } else if (const auto* again = std::get_if<LaunchAgain>(&event)) {
        if (const auto* job = cluster.find_job(again->job)) launch(*job, again->node);
    } else if (const auto* ending = std::get_if<JobEnding>(&event)) {
        if (const auto* job = cluster.find_job(ending->job); job != nullptr && job->attempt == ending->attempt)
            send_to_job(*job, end_message(*job));
    } else if (const auto* shrunk = std::get_if<JobShrunk>(&event)) {
        if (const auto* job = cluster.find_job(shrunk->job))
            for (const auto node : shrunk->released) send(node, pack(end_message(*job, "RESIZED")));
    } else if (const auto* signalled = std::get_if<JobSignalled>(&event)) {
        const auto* job = cluster.find_job(signalled->job);
        if (job == nullptr) return;
        v1::ControllerMessage message;
        auto& signal = *message.mutable_signal();
        signal.set_job_id(signalled->job.value);
        signal.set_attempt(signalled->attempt);
        signal.set_signal(signalled->signal);
        signal.set_batch_only(signalled->batch_only);
        signal.set_full(signalled->full);
        signal.set_all_steps(!signalled->step);
        if (signalled->step) signal.set_step_id(signalled->step->value);
        send_to_job(*job, std::move(message));
    } else if (const auto* suspended = std::get_if<JobSuspended>(&event)) {
        const auto* job = cluster.find_job(suspended->job);
        if (job == nullptr) return;
        v1::ControllerMessage message;
        message.mutable_suspend()->set_job_id(suspended->job.value);
        message.mutable_suspend()->set_attempt(suspended->attempt);
        send_to_job(*job, std::move(message));
    } else if (const auto* resumed = std::get_if<JobResumed>(&event)) {
        const auto* job = cluster.find_job(resumed->job);
        if (job == nullptr) return;
        v1::ControllerMessage message;
        message.mutable_suspend()->set_job_id(resumed->job.value);
        message.mutable_suspend()->set_attempt(resumed->attempt);
        message.mutable_suspend()->set_resume(true);
        send_to_job(*job, std::move(message));
    } else if (const auto* limit = std::get_if<JobLimitChanged>(&event)) {
        const auto* job = cluster.find_job(limit->job);
        if (job == nullptr) return;
        v1::ControllerMessage message;
        message.mutable_limits()->set_job_id(limit->job.value);
        message.mutable_limits()->set_attempt(limit->attempt);
        if (job->time_limit_min != unlimited) {
            message.mutable_limits()->set_end_time(job->end_time);
            message.mutable_limits()->set_remaining_s(job->end_time - engine_.now());
        }
        send_to_job(*job, std::move(message));
    } else if (std::holds_alternative<HistoryChanged>(event)) {
        send_keys(cluster);
    }
}

}  // namespace spur::ctld
