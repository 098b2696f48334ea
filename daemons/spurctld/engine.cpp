#include "daemons/spurctld/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "core/codec.hpp"
#include "daemons/spurctld/snapshot_child.hpp"

namespace spur::ctld {

namespace {

// Every entry opens with who proposed it and under which number, so that the proposer finds its caller again.
struct EntryHead {
    std::uint64_t origin;
    std::uint64_t sequence;
};

std::uint64_t random_origin() {
    std::random_device dice;
    return std::uint64_t{dice()} << 32 | dice();
}

template <class... F>
struct Overload : F... {
    using F::operator()...;
};

}  // namespace

Engine::Engine(std::unique_ptr<CommandLog> log, Now now, Warn warn)
    : log_{std::move(log)}, now_{std::move(now)}, warn_{std::move(warn)}, origin_{random_origin()} {
    changes_.everything = true;
    model_.store(builder_.publish(cluster_, changes_));
}

Engine::~Engine() { stop(); }

Result<void> Engine::start() {
    SPUR_CHECK(log_->open(*this));
    thread_ = std::jthread{[this](const std::stop_token& stop) { loop(stop); }};
    return {};
}

void Engine::stop() {
    if (thread_.joinable()) {
        thread_.request_stop();
        wake_.notify_all();
        thread_.join();
    }
    if (snapshot_thread_.joinable()) snapshot_thread_.join();
}

Leadership Engine::leadership() const {
    const std::lock_guard lock{mutex_};
    return leadership_;
}

Engine::Stats Engine::stats() const { return {proposed_, applied_, refused_, batches_, snapshots_}; }

// ---- any thread: queue ---------------------------------------------------------------------------------------------

void Engine::push(Item item) {
    bool was_empty = false;
    {
        const std::lock_guard lock{mutex_};
        was_empty = inbox_.empty();
        inbox_.push_back(std::move(item));
    }
    if (was_empty) wake_.notify_one();
}

void Engine::post(std::function<void()> task) { push(std::move(task)); }

void Engine::run(std::function<void()> task) {
    if (std::this_thread::get_id() == owner_) return task();
    post(std::move(task));
}

void Engine::propose(Command command, Done done) {
    if (std::this_thread::get_id() == owner_) return enqueue(std::move(command), std::move(done));
    post([this, command = std::make_shared<Command>(std::move(command)), done = std::move(done)]() mutable {
        enqueue(std::move(*command), std::move(done));
    });
}

std::uint64_t Engine::expect_outcome(std::function<void(Result<void>)> done) {
    const auto ticket = next_ticket_.fetch_add(1);
    const std::lock_guard lock{mutex_};
    outcomes_.emplace(ticket, std::move(done));
    return ticket;
}

void Engine::forget_outcome(std::uint64_t ticket) {
    const std::lock_guard lock{mutex_};
    outcomes_.erase(ticket);
}

void Engine::confirm_lead(std::function<void(const Result<void>&)> done) {
    const auto asked = std::chrono::steady_clock::now();
    const auto ticket = expect_outcome([this, asked, done](const Result<void>& outcome) {
        if (!outcome) return done(outcome);
        led_at_ = std::max(led_at_.load(), asked);
        post([done] { done({}); });  // what was committed before is in the model by then
    });
    if (const auto begun = log_->barrier(ticket); !begun) {
        forget_outcome(ticket);
        post([done, begun] { done(begun); });
    }
}

void Engine::on_committed(std::uint64_t index, std::string_view entry) { push(Committed{index, std::string{entry}}); }
void Engine::on_outcome(std::uint64_t ticket, Fate fate, std::string why) {
    push(Outcome{ticket, fate, std::move(why)});
}
void Engine::on_role(LogRole role, std::uint64_t term, std::string leader) {
    push(RoleChange{role, term, std::move(leader)});
}
void Engine::on_snapshot_wanted() { push(SnapshotWanted{}); }

void Engine::on_failed(std::string why) {
    warn_(fmt::format("the state log cannot go on: {}", why));
    if (fatal_) fatal_(std::move(why));
}

Result<void> Engine::on_restore(std::uint64_t index, std::string snapshot) {
    SPUR_TRY(auto cluster, Cluster::load(snapshot));
    push(Restored{index, std::move(cluster)});
    return {};
}

// ---- the thread ----------------------------------------------------------------------------------------------------

void Engine::loop(const std::stop_token& stop) {
    owner_ = std::this_thread::get_id();
    while (!stop.stop_requested()) {
        auto items = wait_for_items(stop);
        for (auto& item : items) handle(item);
        finish_batch();
        propose_due_tick();
        flush_proposals();
    }
}

std::vector<Engine::Item> Engine::wait_for_items(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    const auto ready = [&] { return !inbox_.empty(); };
    const auto due = cluster_.next_due();
    if (leadership_.is_leader && due != 0 && !tick_in_flight_) {
        const auto wait_s = std::max<UnixSeconds>(std::max(due, tick_not_before_) - now_(), 0);
        wake_.wait_for(lock, stop, std::chrono::seconds{std::min<UnixSeconds>(wait_s, 3600)}, ready);
    } else {
        wake_.wait(lock, stop, ready);
    }
    return std::exchange(inbox_, {});
}

void Engine::handle(Item& item) {
    std::visit(Overload{
                   [](std::function<void()>& task) { task(); },
                   [this](Committed& committed) { apply(committed); },
                   [this](Outcome& outcome) { settle(outcome); },
                   [this](Restored& restored) {
                       cluster_ = std::move(restored.cluster);
                       applied_index_ = restored.index;
                       changes_.everything = true;
                   },
                   [this](RoleChange& change) { lead_or_follow(change); },
                   [this](SnapshotWanted) { take_snapshot(); },
               },
               item);
}

UnixSeconds Engine::stamp() { return last_stamp_ = std::max({last_stamp_, cluster_.now(), now_()}); }

Error Engine::not_leading() const {
    return {ErrorCode::unavailable, leadership_.leader.empty()
                                        ? "this controller does not lead, and no leader is known yet"
                                        : "this controller does not lead; ask " + leadership_.leader};
}

void Engine::enqueue(Command command, Done done) {
    if (!leadership_.is_leader) {
        finished_.emplace_back(std::move(done), std::unexpected(not_leading()));
        return;
    }
    const EntryHead head{origin_, next_sequence_++};
    InFlight flight{{stamp(), std::move(command)}, std::move(done)};
    std::string entry(sizeof head, '\0');
    std::memcpy(entry.data(), &head, sizeof head);
    encode(flight.command, entry);
    unsent_.push_back(std::move(entry));
    unsent_sequences_.push_back(head.sequence);
    in_flight_.emplace(head.sequence, std::move(flight));
}

void Engine::flush_proposals() {
    if (unsent_.empty()) return;
    const auto entries = std::exchange(unsent_, {});
    auto sequences = std::exchange(unsent_sequences_, {});
    const auto ticket = next_ticket_.fetch_add(1);
    const auto at = std::chrono::steady_clock::now();
    proposed_ += entries.size();
    if (const auto proposed = log_->propose(entries, ticket); !proposed) {
        for (const auto sequence : sequences)
            finished_.emplace_back(std::move(in_flight_.extract(sequence).mapped().done),
                                   std::unexpected(proposed.error()));
        return finish_batch();
    }
    tickets_.emplace(ticket, Sent{std::move(sequences), at});
}

void Engine::apply(const Committed& committed) {
    applied_index_ = committed.index;
    EntryHead head{};
    if (committed.entry.size() < sizeof head)
        return warn_(fmt::format("log entry {} is too short: skipped", committed.index));
    std::memcpy(&head, committed.entry.data(), sizeof head);

    Done done;
    Result<Events> result;
    if (auto mine = head.origin == origin_ ? in_flight_.extract(head.sequence) : decltype(in_flight_)::node_type{}) {
        done = std::move(mine.mapped().done);
        result = cluster_.apply(mine.mapped().command);
        if (result)
            for (auto* observer : observers_) observer->on_command(cluster_, mine.mapped().command, *result);
    } else if (auto command = decode_command(std::string_view{committed.entry}.substr(sizeof head)); command) {
        result = cluster_.apply(*command);
    } else {
        warn_(fmt::format("log entry {} cannot be read: {}; it was written by a newer release?", committed.index,
                          command.error().text));
        if (fatal_) fatal_(command.error().text);
        return;
    }
    if (result) {
        ++applied_;
        note_changes(*result, changes_);
        events_.insert(events_.end(), result->begin(), result->end());
    } else {
        ++refused_;
    }
    if (done) finished_.emplace_back(std::move(done), std::move(result));
}

void Engine::settle(const Outcome& outcome) {
    if (auto entry = tickets_.extract(outcome.ticket)) {
        if (outcome.fate == Fate::committed) {
            led_at_ = std::max(led_at_.load(), entry.mapped().at);
            return;
        }
        for (const auto sequence : entry.mapped().sequences)
            if (auto flight = in_flight_.extract(sequence))
                finished_.emplace_back(std::move(flight.mapped().done),
                                       outcome.fate == Fate::not_leader
                                           ? std::unexpected(not_leading())
                                           : fail(ErrorCode::internal, "{}; the change may or may not take effect",
                                                  outcome.why.empty() ? "leadership was lost" : outcome.why));
        return;
    }
    std::function<void(Result<void>)> done;
    {
        const std::lock_guard lock{mutex_};
        if (auto found = outcomes_.extract(outcome.ticket)) done = std::move(found.mapped());
    }
    if (!done) return;
    if (outcome.fate == Fate::committed)
        done({});
    else
        done(fail(ErrorCode::unavailable, "{}", outcome.why.empty() ? "the change was not made" : outcome.why));
}

void Engine::lead_or_follow(const RoleChange& change) {
    {
        const std::lock_guard lock{mutex_};
        leadership_ = {change.role == LogRole::leader, change.term, change.leader};
    }
    tick_in_flight_ = false;
    finish_batch();  // observers see all that was applied before they hear who leads
    // What the log knew at the start came before this; a leader has all, a follower of one is as late as any follower.
    if (change.role == LogRole::leader || !change.leader.empty()) current_ = true;
    for (auto* observer : observers_) observer->on_leadership(cluster_, leadership_);
}

void Engine::finish_batch() {
    if (!changes_.empty()) {
        auto model = builder_.publish(cluster_, changes_);
        model_.store(model, std::memory_order_release);
        ++batches_;
        for (auto* observer : observers_)
            observer->on_applied(cluster_, events_, changes_, model, leadership_.is_leader);
        events_.clear();
        changes_.clear();
    }
    while (!finished_.empty())  // a caller that hears may ask for more, and be refused at once
        for (auto& [done, result] : std::exchange(finished_, {}))
            if (done) done(result);
}

void Engine::propose_due_tick() {
    const auto due = cluster_.next_due();
    if (!leadership_.is_leader || tick_in_flight_ || due == 0 || std::max(due, tick_not_before_) > now_()) return;
    tick_in_flight_ = true;
    enqueue(Tick{}, [this](const Result<Events>& ticked) {
        tick_in_flight_ = false;
        if (!ticked) tick_not_before_ = now_() + 1;
    });
}

void Engine::take_snapshot() {
    if (snapshot_running_.exchange(true)) return;
    auto child = SnapshotChild::start(cluster_);
    std::vector<std::string> chunks;
    if (!child) {  // slower, and better than a log without end
        warn_(fmt::format("{}; the engine writes it itself", child.error().text));
        cluster_.save([&](std::string_view piece) { chunks.emplace_back(piece); });
    }
    snapshot_thread_ =
        std::jthread{[this, child = std::move(child), chunks = std::move(chunks), index = applied_index_]() mutable {
            auto ready = child ? child->collect() : std::move(chunks);
            const auto stored = ready ? log_->snapshot(index, *ready) : std::unexpected(ready.error());
            if (!stored)
                warn_(fmt::format("snapshot at log index {} failed: {}", index, stored.error().text));
            else
                ++snapshots_;
            snapshot_running_ = false;
        }};
}

}  // namespace spur::ctld
