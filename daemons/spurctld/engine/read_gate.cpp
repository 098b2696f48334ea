// Asking the leader how far it is, and letting waiting readers go on once the model has caught up.
#include "daemons/spurctld/engine/read_gate.hpp"

#include <algorithm>
#include <ctime>
#include <future>
#include <utility>

namespace spur::ctld {

namespace {

// Others elect no new leader so soon after they heard of this one: the shortest election timeout is twice as long.
constexpr std::chrono::milliseconds lease{25};

}  // namespace

ReadGate::ReadGate(Engine& engine, AskLeader ask, bool is_alone)
    : engine_{engine},
      ask_{std::move(ask)},
      is_alone_{is_alone},
      thread_{[this](const std::stop_token& stop) { loop(stop); }} {}

ReadGate::~ReadGate() { stop(); }

void ReadGate::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
    for (const auto& question : std::exchange(waiting_, {})) question(current_at_);
}

void ReadGate::expect_others() { is_alone_ = false; }

bool ReadGate::knows_to_lead() const {
    if (is_alone_) return true;
    return engine_.leadership().is_leader && Clock::now() - engine_.led_at() < lease;
}

void ReadGate::pass(Question question) {
    if (knows_to_lead()) return question(0);
    {
        const std::lock_guard lock{mutex_};
        waiting_.push_back(std::move(question));
    }
    wake_.notify_all();
}

void ReadGate::read_point(std::function<void(const Result<std::uint64_t>&)> done) {
    if (knows_to_lead()) return done(engine_.model()->version);
    engine_.confirm_lead([this, done = std::move(done)](const Result<void>& confirmed) {
        if (!confirmed) return done(std::unexpected(confirmed.error()));
        done(engine_.model()->version);
    });
}

void ReadGate::note_current() { current_at_ = static_cast<UnixSeconds>(::time(nullptr)); }

// What is read again at the start is as old as its stamp says.
void ReadGate::on_applied(const Cluster& cluster, const Events&, const planning::Changes&,
                          const std::shared_ptr<const planning::ReadModel>&, bool) {
    if (is_alone_) return;
    current_at_ = std::max(current_at_.load(), cluster.now());
    {
        const std::lock_guard lock{mutex_};
        ++news_;
    }
    wake_.notify_all();
}

void ReadGate::on_leadership(const Cluster&, const Leadership& now) {
    if (const auto members = engine_.log().members(); members && members->size() > 1) expect_others();
    {
        const std::lock_guard lock{mutex_};
        ++news_;
        if (now.is_leader || !now.leader.empty()) is_lost_ = false;
    }
    wake_.notify_all();
}

// ---- the thread ----------------------------------------------------------------------------------------------------

void ReadGate::loop(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::vector<Question> questions;
        {
            std::unique_lock lock{mutex_};
            wake_.wait(lock, stop, [&] { return !waiting_.empty(); });
            questions = std::exchange(waiting_, {});
        }
        const bool is_current = !questions.empty() && catch_up(stop);
        if (is_current) note_current();
        for (const auto& question : questions) question(is_current ? 0 : std::max<UnixSeconds>(current_at_, 1));
    }
}

// Readers that come while the leader is being asked wait for the next answer: they may have seen something newer.
bool ReadGate::catch_up(const std::stop_token& stop) {
    {
        const std::lock_guard lock{mutex_};
        if (is_lost_) return false;
    }
    const auto deadline = Clock::now() + patience;
    while (!stop.stop_requested() && Clock::now() < deadline)
        if (catch_up_once(deadline, stop)) return true;
    const std::lock_guard lock{mutex_};
    is_lost_ = true;
    return false;
}

bool ReadGate::catch_up_once(Clock::time_point deadline, const std::stop_token& stop) {
    std::uint64_t seen = 0;
    {
        const std::lock_guard lock{mutex_};
        seen = news_;
    }
    constexpr std::chrono::milliseconds moment{50};  // before asking again where the answer was no
    const auto leadership = engine_.leadership();
    if (leadership.is_leader) {
        if (knows_to_lead()) return true;
        const auto answer = std::make_shared<std::promise<bool>>();
        auto confirmed = answer->get_future();
        engine_.confirm_lead([answer](const Result<void>& result) { answer->set_value(result.has_value()); });
        // A leader that was cut off may wait for long; the news that another leads ends that.
        while (confirmed.wait_for(moment) != std::future_status::ready)
            if (stop.stop_requested() || Clock::now() >= deadline || !engine_.leadership().is_leader) return false;
        if (confirmed.get()) return true;
    } else if (!leadership.leader.empty()) {
        if (const auto version = ask_(leadership.leader)) {
            while (engine_.model()->version < *version) {
                if (stop.stop_requested() || Clock::now() >= deadline) return false;
                wait_for_news(seen, deadline, stop);
                const std::lock_guard lock{mutex_};
                seen = news_;
            }
            return true;
        }
    }
    wait_for_news(seen, std::min(deadline, Clock::now() + moment), stop);
    return false;
}

void ReadGate::wait_for_news(std::uint64_t seen, Clock::time_point deadline, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    wake_.wait_until(lock, stop, deadline, [&] { return news_ != seen; });
}

}  // namespace spur::ctld
