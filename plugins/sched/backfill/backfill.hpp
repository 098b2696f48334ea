// Priority order with look-ahead: the first few waiting jobs of each partition are promised a start, others may
// overtake them where that delays no promise.
#pragma once

#include <spur/plugin/sched.h>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cards.hpp"
#include "memory.hpp"
#include "reserved.hpp"
#include "timeline.hpp"

namespace spur::backfill {

struct Options {
    std::uint32_t reserve = 32;           // jobs of each partition that are promised a start; SPUR_UNLIMITED: all
    std::int64_t window_s = 30 * 86'400;  // how far ahead
};

// Starts found in the pass before: where to look first in this one.
class Forecast {
public:
    void turn() {
        std::swap(before_, now_);
        now_.clear();
    }
    void note(std::uint32_t slot, std::int64_t start) { now_[slot] = start; }
    std::int64_t guess(std::uint32_t slot, std::int64_t otherwise) const {
        const auto found = before_.find(slot);
        return found == before_.end() ? otherwise : found->second;
    }

private:
    std::unordered_map<std::uint32_t, std::int64_t> before_, now_;  // by slot of the job
};

// What a pass uses and the next one uses again.
struct Workshop {
    Cards cards;
    Denials denials;
    Forecast forecast;
    Timeline timeline;
    Reserved reserved;
    PlacementBuffer placement;
    std::vector<std::uint64_t> nodes;  // of one placement, as a set
};

class Backfill {
public:
    explicit Backfill(Options options) : options_{options} {}
    spur_status plan(const spur_cluster_view& view, const spur_selector& select, const spur_plan_sink& sink,
                     spur_error* err);

private:
    Options options_;
    Workshop workshop_;
    bool complete_{false};  // the pass before saw every job
};

}  // namespace spur::backfill
