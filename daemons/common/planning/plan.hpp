// What one planning cycle decided, collected through the ABI's sink and checked for sense before anything believes it.
#pragma once

#include <spur/plugin/sched.h>

#include <atomic>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/machine/command.hpp"
#include "daemons/common/planning/limit_counts.hpp"
#include "daemons/common/planning/mirror.hpp"
#include "daemons/common/planning/promises.hpp"

namespace spur::planning {

struct Plan {
    struct Preemption {
        JobId victim;
        std::uint32_t attempt{};
        PreemptMode mode{PreemptMode::cancel};
        JobId preemptor;
    };
    std::vector<Placement> starts;
    std::vector<PendingNote> notes;
    std::vector<Preemption> preemptions;
    std::vector<std::string> complaints;  // what the plugin said that made no sense
};

// The sink a planner writes into.
class PlanCollector {
public:
    // Reason::none: it may; else the limit that keeps it back.
    using MayStart = std::function<Reason(const Job& job)>;
    // `promises` are to those that preempted others; `counts` knows the limits of accounts and QOS; `may_start`, where
    // there is one, is asked besides. `stop_at` may be time_point::max(), where somebody else keeps to the budget.
    PlanCollector(Mirror& mirror, const spur_cluster_view& view, std::chrono::steady_clock::time_point stop_at,
                  const std::atomic<bool>& stopping, LimitCounts& counts, Promises& promises, MayStart may_start);
    const spur_plan_sink* sink() const { return &sink_; }
    // Whether what the planner tells about jobs that go on waiting is collected: nobody asks a simulated queue.
    void keep_notes(bool keep) { keeps_notes_ = keep; }
    Plan take() { return std::move(plan_); }
    bool asked_after_stop() const { return stopped_; }

private:
    spur_status may_start(std::uint32_t slot, std::uint32_t partition);
    spur_status start(std::uint32_t slot, std::uint32_t partition, const spur_placement* given, std::uint32_t limit_s);
    void expect(std::uint32_t slot, std::int64_t start, std::uint32_t partition, spur_bits nodes);
    void waits(std::uint32_t slot, std::uint32_t reason, spur_str text);
    spur_status preempt(std::uint32_t slot, std::uint32_t partition, const std::uint32_t* victims, std::uint32_t count,
                        const spur_placement* given);
    bool is_pending(std::uint32_t slot) const;
    bool complain(std::string text);
    bool is_own(std::uint32_t slot, std::uint32_t partition) const;
    Result<Placement> placement(std::uint32_t slot, std::uint32_t partition, const spur_placement* given,
                                std::uint32_t limit_s) const;
    Result<NodeShare> share(const spur_node_share& given) const;
    PendingNote& note(JobId job);
    void tell(const Job& job, Reason why, std::string_view sentence);
    std::optional<std::string> missing_nodes(std::uint32_t slot);
    std::uint32_t partition_of(std::uint32_t slot) const;  // SPUR_NONE where it may choose
    bool is_too_large(std::uint32_t slot) const;
    bool is_kept_by_reservations(std::uint32_t slot) const;

    Mirror& mirror_;
    const spur_cluster_view& view_;
    std::chrono::steady_clock::time_point stop_at_;
    const std::atomic<bool>& stopping_;
    LimitCounts& counts_;
    Promises& promises_;
    MayStart may_start_;
    bool keeps_notes_{true};
    mutable bool stopped_{false};
    Plan plan_;
    std::unordered_map<JobId, std::size_t> notes_;
    std::unordered_map<std::uint32_t, Reason> limits_;          // slot -> what may_start() said
    std::optional<Words> unusable_;                             // nodes; worked out when first asked for
    std::unordered_map<std::uint32_t, std::uint32_t> started_;  // slot -> tasks
    spur_plan_sink sink_{};
};

}  // namespace spur::planning
