// What a simulation leaves behind: what became of every job, and how busy the cluster was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/model/job.hpp"

namespace spur::cli::sim {

// One job, or one task of an array. Times are unix seconds of the virtual clock.
struct JobOutcome {
    std::uint32_t trace_job{};  // its place in Trace::jobs
    std::optional<std::uint32_t> task;
    JobState state{JobState::pending};  // pending: never started
    std::uint32_t user{};               // its place in Outcome::users
    UnixSeconds submit{}, start{}, end{};
    std::uint32_t start_order{};  // the how-manieth start it was; 0: never
    std::uint32_t starts{};       // more than one: it was put back into the queue
    std::uint32_t nodes{}, cpus{}, asked_cpus{}, gpus{};
    std::int64_t lost_s{};  // seconds of runs that were cut short by preemption
    bool has_started() const { return start_order != 0; }
    bool operator==(const JobOutcome&) const = default;
};

// How things stood from `at` until the next point.
struct LoadPoint {
    UnixSeconds at{};
    std::uint32_t cpus{};         // given to jobs
    std::uint32_t useful_cpus{};  // of these, asked for
    std::uint32_t gpus{};
    std::uint32_t running{}, waiting{};  // jobs
    bool operator==(const LoadPoint&) const = default;
};

// A part of a node held by a job during a time: what a Gantt view is made of.
struct Bar {
    std::uint32_t node{};  // its place in Outcome::shown_nodes
    std::uint32_t job{};   // its place in Outcome::jobs
    std::uint32_t cpus{}, gpus{};
    UnixSeconds start{}, end{};
    bool operator==(const Bar&) const = default;
};

// What calls into the plugins cost, in real time: the one thing that differs from run to run.
struct CycleCosts {
    std::vector<float> plan_ms, score_ms;  // per cycle
    std::uint64_t over_budget{};           // plans that took longer than [scheduler] budget_secs
};

struct Outcome {
    std::vector<JobOutcome> jobs;  // in the order of submission
    std::vector<std::string> users;
    std::map<std::string, std::size_t> refusals;  // sentence -> jobs the cluster would not take
    std::vector<LoadPoint> load;
    UnixSeconds begins{};  // the first submission
    UnixSeconds last_submit{};
    UnixSeconds ends{};                     // the last end
    std::uint32_t nodes{}, cpus{}, gpus{};  // the cluster's
    std::uint64_t cycles{};
    std::uint64_t refused_starts{};         // planned, and not possible when it came to it
    double free_gpu_s{}, stranded_gpu_s{};  // see GpuFragments; while jobs were still being submitted
    std::vector<Bar> bars;
    std::vector<std::string> shown_nodes;
    std::vector<std::uint32_t> shown_node_cpus;
    std::map<std::string, std::string> plugins;  // axis -> type and version
    std::vector<std::string> problems;           // what plugins did wrong; the first few
    CycleCosts costs;
};

}  // namespace spur::cli::sim
