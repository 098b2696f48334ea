// A member at work: proposals in, records out, entries applied, snapshots stored and restored.
#include <climits>
#include <future>

#include "node.hpp"
#include "pack.hpp"
#include "segments.hpp"

namespace spur::raftlog {
namespace {

constexpr std::size_t largest_proposal = 64u << 20;
constexpr std::size_t largest_pack = 1u << 20;  // unless one proposal alone is larger
constexpr std::size_t largest_queue = 256u << 20;
constexpr std::uint64_t snapshot_at_bytes = 256u << 20;
constexpr std::size_t worth_a_second_flight = 128u << 10;
constexpr std::uint64_t slow_commit_ns = 500'000;
constexpr std::uint64_t longest_gathering_ns = 1'000'000;
constexpr std::uint64_t many_entries = 64;
constexpr std::size_t check_every = 1u << 20;    // bytes written between two looks at the disk; each tick looks too
constexpr std::uint64_t records_per_entry = 10;  // for each that snapshot_threshold allows
constexpr std::chrono::milliseconds patience_of_followers{3000}, store_poll{50};

}  // namespace

// ---- proposing -----------------------------------------------------------------------------------------------------

Outcome<spur_status> Node::propose(const spur_state_entry* entries, std::uint32_t count, std::uint64_t ticket) {
    if (count == 0) return fault(SPUR_E_INVALID, "a proposal needs at least one entry");
    std::size_t size = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (entries[i].body.length > largest_proposal) size = largest_proposal;
        size += 4 + entries[i].body.length;
        if (size > largest_proposal)
            return fault(SPUR_E_INVALID, "a proposal may hold up to {} MiB", largest_proposal >> 20);
    }
    if (!accepting_) {
        if (auto broken = failure()) return std::unexpected(*broken);
        return SPUR_STATE_NOT_LEADER;
    }
    Proposal proposal{.ticket = ticket, .count = count, .body = {}};
    proposal.body.reserve(size);
    for (std::uint32_t i = 0; i < count; ++i) append_entry(proposal.body, entries[i].body);
    return enqueue(std::move(proposal));
}

Outcome<spur_status> Node::barrier(std::uint64_t ticket) { return enqueue({.ticket = ticket, .count = 0, .body = {}}); }

Outcome<spur_status> Node::enqueue(Proposal proposal) {
    bool was_empty = false;
    {
        const std::lock_guard lock(mutex_);
        if (failure_) return std::unexpected(*failure_);
        if (!accepting_) return SPUR_STATE_NOT_LEADER;
        if (proposal.count > 0 && !room_.has_for(queued_bytes_ + proposal.body.size()))
            return fault(SPUR_E_BUSY, "{}", room_.sentence());
        if (queued_bytes_ > largest_queue)
            return fault(SPUR_E_BUSY, "{} MiB wait to be written: the disk does not keep up", queued_bytes_ >> 20);
        was_empty = queue_.empty();
        queued_bytes_ += proposal.body.size();
        last_index_.fetch_add(proposal.count, std::memory_order_relaxed);
        queue_.push_back(std::move(proposal));
    }
    if (was_empty) loop_->wake();
    return SPUR_OK;
}

// Everything that has gathered becomes one record, as soon as the last one is on disk; a second one may follow it
// closely when there is much to write.
void Node::flush() {
    if (closing_ || !raft_ready_) return;
    {
        const std::lock_guard lock(mutex_);
        for (auto& proposal : queue_) {
            backlog_bytes_ += proposal.body.size();
            backlog_entries_ += proposal.count;
            backlog_.push_back(std::move(proposal));
        }
        queue_.clear();
    }
    while (!backlog_.empty() && (flights_ == 0 || (flights_ == 1 && backlog_bytes_ >= worth_a_second_flight))) {
        if (flights_ == 0 && should_gather()) return;
        auto flight = std::make_unique<Flight>();
        std::string body;
        std::size_t taken = 0;
        while (!backlog_.empty() && (taken == 0 || taken + backlog_.front().body.size() <= largest_pack)) {
            auto& proposal = backlog_.front();
            flight->tickets.push_back(proposal.ticket);
            flight->entries += proposal.count;
            taken += proposal.body.size();
            body.empty() ? body.swap(proposal.body) : void(body += proposal.body);
            backlog_.pop_front();
        }
        backlog_bytes_ -= taken;
        backlog_entries_ -= flight->entries;
        unchecked_bytes_ += taken;
        {
            const std::lock_guard lock(mutex_);
            queued_bytes_ -= taken;
        }
        if (!submit(body, std::move(flight))) break;
        if (unchecked_bytes_ >= check_every) check_disk();
    }
}

// Those whose entries were just committed are likely to come back at once. Where a write is slow it pays to wait a
// moment for them: eight clients then share each write instead of every second one.
bool Node::should_gather() {
    const auto now = uv_hrtime();
    if (now >= gather_until_ns_ || backlog_entries_ >= gather_entries_) return false;
    loop_->wake_after(gather_until_ns_ - now);
    return true;
}

bool Node::submit(std::string_view body, std::unique_ptr<Flight> flight) {
    flight->node = this;
    flight->started_ns = uv_hrtime();
    flight->request.data = flight.get();
    raft_buffer buffer{.base = raft_malloc(packed_size(body.size())), .len = packed_size(body.size())};
    if (buffer.base == nullptr) throw std::bad_alloc();
    write_pack({.count = flight->entries, .term = raft_.current_term, .committed = raft_.commit_index}, body,
               {static_cast<std::uint8_t*>(buffer.base), buffer.len});
    ++flights_;
    in_flight_entries_ += flight->entries;
    const int error =
        raft_apply(&raft_, &flight->request, &buffer, 1, [](struct raft_apply* request, int status, void*) {
            std::unique_ptr<Flight> owner(static_cast<Flight*>(request->data));
            auto* node = owner->node;
            node->on_flight_done(std::move(owner), status);
        });
    if (error == 0) {
        flight.release();
        return true;
    }
    raft_free(buffer.base);
    --flights_;
    in_flight_entries_ -= flight->entries;
    last_index_ -= flight->entries;
    const auto status = error == RAFT_NOTLEADER ? SPUR_STATE_NOT_LEADER : SPUR_E_IO;
    for (const auto ticket : flight->tickets) outcome(ticket, status, raft_strerror(error));
    return false;
}

bool Node::submit_empty(bool announces_leader) {
    auto flight = std::make_unique<Flight>();
    flight->announces_leader = announces_leader;
    return submit({}, std::move(flight));
}

void Node::on_flight_done(std::unique_ptr<Flight> flight, int status) {
    --flights_;
    in_flight_entries_ -= flight->entries;
    if (status == 0 && flight->announces_leader) ready_term_ = raft_.current_term;
    const auto now = uv_hrtime();
    const auto took = now - flight->started_ns;
    average_commit_ns_ = average_commit_ns_ == 0 ? took : (average_commit_ns_ * 7 + took) / 8;
    gather_entries_ = flight->entries + backlog_entries_;
    const bool gathers = average_commit_ns_ > slow_commit_ns && backlog_entries_ < many_entries;
    gather_until_ns_ = gathers ? now + std::min(average_commit_ns_ / 8, longest_gathering_ns) : 0;
    if (status == 0) {
        metrics_.table.set(metrics_.commit_ns, static_cast<double>(took));
        metrics_.table.set(metrics_.batch, flight->entries);
    }
    // It was handed to Raft: without a commit nobody can tell whether a later leader will find it.
    std::string why;
    if (status != 0) {
        const auto broken = failure();  // a full disk, say: what libraft makes of it is less to the point
        why = broken ? broken->text : raft_strerror(status);
    }
    for (const auto ticket : flight->tickets) outcome(ticket, status == 0 ? SPUR_OK : SPUR_STATE_UNKNOWN, why);
    if (status != 0) last_index_ = applied_index_.load() + in_flight_entries_;
}

void Node::refuse_backlog(spur_status status, const std::string& text) {
    std::vector<Proposal> refused;
    {
        const std::lock_guard lock(mutex_);
        for (auto& proposal : backlog_) refused.push_back(std::move(proposal));
        for (auto& proposal : queue_) refused.push_back(std::move(proposal));
        backlog_.clear();
        queue_.clear();
        queued_bytes_ = backlog_bytes_ = backlog_entries_ = 0;
    }
    for (const auto& proposal : refused) {
        last_index_ -= proposal.count;
        outcome(proposal.ticket, status, text);
    }
}

void Node::outcome(std::uint64_t ticket, spur_status status, const std::string& text) {
    spur_error error{.size = sizeof(spur_error), .code = status, .text = {}};
    plugin::fail(&error, status, text);
    listener_->outcome(listener_, ticket, status, &error);
}

// ---- applying ------------------------------------------------------------------------------------------------------

int Node::apply(const raft_buffer* buffer) {
    const std::uint64_t index_raft = raft_.last_applied + 1;
    const auto* record = log_entry(raft_, index_raft);
    const auto first_index = applied_index_.load(std::memory_order_relaxed) + 1;
    entry_buffer_.clear();
    const bool sound =
        record != nullptr && record->buf.base == buffer->base &&
        read_pack({static_cast<const std::uint8_t*>(buffer->base), buffer->len}, first_index, entry_buffer_);
    if (!sound) {
        fail({SPUR_E_CORRUPT,
              fmt::format("record {} of the log in {} makes no sense: was it written by another release?", index_raft,
                          settings_.data_dir)});
        return RAFT_MALFORMED;
    }
    const auto count = static_cast<std::uint32_t>(entry_buffer_.size());
    snapshots_.applied(index_raft, first_index, count, buffer->len);
    if (count == 0) return 0;
    applied_index_ = first_index + count - 1;
    if (raft_state(&raft_) != RAFT_LEADER || last_index_ < applied_index_) last_index_ = applied_index_.load();
    entries_.fetch_add(count, std::memory_order_relaxed);
    metrics_.table.add(metrics_.entries, count);
    listener_->committed(listener_, entry_buffer_.data(), count);
    return 0;
}

int Node::restore(raft_buffer* buffer) {
    Outcome<void> restored;
    try {
        restored = restore_from({static_cast<const std::uint8_t*>(buffer->base), buffer->len});
    } catch (const std::exception& broken) {
        restored = fault(SPUR_E_INTERNAL, "{}", broken.what());
    }
    if (!restored) {
        fail({restored.error().code,
              fmt::format(
                  "cannot restore snapshot {}/{}: {}; restore the directory from a backup, or move it away where other "
                  "controllers have the state",
                  settings_.data_dir, newest_snapshot(settings_.data_dir), restored.error().text)});
        return RAFT_CORRUPT;
    }
    raft_free(buffer->base);
    return 0;
}

Outcome<void> Node::restore_from(std::span<const std::uint8_t> stream) {
    // Every checksum before the host hears a word: it must not be left with half a state.
    {
        SPUR_TRY(auto rehearsal, SnapshotReader::open(stream));
        SPUR_CHECK(rehearsal.skip_state());
        SPUR_CHECK(rehearsal.read_tail([](std::span<const spur_state_entry>) {}));
    }
    SPUR_TRY(auto reader, SnapshotReader::open(stream));
    struct Pull {
        SnapshotReader& reader;
        std::uint64_t bytes = 0;
        std::optional<Fault> broken;
    } pull{reader, 0, std::nullopt};
    const spur_source source{sizeof(spur_source), 0, &pull,
                             [](const spur_source* self, void* buffer, std::uint64_t capacity, std::uint64_t* length) {
                                 auto& state = *static_cast<Pull*>(self->context);
                                 const auto got = state.reader.read({static_cast<std::uint8_t*>(buffer), capacity});
                                 if (!got) state.broken = got.error();
                                 *length = got.value_or(0);
                                 state.bytes += *length;
                                 return got ? SPUR_OK : got.error().code;
                             }};
    spur_error error{.size = sizeof(spur_error), .code = SPUR_OK, .text = {}};
    const auto status = listener_->restore(listener_, reader.index(), &source, &error);
    if (pull.broken) return std::unexpected(*pull.broken);
    if (status != SPUR_OK) return fault(status < 0 ? status : SPUR_E_INTERNAL, "{}", error.text);
    SPUR_CHECK(reader.skip_state());  // a host that had enough before the end
    SPUR_CHECK(reader.read_tail([this](std::span<const spur_state_entry> entries) {
        listener_->committed(listener_, entries.data(), static_cast<std::uint32_t>(entries.size()));
    }));
    applied_index_ = reader.index() + reader.tail_entries();
    last_index_ = applied_index_.load();
    snapshot_index_ = reader.index();
    snapshots_.restored(reader.index(), applied_index_, pull.bytes);
    return {};
}

// ---- snapshots -----------------------------------------------------------------------------------------------------

void Node::maybe_want_snapshot() {
    const auto since = applied_index_ - snapshots_.index();
    const bool worth_it =
        since >= settings_.snapshot_threshold && snapshots_.bytes_since() >= snapshots_.state_bytes() / 2;
    // Barriers leave records without entries, which libraft keeps in memory as well.
    const bool is_long =
        snapshots_.records() >= settings_.snapshot_trailing + records_per_entry * settings_.snapshot_threshold;
    if (!worth_it && !is_long && snapshots_.bytes_since() < snapshot_at_bytes) return;
    if (snapshots_.is_staged() || (wanted_at_ != 0 && applied_index_ - wanted_at_ < settings_.snapshot_threshold))
        return;
    wanted_at_ = applied_index_;
    listener_->snapshot_wanted(listener_);
}

Outcome<void> Node::snapshot(std::uint64_t index, const spur_source* source, const plugin::Stop& stop) {
    const std::lock_guard one_at_a_time(snapshot_mutex_);
    if (auto broken = failure()) return std::unexpected(*broken);
    if (index == 0 || index > applied_index_)
        return fault(SPUR_E_INVALID, "entry {} was never reported committed; the last one was {}", index,
                     applied_index_.load());
    SPUR_TRY(auto state, pack_state(source));

    const auto promise = std::make_shared<std::promise<Outcome<void>>>();
    auto stored = promise->get_future();
    const bool posted = loop_->post([this, index, promise, state = std::make_shared<Section>(std::move(state))] {
        if (closing_) return promise->set_value(fault(SPUR_E_STOPPED, "the controller is stopping"));
        snapshots_.stage(index, std::move(*state), [this, index, promise](Outcome<void> result) {
            if (result) snapshot_index_ = index;
            promise->set_value(std::move(result));
        });
        // libraft takes it with the next record it applies; a leader provides one.
        if (snapshots_.is_staged() && raft_state(&raft_) == RAFT_LEADER) submit_empty(false);
    });
    if (!posted) return fault(SPUR_E_STOPPED, "the controller is stopping");
    // A follower has to wait for the leader's next record. It loses nothing by not waiting for long: until then its log
    // holds everything, and the snapshot stays staged.
    for (auto waited = store_poll; stored.wait_for(store_poll) != std::future_status::ready; waited += store_poll) {
        if (stop.stopped()) return fault(SPUR_E_STOPPED, "stopped while a snapshot was being stored");
        if (waited >= patience_of_followers && !accepting_) return {};
    }
    return stored.get();
}

void Node::on_stored(bool installed, int status) {
    disk_bytes_ = disk_usage(settings_.data_dir);
    if (installed) return;
    if (status == 0) {
        snapshots_.finished(std::nullopt);
        wanted_at_ = 0;
        return;
    }
    const auto text =
        fmt::format("cannot store a snapshot in {}: {} {}", settings_.data_dir, raft_strerror(status), io_.errmsg);
    log_.error(text);
    snapshots_.finished(Fault{SPUR_E_IO, text});
}

// ---- standing and membership, from other threads -------------------------------------------------------------------

std::optional<Fault> Node::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

spur_state_status Node::status() const {
    spur_state_status out{};
    const auto copy = [](char(&to)[256], const std::string& text) { to[text.copy(to, sizeof to - 1)] = '\0'; };
    const std::lock_guard lock(mutex_);
    out.role = board_.role;
    out.term = board_.term;
    out.last_index = last_index_;
    out.committed_index = applied_index_;
    out.snapshot_index = snapshot_index_;
    out.log_bytes = disk_bytes_;
    out.fsyncs = writes_;
    out.entries = entries_;
    copy(out.leader, board_.leader);
    copy(out.self, settings_.self.client());
    return out;
}

void Node::members(const std::function<void(const spur_state_member&)>& each) const {
    Board board;
    {
        const std::lock_guard lock(mutex_);
        board = board_;
    }
    for (const auto& member : board.members) {
        const auto role = member.id == board.leader_id ? SPUR_STATE_LEADER : member.id == id_ ? board.role : 0u;
        each({.size = sizeof(spur_state_member),
              .role = role,
              .id = member.id,
              .voter = member.voter ? 1u : 0u,
              .reserved = 0,
              .address = plugin::str(member.address)});
    }
}

Outcome<spur_status> Node::post_change(std::string_view address, std::uint64_t ticket, bool may_be_empty,
                                       std::function<void(const std::optional<Address>&, Group::Done)> act) {
    std::optional<Address> parsed;
    if (!address.empty() || !may_be_empty) {
        SPUR_TRY(parsed, Address::parse(address));
    }
    if (auto broken = failure()) return std::unexpected(*broken);
    if (!accepting_) return SPUR_STATE_NOT_LEADER;
    const bool posted = loop_->post([this, parsed, ticket, act = std::move(act)] {
        if (closing_) return outcome(ticket, SPUR_E_STOPPED, "the controller is stopping");
        act(parsed, [this, ticket](spur_status status, const std::string& text) {
            {
                const std::lock_guard lock(mutex_);
                board_.members = group_->members();
            }
            outcome(ticket, status, text);
        });
    });
    if (!posted) return fault(SPUR_E_STOPPED, "the controller is stopping");
    return SPUR_OK;
}

Outcome<spur_status> Node::add_member(std::string_view address, std::uint64_t ticket) {
    return post_change(address, ticket, false,
                       [this](const auto& whom, Group::Done done) { group_->add(*whom, std::move(done)); });
}

Outcome<spur_status> Node::remove_member(std::string_view address, std::uint64_t ticket) {
    return post_change(address, ticket, false,
                       [this](const auto& whom, Group::Done done) { group_->remove(*whom, std::move(done)); });
}

Outcome<spur_status> Node::transfer(std::string_view address, std::uint64_t ticket) {
    return post_change(address, ticket, true,
                       [this](const auto& whom, Group::Done done) { group_->transfer(whom, std::move(done)); });
}

}  // namespace spur::raftlog
