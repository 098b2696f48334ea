// The engine's queue and thread: proposing in batches, applying what is committed, snapshots, callers' outcomes.
#include "daemons/spurctld/engine/engine.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "core/store/codec.hpp"
#include "core/store/tagged.hpp"
#include "daemons/spurctld/engine/snapshot_child.hpp"

namespace spur::ctld {

namespace {

std::uint64_t random_origin() {
    std::random_device dice;
    return std::uint64_t{dice()} << 32 | dice();
}

template <class... F>
struct Overload : F... {
    using F::operator()...;
};

// The next push_back() will not need memory.
template <class T>
void make_room(std::vector<T>& list) {
    if (list.size() == list.capacity()) list.reserve(std::max<std::size_t>(8, list.size() * 2));
}

// Runs `work`; an exception becomes an error.
template <class F>
Result<void> guarded(F&& work) {
    try {
        work();
        return {};
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::internal, "there is not enough memory for it");
    } catch (const std::exception& error) {
        return fail(ErrorCode::internal, "it failed inside the controller: {}", error.what());
    } catch (...) {
        return fail(ErrorCode::internal, "it failed inside the controller");
    }
}

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
    log_->stop();
    if (thread_.joinable()) {
        thread_.request_stop();
        inbox_.interrupt();
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

void Engine::post(std::function<void()> task, Refused refused) {
    inbox_.push(Task{std::move(task), std::move(refused)});
}

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
    if (broken_) return post([this, done] { done(std::unexpected(not_leading())); });
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

// [the log's thread] What cannot be queued is lost, and with it our place in the log.
void Engine::hand_over(const std::function<void()>& what) {
    if (broken_) return;
    if (const auto done = guarded(what); !done) {
        broken_ = true;
        (void)guarded([this] { inbox_.push(Broken{}); });
    }
}

void Engine::on_committed(std::uint64_t index, std::string_view entry) {
    hand_over([&] { inbox_.push(Committed{index, std::string{entry}}); });
}
void Engine::on_outcome(std::uint64_t ticket, Fate fate, std::string why) {
    hand_over([&] { inbox_.push(Outcome{ticket, fate, std::move(why)}); });
}
void Engine::on_role(LogRole role, std::uint64_t term, std::string leader) {
    hand_over([&] { inbox_.push(RoleChange{role, term, std::move(leader)}); });
}
void Engine::on_snapshot_wanted() {
    hand_over([&] { inbox_.push(SnapshotWanted{}); });
}

void Engine::on_failed(std::string why) {
    warn_(fmt::format("the state log cannot go on: {}", why));
    if (fatal_) fatal_(std::move(why));
}

Result<void> Engine::on_restore(std::uint64_t index, std::string snapshot) {
    Result<void> restored;
    const auto tried = guarded([&] {
        auto cluster = Cluster::load(snapshot);
        if (cluster)
            inbox_.push(Restored{index, std::move(*cluster)});
        else
            restored = std::unexpected(cluster.error());
    });
    return tried ? restored : tried;
}

// ---- the thread ----------------------------------------------------------------------------------------------------

void Engine::loop(const std::stop_token& stop) {
    owner_ = std::this_thread::get_id();
    while (!stop.stop_requested()) {
        auto items = wait_for_items();
        for (auto& item : items) handle(item);
        finish_batch();
        propose_due_tick();
        flush_proposals();
    }
}

std::vector<Engine::Item> Engine::wait_for_items() {
    const auto due = cluster_.next_due();
    if (!leadership_.is_leader || due == 0 || tick_in_flight_) return inbox_.take();
    const auto wait_s = std::clamp<UnixSeconds>(std::max(due, tick_not_before_) - now_(), 0, 3600);
    return inbox_.take(std::chrono::steady_clock::now() + std::chrono::seconds{wait_s});
}

void Engine::handle(Item& item) {
    std::visit(Overload{
                   [this](Task& task) { perform(task); },
                   [this](Committed& committed) { apply(committed); },
                   [this](Outcome& outcome) { resolve(outcome); },
                   [this](Restored& restored) {
                       if (broken_) return;
                       cluster_ = std::move(restored.cluster);
                       applied_index_ = restored.index;
                       changes_.everything = true;
                   },
                   [this](RoleChange& change) { lead_or_follow(change); },
                   [this](SnapshotWanted) { take_snapshot(); },
                   [this](Broken) { break_down("there is not enough memory to take an entry from the log"); },
               },
               item);
}

// A task that fails takes its caller down and nobody else.
void Engine::perform(Task& task) {
    const auto done = guarded(task.work);
    if (done) return;
    warn_(fmt::format("a request was refused: {}", done.error().text));
    if (task.refused) (void)guarded([&] { task.refused(done.error()); });
}

UnixSeconds Engine::stamp() { return last_stamp_ = std::max({last_stamp_, cluster_.now(), now_()}); }

Error Engine::not_leading() const {
    if (broken_) return {ErrorCode::unavailable, "this controller has stopped working and is about to end"};
    const std::lock_guard lock{mutex_};
    return {ErrorCode::unavailable, leadership_.leader.empty()
                                        ? "this controller does not lead, and no leader is known yet"
                                        : "this controller does not lead; ask " + leadership_.leader};
}

void Engine::enqueue(Command command, Done done) {
    Result<void> admitted;
    if (const auto tried = guarded([&] { admitted = admit(command, done); }); !tried) {
        admitted = tried;
        warn_(fmt::format("a change was refused: {}", tried.error().text));
    }
    if (!admitted)
        finished_.emplace_back(std::move(done), Answer{std::unexpected(admitted.error()), Answer::Stage::not_applied});
}

// Takes `command` and `done` only if nothing stands in the way of proposing it.
Result<void> Engine::admit(Command& command, Done& done) {
    if (broken_ || !leadership_.is_leader) return std::unexpected(not_leading());
    InFlight flight{{stamp(), std::move(command)}, {}};
    // Every entry opens with who proposed it and under which number, so that the proposer finds its caller again.
    std::string entry;
    archive::Writer head{entry};
    head.fixed(origin_);
    head.fixed(next_sequence_);
    SPUR_CHECK(encode(flight.command, entry, cluster_.state_version()));
    if (entry.size() > largest_entry)
        return fail(ErrorCode::limit, "this is too large to be stored: it takes {} MiB, and {} are possible",
                    (entry.size() >> 20) + 1, largest_entry >> 20);
    if (unsent_.empty() || unsent_.back().bytes + entry.size() > proposal_bytes) unsent_.emplace_back();
    auto& batch = unsent_.back();
    make_room(batch.sequences);
    make_room(batch.entries);
    const auto size = entry.size();
    auto& kept = in_flight_.emplace(next_sequence_, std::move(flight)).first->second;
    // From here on nothing fails.
    kept.done = std::move(done);
    batch.entries.push_back(std::move(entry));
    batch.sequences.push_back(next_sequence_);
    batch.bytes += size;
    ++next_sequence_;
    return {};
}

// Once the log cannot take one piece, later ones are not offered either: commands stay in order.
void Engine::flush_proposals() {
    if (unsent_.empty()) return;
    Result<void> sent;
    for (const auto& batch : std::exchange(unsent_, {}))
        if (!sent)
            refuse(batch, sent.error());
        else if (!batch.entries.empty())
            sent = send(batch);
    if (!finished_.empty()) finish_batch();
    if (!unsent_.empty()) post([] {});  // somebody who heard has proposed more: another round
}

// Every command of it is on its way or has its answer. Fails where the log takes nothing at all now.
Result<void> Engine::send(const Batch& batch) {
    const auto ticket = next_ticket_.fetch_add(1);
    Result<void> sent;
    const auto tried = guarded([&] {
        tickets_.emplace(ticket, Sent{batch.sequences, std::chrono::steady_clock::now()});
        sent = log_->propose(batch.entries, ticket);
    });
    if (!tried) sent = tried;
    if (sent) {
        proposed_ += batch.entries.size();
        return {};
    }
    tickets_.erase(ticket);
    const bool is_too_large = sent.error().code == ErrorCode::invalid;
    if (!is_too_large || batch.entries.size() == 1) {
        refuse(batch, sent.error());
        return is_too_large ? Result<void>{} : sent;
    }
    // Larger than this log takes at once: then only what is too large alone is refused.
    sent = {};
    for (std::size_t i = 0; i < batch.entries.size(); ++i) {
        const Batch one{.entries = {batch.entries[i]}, .sequences = {batch.sequences[i]}, .bytes = 0};
        if (sent)
            sent = send(one);
        else
            refuse(one, sent.error());
    }
    return sent;
}

void Engine::refuse(const Batch& batch, const Error& error) {
    for (const auto sequence : batch.sequences) answer(sequence, error, Answer::Stage::not_applied);
}

// A command that waits for its outcome hears this instead; one that has heard already is left alone.
void Engine::answer(std::uint64_t sequence, const Error& error, Answer::Stage stage) {
    if (auto flight = in_flight_.extract(sequence))
        finished_.emplace_back(std::move(flight.mapped().done), Answer{std::unexpected(error), stage});
}

void Engine::apply(const Committed& committed) {
    if (broken_) return;
    if (committed.index <= applied_index_)
        return break_down(
            fmt::format("log entry {} came after entry {}: the state plugin gives entries twice or "
                        "backwards",
                        committed.index, applied_index_));
    Done done;
    Result<Answer> applied;
    const auto tried = guarded([&] {
        applied = apply_entry(committed, done);
        if (applied && applied->result) {
            planning::note_changes(*applied->result, changes_);
            events_.insert(events_.end(), applied->result->begin(), applied->result->end());
        }
    });
    if (!tried) applied = std::unexpected(tried.error());
    if (!applied) return break_down(fmt::format("log entry {}: {}", committed.index, applied.error().text));
    applied_index_ = committed.index;
    ++(applied->result ? applied_ : refused_);
    if (done) finished_.emplace_back(std::move(done), std::move(*applied));
}

// The verdict on it, or why it cannot be applied at all.
Result<Answer> Engine::apply_entry(const Committed& committed, Done& done) {
    archive::Reader in{committed.entry};
    std::uint64_t origin = 0, sequence = 0;
    if (!in.fixed(origin) || !in.fixed(sequence)) return fail(ErrorCode::corrupt, "it is too short to be one");
    if (auto mine = origin == origin_ ? in_flight_.extract(sequence) : decltype(in_flight_)::node_type{}) {
        done = std::move(mine.mapped().done);
        const auto& command = mine.mapped().command;
        Answer verdict{cluster_.apply(command)};
        if (verdict.result)
            for (auto* observer : observers_) tell([&] { observer->on_command(cluster_, command, *verdict.result); });
        return verdict;
    }
    SPUR_TRY(const auto command, decode_command(in.rest()));
    return Answer{cluster_.apply(command)};
}

// The state is no longer what the log says, and nothing that comes can mend that.
void Engine::break_down(const std::string& why) {
    broken_ = true;
    warn_(fmt::format("this controller stops here and changes nothing more: {}", why));
    unsent_.clear();
    changes_.clear();  // half of an entry may be in them
    events_.clear();
    for (auto& [sequence, flight] : std::exchange(in_flight_, {}))
        finished_.emplace_back(std::move(flight.done), Answer{std::unexpected(not_leading()), Answer::Stage::unknown});
    tickets_.clear();
    const bool led = leadership_.is_leader;
    decltype(outcomes_) outcomes;
    {
        const std::lock_guard lock{mutex_};
        leadership_ = {false, leadership_.term, {}};
        outcomes = std::exchange(outcomes_, {});
    }
    for (const auto& [ticket, done] : outcomes) tell([&] { done(std::unexpected(not_leading())); });
    for (auto* observer : observers_) tell([&] { observer->on_leadership(cluster_, leadership_); });
    if (led) (void)log_->transfer({}, next_ticket_.fetch_add(1));  // others may do better
    if (fatal_) fatal_(why);
}

void Engine::resolve(const Outcome& outcome) {
    if (auto entry = tickets_.extract(outcome.ticket)) {
        if (outcome.fate == Fate::committed) {
            led_at_ = std::max(led_at_.load(), entry.mapped().at);
            return;
        }
        const bool is_unknown = outcome.fate == Fate::unknown;
        Error why = not_leading();
        if (outcome.fate == Fate::failed && !outcome.why.empty()) why.text = outcome.why;
        if (is_unknown)
            why = {ErrorCode::internal, fmt::format("{}; the change may or may not take effect",
                                                    outcome.why.empty() ? "leadership was lost" : outcome.why)};
        for (const auto sequence : entry.mapped().sequences)
            answer(sequence, why, is_unknown ? Answer::Stage::unknown : Answer::Stage::not_applied);
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
    if (broken_) return;
    {
        const std::lock_guard lock{mutex_};
        leadership_ = {change.role == LogRole::leader, change.term, change.leader};
    }
    tick_in_flight_ = false;
    finish_batch();  // observers see all that was applied before they hear who leads
    // What the log held at the start has been applied by now. A leader has everything; a follower lags as followers do.
    if (change.role == LogRole::leader || !change.leader.empty()) current_ = true;
    for (auto* observer : observers_) tell([&] { observer->on_leadership(cluster_, leadership_); });
}

// An observer that fails harms only itself: the change has happened.
template <class F>
void Engine::tell(F&& what) {
    if (const auto told = guarded(what); !told)
        warn_(fmt::format("something that follows a change was not done: {}", told.error().text));
}

void Engine::finish_batch() {
    if (!changes_.empty() && !broken_) publish();
    while (!finished_.empty())  // a caller that hears may ask for more, and be refused at once
        for (auto& [done, answer] : std::exchange(finished_, {}))
            if (done) tell([&] { done(answer); });
}

void Engine::publish() {
    std::shared_ptr<const planning::ReadModel> model;
    const auto made = guarded([&] { model = builder_.publish(cluster_, changes_); });
    if (!made)
        return break_down(
            fmt::format("the state could not be shown after log entry {}: {}", applied_index_, made.error().text));
    model_.store(model, std::memory_order_release);
    ++batches_;
    for (auto* observer : observers_)
        tell([&] { observer->on_applied(cluster_, events_, changes_, model, leadership_.is_leader); });
    events_.clear();
    changes_.clear();
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
    if (broken_ || snapshot_running_.exchange(true)) return;
    auto child = SnapshotChild::start(cluster_);
    Result<std::vector<std::string>> chunks;
    if (!child) {  // slower, and better than a log without end
        warn_(fmt::format("{}; the engine writes it itself", child.error().text));
        Result<void> saved;
        const auto tried =
            guarded([&] { saved = cluster_.save([&](std::string_view piece) { chunks->emplace_back(piece); }); });
        if (!tried || !saved) chunks = std::unexpected((tried ? saved : tried).error());
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
