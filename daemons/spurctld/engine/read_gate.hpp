// Lets a question through once the model shows all that any controller had acknowledged before it was asked, so that a
// user who submits at one controller and lists at another sees the job, also when the other was stopped for a while and
// still believes that it leads.
//
// A leader knows that it leads while a change of its own was committed a moment ago; else it asks the log. A follower
// asks the leader how far it is and waits until it has come as far. Where nobody leads for longer than an election
// takes, what is known is answered, and how old it is: some answer is better than none. A single controller lets
// everything through at once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemons/spurctld/engine/engine.hpp"

namespace spur::ctld {

class ReadGate final : public EngineObserver {
public:
    using Clock = std::chrono::steady_clock;
    // Asked with 0 where the model is not older than the question; else with the moment up to which it is known to be
    // all there is.
    using Question = std::function<void(UnixSeconds as_of)>;
    // How far the leader at that address is, as the version of its model. Called on the gate's thread; may take
    // `ask_limit`.
    using AskLeader = std::function<Result<std::uint64_t>(const std::string& leader)>;
    static constexpr std::chrono::milliseconds ask_limit{500};
    static constexpr std::chrono::milliseconds patience{3000};

    // `is_alone`: no other controller is configured.
    ReadGate(Engine& engine, AskLeader ask, bool is_alone);
    ~ReadGate() override;
    void stop();           // what waits is let through
    void expect_others();  // [any thread] this controller is no longer alone

    // [any thread] Asks `question` now, or soon on the gate's thread.
    void pass(Question question);
    // [any thread] `done` hears the version a reader must have seen, or that this controller does not lead.
    void read_point(std::function<void(const Result<std::uint64_t>&)> done);

    void on_applied(const Cluster&, const Events&, const planning::Changes&,
                    const std::shared_ptr<const planning::ReadModel>&, bool) override;
    void on_leadership(const Cluster&, const Leadership&) override;

private:
    bool knows_to_lead() const;
    void note_current();
    void loop(const std::stop_token& stop);
    bool catch_up(const std::stop_token& stop);
    bool catch_up_once(Clock::time_point deadline, const std::stop_token& stop);
    void wait_for_news(std::uint64_t seen, Clock::time_point deadline, const std::stop_token& stop);

    Engine& engine_;
    AskLeader ask_;
    std::atomic<bool> is_alone_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::vector<Question> waiting_;
    std::uint64_t news_{0};  // counts what the engine told
    bool is_lost_{false};    // the last attempt ran out of patience; until there is news of a leader nobody waits again
    std::atomic<UnixSeconds> current_at_{0};  // when this controller last led, or heard from one that does
    std::jthread thread_;
};

}  // namespace spur::ctld
