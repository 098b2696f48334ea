// The sink a planner sees: passes on to the daemon's, within the cycle and on its thread only.
#pragma once

#include <spur/plugin/sched.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "daemons/common/host/instance.hpp"

namespace spur::host {

class PlanGate {
public:
    PlanGate();
    PlanGate(const PlanGate&) = delete;
    PlanGate& operator=(const PlanGate&) = delete;

    void open(Instance& sched, const spur_cluster_view& view, const spur_plan_sink& inner,
              std::chrono::steady_clock::time_point deadline, const std::atomic<bool>* stopping);
    void close() { is_open_.store(false); }
    bool said_stop() const { return said_stop_; }
    const spur_plan_sink* sink() const { return &table_; }

private:
    struct Calls;
    bool admits(const char* function, std::uint32_t job = SPUR_NONE);
    bool is_late();

    spur_plan_sink table_{};
    const spur_plan_sink* inner_{nullptr};
    const spur_cluster_view* view_{nullptr};
    std::atomic<Instance*> sched_{nullptr};
    std::atomic<bool> is_open_{false};
    std::atomic<std::thread::id> thread_{};
    std::chrono::steady_clock::time_point deadline_;
    std::uint64_t looked_{};  // at the clock, in ticks; 0: not yet
    const std::atomic<bool>* stopping_{nullptr};
    bool said_stop_{false};
};

}  // namespace spur::host
