// Schedules made in virtual time by the plugins of this build.
#include "cli/sim/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/sim/metrics.hpp"
#include "cli/sim/report.hpp"
#include "cli/sim/synth.hpp"
#include "daemons/common/config/config.hpp"

namespace spur::cli::sim {
namespace {

Config cluster(const std::string& nodes, std::uint32_t cpus) {
    const auto text = fmt::format(
        "[plugins]\ndirs = [\"{}\"]\nsched = \"sched/fifo\"\nselect = \"select/linear\"\npriority = "
        "\"priority/basic\"\n"
        "[[nodes]]\nnames = \"{}\"\ncpus = {}\nmemory_mb = 1000\n"
        "[[partitions]]\nname = \"main\"\nnodes = \"ALL\"\ndefault = true\n",
        SPUR_TEST_PLUGINS, nodes, cpus);
    auto config = config::parse_config(text, "sim.toml");
    EXPECT_TRUE(config) << (config ? "" : to_string(config.error(), "sim.toml"));
    return config.value_or(Config{});
}

TraceJob job(std::string id, std::int64_t submit, std::int64_t run, std::uint32_t nodes, std::int64_t limit = 3600) {
    TraceJob out;
    out.id = std::move(id);
    out.submit_s = submit;
    out.run_s = run;
    out.min_nodes = nodes;
    out.limit_s = limit;
    return out;
}

Trace trace_of(std::vector<TraceJob> jobs) {
    Trace trace;
    trace.source = "test";
    trace.begins = default_beginning;
    trace.jobs = std::move(jobs);
    EXPECT_TRUE(complete(trace));
    return trace;
}

Outcome run(const Trace& trace, const Config& config, const SimulationOptions& options = {}) {
    auto outcome = simulate(trace, config, options);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().text);
    if (!outcome) return {};
    EXPECT_EQ(outcome->problems, std::vector<std::string>{});
    return *std::move(outcome);
}

// Seconds after the beginning.
std::pair<std::int64_t, std::int64_t> times(const Outcome& outcome, std::size_t number) {
    const auto& one = outcome.jobs.at(number);
    return {one.start - default_beginning, one.end - default_beginning};
}

using Times = std::pair<std::int64_t, std::int64_t>;

TEST(Simulation, JobsWaitForNodesAndRunAsLongAsTheTraceSays) {
    const auto outcome =
        run(trace_of({job("a", 0, 100, 2), job("b", 10, 50, 1), job("c", 20, 30, 1)}), cluster("n[1-2]", 4));
    EXPECT_EQ(times(outcome, 0), (Times{0, 100}));
    EXPECT_EQ(times(outcome, 1), (Times{100, 150}));
    EXPECT_EQ(times(outcome, 2), (Times{100, 130}));
    EXPECT_EQ(outcome.ends, default_beginning + 150);
}

TEST(Simulation, AJobPastItsLimitIsKilled) {
    const auto outcome = run(trace_of({job("a", 0, 1000, 1, 120), job("b", 0, 10, 1)}), cluster("n1", 4));
    EXPECT_EQ(outcome.jobs[0].state, JobState::timeout);
    EXPECT_EQ(times(outcome, 0), (Times{0, 120}));
    EXPECT_EQ(times(outcome, 1), (Times{120, 130}));
}

TEST(Simulation, CyclesKeepTheIntervalBetweenThem) {
    SimulationOptions options;
    options.interval_s = 60;
    const auto outcome =
        run(trace_of({job("a", 0, 10, 1), job("b", 1, 10, 1), job("c", 70, 10, 1)}), cluster("n1", 4), options);
    EXPECT_EQ(times(outcome, 0).first, 0);
    EXPECT_EQ(times(outcome, 1).first, 60);
    EXPECT_EQ(times(outcome, 2).first, 120);
}

TEST(Simulation, AReservationKeepsJobsOffItsNodes) {
    auto trace = trace_of({job("a", 0, 300, 1, 600)});
    trace.reservations = {{"maintenance", 100, 1000, "n1", {}, {}}};
    EXPECT_EQ(times(run(trace, cluster("n1", 4)), 0).first, 1000);
}

TEST(Simulation, TasksOfAnArrayAreJobsWithRunTimesOfTheirOwn) {
    auto array = job("a", 0, 0, 1);
    array.array = "3,5,9%2";
    array.task_runs = {10, 20, 30};
    const auto outcome = run(trace_of({array}), cluster("n[1-4]", 4));
    ASSERT_EQ(outcome.jobs.size(), 3);
    EXPECT_EQ(times(outcome, 0), (Times{0, 10}));
    EXPECT_EQ(times(outcome, 1), (Times{0, 20}));
    EXPECT_EQ(times(outcome, 2), (Times{10, 40}));  // two at a time
    EXPECT_EQ(outcome.jobs[2].task, 9);
}

TEST(Simulation, DependenciesAndThinkingUsersAreWaitedFor) {
    auto after = job("b", 5, 10, 1);
    after.dependency = "afterok:a";
    auto later = job("c", 6, 10, 1);
    later.follows = "b";
    later.think_s = 25;
    const auto outcome = run(trace_of({job("a", 0, 100, 1), after, later}), cluster("n[1-4]", 4));
    EXPECT_EQ(times(outcome, 1), (Times{100, 110}));
    EXPECT_EQ(outcome.jobs[2].submit, default_beginning + 135);
    EXPECT_EQ(times(outcome, 2), (Times{135, 145}));
}

TEST(Simulation, WhatTheClusterWouldRefuseIsCountedWithTheSentence) {
    auto stranger = job("a", 0, 10, 1);
    stranger.partition = "nowhere";
    auto orphan = job("b", 0, 10, 1);
    orphan.dependency = "afterok:zzz";
    const auto outcome = run(trace_of({stranger, orphan, job("c", 0, 10, 1)}), cluster("n1", 4));
    EXPECT_EQ(outcome.jobs.size(), 1);
    EXPECT_EQ(outcome.refusals.size(), 2);
    EXPECT_EQ(measure(outcome).refused, 2);
}

TEST(Simulation, AJobTooWideForTheClusterNeverStartsAndDoesNotHoldUpTheEnd) {
    const auto outcome = run(trace_of({job("a", 0, 10, 1), job("b", 0, 10, 9)}), cluster("n[1-2]", 4));
    EXPECT_EQ(measure(outcome).never_started + measure(outcome).refused, 1);
    EXPECT_EQ(times(outcome, 0), (Times{0, 10}));
}

TEST(Simulation, ConfigurationsWithoutNodesOrPluginsAreRefused) {
    auto config = cluster("n1", 4);
    config.plugins["sched"] = {"sched/nonesuch"};
    const auto trace = trace_of({job("a", 0, 10, 1)});
    const auto refused = simulate(trace, config, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("sched/nonesuch"), std::string::npos);
    config = cluster("n1", 4);
    config.cluster.nodes.clear();
    EXPECT_FALSE(simulate(trace, config, {}));
}

class Synthetic : public ::testing::TestWithParam<std::uint64_t> {
protected:
    Trace trace_ = synthesize({.seed = GetParam(), .jobs = 400, .duration_s = 20'000, .cpus = 64, .load = 0.8});
    Config config_ = cluster("n[01-16]", 4);
};

TEST_P(Synthetic, TheSameInputGivesTheSameOutcome) {
    std::vector<Report> reports;
    for (int i = 0; i < 2; ++i) {
        Report report{"sim.toml", run(trace_, config_), {}};
        report.outcome.costs = {};
        report.metrics = measure(report.outcome);
        reports.push_back(std::move(report));
    }
    EXPECT_EQ(reports[0].outcome.jobs, reports[1].outcome.jobs);
    EXPECT_EQ(reports[0].outcome.load, reports[1].outcome.load);
    EXPECT_EQ(print_json({reports[0]}, trace_), print_json({reports[1]}, trace_));
    EXPECT_EQ(print_table(reports[0], trace_), print_table(reports[1], trace_));
}

TEST_P(Synthetic, FifoNeverStartsOutOfOrder) {
    const auto outcome = run(trace_, config_);
    for (std::size_t i = 1; i < outcome.jobs.size(); ++i)
        EXPECT_LE(outcome.jobs[i - 1].start, outcome.jobs[i].start) << trace_.jobs[outcome.jobs[i].trace_job].id;
    EXPECT_EQ(measure(outcome).passed_over, 0);
}

TEST_P(Synthetic, WorkIsConserved) {
    const auto outcome = run(trace_, config_);
    ASSERT_EQ(outcome.jobs.size(), trace_.jobs.size());
    double by_jobs = 0, by_load = 0;
    for (const auto& one : outcome.jobs) {
        const auto& wanted = trace_.jobs[one.trace_job];
        const auto limit = (*wanted.limit_s + 59) / 60 * 60;
        EXPECT_EQ(one.end - one.start, std::min(wanted.run_s, limit)) << wanted.id;
        EXPECT_EQ(one.state, wanted.run_s > limit ? JobState::timeout : JobState::completed) << wanted.id;
        EXPECT_GE(one.start, one.submit);
        by_jobs += static_cast<double>(one.end - one.start) * one.cpus;
    }
    for (std::size_t i = 0; i + 1 < outcome.load.size(); ++i) {
        EXPECT_LE(outcome.load[i].cpus, outcome.cpus);
        by_load += static_cast<double>(outcome.load[i + 1].at - outcome.load[i].at) * outcome.load[i].cpus;
    }
    EXPECT_DOUBLE_EQ(by_jobs, by_load);
    EXPECT_EQ(outcome.load.back().cpus, 0);
    EXPECT_EQ(outcome.load.back().waiting, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Synthetic, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace spur::cli::sim
