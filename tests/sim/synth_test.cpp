// Synthetic traces have the shape they promise, and the same seed gives the same one.
#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "cli/sim/synth.hpp"

namespace spur::cli::sim {
namespace {

TEST(SimSynth, TheSameSeedGivesTheSameTraceAndAnotherSeedAnother) {
    const SynthOptions options{.seed = 7, .jobs = 500};
    EXPECT_EQ(print_trace(synthesize(options)), print_trace(synthesize(options)));
    auto other = options;
    other.seed = 8;
    EXPECT_NE(print_trace(synthesize(options)), print_trace(synthesize(other)));
}

TEST(SimSynth, TheLoadIsTheOneAskedFor) {
    for (const double load : {0.5, 1.5}) {
        const auto trace = synthesize({.jobs = 5000, .cpus = 2048, .load = load});
        double asked = 0;
        for (const auto& job : trace.jobs) asked += static_cast<double>(job.run_s) * job.tasks.value_or(1);
        EXPECT_NEAR(asked / (86'400.0 * 2048), load, 0.05 * load);
    }
}

TEST(SimSynth, SizesFavourPowersOfTwoAndLimitsAreTooLong) {
    const auto trace = synthesize({.jobs = 5000, .cpus = 1024});
    std::size_t powers = 0, too_long = 0, cut_short = 0;
    for (const auto& job : trace.jobs) {
        EXPECT_LE(*job.tasks, 512);
        if (std::has_single_bit(*job.tasks)) ++powers;
        if (*job.limit_s >= 2 * job.run_s) ++too_long;
        if (*job.limit_s < job.run_s) ++cut_short;
    }
    EXPECT_GT(powers, 3500);
    EXPECT_GT(too_long, 3000);
    EXPECT_GT(cut_short, 50);
    EXPECT_LT(cut_short, 500);
}

TEST(SimSynth, ArrivalsFollowTheDayAndFewUsersSubmitMost) {
    const auto trace = synthesize({.jobs = 10'000, .users = 20});
    std::size_t night = 0, day = 0;
    std::map<std::string, std::size_t> users;
    for (const auto& job : trace.jobs) {
        const auto hour = job.submit_s / 3600;
        if (hour < 6) ++night;
        if (hour >= 10 && hour < 16) ++day;
        ++users[job.user];
    }
    EXPECT_GT(day, 3 * night);
    EXPECT_GT(users["u01"], 5 * users["u20"]);
}

TEST(SimSynth, GpuJobsAskForNoMoreThanNodesHave) {
    const auto trace =
        synthesize({.jobs = 2000, .cpus = 512, .gpu_share = 0.5, .gpus_per_node = 8, .cpus_per_node = 64});
    std::size_t with = 0;
    for (const auto& job : trace.jobs) {
        if (job.gres.empty()) continue;
        ++with;
        EXPECT_TRUE(job.gres == "gpu:1" || job.gres == "gpu:2" || job.gres == "gpu:4" || job.gres == "gpu:8")
            << job.gres;
        EXPECT_LE(*job.min_nodes, 2);
        EXPECT_LE(*job.tasks * *job.cpus_per_task, 64 * *job.min_nodes);
    }
    EXPECT_GT(with, 800);
    EXPECT_LT(with, 1200);
}

}  // namespace
}  // namespace spur::cli::sim
