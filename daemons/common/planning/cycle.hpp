// One planning cycle, with no clock and no thread of its own: priority scores the queue, sched plans with select, and
// the plan becomes commands. The controller's scheduler runs it when events wake it, the simulator when virtual time
// does.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "daemons/common/host/host.hpp"
#include "daemons/common/host/planner.hpp"
#include "daemons/common/planning/mirror.hpp"
#include "daemons/common/planning/plan.hpp"
#include "daemons/common/planning/priority_report.hpp"

namespace spur::planning {

struct PolicyPlugins {
    host::Bound<host::SchedAxis> sched;
    host::Bound<host::SelectAxis> select;
    host::Bound<host::PriorityAxis> priority;
};

// Can something start, or start elsewhere, because of it?
bool wants_scheduling(const Event& event);

struct CycleInput {
    std::shared_ptr<const ReadModel> model;
    Changes changes;      // since the cycle before
    UnixSeconds now{};    // what planners see
    bool rescore{false};  // ask for the priority of every waiting job, not only of new ones
    std::chrono::nanoseconds budget{std::chrono::seconds{1}};
    const std::atomic<bool>* stopping{nullptr};  // set: the planner is told to stop
    PlanCollector::MayStart may_start;           // asked besides the limits of accounts and QOS; may be empty
    bool notes{true};                            // collect why jobs wait and when they are expected
};

struct CycleOutcome {
    SetPending scores;  // priorities that differ from what the records say
    Plan plan;
    UnixSeconds alarm{};                // when time alone calls for the next cycle; 0: it does not
    std::size_t pending{};              // jobs that waited; with none, nobody was asked
    std::vector<std::string> problems;  // for the log
    std::chrono::nanoseconds scoring{}, planning{};
};

class PlanningCycle {
public:
    explicit PlanningCycle(PolicyPlugins plugins);
    CycleOutcome run(CycleInput input);
    const Mirror& mirror() const { return mirror_; }
    // What the priority plugin last said, for any thread.
    const PriorityReport& priorities() const { return report_; }

private:
    std::uint64_t understood() const;  // wishes of jobs, by the plugins in force
    void publish_shares(UnixSeconds now, CycleOutcome& outcome);
    void score(UnixSeconds now, CycleOutcome& outcome);
    Result<std::vector<PriorityReport::Line>> ask_for_scores(const std::vector<spur_priority_query>& queries,
                                                             UnixSeconds now);
    static Result<std::vector<PriorityReport::Factor>> ask_for_factors(const host::Pin<host::PriorityAxis>& plugin);
    void note_array_limits(CycleOutcome& outcome);
    void note_missing_nodes(CycleOutcome& outcome);
    void note_unknown_wishes(CycleOutcome& outcome);

    PolicyPlugins plugins_;
    host::Planner planner_;
    Mirror mirror_;
    LimitCounts limits_;
    Promises promises_;
    PriorityReport report_;
};

// The placements as commands: components of one heterogeneous job start together.
std::vector<StartJob> start_commands(std::vector<Placement> placements, const ReadModel& model);

}  // namespace spur::planning
