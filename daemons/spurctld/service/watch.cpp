// The hub's thread: who waits for what, and sending each watcher what changed.
#include "daemons/spurctld/service/watch.hpp"

#include <algorithm>

#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/privacy.hpp"

namespace spur::ctld {

namespace {

constexpr std::size_t most_per_user = 64;  // Watch streams; root may have more

}  // namespace

WatchHub::WatchHub(Engine& engine, const Users& users)
    : engine_{engine}, users_{users}, thread_{[this](const std::stop_token& stop) { loop(stop); }} {}

WatchHub::~WatchHub() { stop(); }

void WatchHub::close_all(const std::string& why) {
    const std::lock_guard lock{mutex_};
    for (const auto& subscriber : subscribers_) subscriber->session.close(Error{ErrorCode::unavailable, why});
}

void WatchHub::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
    const auto model = engine_.model();
    for (auto& waiting : std::exchange(waiting_, {})) waiting.waiter(*model, true);
}

void WatchHub::on_applied(const Cluster&, const Events&, const planning::Changes& changes,
                          const std::shared_ptr<const planning::ReadModel>& model, bool) {
    {
        const std::lock_guard lock{mutex_};
        if (subscribers_.empty() && waiting_.empty() && !has_waiters_in_hand_) return;
        batches_.push_back({changes, model});
    }
    wake_.notify_one();
}

void WatchHub::wait_for_job(JobId job, Clock::time_point deadline, Waiter waiter) {
    if (waiter(*engine_.model(), false)) return;
    {
        const std::lock_guard lock{mutex_};
        waiting_.push_back({job, deadline, waiter});
        // What happened between the look above and this line must not be missed.
        planning::Changes again;
        again.jobs.push_back(job);
        batches_.push_back({std::move(again), engine_.model()});
    }
    wake_.notify_one();
}

void WatchHub::await_request(const wire::Session& session, std::function<void(const v1::WatchRequest&)> then) {
    session.on_message([session, then = std::move(then), asked = false](const std::string& bytes) mutable {
        if (std::exchange(asked, true))
            return session.close(Error{ErrorCode::invalid, "a Watch stream takes one request; open another"});
        v1::WatchRequest request;
        if (!request.ParseFromString(bytes))
            return session.close(Error{ErrorCode::invalid, "the request is not a well-formed WatchRequest"});
        then(request);
    });
}

bool WatchHub::enter(const std::shared_ptr<Subscriber>& subscriber) {
    const std::lock_guard lock{mutex_};
    std::erase_if(subscribers_, [](const auto& other) { return !other->session.is_open(); });
    const auto uid = subscriber->session.caller().uid;
    const auto same =
        std::ranges::count_if(subscribers_, [&](const auto& other) { return other->session.caller().uid == uid; });
    if (uid != 0 && static_cast<std::size_t>(same) >= most_per_user) return false;
    subscribers_.push_back(subscriber);
    return true;
}

void WatchHub::subscribe(const wire::Session& session, const v1::WatchRequest& request, const Actor& who) {
    const bool both = !request.jobs() && !request.nodes();
    const auto subscriber = std::make_shared<Subscriber>(session, both || request.jobs(), both || request.nodes(), who);
    // It is registered before it gets the whole picture, so that it misses nothing that happens meanwhile.
    if (!enter(subscriber))
        return session.close(Error{ErrorCode::limit, fmt::format("you have {} Watch streams already", most_per_user)});
    // The whole picture first: what the subscriber had may be from another controller or another life of this one.
    const auto model = engine_.model();
    if (request.since_version() == 0 || request.since_version() != model->version) tell(*subscriber, {{}, model}, true);
    for (;;) {
        std::vector<Batch> missed;
        {
            const std::lock_guard lock{mutex_};
            missed = std::exchange(subscriber->missed, {});
            subscriber->version = model->version;
            subscriber->has_picture = missed.empty();
            if (missed.empty()) return;
        }
        for (const auto& batch : missed)
            if (batch.model->version > model->version) tell(*subscriber, batch, batch.changes.everything);
    }
}

void WatchHub::loop(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::vector<Batch> batches;
        {
            std::unique_lock lock{mutex_};
            auto until = Clock::now() + std::chrono::hours{1};
            for (const auto& waiting : waiting_) until = std::min(until, waiting.deadline);
            wake_.wait_until(lock, stop, until, [&] { return !batches_.empty(); });
            batches = std::exchange(batches_, {});
        }
        for (const auto& batch : batches) serve(batch);
        check_waiters(*engine_.model(), nullptr, true);
    }
}

void WatchHub::serve(const Batch& batch) {
    std::vector<std::shared_ptr<Subscriber>> subscribers;
    {
        const std::lock_guard lock{mutex_};
        std::erase_if(subscribers_, [](const auto& subscriber) { return !subscriber->session.is_open(); });
        for (const auto& subscriber : subscribers_)
            if (!subscriber->has_picture)
                subscriber->missed.push_back(batch);
            else if (batch.model->version > subscriber->version)
                subscribers.push_back(subscriber);
    }
    for (const auto& subscriber : subscribers) tell(*subscriber, batch, batch.changes.everything);
    check_waiters(*batch.model, &batch.changes, false);
}

void WatchHub::check_waiters(const planning::ReadModel& model, const planning::Changes* changes, bool expired_only) {
    std::list<Waiting> due;
    const auto now = Clock::now();
    {
        const std::lock_guard lock{mutex_};
        for (auto at = waiting_.begin(); at != waiting_.end();) {
            const bool touched =
                changes != nullptr &&
                (changes->everything || std::ranges::find(changes->jobs, at->job) != changes->jobs.end() ||
                 std::ranges::find(changes->forgotten, at->job) != changes->forgotten.end());
            const auto next = std::next(at);
            if (at->deadline <= now || (touched && !expired_only)) due.splice(due.end(), waiting_, at);
            at = next;
        }
        has_waiters_in_hand_ = !due.empty();
    }
    std::erase_if(due, [&](Waiting& waiting) {
        const bool expired = waiting.deadline <= now;
        return waiting.waiter(model, expired) || expired;
    });
    const std::lock_guard lock{mutex_};
    waiting_.splice(waiting_.end(), due);
    has_waiters_in_hand_ = false;
}

void WatchHub::tell(const Subscriber& subscriber, const Batch& batch, bool everything) const {
    v1::WatchReply reply;
    reply.set_version(batch.model->version);
    reply.set_resync(everything);
    const Privacy privacy{subscriber.who, *batch.model};
    const auto add_job = [&](const std::shared_ptr<const Job>& job) {
        if (job && privacy.shows(*job)) job_to_wire(*batch.model, *job, {}, *reply.add_jobs());
    };
    const auto add_node = [&](const std::shared_ptr<const Node>& node) {
        if (node && node->configured && !privacy.hides(private_data::nodes))
            node_to_wire(*batch.model, *node, users_, *reply.add_nodes());
    };
    if (everything) {
        if (subscriber.jobs) batch.model->jobs.for_each([&](std::uint32_t, const auto& job) { add_job(job); });
        if (subscriber.nodes) batch.model->nodes.for_each([&](std::uint32_t, const auto& node) { add_node(node); });
    } else {
        if (subscriber.jobs)
            for (const auto id : batch.changes.jobs) add_job(batch.model->jobs.get(id.value));
        if (subscriber.nodes)
            for (const auto id : batch.changes.nodes) add_node(batch.model->nodes.get(id.value));
        if (subscriber.jobs)
            for (const auto id : batch.changes.forgotten) reply.add_gone_jobs(id.value);
        if (reply.jobs().empty() && reply.nodes().empty() && reply.gone_jobs().empty()) return;
    }
    subscriber.session.send_message(reply);
}

}  // namespace spur::ctld
