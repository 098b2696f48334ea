// What an administrator asks of a schedule, worked out from the outcome of a simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/sim/outcome.hpp"

namespace spur::cli::sim {

// The spread of a figure over jobs. Percentiles by nearest rank: always a value that occurred.
struct Spread {
    double mean{}, p50{}, p90{}, p99{}, max{};
    bool operator==(const Spread&) const = default;
};
Spread spread_of(std::vector<double> values);

// (wait + run) / run, where runs under 10 s count as 10 s and nothing is below 1 (Feitelson and Rudolph).
double bounded_slowdown(double wait_s, double run_s);

// (sum x)^2 / (n sum x^2): 1 when all are alike, 1/n when one has everything.
double jain_index(const std::vector<double>& values);

struct UserMetrics {
    std::string name;
    std::size_t jobs{};
    double cpu_hours{};
    double mean_wait_s{}, max_wait_s{};
    double mean_slowdown{};
    bool operator==(const UserMetrics&) const = default;
};

struct CostMetrics {
    std::uint64_t calls{};
    Spread ms;
};

struct Metrics {
    std::size_t submitted{};  // jobs and array tasks that the cluster took
    std::size_t completed{}, failed{}, timed_out{}, preempted{}, other{};
    std::size_t never_started{}, refused{};
    std::int64_t makespan_s{};
    // Of what the cluster has: while jobs were being submitted, and from the first submission to the last end.
    double cpu_utilisation{}, useful_cpu_utilisation{}, gpu_utilisation{};
    double whole_cpu_utilisation{}, whole_useful_cpu_utilisation{}, whole_gpu_utilisation{};
    Spread wait_s;
    Spread slowdown;
    std::int64_t longest_wait_s{};
    std::uint32_t longest_waiter{};    // its place in Outcome::jobs
    std::size_t passed_over{};         // jobs that saw one submitted later start earlier
    std::uint32_t most_overtakings{};  // how often that happened to one job
    double jain_slowdown{};            // over the mean bounded slowdown of each user
    std::vector<UserMetrics> users;    // most cpu hours first
    double gpu_fragmentation{};        // stranded share of free GPUs
    double mean_queue{};               // jobs waiting, while jobs were being submitted
    std::uint32_t longest_queue{};
    double lost_cpu_hours{};  // runs cut short by preemption
    CostMetrics plan, score;
};

Metrics measure(const Outcome& outcome);

}  // namespace spur::cli::sim
