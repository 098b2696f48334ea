// The cycle, its budget, and somebody who notices when a planner does not come back.
#include "daemons/common/host/planner.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "daemons/common/host/plan_gate.hpp"
#include "daemons/common/host/process_state.hpp"
#include "daemons/common/host/select_gate.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

struct Planner::Gates {
    PlanGate plan;
    SelectGate select;
};

// Counts an overrun as soon as plan() is past its budget. Says so when it is not back after ten budgets, and again each
// time that wait has doubled.
class Planner::Watchdog {
public:
    Watchdog() : thread_{[this] { watch(); }} {}
    ~Watchdog() {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    void begin(const std::string& type, OpCounter& counter, std::chrono::nanoseconds budget) {
        {
            const std::lock_guard lock{mutex_};
            type_ = type;
            budget_ = budget;
            counter_ = &counter;
            began_ = Clock::now();
            next_ = began_ + budget;
            is_running_ = true;
            is_over_ = false;
        }
        changed_.notify_all();
    }
    // After `took`: it may have been late without anybody having noticed.
    void end(std::chrono::nanoseconds took) {
        const std::lock_guard lock{mutex_};
        is_running_ = false;
        if (!is_over_ && took > budget_) counter_->record_overrun();
    }

private:
    void watch() {
        std::unique_lock lock{mutex_};
        while (!stopping_) {
            if (!is_running_) {
                changed_.wait(lock);
            } else if (Clock::now() < next_) {
                changed_.wait_until(lock, next_);
            } else if (!is_over_) {
                is_over_ = true;
                counter_->record_overrun();
                next_ = began_ + std::max<std::chrono::nanoseconds>(10 * budget_, std::chrono::seconds{1});
            } else {
                const auto waited = Clock::now() - began_;
                next_ = began_ + 2 * waited;
                log::error(
                    "plugin {} has been in plan() for {:.1f} s and its budget is {:.1f} s: no job starts until it "
                    "returns; if it "
                    "does not, restart with another sched plugin",
                    type_, seconds(waited), seconds(budget_));
            }
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::string type_;
    std::chrono::nanoseconds budget_{};
    Clock::time_point began_, next_;
    OpCounter* counter_{nullptr};  // of an instance, so never freed
    bool is_running_{false}, is_over_{false}, stopping_{false};
    std::thread thread_;
};

namespace {

// Kept reachable for ever: a thread that a plugin forgot may still hold the sink.
template <class T>
T& immortal() {
    static auto* const all = new std::vector<T*>;
    static auto* const mutex = new std::mutex;
    auto* const one = new T;
    const std::lock_guard lock{*mutex};
    all->push_back(one);
    return *one;
}

}  // namespace

Planner::Planner(Bound<SchedAxis> sched, Bound<SelectAxis> select)
    : sched_{sched}, select_{select}, gates_{immortal<Gates>()}, watchdog_{std::make_unique<Watchdog>()} {}

Planner::~Planner() = default;

Result<PlanRun> Planner::run(const spur_cluster_view& view, const spur_plan_sink& sink, const PlanBudget& budget) {
    const auto sched = sched_.pin();
    const auto select = select_.pin();
    if (!sched || !select) return fail(ErrorCode::unavailable, "no {} plugin is in force", sched ? "select" : "sched");
    const auto began = Clock::now();
    gates_.select.open(select.instance(), sched.instance());
    gates_.plan.open(sched.instance(), view, sink, began + budget.time, budget.stopping);
    watchdog_->begin(sched.type(), sched.instance().counter(offsetof(spur_sched_ops, plan)), budget.time);
    const ProcessState before{ProcessState::Reading::cheap};
    const auto planned = sched.call(&spur_sched_ops::plan, &view, gates_.select.selector(), gates_.plan.sink());
    gates_.plan.close();
    gates_.select.close();
    sched.instance().check_left("plan", before);  // or select did, which it asked

    PlanRun run{Clock::now() - began, {}, gates_.plan.said_stop()};
    watchdog_->end(run.took);
    if (run.took > budget.time) {
        run.over = run.took - budget.time;
        // A planner that stops when it is told to is a little late by nature.
        if (run.over > budget.time / 20)
            log::warning("plugin {}: plan() took {:.3f} s, {:.3f} s over its budget of {:.3f} s{}", sched.type(),
                         seconds(run.took), seconds(run.over), seconds(budget.time),
                         run.was_stopped ? "; it was told to stop" : "; it never asked whether to stop");
    }
    if (!planned && planned.error().code == ErrorCode::unavailable && run.was_stopped)
        return run;  // SPUR_E_STOPPED: as it was told
    if (!planned) return std::unexpected(planned.error());
    return run;
}

}  // namespace spur::host
