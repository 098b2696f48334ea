// The one writer. A single thread owns the Cluster: it stamps commands, hands them to the log in batches, applies what
// the log has committed, publishes a new read model and only then lets the waiting callers know. Acknowledged means
// durable.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/machine/cluster.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/common/work/inbox.hpp"
#include "daemons/spurctld/engine/command_log.hpp"

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
    virtual void on_applied(const Cluster& cluster, const Events& events, const planning::Changes& changes,
                            const std::shared_ptr<const planning::ReadModel>& model, bool leads) = 0;
    virtual void on_leadership(const Cluster& cluster, const Leadership& now) = 0;
    // A command that this controller proposed as leader was applied, and this is what it did.
    virtual void on_command(const Cluster&, const Stamped<Command>&, const Events&) {}
};

// What became of a proposed command.
struct Answer {
    enum class Stage : std::uint8_t {
        applied,      // `result` is apply's verdict, and final: the same everywhere and for ever
        not_applied,  // it never reached the log: nothing has changed, and it may be proposed again
        unknown,      // the lead was lost on the way: it may or may not take effect
    };
    Result<Events> result;
    Stage stage{Stage::applied};

    bool is_final() const { return stage == Stage::applied; }
    operator const Result<Events>&() const { return result; }  // for those who need not know more
};

// Every rule of this file in one place:
//   - An exception out of a task, or out of a command before it is proposed, refuses that caller and nobody else.
//   - An entry that cannot be read, or an exception while one is applied, ends this engine: what it holds is not what
//     the log says. It applies, proposes, confirms and stores nothing more, leads no more, and asks for the daemon's
//     end.
class Engine final : private LogListener {
public:
    // On the engine thread, after the read model that shows it was published.
    using Done = std::function<void(const Answer&)>;
    using Refused = std::function<void(const Error&)>;
    using Now = std::function<UnixSeconds()>;
    using Warn = std::function<void(std::string)>;

    Engine(std::unique_ptr<CommandLog> log, Now now, Warn warn);
    ~Engine() override;

    void observe(EngineObserver& observer) { observers_.push_back(&observer); }  // before start()
    // Recovers the state from the log and starts the thread.
    Result<void> start();
    void stop();

    // ---- any thread
    std::shared_ptr<const planning::ReadModel> model() const { return model_.load(std::memory_order_acquire); }
    Leadership leadership() const;
    UnixSeconds now() const { return now_(); }  // the cluster's time, by the leader's clock
    // Whether the model has caught up with the log since the start. Until then it lacks jobs that exist, and a question
    // answered from it would deny them.
    bool is_current() const { return current_; }
    // Runs `task` on the engine thread, where cluster() may be looked at. `refused` hears of an exception that came out
    // of it.
    void post(std::function<void()> task, Refused refused = {});
    // The same, at once where this is the engine thread already; then exceptions are the caller's.
    void run(std::function<void()> task);
    // Makes `command` happen. Refused at once where this controller does not lead.
    void propose(Command command, Done done);
    // Proposals are cut into pieces of about this size. A state plugin takes single entries of largest_entry at least.
    static constexpr std::size_t proposal_bytes = 1U << 20;
    static constexpr std::size_t largest_entry = 48U << 20;
    CommandLog& log() { return *log_; }
    // A ticket for a membership change; `done` hears its outcome. [engine thread]
    std::uint64_t expect_outcome(std::function<void(Result<void>)> done);
    void forget_outcome(std::uint64_t ticket);  // none will follow
    // The last moment at which this controller is known to have led: what it proposed then was committed.
    std::chrono::steady_clock::time_point led_at() const { return led_at_; }
    // Asks the log whether this controller leads. `done` hears yes once the model shows all that was committed before
    // the question. [engine thread]
    void confirm_lead(std::function<void(const Result<void>&)> done);
    // Hears once why the engine cannot go on; the daemon stops. On any thread.
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
    struct Task {
        std::function<void()> work;
        Refused refused;
    };
    struct Broken {};  // the log's thread could not hand something over
    using Item = std::variant<Task, Committed, Outcome, Restored, RoleChange, SnapshotWanted, Broken>;

    struct Batch {  // entries and the sequences of their commands
        std::vector<std::string> entries;
        std::vector<std::uint64_t> sequences;
        std::size_t bytes{};
    };
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

    void hand_over(const std::function<void()>& what);
    void loop(const std::stop_token& stop);
    std::vector<Item> wait_for_items();
    void handle(Item& item);
    void perform(Task& task);
    void enqueue(Command command, Done done);
    Result<void> admit(Command& command, Done& done);
    void flush_proposals();
    Result<void> send(const Batch& batch);
    void refuse(const Batch& batch, const Error& error);
    void answer(std::uint64_t sequence, const Error& error, Answer::Stage stage);
    void apply(const Committed& committed);
    Result<Answer> apply_entry(const Committed& committed, Done& done);
    void resolve(const Outcome& outcome);
    void lead_or_follow(const RoleChange& change);
    void break_down(const std::string& why);
    void finish_batch();
    void publish();
    template <class F>
    void tell(F&& what);
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

    work::Inbox<Item> inbox_;
    mutable std::mutex mutex_;
    Leadership leadership_;
    std::unordered_map<std::uint64_t, std::function<void(Result<void>)>> outcomes_;
    std::atomic<std::uint64_t> next_ticket_{1};
    std::atomic<bool> current_{false};
    std::atomic<bool> broken_{false};  // for good
    std::atomic<std::chrono::steady_clock::time_point> led_at_{};
    std::atomic<std::thread::id> owner_{};  // the engine thread, once it runs
    std::atomic<std::shared_ptr<const planning::ReadModel>> model_;

    // engine thread only
    Cluster cluster_;
    planning::ReadModelBuilder builder_;
    planning::Changes changes_;
    Events events_;
    std::vector<std::pair<Done, Answer>> finished_;
    std::unordered_map<std::uint64_t, InFlight> in_flight_;  // by sequence
    std::vector<Batch> unsent_;                              // in order
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
