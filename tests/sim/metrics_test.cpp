// Every figure against one worked out by hand.
#include <gtest/gtest.h>

#include "cli/sim/gauges.hpp"
#include "cli/sim/metrics.hpp"

namespace spur::cli::sim {
namespace {

JobOutcome ran(UnixSeconds submit, UnixSeconds start, UnixSeconds end, std::uint32_t order, std::uint32_t cpus = 1,
               std::uint32_t user = 0) {
    JobOutcome job;
    job.state = JobState::completed;
    job.submit = submit;
    job.start = start;
    job.end = end;
    job.start_order = order;
    job.starts = 1;
    job.cpus = job.asked_cpus = cpus;
    job.user = user;
    return job;
}

Outcome outcome_of(std::vector<JobOutcome> jobs) {
    Outcome outcome;
    outcome.jobs = std::move(jobs);
    outcome.users = {"a", "b"};
    outcome.cpus = 4;
    outcome.begins = 0;
    for (const auto& job : outcome.jobs) {
        outcome.last_submit = std::max(outcome.last_submit, job.submit);
        outcome.ends = std::max(outcome.ends, job.end);
    }
    return outcome;
}

TEST(SimMetrics, PercentilesAreTheNearestRank) {
    std::vector<double> values;
    for (int i = 100; i >= 1; --i) values.push_back(i);
    const auto spread = spread_of(values);
    EXPECT_DOUBLE_EQ(spread.mean, 50.5);
    EXPECT_EQ(spread.p50, 50);
    EXPECT_EQ(spread.p90, 90);
    EXPECT_EQ(spread.p99, 99);
    EXPECT_EQ(spread.max, 100);
    EXPECT_EQ(spread_of({7}).p50, 7);
    EXPECT_EQ(spread_of({}).max, 0);
    EXPECT_EQ(spread_of({1, 2}).p50, 1);
}

TEST(SimMetrics, BoundedSlowdownTakesShortRunsForTenSeconds) {
    EXPECT_DOUBLE_EQ(bounded_slowdown(100, 100), 2);
    EXPECT_DOUBLE_EQ(bounded_slowdown(0, 3), 1);
    EXPECT_DOUBLE_EQ(bounded_slowdown(99, 1), 10);
    EXPECT_DOUBLE_EQ(bounded_slowdown(50, 0), 5);
}

TEST(SimMetrics, JainsIndexIsOneWhenAllAreAlikeAndOneNthWhenOneHasAll) {
    EXPECT_DOUBLE_EQ(jain_index({3, 3, 3}), 1);
    EXPECT_DOUBLE_EQ(jain_index({1, 0, 0, 0}), 0.25);
    EXPECT_DOUBLE_EQ(jain_index({1, 2, 3}), 36.0 / 42);
}

TEST(SimMetrics, UtilisationIsTheAreaUnderTheLoad) {
    auto outcome = outcome_of({ran(0, 0, 50, 1, 4), ran(100, 100, 200, 2, 2)});
    outcome.jobs[0].asked_cpus = 1;
    outcome.load = {{0, 4, 1, 0, 1, 0}, {50, 0, 0, 0, 0, 0}, {100, 2, 2, 0, 1, 0}, {200, 0, 0, 0, 0, 0}};
    const auto metrics = measure(outcome);
    EXPECT_DOUBLE_EQ(metrics.cpu_utilisation, 0.5);           // 200 of 400 up to second 100
    EXPECT_DOUBLE_EQ(metrics.useful_cpu_utilisation, 0.125);  // 50 of 400
    EXPECT_DOUBLE_EQ(metrics.whole_cpu_utilisation, 0.5);     // 400 of 800
    EXPECT_EQ(metrics.makespan_s, 200);
}

TEST(SimMetrics, WaitsSlowdownsAndUsersAreThoseOfTheJobs) {
    const auto metrics =
        measure(outcome_of({ran(0, 0, 100, 1, 2, 0), ran(0, 100, 200, 2, 4, 1), ran(50, 100, 110, 3, 1, 1)}));
    EXPECT_DOUBLE_EQ(metrics.wait_s.mean, 50);
    EXPECT_EQ(metrics.wait_s.max, 100);
    EXPECT_EQ(metrics.longest_wait_s, 100);
    EXPECT_EQ(metrics.longest_waiter, 1);
    EXPECT_DOUBLE_EQ(metrics.slowdown.mean, (1 + 2 + 6) / 3.0);
    ASSERT_EQ(metrics.users.size(), 2);
    EXPECT_EQ(metrics.users[0].name, "b");
    EXPECT_DOUBLE_EQ(metrics.users[0].cpu_hours, 410.0 / 3600);
    EXPECT_DOUBLE_EQ(metrics.users[0].mean_slowdown, 4);
    EXPECT_DOUBLE_EQ(metrics.jain_slowdown, 25.0 / 34);  // of 1 and 4
}

TEST(SimMetrics, AJobIsPassedOverWhenOneSubmittedLaterStartsEarlier) {
    // 1 waits while 2 and 3 go by; 4 is submitted together with 5, and neither passes the other over.
    const auto metrics = measure(outcome_of({ran(0, 0, 9, 1), ran(1, 50, 60, 4), ran(2, 3, 9, 2), ran(3, 4, 9, 3),
                                             ran(70, 80, 90, 6), ran(70, 75, 90, 5)}));
    EXPECT_EQ(metrics.passed_over, 1);
    EXPECT_EQ(metrics.most_overtakings, 2);
}

TEST(SimMetrics, JobsThatStartTogetherPassNobodyOver) {
    EXPECT_EQ(measure(outcome_of({ran(0, 10, 20, 2), ran(5, 10, 20, 1)})).passed_over, 0);
}

TEST(SimMetrics, StatesAreCounted) {
    auto outcome = outcome_of({ran(0, 0, 1, 1), ran(0, 0, 1, 2), ran(0, 0, 1, 3), ran(0, 0, 0, 0)});
    outcome.jobs[1].state = JobState::timeout;
    outcome.jobs[2].state = JobState::failed;
    outcome.jobs[3].state = JobState::pending;
    outcome.refusals = {{"no such partition", 3}};
    const auto metrics = measure(outcome);
    EXPECT_EQ(metrics.submitted, 4);
    EXPECT_EQ(metrics.completed, 1);
    EXPECT_EQ(metrics.timed_out, 1);
    EXPECT_EQ(metrics.failed, 1);
    EXPECT_EQ(metrics.never_started, 1);
    EXPECT_EQ(metrics.refused, 3);
}

TEST(SimMetrics, FreeGpusAreStrandedWhereAKindOfRequestDoesNotFit) {
    // Half of the jobs want one GPU and 4 cores, half all 8 and 32 cores.
    const GpuFragments fragments{{{1, 4, 0.5}, {8, 32, 0.5}}};
    EXPECT_DOUBLE_EQ(fragments.stranded(8, 64), 0);
    EXPECT_DOUBLE_EQ(fragments.stranded(5, 64), 2.5);  // too few for the second kind
    EXPECT_DOUBLE_EQ(fragments.stranded(8, 16), 4);    // too few cores for it
    EXPECT_DOUBLE_EQ(fragments.stranded(3, 0), 3);     // no cores at all
    EXPECT_DOUBLE_EQ(fragments.stranded(0, 64), 0);
}

TEST(SimMetrics, KindsOfGpuRequestsComeFromTheTrace) {
    Trace trace;
    TraceJob one, two;
    one.gres = "gpu:2";
    one.tasks = 4;
    two.gres_per_job = "gpu:16";
    two.tasks = 16;
    trace.jobs = {one, two, one, TraceJob{}};
    const auto fragments =
        GpuFragments::of(trace, 8);  // 2/3: 2 gpus, 4 cpus; 1/3: 8 gpus and 8 cpus on each of 2 nodes
    EXPECT_NEAR(fragments.stranded(4, 64), 4 / 3.0, 1e-9);
    EXPECT_NEAR(fragments.stranded(8, 6), 8 / 3.0, 1e-9);
    EXPECT_NEAR(fragments.stranded(1, 64), 1, 1e-9);
}

}  // namespace
}  // namespace spur::cli::sim
