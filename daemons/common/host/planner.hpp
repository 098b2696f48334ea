// One planning cycle through the plugins: sched is called with a selector and a sink that count, keep to the budget,
// and let nobody in from another thread or after the cycle.
#pragma once

#include <spur/plugin/sched.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "core/base/result.hpp"
#include "daemons/common/host/bound.hpp"

namespace spur::host {

struct PlanBudget {
    std::chrono::nanoseconds time{std::chrono::seconds{1}};
    const std::atomic<bool>* stopping{nullptr};  // the daemon wants to end; may be nullptr
};

struct PlanRun {
    std::chrono::nanoseconds took{}, over{};  // over: beyond the budget; 0 if within
    bool was_stopped{false};                  // the planner was told to stop
};

class Planner {
public:
    Planner(Bound<SchedAxis> sched, Bound<SelectAxis> select);
    ~Planner();
    Planner(const Planner&) = delete;
    Planner& operator=(const Planner&) = delete;

    // Runs sched's plan() over `view`; what it decides goes to `sink`, whose stopped() is asked besides the budget.
    // Both plugins are pinned for the cycle: a reconfiguration takes effect with the next one. [cycle-thread]
    Result<PlanRun> run(const spur_cluster_view& view, const spur_plan_sink& sink, const PlanBudget& budget);

private:
    class Watchdog;
    Bound<SchedAxis> sched_;
    Bound<SelectAxis> select_;
    struct Gates;
    Gates& gates_;  // live for ever: a plugin may have kept a pointer
    std::unique_ptr<Watchdog> watchdog_;
};

}  // namespace spur::host
