// What each event calls for, launches with their owners' groups, and the queues before slow agents.
#include "daemons/spurctld/agents/dispatch.hpp"

#include <algorithm>
#include <iterator>

#include "daemons/spurctld/agents/registration.hpp"

namespace spur::ctld {

namespace {

constexpr std::size_t most_queued = 4U << 20;        // bytes in a session's queue beyond which launches wait
constexpr std::size_t largest_launch = 32U << 20;    // half of what closes a session
constexpr std::chrono::seconds launch_patience{60};  // for a directory service to say what groups a job's owner is in

template <class T, class... Others>
concept OneOf = (std::is_same_v<T, Others> || ...);

// Nothing for the nodes, or said to the one concerned when it joins.
template <class T>
concept NotForNodes = OneOf<T, ConfigChanged, JobQueued, JobChanged, ArraySplit, JobEnded, JobRequeued, JobForgotten,
                            StepStarted, StepEnded, NodeChanged, NodeFreed, EndUnknown, LaunchAgain, PartitionChanged,
                            ReservationChanged, AssociationsChanged, HistoryDiffers>;

// Orders for a job name it and its attempt.
template <class Order>
Order& address(Order& order, const Job& job) {
    order.set_job_id(job.id.value);
    order.set_attempt(job.attempt);
    return order;
}

}  // namespace

Dispatch::Dispatch(Engine& engine, Users& users, FindSession find_session, Log log)
    : engine_{engine}, users_{users}, find_session_{std::move(find_session)}, log_{std::move(log)} {}

// ---- events --------------------------------------------------------------------------------------------------------

// One overload for every event: a new event does not compile until somebody has decided what nodes hear of it.
struct Dispatch::Orders {
    Dispatch& dispatch;
    const planning::ReadModel& model;

    JobPtr find(JobId id, std::uint32_t attempt) const {
        const auto& job = model.jobs.get(id.value);
        return job && job->attempt == attempt ? job : nullptr;
    }

    void operator()(const JobStarted& event) const {
        if (const auto job = find(event.job, event.attempt); job && job->is_running())
            dispatch.launch({job->id, job->attempt, std::nullopt, Clock::now()});
    }
    void operator()(const JobEnding& event) const {
        if (const auto job = find(event.job, event.attempt)) dispatch.send_to_job(*job, end_message(*job));
    }
    void operator()(const JobShrunk& event) const {
        if (const auto job = find(event.job, event.attempt))
            for (const auto node : event.released) dispatch.send(node, end_message(*job, "RESIZED"));
    }
    void operator()(const JobSignalled& event) const {
        const auto job = find(event.job, event.attempt);
        if (!job) return;
        v1::ControllerMessage message;
        auto& signal = address(*message.mutable_signal(), *job);
        signal.set_signal(event.signal);
        signal.set_batch_only(event.batch_only);
        signal.set_full(event.full);
        signal.set_all_steps(!event.step);
        if (event.step) signal.set_step_id(event.step->value);
        dispatch.send_to_job(*job, std::move(message));
    }
    void operator()(const JobSuspended& event) const { suspend(event.job, event.attempt, false); }
    void operator()(const JobResumed& event) const { suspend(event.job, event.attempt, true); }
    void suspend(JobId id, std::uint32_t attempt, bool resume) const {
        const auto job = find(id, attempt);
        if (!job) return;
        v1::ControllerMessage message;
        address(*message.mutable_suspend(), *job).set_resume(resume);
        dispatch.send_to_job(*job, std::move(message));
    }
    void operator()(const JobLimitChanged& event) const {
        const auto job = find(event.job, event.attempt);
        if (!job) return;
        v1::ControllerMessage message;
        auto& limits = address(*message.mutable_limits(), *job);
        if (job->time_limit_min != unlimited) {
            limits.set_end_time(job->end_time);
            limits.set_remaining_s(job->end_time - dispatch.engine_.now());
        }
        dispatch.send_to_job(*job, std::move(message));
    }
    void operator()(const HistoryChanged&) const {
        v1::ControllerMessage message;
        for (const auto& key : model.directory->history.step_keys) message.mutable_keys()->add_keys(key.str());
        *message.mutable_keys()->mutable_now() = history_now(model.directory->history, model.version);
        model.nodes.for_each([&](std::uint32_t id, const auto&) { dispatch.send(NodeId{id}, message); });
    }
    void operator()(const RebootWanted& event) const { dispatch.send_reboot(event.node); }
    template <NotForNodes T>
    void operator()(const T&) const {}
};

void Dispatch::act(const Events& all, std::shared_ptr<const planning::ReadModel> model) {
    Events events;
    std::ranges::copy_if(all, std::back_inserter(events), [](const Event& event) {
        return std::visit([]<class T>(const T&) { return !NotForNodes<T>; }, event);
    });
    if (events.empty()) return;  // as most often: the thread is not woken for nothing
    thread_.post([this, events = std::move(events), model = std::move(model)] {
        for (const auto& event : events) std::visit(Orders{*this, *model}, event);
    });
}

void Dispatch::joined(NodeId node, std::vector<JobId> to_launch, std::vector<JobId> to_end) {
    thread_.post([this, node, to_launch = std::move(to_launch), to_end = std::move(to_end)] {
        waiting_.erase(node);
        nodes_waiting_ = waiting_.size();
        const auto model = engine_.model();
        for (const auto id : to_launch)
            if (const auto& job = model->jobs.get(id.value)) launch({id, job->attempt, node, Clock::now()});
        for (const auto id : to_end)
            if (const auto& job = model->jobs.get(id.value); job && job->is_completing()) send(node, end_message(*job));
        if (const auto& known = model->nodes.get(node.value); known && known->flags & node_flag::reboot_issued)
            send_reboot(node);
    });
}

// ---- sending -------------------------------------------------------------------------------------------------------

// The state's version goes with each message: it is what the agent has seen of it.
std::string Dispatch::pack(v1::ControllerMessage message) const {
    message.set_version(engine_.model()->version);
    return message.SerializeAsString();
}

bool Dispatch::send(NodeId node, v1::ControllerMessage message) const {
    const auto session = find_session_(node);
    return session && session->send(pack(std::move(message)));
}

void Dispatch::send_to_job(const Job& job, v1::ControllerMessage message) const {
    if (!job.allocation) return;
    const auto packed = pack(std::move(message));
    for (const auto index : job.open_shares)
        if (const auto session = find_session_(job.allocation->shares[index].node)) session->send(packed);
}

void Dispatch::send_reboot(NodeId node) const {
    v1::ControllerMessage message;
    message.mutable_reboot();
    send(node, std::move(message));
}

// ---- launches ------------------------------------------------------------------------------------------------------

Dispatch::JobPtr Dispatch::find_launchable(const planning::ReadModel& model, const Launch& wanted) const {
    const auto& job = model.jobs.get(wanted.job.value);
    return job && job->attempt == wanted.attempt && job->allocation && job->is_active() ? job : nullptr;
}

void Dispatch::launch(const Launch& wanted) {
    const auto job = find_launchable(*engine_.model(), wanted);
    if (!job) return;
    users_.find_with_groups(job->spec->uid, [this, wanted](const Result<Users::Record>& owner) {
        thread_.run([this, wanted, owner] { launch_as(wanted, owner); });
    });
}

void Dispatch::launch_as(const Launch& wanted, const Result<Users::Record>& owner) {
    const auto model = engine_.model();
    const auto job = find_launchable(*model, wanted);
    if (!job) return;
    if (owner) {
        if (!body_ || !body_->is_of(job, *owner)) body_.emplace(*model, job, *owner);
        const auto& shares = job->allocation->shares;
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (!wanted.only || shares[i].node == *wanted.only) send_launch(wanted, *model, i);
        return;
    }
    log_(fmt::format("job {} cannot be launched: {}", wanted.job.value, owner.error().text));
    if (owner.error().code != ErrorCode::not_found && Clock::now() - wanted.since < launch_patience)
        return postponed_.push_back(wanted);
    fail_launch(wanted, owner.error().text);
}

// The queue of a slow agent does not grow without limit: launches wait until there is room.
void Dispatch::send_launch(const Launch& wanted, const planning::ReadModel& model, std::size_t index) {
    const auto node = body_->job().allocation->shares[index].node;
    const auto session = find_session_(node);
    if (!session) return;
    if (session->queued_bytes() > most_queued) {
        waiting_[node].push_back({wanted.job, wanted.attempt, node, wanted.since});
        nodes_waiting_ = waiting_.size();
        if (session->queued_bytes() == 0) drained(node);  // just before it was told that somebody waits
        return;
    }
    auto packed = body_->message(model, index, engine_.now());
    if (packed.size() <= largest_launch) {
        session->send(std::move(packed));
        return;
    }
    const auto why = fmt::format(
        "its launch has {} bytes, and an agent takes {}: give it a smaller script, "
        "environment or list of arguments",
        packed.size(), largest_launch);
    log_(fmt::format("job {} cannot be launched: {}", wanted.job.value, why));
    fail_launch(wanted, why);
}

// Launches that still find no room wait again, in this order.
void Dispatch::drained(NodeId node) {
    if (nodes_waiting_ == 0) return;
    thread_.post([this, node] {
        const auto waiting = waiting_.extract(node);
        nodes_waiting_ = waiting_.size();
        if (!waiting.empty())
            for (const auto& wanted : waiting.mapped()) launch(wanted);
    });
}

void Dispatch::fail_launch(const Launch& wanted, const std::string& why) {
    engine_.propose(FinishJob{.job = wanted.job,
                              .attempt = wanted.attempt,
                              .cause = EndCause::launch_failed,
                              .node = {},
                              .detail = Text{why}},
                    {});
}

void Dispatch::try_again() {
    thread_.post([this] {
        for (const auto& wanted : std::exchange(postponed_, {})) launch(wanted);
    });
}

}  // namespace spur::ctld
