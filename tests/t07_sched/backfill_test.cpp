// What sched/backfill promises, one behaviour at a time.
#include <gtest/gtest.h>

#include "sched_world.hpp"

namespace spur::test {
namespace {

using Names = std::set<std::string>;

// ---- order and promises --------------------------------------------------------------------------------------------

// As many nodes as tasks at the most: so does a job look that says nothing of nodes.
Change tasks(std::uint32_t count) {
    return with([=](auto& job) {
        job.min_nodes = 1;
        job.max_nodes = job.tasks = count;
    });
}

TEST(T07Backfill, WhatWasDeniedToALargeJobIsNotDeniedToASmallOne) {
    SchedWorld world({}, "select_gpu");
    world.nodes(2).running("a", {0}, until(7200));
    world.pending("large", tasks(12), limit_s(600)).pending("small", tasks(3), limit_s(600));
    world.pending("larger", tasks(14), limit_s(600));
    EXPECT_EQ(world.plan().names(), std::set<std::string>{"small"});
}

TEST(T07Backfill, JobsStartInTheOrderOfTheQueueWhileTheyFit) {
    SchedWorld world;
    world.nodes(2).pending("a").pending("b").pending("c");
    const auto plan = world.plan();
    EXPECT_EQ(plan.names(), (Names{"a", "b"}));
    EXPECT_EQ(plan.reasons.at("c"), SPUR_WAIT_RESOURCES);
}

TEST(T07Backfill, NeverDelaysTheJobAtTheFront) {
    SchedWorld world;
    world.nodes(4).running("a", {0, 1}, until(100));
    world.pending("big", width(4)).pending("long", limit_s(101)).pending("short", limit_s(100));
    const auto plan = world.plan();
    EXPECT_EQ(plan.names(), Names{"short"});
    EXPECT_EQ(plan.expected.at("big").at, world.now + 100);
    EXPECT_EQ(plan.expected.at("big").nodes, (NodeSet{0, 1, 2, 3}));
}

TEST(T07Backfill, ALongJobMayOvertakeOnNodesTheFrontDoesNotNeed) {
    SchedWorld world;
    world.nodes(5).running("a", {0, 1}, until(100)).pending("big", width(4)).pending("long", limit_s(5000));
    const auto plan = world.plan();
    EXPECT_EQ(plan.expected.at("big").at, world.now + 100);
    ASSERT_TRUE(plan.started("long"));
    EXPECT_FALSE(plan.expected.at("big").nodes.contains(*plan.find("long")->nodes().begin()));
}

TEST(T07Backfill, WithOnePromiseAPieceIsLeftToThoseBehindTheFront) {
    const auto plan_with = [](const std::string& reserve) {
        SchedWorld world(TestOptions{{"reserve", reserve}});
        world.nodes(3).running("a", {0}, until(100)).running("b", {1}, until(200));
        world.pending("first", width(2), limit_s(50)).pending("second", width(3)).pending("third", limit_s(1000));
        return world.plan();
    };
    const auto easy = plan_with("1");
    EXPECT_FALSE(easy.expected.contains("second"));
    const auto conservative = plan_with("all");
    EXPECT_EQ(conservative.expected.at("first").at, 1'000'100);
    EXPECT_EQ(conservative.expected.at("second").at, 1'000'200);
    EXPECT_FALSE(conservative.started("third"));
}

TEST(T07Backfill, EveryPartitionHasPromisesOfItsOwn) {
    SchedWorld world(TestOptions{{"reserve", "1"}});
    world.nodes(4).partition({0, 1}).partition({2, 3});
    world.running("a", {0}, until(100)).running("b", {2}, until(100));
    world.pending("first", width(2), in({0})).pending("second", width(2), in({1}));
    world.pending("third", limit_s(500), in({1}));
    const auto plan = world.plan();
    EXPECT_TRUE(plan.names().empty());
    EXPECT_EQ(plan.expected.at("second").at, world.now + 100);
}

TEST(T07Backfill, JobsOverTheirLimitAreExpectedToLeaveAtOnce) {
    SchedWorld world;
    world.nodes(1).running("late", {0}, until(-50)).pending("next");
    EXPECT_EQ(world.plan().expected.at("next").at, world.now + 1);
}

TEST(T07Backfill, WhoWaitsForAJobWithoutLimitHasNoPromise) {
    SchedWorld world;
    world.nodes(2).running("for_ever", {0}, until(SPUR_TIME_UNLIMITED));
    world.pending("big", width(2)).pending("small", limit_s(100'000));
    const auto plan = world.plan();
    EXPECT_FALSE(plan.expected.contains("big"));
    EXPECT_EQ(plan.reasons.at("big"), SPUR_WAIT_RESOURCES);
    EXPECT_EQ(plan.names(), Names{"small"});
}

TEST(T07Backfill, NoStartIsPromisedBeyondTheWindow) {
    SchedWorld world(TestOptions{{"window", "60"}});
    world.nodes(2).running("a", {0}, until(3601)).pending("big", width(2)).pending("small", limit_s(7200));
    const auto plan = world.plan();
    EXPECT_FALSE(plan.expected.contains("big"));
    EXPECT_TRUE(plan.started("small"));
}

TEST(T07Backfill, HigherTiersArePlannedFirst) {
    SchedWorld world;
    world.nodes(1).partition({0}).partition({0}, [](auto& partition) { partition.tier = 2; });
    world.pending("low", in({0})).pending("high", in({1}));
    EXPECT_EQ(world.plan().names(), Names{"high"});
}

TEST(T07Backfill, AJobOfSeveralPartitionsStartsInTheFirstThatHasRoom) {
    SchedWorld world;
    world.nodes(2).partition({0}).partition({1}).running("a", {0}).pending("either", in({0, 1}));
    const auto plan = world.plan();
    ASSERT_TRUE(plan.started("either"));
    EXPECT_EQ(plan.find("either")->partition, 1U);
}

TEST(T07Backfill, AJobOfSeveralPartitionsIsPromisedTheEarliestStartInAny) {
    SchedWorld world;
    world.nodes(2).partition({0}).partition({1}).running("a", {0}, until(500)).running("b", {1}, until(100));
    const auto plan = world.pending("either", in({0, 1})).plan();
    EXPECT_EQ(plan.expected.at("either").at, world.now + 100);
    EXPECT_EQ(plan.expected.at("either").nodes, NodeSet{1});
}

// ---- time ----------------------------------------------------------------------------------------------------------

TEST(T07Backfill, TimeMinCutsALimitToTheHoleItFitsInto) {
    SchedWorld world;
    world.nodes(2).running("a", {0}, until(630)).pending("big", width(2));
    world.pending("flexible", limit_s(3600), with([](auto& job) { job.limit_min_s = 300; }));
    const auto plan = world.plan();
    ASSERT_TRUE(plan.started("flexible"));
    EXPECT_EQ(plan.find("flexible")->limit_s, 600U);  // whole minutes
}

TEST(T07Backfill, TimeMinThatDoesNotFitEitherWaits) {
    SchedWorld world;
    world.nodes(2).running("a", {0}, until(200)).pending("big", width(2));
    world.pending("flexible", limit_s(3600), with([](auto& job) { job.limit_min_s = 300; }));
    EXPECT_FALSE(world.plan().started("flexible"));
}

TEST(T07Backfill, AJobThatCannotEndBeforeItsDeadlineWaitsForThat) {
    SchedWorld world;
    world.nodes(1).pending("late", limit_s(600), with([&](auto& job) { job.deadline = world.now + 599; }));
    world.pending("other");
    const auto plan = world.plan();
    EXPECT_EQ(plan.reasons.at("late"), SPUR_WAIT_DEADLINE);
    EXPECT_TRUE(plan.started("other"));
}

TEST(T07Backfill, ADeadlineCutsALimitThatMayBeCut) {
    SchedWorld world;
    world.nodes(1).pending("late", limit_s(3600), with([&](auto& job) {
                               job.deadline = world.now + 1200;
                               job.limit_min_s = 60;
                           }));
    EXPECT_EQ(world.plan().find("late")->limit_s, 1200U);
}

// ---- partitions and limits -----------------------------------------------------------------------------------------

TEST(T07Backfill, PartitionsThatStartNothingHoldNobodyBack) {
    SchedWorld world;
    world.nodes(2).partition({0, 1});
    world.partition({0, 1}, [](auto& partition) { partition.state = SPUR_PARTITION_DOWN; });
    world.partition({0, 1}, [](auto& partition) { partition.state = SPUR_PARTITION_INACTIVE; });
    world.partition({0, 1}, [](auto& partition) { partition.max_time_s = 60; });
    world.partition({0, 1}, [](auto& partition) { partition.max_nodes = 1; });
    world.pending("down", in({1}))
        .pending("inactive", in({2}))
        .pending("long", in({3}))
        .pending("wide", in({4}), width(2));
    world.pending("fine", width(2));
    const auto plan = world.plan();
    EXPECT_EQ(plan.reasons.at("down"), SPUR_WAIT_PARTITION_DOWN);
    EXPECT_EQ(plan.reasons.at("inactive"), SPUR_WAIT_PARTITION_INACTIVE);
    EXPECT_EQ(plan.reasons.at("long"), SPUR_WAIT_PARTITION_TIME_LIMIT);
    EXPECT_EQ(plan.reasons.at("wide"), SPUR_WAIT_PARTITION_NODE_LIMIT);
    EXPECT_EQ(plan.names(), Names{"fine"});
}

TEST(T07Backfill, ADrainingPartitionStartsWhatItHas) {
    SchedWorld world;
    world.nodes(1).partition({0}, [](auto& partition) { partition.state = SPUR_PARTITION_DRAIN; });
    EXPECT_TRUE(world.pending("a").plan().started("a"));
}

TEST(T07Backfill, ALimitHoldsBackOnlyTheJobItAppliesTo) {
    SchedWorld world;
    world.nodes(2).may_start = [](const std::string& job) { return job != "a"; };
    world.pending("a", width(2), with([](auto& job) { job.uid = 1; })).pending("b", width(2));
    const auto plan = world.plan();
    EXPECT_EQ(plan.names(), Names{"b"});
    EXPECT_EQ(plan.reasons.at("a"), SPUR_WAIT_LIMIT);
    EXPECT_FALSE(plan.expected.contains("a"));
}

TEST(T07Backfill, AnArrayStartsAsManyTasksAsFit) {
    SchedWorld world;
    world.nodes(3).pending("array", with([](auto& job) { job.array_tasks = 5; })).pending("behind");
    const auto plan = world.plan();
    EXPECT_EQ(plan.starts.size(), 3U);
    EXPECT_EQ(plan.reasons.at("array"), SPUR_WAIT_RESOURCES);
    EXPECT_EQ(plan.reasons.at("behind"), SPUR_WAIT_PRIORITY);
}

// ---- reasons -------------------------------------------------------------------------------------------------------

TEST(T07Backfill, OnlyTheFrontOfAPartitionWaitsForResources) {
    SchedWorld world;
    world.nodes(2).partition({0}).partition({1}).running("a", {0}).running("b", {1});
    world.pending("c", in({0})).pending("d", in({0})).pending("e", in({1})).pending("f", in({1}));
    const auto plan = world.plan();
    EXPECT_EQ(plan.reasons.at("c"), SPUR_WAIT_RESOURCES);
    EXPECT_EQ(plan.reasons.at("d"), SPUR_WAIT_PRIORITY);
    EXPECT_EQ(plan.reasons.at("e"), SPUR_WAIT_RESOURCES);
    EXPECT_EQ(plan.reasons.at("f"), SPUR_WAIT_PRIORITY);
}

TEST(T07Backfill, WhatNoNodeSetCouldHoldIsBadConstraints) {
    SchedWorld world;
    world.nodes(2).pending("wide", width(3)).pending("fine");
    const auto plan = world.plan();
    EXPECT_EQ(plan.reasons.at("wide"), SPUR_WAIT_NEVER);
    EXPECT_TRUE(plan.started("fine"));
}

TEST(T07Backfill, ANodeThatIsDownMakesItsJobUnavailableAndHoldsNobodyBack) {
    SchedWorld world;
    world.nodes(2).node(0).flags = SPUR_NODE_DOWN;
    world.pending("there", on_nodes({0})).pending("wide", width(2)).pending("fine");
    const auto plan = world.plan();
    EXPECT_EQ(plan.reasons.at("there"), SPUR_WAIT_NODES_UNAVAILABLE);
    EXPECT_NE(plan.texts.at("there").find("n1"), std::string::npos);
    EXPECT_EQ(plan.reasons.at("wide"), SPUR_WAIT_NODES_UNAVAILABLE);
    EXPECT_TRUE(plan.started("fine"));
}

// ---- licenses ------------------------------------------------------------------------------------------------------

TEST(T07Backfill, LicensesComeBackWhenTheirJobsEnd) {
    SchedWorld world;
    world.nodes(3).license(4).running("a", {0}, until(100), licenses(3));
    world.pending("b", licenses(2)).pending("c", licenses(1), limit_s(5000)).pending("d", licenses(1), limit_s(100));
    const auto plan = world.plan();
    EXPECT_EQ(plan.reasons.at("b"), SPUR_WAIT_LICENSES);
    EXPECT_EQ(plan.expected.at("b").at, world.now + 100);
    EXPECT_TRUE(plan.started("c"));  // at 100 there are 4: two for b, one for c
    EXPECT_EQ(plan.reasons.at("d"), SPUR_WAIT_LICENSES);
}

TEST(T07Backfill, ALicenseThatIsPromisedIsNotGivenToALongerJob) {
    SchedWorld world;
    world.nodes(3).license(2).running("a", {0}, until(100), licenses(1));
    world.pending("both", licenses(2))
        .pending("long", licenses(1), limit_s(101))
        .pending("short", licenses(1), limit_s(100));
    EXPECT_EQ(world.plan().names(), Names{"short"});
}

// ---- reservations --------------------------------------------------------------------------------------------------

TEST(T07Backfill, NobodyRunsIntoAReservationThatIsNotHis) {
    SchedWorld world;
    world.nodes(2).reservation(600, 1200, {0});
    world.pending("long", width(2), limit_s(601)).pending("short", width(2), limit_s(600));
    const auto plan = world.plan();
    EXPECT_EQ(plan.names(), Names{"short"});
    EXPECT_EQ(plan.expected.at("long").at, world.now + 1200);
}

TEST(T07Backfill, AMaintenanceReservationIsNamedAsTheReason) {
    SchedWorld world;
    world.nodes(1).reservation(600, 1200, {0}, SPUR_RESERVATION_MAINT).pending("long", limit_s(3600));
    const auto plan = world.plan();
    EXPECT_EQ(plan.reasons.at("long"), SPUR_WAIT_NODES_UNAVAILABLE);
    EXPECT_EQ(plan.texts.at("long"), "Reserved for maintenance");
    EXPECT_EQ(plan.expected.at("long").at, world.now + 1200);
}

TEST(T07Backfill, AJobOfAReservationWaitsForItAndRunsInside) {
    SchedWorld world;
    world.nodes(3).reservation(600, 5000, {1});
    world.pending("inside", with([](auto& job) { job.reservation = 0; }));
    const auto before = world.plan();
    EXPECT_EQ(before.reasons.at("inside"), SPUR_WAIT_RESERVATION);
    EXPECT_EQ(before.expected.at("inside").at, world.now + 600);
    world.advance(600);
    const auto open = world.plan();
    ASSERT_TRUE(open.started("inside"));
    EXPECT_EQ(open.find("inside")->nodes(), NodeSet{1});
}

TEST(T07Backfill, AJobMayOutlastItsReservationAndOnlyAFlexibleOneLetsItBeginBefore) {
    SchedWorld world;
    world.nodes(3).reservation(-10, 1000, {0}).reservation(500, 1000, {1}, SPUR_RESERVATION_FLEX);
    world.reservation(500, 1000, {2});
    for (std::uint32_t i = 0; i < 3; ++i)
        world.pending("in " + std::to_string(i), limit_s(2000), with([=](auto& job) { job.reservation = i; }));
    const auto plan = world.plan();
    EXPECT_TRUE(plan.started("in 0"));
    EXPECT_TRUE(plan.started("in 1"));
    EXPECT_EQ(plan.reasons.at("in 2"), SPUR_WAIT_RESERVATION);
    EXPECT_EQ(plan.expected.at("in 2").at, world.now + 500);
}

TEST(T07Backfill, AReservationMadeToOverlapIsNotClosedByTheOther) {
    SchedWorld world;
    world.nodes(1).reservation(-10, 5000, {0}).reservation(-10, 5000, {0}, SPUR_RESERVATION_MAINT);
    world.pending("repair", with([](auto& job) { job.reservation = 1; }));
    EXPECT_TRUE(world.plan().started("repair"));
}

// ---- heterogeneous jobs --------------------------------------------------------------------------------------------

TEST(T07Backfill, ComponentsStartTogetherOrNotAtAll) {
    SchedWorld world;
    const auto component = with([](auto& job) { job.het_group = 7; });
    world.nodes(3).running("a", {0}, until(100));
    world.pending("x", component).pending("other", limit_s(50)).pending("y", width(2), component);
    const auto plan = world.plan();
    EXPECT_EQ(plan.names(), Names{"other"});
    EXPECT_EQ(plan.expected.at("x").at, world.now + 100);
    EXPECT_EQ(plan.expected.at("y").at, world.now + 100);
    world.end("a");
    EXPECT_EQ(world.plan().names(), (Names{"x", "y"}));
}

TEST(T07Backfill, ALimitOnOneComponentHoldsAllOfThemBack) {
    SchedWorld world;
    const auto component = with([](auto& job) { job.het_group = 7; });
    world.nodes(3).may_start = [](const std::string& job) { return job != "y"; };
    const auto plan = world.pending("x", component).pending("y", component).plan();
    EXPECT_TRUE(plan.starts.empty());
    EXPECT_EQ(plan.reasons.at("x"), SPUR_WAIT_LIMIT);
}

// ---- switches ------------------------------------------------------------------------------------------------------

TEST(T07Backfill, FewSwitchesAreWaitedForUntilPatienceEnds) {
    SchedWorld world;
    world.nodes(4).leaf_switches(2).running("a", {0}, until(5000)).running("b", {2}, until(1000));
    world.pending("close", width(2), with([&](auto& job) {
                      job.max_switches = 1;
                      job.switches_until = world.now + 300;
                  }));
    const auto plan = world.plan();
    EXPECT_EQ(plan.reasons.at("close"), SPUR_WAIT_TOPOLOGY);
    EXPECT_EQ(plan.expected.at("close").at, world.now + 300);
    world.advance(300);
    EXPECT_TRUE(world.plan().started("close"));
}

TEST(T07Backfill, NodesBelowOneSwitchAreFoundWhereTheSelectorWouldTakeOthers) {
    SchedWorld world;
    world.nodes(4).leaf_switches(2).running("a", {0});
    world.pending("close", width(2), with([&](auto& job) {
                      job.max_switches = 1;
                      job.switches_until = world.now + 300;
                  }));
    const auto plan = world.plan();
    ASSERT_TRUE(plan.started("close"));
    EXPECT_EQ(plan.find("close")->nodes(), (NodeSet{2, 3}));
}

// ---- the rest ------------------------------------------------------------------------------------------------------

TEST(T07Backfill, StopsWhenToldTo) {
    SchedWorld world;
    world.nodes(200).stop_after = 0;
    for (int i = 0; i < 200; ++i) world.pending("j" + std::to_string(i));
    EXPECT_TRUE(world.plan().starts.empty());
    world.stop_after = UINT64_MAX;
    EXPECT_EQ(world.plan().starts.size(), 200U);  // the pass that was cut short is not built upon
}

TEST(T07Backfill, ASecondPassOverTheSameQueueRepeatsNoReason) {
    SchedWorld world;
    world.nodes(1).running("a", {0}).pending("b").pending("c");
    EXPECT_EQ(world.plan().reasons.size(), 2U);
    EXPECT_TRUE(world.plan().reasons.empty());
}

TEST(T07Backfill, ABadReserveIsRefusedWithASentence) {
    TestHost host;
    const auto plugin = TestPlugin::load(spur_plugin_path("sched_backfill"));
    for (const auto* text : {"0", "-1", "some", "3x", ""}) {
        const auto instance = plugin.create(host, {{"reserve", text}});
        EXPECT_FALSE(instance) << text;
        EXPECT_NE(instance.error().text.find("reserve"), std::string::npos);
    }
}

}  // namespace
}  // namespace spur::test
