// Whom sched/backfill pushes out, and for whom.
#include <gtest/gtest.h>

#include "sched_world.hpp"

namespace spur::test {
namespace {

using Names = std::set<std::string>;

Change in_qos(std::uint32_t qos) {
    return with([=](spur_job_view& job) { job.qos = qos; });
}
Change yields(std::uint32_t mode = SPUR_PREEMPT_REQUEUE) {
    return with([=](spur_job_view& job) {
        job.qos = 0;
        job.preempt_mode = mode;
    });
}

TEST(T07Preempt, AJobPushesOutWhomItsQosMay) {
    SchedWorld world;
    world.nodes(1).qos().qos({0}).running("a", {0}, yields());
    const auto plan = world.pending("urgent", in_qos(1)).plan();
    ASSERT_EQ(plan.preemptions.size(), 1U);
    EXPECT_EQ(plan.preemptions[0].job, "urgent");
    EXPECT_EQ(plan.preemptions[0].names, Names{"a"});
    EXPECT_EQ(plan.preemptions[0].nodes, NodeSet{0});
    EXPECT_EQ(plan.expected.at("urgent").at, world.now + 1);
}

TEST(T07Preempt, NobodyIsPushedOutByAnEqual) {
    SchedWorld world;
    world.nodes(1).qos().qos({0}).running("a", {0}, yields());
    EXPECT_TRUE(world.pending("other", in_qos(0)).plan().preemptions.empty());
}

TEST(T07Preempt, PartitionsOfHigherTiersPushOutThoseOfLower) {
    SchedWorld world;
    world.nodes(1).partition({0}).partition({0}, [](auto& partition) { partition.tier = 5; });
    world.running("a", {0}, with([](auto& job) { job.preempt_mode = SPUR_PREEMPT_CANCEL; }));
    EXPECT_EQ(world.pending("urgent", in({1})).plan().preemptions.size(), 1U);
}

TEST(T07Preempt, WhoeverMayNotBePushedOutStays) {
    SchedWorld world;
    world.nodes(3).qos().qos({0});
    world.running("off", {0}, in_qos(0));
    world.running("exempt", {1}, yields(), with([&](auto& job) { job.preempt_exempt_until = world.now + 1; }));
    world.running("ending", {2}, yields(), with([](auto& job) { job.flags |= SPUR_JOB_COMPLETING; }));
    const auto plan = world.pending("urgent", in_qos(1), width(2)).plan();
    EXPECT_TRUE(plan.preemptions.empty());
}

TEST(T07Preempt, NobodyIsPushedOutWhereNoStartFollowsFromIt) {
    SchedWorld world;
    world.nodes(2).qos().qos({0}).running("a", {0}, yields()).running("firm", {1}, in_qos(0));
    EXPECT_TRUE(world.pending("urgent", in_qos(1), width(2)).plan().preemptions.empty());
}

TEST(T07Preempt, NobodyIsPushedOutForAJobThatStartsWithoutThat) {
    SchedWorld world;
    world.nodes(2).qos().qos({0}).running("a", {0}, yields());
    const auto plan = world.pending("urgent", in_qos(1)).plan();
    EXPECT_TRUE(plan.started("urgent"));
    EXPECT_TRUE(plan.preemptions.empty());
}

TEST(T07Preempt, OneVictimIsPreferredToSeveral) {
    SchedWorld world;
    world.nodes(4).qos().qos({0});
    world.running("wide", {0, 1}, yields()).running("x", {2}, yields()).running("y", {3}, yields());
    const auto plan = world.pending("urgent", in_qos(1), width(2)).plan();
    ASSERT_EQ(plan.preemptions.size(), 1U);
    EXPECT_EQ(plan.preemptions[0].names, Names{"wide"});
}

TEST(T07Preempt, TheYoungestIsPushedOutFirst) {
    SchedWorld world;
    world.nodes(3).qos().qos({0});
    world.running("old", {0}, yields()).running("young", {1}, yields(), with([&](auto& job) {
                                                    job.started = world.now;
                                                }));
    world.running("middle", {2}, yields());
    const auto plan = world.pending("urgent", in_qos(1)).plan();
    ASSERT_EQ(plan.preemptions.size(), 1U);
    EXPECT_EQ(plan.preemptions[0].names, Names{"young"});
}

TEST(T07Preempt, VictimsThatAreAlreadyLeavingAreWaitedForInsteadOfMore) {
    SchedWorld world;
    world.nodes(2).qos().qos({0});
    world.running("leaving", {0}, yields(), with([](auto& job) { job.flags |= SPUR_JOB_COMPLETING; }));
    world.running("other", {1}, yields());
    const auto plan = world.pending("urgent", in_qos(1)).pending("small", limit_s(60), in_qos(0)).plan();
    EXPECT_TRUE(plan.preemptions.empty());
    EXPECT_EQ(plan.expected.at("urgent").nodes, NodeSet{0});
}

TEST(T07Preempt, WhatIsFreedIsKeptForTheOneItWasFreedFor) {
    SchedWorld world;
    world.nodes(2).qos().qos({0}).running("a", {0}, yields());
    const auto plan = world.pending("urgent", in_qos(1), width(2)).pending("small", limit_s(60), in_qos(0)).plan();
    ASSERT_EQ(plan.preemptions.size(), 1U);
    EXPECT_FALSE(plan.started("small"));  // node 1 is free, and promised
    world.end("a");
    EXPECT_EQ(world.plan().names(), Names{"urgent"});
}

TEST(T07Preempt, WhoMayPushOthersOutIsPlannedBeforeThem) {
    SchedWorld world;
    world.nodes(1).qos().qos({0}).pending("requeued", in_qos(0)).pending("urgent", in_qos(1));
    EXPECT_EQ(world.plan().names(), Names{"urgent"});
}

TEST(T07Preempt, TwoUrgentJobsPushOutTwo) {
    SchedWorld world;
    world.nodes(2).qos().qos({0}).running("a", {0}, yields()).running("b", {1}, yields());
    const auto plan = world.pending("first", in_qos(1)).pending("second", in_qos(1)).plan();
    ASSERT_EQ(plan.preemptions.size(), 2U);
    EXPECT_NE(plan.preemptions[0].names, plan.preemptions[1].names);
}

Change of_group(std::uint32_t group) {
    return with([=](spur_job_view& job) { job.het_group = group; });
}

TEST(T07Preempt, TheComponentsOfAHetJobPushOutTogether) {
    SchedWorld world;
    world.nodes(3).qos().qos({0});
    for (std::uint32_t i = 0; i < 3; ++i) world.running("r" + std::to_string(i), {i}, yields());
    world.pending("a", in_qos(1), of_group(7)).pending("b", in_qos(1), of_group(7), width(2));
    const auto plan = world.plan();
    ASSERT_EQ(plan.preemptions.size(), 1U);
    EXPECT_EQ(plan.preemptions[0].names, (Names{"r0", "r1", "r2"}));
    EXPECT_EQ(plan.expected.at("a").at, world.now + 1);
    EXPECT_EQ(plan.expected.at("b").at, world.now + 1);
}

TEST(T07Preempt, AHetJobBothersNobodyIfOneOfItsComponentsCouldNotStart) {
    SchedWorld world;
    world.nodes(3).qos().qos({0});
    world.running("r0", {0}, yields()).running("firm", {1}, in_qos(0)).running("r2", {2}, yields());
    world.pending("a", in_qos(1), of_group(7)).pending("b", in_qos(1), of_group(7), width(2));
    EXPECT_TRUE(world.plan().preemptions.empty());
}

TEST(T07Preempt, WholeNodesOfAJobThatIsPutAsideServeTheOneThatPushed) {
    for (const auto* select : {"select_linear", "select_gpu"}) {
        SchedWorld world{{}, select};
        world.nodes(1).qos().qos({0});
        world.running("aside", {0}, yields(SPUR_PREEMPT_SUSPEND),
                      with([](auto& job) { job.flags |= SPUR_JOB_EXCLUSIVE; }));
        const auto plan =
            world.pending("urgent", in_qos(1), with([](auto& job) { job.flags |= SPUR_JOB_EXCLUSIVE; })).plan();
        ASSERT_EQ(plan.preemptions.size(), 1U) << select;
        EXPECT_EQ(plan.preemptions[0].nodes, NodeSet{0});
    }
}

}  // namespace
}  // namespace spur::test
