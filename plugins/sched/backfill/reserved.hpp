// What reservations mean for one job in one stretch of time: which nodes it may use, and how many licenses are kept for
// others.
#pragma once

#include <spur/plugin/view.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace spur::backfill {

// The job of this record, from `start` until it has to have ended.
struct Stretch {
    std::int64_t start, end;
};

class Reserved {
public:
    void begin(const spur_cluster_view& view);
    bool empty() const { return entries_.empty(); }

    // May it begin then, as its own reservation goes? True for jobs without one. What still runs when a reservation
    // ends is ended by the host.
    bool is_open(const spur_job_view& job, Stretch when) const;
    // When its own reservation, open at `start`, ends; SPUR_TIME_UNLIMITED without one.
    std::int64_t closes(const spur_job_view& job, std::int64_t start) const;
    // When its own reservation opens at or after `from`; nullopt: never again.
    std::optional<std::int64_t> opens(const spur_job_view& job, std::int64_t from) const;
    // Nodes it may use; NULL words: reservations say nothing. Valid until the next call.
    spur_bits candidates(const spur_job_view& job, Stretch when);
    // Cores of nodes it may use that it may not: others' reserved ones, or all but its own reserved ones. Valid until
    // the next cycle. Empty where reservations are of whole nodes.
    std::vector<spur_placement> forbidden_cores(const spur_job_view& job, Stretch when) const;
    std::uint32_t kept_for_others(const spur_job_view& job, Stretch when, std::uint32_t license) const;
    // Moments before `horizon` after which a job that is not to touch them must have ended.
    const std::vector<std::int64_t>& starts() const { return starts_; }
    bool is_maintenance(const spur_job_view& job, Stretch when) const;  // is one of those in its way for maintenance?

private:
    struct Entry {
        const spur_reservation_view* record;
        std::uint32_t family;                     // occurrences of one reservation share it
        std::vector<spur_node_share> kept, rest;  // of nodes that are reserved in part: those cores, and the others
        std::vector<std::vector<std::uint64_t>> words{};
    };
    void split_cores(const spur_cluster_view& view, Entry& entry) const;
    bool is_flexible(const spur_job_view& job) const;
    bool is_mine(const spur_job_view& job, const Entry& entry) const;
    bool is_in_the_way(const spur_job_view& job, const Entry& entry, Stretch when) const;
    const Entry* own(const spur_job_view& job) const;

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> families_;  // by index in view->reservations
    std::vector<std::int64_t> starts_;
    std::vector<std::uint64_t> words_;
    std::uint32_t node_count_{0};
};

}  // namespace spur::backfill
