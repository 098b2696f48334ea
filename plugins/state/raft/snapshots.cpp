// Building snapshots out of the host's state and libraft's log.
#include "snapshots.hpp"

#include <algorithm>
#include <climits>

#include "bytes.hpp"
#include "pack.hpp"

namespace spur::raftlog {
namespace {

constexpr unsigned never = INT_MAX;                 // libraft's threshold while nothing is staged
constexpr std::uint64_t trailing_bytes = 16 << 20;  // a lagging follower beyond that is better off with a snapshot
constexpr unsigned least_trailing = 1;              // none at all would look like a snapshot from the leader
constexpr std::uint64_t largest =
    (std::uint64_t{2} << 30) - (64u << 20);  // libraft writes the file with one system call

}  // namespace

const raft_entry* log_entry(const raft& raft, std::uint64_t index_raft) {
    const auto& log = raft.log;
    if (log.entries == nullptr || log.size == 0 || index_raft <= log.offset) return nullptr;
    const auto held = log.front <= log.back ? log.back - log.front : log.size - log.front + log.back;
    const auto position = index_raft - log.offset - 1;
    if (position >= held) return nullptr;
    return &log.entries[(log.front + position) % log.size];
}

void Snapshots::applied(std::uint64_t index_raft, std::uint64_t first_index, std::uint32_t count, std::size_t bytes) {
    applied_.push_back({index_raft, first_index, count, static_cast<std::uint32_t>(bytes)});
    bytes_since_ += bytes;
}

void Snapshots::restored(std::uint64_t snapshot_index, std::uint64_t last_index, std::uint64_t state_bytes) {
    applied_.clear();
    covered_from_ = last_index;
    index_ = snapshot_index;
    state_bytes_ = state_bytes;
    bytes_since_ = 0;
    raft_set_snapshot_threshold(&raft_, never);
    abandon({SPUR_E_BUSY, "a newer snapshot arrived from the leader"});
}

void Snapshots::stage(std::uint64_t index, Section state, Stored stored) {
    if (index == index_ && index_ > 0 && applied_.size() <= most_trailing_) return stored({});
    if (index < index_ || index < covered_from_)
        return stored(fault(SPUR_E_INVALID, "a snapshot as of entry {} is older than the one already stored", index));
    if (state.stored_bytes() > largest)
        return stored(fault(SPUR_E_UNSUPPORTED,
                            "a compressed snapshot of {} MiB is more than this plugin can store ({} MiB)",
                            state.stored_bytes() >> 20, largest >> 20));
    abandon({SPUR_E_BUSY, "a newer snapshot took its place"});
    staged_ = Staged{index, std::move(state), std::move(stored)};
    raft_set_snapshot_threshold(&raft_, 1);
}

Section Snapshots::pack_tail(std::uint64_t behind, std::uint64_t& entries) const {
    SectionWriter writer(Packing::plain);
    std::vector<spur_state_entry> unpacked;
    std::string record;
    entries = 0;
    for (const auto& one : applied_) {
        if (one.first_index + one.count <= behind + 1) continue;
        const auto* entry = log_entry(raft_, one.index_raft);
        if (entry == nullptr) throw std::logic_error("an applied record is missing from libraft's log");
        unpacked.clear();
        read_pack({static_cast<const std::uint8_t*>(entry->buf.base), entry->buf.len}, one.first_index, unpacked);
        for (const auto& item : unpacked) {
            if (item.index <= behind) continue;
            record.clear();
            append_integer(record, item.term);
            append_entry(record, item.body);
            writer.write(as_bytes(record));
            ++entries;
        }
    }
    return writer.finish();
}

int Snapshots::take(raft_buffer** buffers, unsigned* count) {
    // A membership change that may yet be undone has no place in a snapshot.
    if (!staged_ || raft_.configuration_uncommitted_index != 0) return RAFT_BUSY;
    storing_ = std::exchange(staged_, std::nullopt);
    std::uint64_t tail_entries = 0;
    auto tail = pack_tail(storing_->index, tail_entries);
    storing_raw_bytes_ = storing_->state.raw_bytes;
    parts_ = {snapshot_header(storing_->index, tail_entries)};
    std::ranges::move(storing_->state.chunks, std::back_inserter(parts_));
    std::ranges::move(tail.chunks, std::back_inserter(parts_));
    buffers_.clear();
    for (auto& part : parts_) buffers_.push_back({part.data(), part.size()});
    *buffers = buffers_.data();
    *count = static_cast<unsigned>(buffers_.size());
    choose_trailing();
    raft_set_snapshot_threshold(&raft_, never);
    return 0;
}

// Keeps what a follower that was away briefly will ask for, within bounds of number and memory.
void Snapshots::choose_trailing() {
    std::uint64_t bytes = 0;
    unsigned records = 0;
    const bool alone = raft_.configuration.n == 1;
    for (auto one = applied_.rbegin(); one != applied_.rend() && !alone; ++one) {
        bytes += one->bytes;
        if (bytes > trailing_bytes || records == most_trailing_) break;
        ++records;
    }
    raft_set_snapshot_trailing(&raft_, std::max(records, least_trailing));
}

void Snapshots::release() {
    buffers_.clear();
    parts_.clear();
}

void Snapshots::finished(std::optional<Fault> why_not) {
    if (!storing_) return;
    if (!why_not) {
        index_ = storing_->index;
        state_bytes_ = storing_raw_bytes_;
        for (; !applied_.empty() && applied_.front().index_raft <= raft_.log.offset; applied_.pop_front())
            covered_from_ = applied_.front().first_index + applied_.front().count - 1;
        bytes_since_ = 0;
        for (const auto& one : applied_)
            if (one.first_index > index_) bytes_since_ += one.bytes;
    }
    const auto stored = std::exchange(storing_, std::nullopt)->stored;
    stored(why_not ? Outcome<void>(std::unexpected(*why_not)) : Outcome<void>());
}

void Snapshots::abandon(const Fault& why) {
    if (staged_) std::exchange(staged_, std::nullopt)->stored(std::unexpected(why));
}

}  // namespace spur::raftlog
