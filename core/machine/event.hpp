// What changed, for the outside: the dispatcher turns JobStarted into a launch, the read model into a new row.
// Events name records; the records are in the Cluster. Acting on one is idempotent: a new leader may act on it again.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"

namespace spur {

struct ConfigChanged {
    auto operator<=>(const ConfigChanged&) const = default;
};

// A record of a job is new. For a submission the first one names the id to answer with.
struct JobQueued {
    JobId job;
    bool duplicate{false};  // the same request_id again: nothing was queued
    auto operator<=>(const JobQueued&) const = default;
};
// Something visible of the record changed: reason, priority, spec, times, flags.
struct JobChanged {
    JobId job;
    auto operator<=>(const JobChanged&) const = default;
};
// One task has left the array's record `array` and is the job `job` now.
struct ArraySplit {
    JobId array;
    JobId job;
    std::uint32_t task{};
    auto operator<=>(const ArraySplit&) const = default;
};
// Launch it.
struct JobStarted {
    JobId job;
    std::uint32_t attempt{};
    auto operator<=>(const JobStarted&) const = default;
};
// Its outcome is decided: end what still runs on its nodes and run epilogs, then say NodeJobDone.
struct JobEnding {
    JobId job;
    std::uint32_t attempt{};
    auto operator<=>(const JobEnding&) const = default;
};
// All its nodes are done, or it never ran: the record is final.
struct JobEnded {
    JobId job;
    std::uint32_t attempt{};
    auto operator<=>(const JobEnded&) const = default;
};
// Pending again after having run.
struct JobRequeued {
    JobId job;
    std::uint32_t attempt{};  // the one that is over
    auto operator<=>(const JobRequeued&) const = default;
};
struct JobSuspended {
    JobId job;
    std::uint32_t attempt{};
    auto operator<=>(const JobSuspended&) const = default;
};
struct JobResumed {
    JobId job;
    std::uint32_t attempt{};
    auto operator<=>(const JobResumed&) const = default;
};
// The time at which a running job ends was moved: tell its nodes.
struct JobLimitChanged {
    JobId job;
    std::uint32_t attempt{};
    auto operator<=>(const JobLimitChanged&) const = default;
};
// These nodes no longer belong to the running job: clean up there and say NodeJobDone.
struct JobShrunk {
    JobId job;
    std::uint32_t attempt{};
    std::vector<NodeId> released;
    auto operator<=>(const JobShrunk&) const = default;
};
struct JobSignalled {
    JobId job;
    std::uint32_t attempt{};
    std::optional<StepId> step;  // none: the job
    std::uint32_t signal{};
    bool batch_only{false};
    bool full{false};
    auto operator<=>(const JobSignalled&) const = default;
};
// The record is gone.
struct JobForgotten {
    JobId job;
    auto operator<=>(const JobForgotten&) const = default;
};

struct StepStarted {
    StepKey step;
    std::uint32_t attempt{};
    auto operator<=>(const StepStarted&) const = default;
};
struct StepEnded {
    StepKey step;
    std::uint32_t attempt{};
    auto operator<=>(const StepEnded&) const = default;
};

struct NodeChanged {
    NodeId node;
    auto operator<=>(const NodeChanged&) const = default;
};
// Resources became free on it: the scheduler wants to know.
struct NodeFreed {
    NodeId node;
    auto operator<=>(const NodeFreed&) const = default;
};
// The agent of `node` holds something that must not run there any more.
struct EndUnknown {
    NodeId node;
    JobId job;
    std::uint32_t attempt{};
    StepId step;
    auto operator<=>(const EndUnknown&) const = default;
};
// `node` lost track of, or never got, this job's launch: send it again.
struct LaunchAgain {
    NodeId node;
    JobId job;
    std::uint32_t attempt{};
    auto operator<=>(const LaunchAgain&) const = default;
};
struct RebootWanted {
    NodeId node;
    auto operator<=>(const RebootWanted&) const = default;
};

struct PartitionChanged {
    Text name;
    bool removed{false};
    auto operator<=>(const PartitionChanged&) const = default;
};
struct ReservationChanged {
    Text name;
    bool removed{false};
    auto operator<=>(const ReservationChanged&) const = default;
};
struct AssociationsChanged {
    auto operator<=>(const AssociationsChanged&) const = default;
};

// A leader began, or agents are to trust another key.
struct HistoryChanged {
    auto operator<=>(const HistoryChanged&) const = default;
};
// The agent of `node` has seen what is not in this state: it is older than that, or another one.
struct HistoryDiffers {
    NodeId node;
    bool other{false};
    auto operator<=>(const HistoryDiffers&) const = default;
};

using Event =
    std::variant<ConfigChanged, JobQueued, JobChanged, ArraySplit, JobStarted, JobEnding, JobEnded, JobRequeued,
                 JobSuspended, JobResumed, JobLimitChanged, JobShrunk, JobSignalled, JobForgotten, StepStarted,
                 StepEnded, NodeChanged, NodeFreed, EndUnknown, LaunchAgain, RebootWanted, PartitionChanged,
                 ReservationChanged, AssociationsChanged, HistoryChanged, HistoryDiffers>;
using Events = std::vector<Event>;

}  // namespace spur
