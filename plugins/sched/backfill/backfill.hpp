// Priority order with look-ahead: the first few waiting jobs of each partition are promised a start, others may
// overtake them where that delays no promise.
#pragma once

#include <spur/plugin/sched.h>

#include <cstdint>
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

// What a pass uses and the next one uses again.
struct Workshop {
    Cards cards;
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
