// Snapshots between a host that makes them when it likes and a library that dates them when it applies.
//
// libraft takes a snapshot right after applying a record, and that record's index is the snapshot's. The host applies
// later, on its own thread, and hands over its state as of an entry that may be some records back. Both are served by
// storing the host's state together with the entries committed since: restoring gives the state, then those entries,
// and ends exactly where libraft says it does. The entries are still in libraft's own log, so nothing is kept twice.
#pragma once

#include "libraft.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "snapshot.hpp"

namespace spur::raftlog {

class Snapshots {
public:
    using Stored = std::function<void(Outcome<void>)>;

    Snapshots(raft& raft, std::uint64_t trailing) : raft_(raft), most_trailing_(trailing) {}

    // ---- what the log did ----
    void applied(std::uint64_t index_raft, std::uint64_t first_index, std::uint32_t count, std::size_t bytes);
    void restored(std::uint64_t snapshot_index, std::uint64_t last_index, std::uint64_t state_bytes);

    // ---- storing one ----
    // Keeps the host's state as of `index` for libraft's next snapshot, which it allows; `stored` is called once.
    void stage(std::uint64_t index, Section state, Stored stored);
    bool is_staged() const { return staged_.has_value(); }
    int take(raft_buffer** buffers, unsigned* count);  // raft_fsm::snapshot
    void release();                                    // raft_fsm::snapshot_finalize
    void finished(std::optional<Fault> why_not);       // it is on disk, or not
    void abandon(const Fault& why);

    // ---- when to ask for one ----
    std::uint64_t index() const { return index_; }
    std::uint64_t bytes_since() const { return bytes_since_; }
    std::uint64_t records() const { return applied_.size(); }  // in libraft's log, empty ones too
    std::uint64_t state_bytes() const { return state_bytes_; }

private:
    struct Applied {
        std::uint64_t index_raft = 0;
        std::uint64_t first_index = 0;
        std::uint32_t count = 0;
        std::uint32_t bytes = 0;
    };
    struct Staged {
        std::uint64_t index = 0;
        Section state;
        Stored stored;
    };

    Section pack_tail(std::uint64_t behind, std::uint64_t& entries) const;
    void choose_trailing();

    raft& raft_;
    std::uint64_t most_trailing_;
    std::deque<Applied> applied_;     // records still in libraft's log
    std::uint64_t covered_from_ = 0;  // every entry behind this one is in one of them
    std::optional<Staged> staged_;
    std::optional<Staged> storing_;
    std::uint64_t storing_raw_bytes_ = 0;
    std::vector<std::string> parts_;
    std::vector<raft_buffer> buffers_;
    std::uint64_t index_ = 0;        // of the last snapshot
    std::uint64_t state_bytes_ = 0;  // its size before compression
    std::uint64_t bytes_since_ = 0;
};

// The record at `index_raft` in libraft's in-memory log, or null.
const raft_entry* log_entry(const raft& raft, std::uint64_t index_raft);

}  // namespace spur::raftlog
