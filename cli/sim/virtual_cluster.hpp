// One run of the simulator: the state machine and the plugins of a controller, with the trace in place of users and
// nodes, and its own clock.
#pragma once

#include <algorithm>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/sim/gauges.hpp"
#include "cli/sim/population.hpp"
#include "cli/sim/simulation.hpp"
#include "daemons/common/planning/cycle.hpp"

namespace spur::cli::sim {

// Something of the trace's that happens at a time. Equal times in the order of the numbers.
struct Due {
    UnixSeconds at{};
    std::uint32_t number{};  // a place in the trace, or a job's id
    std::uint32_t token{};   // of an end: which run of the job it belongs to
    bool operator>(const Due& other) const { return at != other.at ? at > other.at : number > other.number; }
};
using Agenda = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

// A run of a job that is under way.
struct Run {
    std::uint32_t outcome{};
    std::uint32_t token{};
    UnixSeconds ends{};     // by itself
    std::int64_t left_s{};  // while suspended
    UnixSeconds since{};
};

class Simulation {
public:
    Simulation(const Trace& trace, const Config& config, const SimulationOptions& options,
               planning::PolicyPlugins plugins)
        : trace_{trace},
          config_{config},
          options_{options},
          priority_{plugins.priority},
          planning_{std::move(plugins)} {}

    Result<Outcome> run() {
        SPUR_CHECK(set_up());
        while (const auto next = next_time()) {
            now_ = *next;
            gauges_->advance(now_, now_ <= last_submit_);
            end_due();
            tick_due();
            submit_due();
            decay_due();
            if (now_ >= (wants_cycle_ ? next_cycle_ : backstop()) || (alarm_ != 0 && now_ >= alarm_)) cycle();
            note_load();
        }
        finish();
        return std::move(out_);
    }

private:
    // ---- the cluster before the first job
    Result<void> set_up();
    Result<void> reserve(const TraceReservation& wanted);

    // ---- what is due
    std::optional<UnixSeconds> next_time() const;
    void end_due();
    void tick_due();
    void submit_due();
    void decay_due();
    void cycle();

    // ---- one thing at a time
    void submit(std::uint32_t place);
    Result<Events> apply(spur::Command command);
    void follow(const Events& events);
    void on(const JobQueued& event);
    void on(const ArraySplit& event);
    void on(const JobStarted& event);
    void on(const JobEnding& event);
    void on(const JobEnded& event);
    void on(const JobRequeued& event);
    void on(const JobSuspended& event);
    void on(const JobResumed& event);
    void on(const NodeChanged& event) { gauges_->update(*cluster_.find_node(event.node)); }
    void on(const NodeFreed& event) { gauges_->update(*cluster_.find_node(event.node)); }
    template <class T>
    void on(const T&) {}

    void clean_up(JobId job);
    void take_note_of_bars(const Job& job, const Run& run);
    void release_followers(std::uint32_t trace_job);
    void note_load();
    void finish();
    // Even if nothing happens, the controller looks at the queue so often.
    UnixSeconds backstop() const { return last_cycle_ + std::max(config_.scheduler.interval_s, 1U); }
    void complain(std::string text) {
        constexpr std::size_t most_problems = 20;
        const bool is_new = std::ranges::find(out_.problems, text) == out_.problems.end();
        if (is_new && out_.problems.size() < most_problems) out_.problems.push_back(std::move(text));
    }
    std::uint32_t outcome_of(JobId job) const { return outcomes_[job.value]; }
    void remember(JobId job, std::uint32_t outcome) {
        if (outcomes_.size() <= job.value) outcomes_.resize(job.value + 1);
        outcomes_[job.value] = outcome;
    }

    const Trace& trace_;
    const Config& config_;
    const SimulationOptions& options_;
    spur::Cluster cluster_;
    planning::ReadModelBuilder builder_;
    planning::Changes changes_;
    host::Bound<host::PriorityAxis> priority_;
    planning::PlanningCycle planning_;
    std::optional<Gauges> gauges_;
    Population people_;
    Outcome out_;

    UnixSeconds now_{};
    UnixSeconds next_cycle_{}, last_cycle_{}, last_rescore_{}, next_decay_{}, next_prune_{}, tick_not_before_{};
    UnixSeconds alarm_{};  // when time alone calls for a cycle; 0: it does not
    UnixSeconds last_submit_{};
    bool wants_cycle_{false};
    bool in_cycle_{false};
    std::uint32_t idle_ticks_{};
    Agenda submits_, ends_;
    std::uint32_t next_token_{1};
    std::unordered_map<std::uint32_t, Run> runs_;                 // by job id
    std::vector<std::uint32_t> outcomes_;                         // by job id
    std::vector<std::uint32_t> tasks_left_;                       // by place in the trace: outcomes that have not ended
    std::unordered_map<std::string_view, std::uint32_t> places_;  // by the trace's id
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;    // place in the trace -> job id
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> followers_;  // place -> places
    std::vector<std::int32_t> shown_;  // by node: its place among the shown ones, or -1
    std::vector<JobId> to_clean_;
    bool has_dependencies_{false};
    std::uint32_t started_{};
    std::uint32_t waiting_{}, running_{}, useful_cpus_{};
    std::uint32_t submitted_first_{};  // of the outcomes made by the submission under way
    struct TaskRange {
        std::uint32_t first{}, count{};
    };
    std::unordered_map<std::uint32_t, TaskRange> arrays_;  // by the array's id: its tasks' outcomes
};

}  // namespace spur::cli::sim
