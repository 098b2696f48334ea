// The one writer. A single thread owns the Cluster: it stamps commands, hands them to the log in batches, applies what
// the log has committed, publishes a new read model and only then lets the waiting callers know. Acknowledged means
// durable.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/cluster.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/spurctld/command_log.hpp"

namespace spur::ctld {

// Who leads, as far as this controller knows.
struct Leadership {
    bool is_leader{false};
    std::uint64_t term{};
    std::string leader;  // where clients reach it; empty if unknown
};

// Told on the engine thread what happened; must not block.
class EngineObserver {
public:
    virtual ~EngineObserver() = default;
    // A batch was applied. `model` shows its effect. Only the leader acts on `events`.
    virtual void on_applied(const Cluster& cluster, const Events& events, const Changes& changes,
                            const std::shared_ptr<const ReadModel>& model, bool leads) = 0;
    virtual void on_leadership(const Cluster& cluster, const Leadership& now) = 0;
    // A command that this controller proposed as leader was applied, and this is what it did.
    virtual void on_command(const Cluster&, const Stamped<Command>&, const Events&) {}
};

class Engine final : private LogListener {
public:
    // What became of a proposed command: its events, or why it was refused. On the engine thread, after the read model
    // that shows it was published.
    using Done = std::function<void(const Result<Events>&)>;
    using Now = std::function<UnixSeconds()>;
    using Warn = std::function<void(std::string)>;

    Engine(std::unique_ptr<CommandLog> log, Now now, Warn warn);
    ~Engine() override;

    void observe(EngineObserver& observer) { observers_.push_back(&observer); }  // before start()
    // Recovers the state from the log and starts the thread.
    Result<void> start();
    void stop();

    // ---- any thread
    std::shared_ptr<const ReadModel> model() const { return model_.load(std::memory_order_acquire); }
    Leadership leadership() const;
    // Whether the model has caught up with the log since the start. Until then it lacks jobs that exist, and a question
    // answered from it would deny them.
    bool is_current() const { return current_; }
    // Runs `task` on the engine thread, where cluster() may be looked at.
    void post(std::function<void()> task);
    // The same, at once where this is the engine thread already.
    void run(std::function<void()> task);
    // Makes `command` happen. Refused at once where this controller does not lead.
    void propose(Command command, Done done);
    CommandLog& log() { return *log_; }
    // A ticket for a membership change; `done` hears its outcome. [engine thread]
    std::uint64_t expect_outcome(std::function<void(Result<void>)> done);
    void forget_outcome(std::uint64_t ticket);  // none will follow
    // The last moment at which this controller is known to have led: what it proposed then was committed.
    std::chrono::steady_clock::time_point led_at() const { return led_at_; }
    // Asks the log whether this controller leads. `done` hears yes once the model shows all that was committed before
    // the question. [engine thread]
    void confirm_lead(std::function<void(const Result<void>&)> done);
    // Set when the log cannot go on; the daemon stops.
    void on_fatal(std::function<void(std::string)> handler) { fatal_ = std::move(handler); }

    // ---- engine thread only
    const Cluster& cluster() const { return cluster_; }

    struct Stats {
        std::uint64_t proposed{}, applied{}, refused{}, batches{}, snapshots{};
    };
    Stats stats() const;

private:
    struct Committed {
        std::uint64_t index;
        std::string entry;
    };
    struct Outcome {
        std::uint64_t ticket;
        Fate fate;
        std::string why;
    };
    struct Restored {
        std::uint64_t index;
        Cluster cluster;
    };
    struct RoleChange {
        LogRole role;
        std::uint64_t term;
        std::string leader;
    };
    struct SnapshotWanted {};
    using Item = std::variant<std::function<void()>, Committed, Outcome, Restored, RoleChange, SnapshotWanted>;

    struct Sent {  // a proposal
        std::vector<std::uint64_t> sequences;
        std::chrono::steady_clock::time_point at;
    };
    struct InFlight {
        Stamped<Command> command;
        Done done;
    };

    // LogListener: the log's thread; each only queues.
    void on_committed(std::uint64_t index, std::string_view entry) override;
    void on_outcome(std::uint64_t ticket, Fate fate, std::string why) override;
    Result<void> on_restore(std::uint64_t index, std::string snapshot) override;
    void on_role(LogRole role, std::uint64_t term, std::string leader) override;
    void on_snapshot_wanted() override;
    void on_failed(std::string why) override;

    void push(Item item);
    void loop(const std::stop_token& stop);
    std::vector<Item> wait_for_items(const std::stop_token& stop);
    void handle(Item& item);
    void enqueue(Command command, Done done);
    void flush_proposals();
    void apply(const Committed& committed);
    void settle(const Outcome& outcome);
    void lead_or_follow(const RoleChange& change);
    void abandon_in_flight(const std::string& why);
    void finish_batch();
    void propose_due_tick();
    void take_snapshot();
    UnixSeconds stamp();
    Error not_leading() const;

    std::unique_ptr<CommandLog> log_;
    Now now_;
    Warn warn_;
    std::vector<EngineObserver*> observers_;
    std::function<void(std::string)> fatal_;
    const std::uint64_t origin_;  // marks our own entries among the committed ones

    mutable std::mutex mutex_;
    std::condition_variable_any wake_;
    std::vector<Item> inbox_;
    Leadership leadership_;
    std::unordered_map<std::uint64_t, std::function<void(Result<void>)>> outcomes_;
    std::atomic<std::uint64_t> next_ticket_{1};
    std::atomic<bool> current_{false};
    std::atomic<std::chrono::steady_clock::time_point> led_at_{};
    std::atomic<std::thread::id> owner_{};  // the engine thread, once it runs
    std::atomic<std::shared_ptr<const ReadModel>> model_;

    // engine thread only
    Cluster cluster_;
    ReadModelBuilder builder_;
    Changes changes_;
    Events events_;
    std::vector<std::pair<Done, Result<Events>>> finished_;
    std::unordered_map<std::uint64_t, InFlight> in_flight_;  // by sequence
    std::vector<std::string> unsent_;
    std::vector<std::uint64_t> unsent_sequences_;
    std::unordered_map<std::uint64_t, Sent> tickets_;
    std::uint64_t next_sequence_{1};
    std::uint64_t applied_index_{};
    UnixSeconds last_stamp_{};
    bool tick_in_flight_{false};
    UnixSeconds tick_not_before_{};  // after a failed one
    std::jthread snapshot_thread_;
    std::atomic<bool> snapshot_running_{false};
    std::atomic<std::uint64_t> proposed_{}, applied_{}, refused_{}, batches_{}, snapshots_{};

    std::jthread thread_;
};

}  // namespace spur::ctld
