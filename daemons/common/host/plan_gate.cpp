// Forwarding with a check in front.
#include "daemons/common/host/plan_gate.hpp"

#include <fmt/format.h>

#include "daemons/common/host/frame.hpp"
#include "daemons/common/host/stats.hpp"

namespace spur::host {

namespace {

constexpr std::uint64_t ticks_between_looks = 100'000;  // 25 to 100 microseconds

}  // namespace

struct PlanGate::Calls {
    static PlanGate& of(const spur_plan_sink* table) { return *static_cast<PlanGate*>(table->context); }

    static std::uint32_t stopped(const spur_plan_sink* table) noexcept {
        auto& gate = of(table);
        if (!gate.admits("stopped")) return 1;
        const bool stop = gate.said_stop_ || gate.is_late() ||
                          (gate.stopping_ != nullptr && gate.stopping_->load(std::memory_order_relaxed)) ||
                          (gate.inner_->stopped != nullptr && gate.inner_->stopped(gate.inner_) != 0);
        gate.said_stop_ = stop;
        return stop ? 1 : 0;
    }
    static spur_status may_start(const spur_plan_sink* table, std::uint32_t job, std::uint32_t partition) noexcept {
        auto& gate = of(table);
        if (!gate.admits("may_start", job)) return SPUR_E_INVALID;
        return gate.inner_->may_start(gate.inner_, job, partition);
    }
    static spur_status start(const spur_plan_sink* table, std::uint32_t job, std::uint32_t partition,
                             const spur_placement* placement, std::uint32_t limit_s) noexcept {
        auto& gate = of(table);
        if (!gate.admits("start", job)) return SPUR_E_INVALID;
        return gate.inner_->start(gate.inner_, job, partition, placement, limit_s);
    }
    static void expect(const spur_plan_sink* table, std::uint32_t job, std::int64_t start, std::uint32_t partition,
                       spur_bits nodes) noexcept {
        auto& gate = of(table);
        if (gate.admits("expect", job)) gate.inner_->expect(gate.inner_, job, start, partition, nodes);
    }
    static void waits(const spur_plan_sink* table, std::uint32_t job, std::uint32_t reason, spur_str text) noexcept {
        auto& gate = of(table);
        if (gate.admits("waits", job)) gate.inner_->waits(gate.inner_, job, reason, text);
    }
    static spur_status preempt(const spur_plan_sink* table, std::uint32_t job, std::uint32_t partition,
                               const std::uint32_t* victims, std::uint32_t victim_count,
                               const spur_placement* placement) noexcept {
        auto& gate = of(table);
        if (!gate.admits("preempt", job)) return SPUR_E_INVALID;
        return gate.inner_->preempt(gate.inner_, job, partition, victims, victim_count, placement);
    }
};

PlanGate::PlanGate()
    : table_{sizeof(table_), 0, this, Calls::stopped, Calls::may_start, Calls::start, Calls::expect, Calls::waits,
             Calls::preempt} {}

void PlanGate::open(Instance& sched, const spur_cluster_view& view, const spur_plan_sink& inner,
                    std::chrono::steady_clock::time_point deadline, const std::atomic<bool>* stopping) {
    inner_ = &inner;
    view_ = &view;
    sched_.store(&sched);
    thread_.store(std::this_thread::get_id());
    deadline_ = deadline;
    stopping_ = stopping;
    said_stop_ = false;
    looked_ = 0;
    is_open_.store(true);
}

// A planner asks before every job, and there may be a hundred thousand of them: the clock is looked at only when enough
// time has passed for the answer to be another one.
bool PlanGate::is_late() {
    const auto ticks = ticks_now();
    if (looked_ != 0 && ticks - looked_ < ticks_between_looks) return false;
    looked_ = ticks;
    return std::chrono::steady_clock::now() >= deadline_;
}

// The thread is asked first: for any other one, nothing else in here may be looked at.
bool PlanGate::admits(const char* function, std::uint32_t job) {
    const bool is_ours = thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
    if (!is_ours || !is_open_.load(std::memory_order_relaxed)) {
        if (auto* const sched = sched_.load())
            sched->services().report_violation(
                fmt::format("sink->{}() was called {}", function,
                            is_ours ? "after plan() had returned" : "from another thread than plan()'s"));
        return false;
    }
    if (job < view_->pending.count) note({"job", SPUR_AT(spur_job_view, view_->pending, job)->id});
    return true;
}

}  // namespace spur::host
