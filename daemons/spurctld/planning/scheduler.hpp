// The scheduler: woken by events, runs off the engine's thread on a frozen view. Priority, then sched (which asks
// select), then commands; what the plan says is checked again when the commands are applied, so a stale plan does no
// harm.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemons/common/planning/cycle.hpp"
#include "daemons/common/work/inbox.hpp"
#include "daemons/spurctld/engine/engine.hpp"

namespace spur::ctld {

struct SchedulerOptions {
    std::chrono::seconds interval{60};          // a backstop: events wake it at once
    std::chrono::seconds rescore_interval{30};  // how often the age of waiting jobs is looked at
    std::chrono::milliseconds budget{5000};     // a plan that takes longer is told to stop
    std::chrono::seconds usage_interval{300};   // how often running jobs are charged and old usage fades
};

class Scheduler final : public EngineObserver {
public:
    Scheduler(Engine& engine, planning::PolicyPlugins plugins, SchedulerOptions options,
              std::function<void(std::string)> log);
    ~Scheduler() override;
    void stop();
    void pause();  // nothing is planned any more, and no plan that is being made is carried out
    void wake();   // something outside the cluster's state changed: plugins, options
    void reconfigure(SchedulerOptions options);

    void on_applied(const Cluster& cluster, const Events& events, const planning::Changes& changes,
                    const std::shared_ptr<const planning::ReadModel>& model, bool leads) override;
    void on_leadership(const Cluster& cluster, const Leadership& now) override;

    struct Stats {
        std::uint64_t cycles{}, started{}, last_us{}, max_us{}, total_us{}, last_pending{}, overruns{};
    };
    Stats stats() const;
    const planning::PriorityReport& priorities() const { return planning_.priorities(); }

private:
    void loop(const std::stop_token& stop);
    bool wait_for_work(const std::stop_token& stop);
    std::chrono::seconds longest_pause() const;
    void cycle(const std::stop_token& stop);
    void fade_usage();
    void carry_out(planning::CycleOutcome outcome, const std::stop_token& stop);

    Engine& engine_;
    host::Bound<host::PriorityAxis> priority_;
    std::function<void(std::string)> log_;

    mutable std::mutex mutex_;
    work::Doorbell bell_;
    SchedulerOptions options_;
    planning::Changes changes_;
    std::shared_ptr<const planning::ReadModel> model_;
    bool leads_{false};
    bool dirty_{false};
    bool paused_{false};
    UnixSeconds alarm_{};  // when the passing of time alone calls for a cycle; 0: never
    Stats stats_;

    planning::PlanningCycle planning_;  // scheduler thread only
    std::chrono::steady_clock::time_point rescored_{};
    std::chrono::steady_clock::time_point faded_{std::chrono::steady_clock::now()};
    std::jthread thread_;
};

}  // namespace spur::ctld
