// Which nodes a job gets: sharing, exclusiveness, counts, sets and order.
#include <gtest/gtest.h>

#include "tests/t07_sched/select_bench.hpp"

namespace spur::test {
namespace {

using Set = std::set<std::uint32_t>;

Set nodes_of(const Placed& placed) {
    Set set;
    for (const auto& one : placed.nodes) set.insert(one.node);
    return set;
}

TEST(T07Select, ANodeThatIsNearlyFullComesFirst) {
    SelectBench bench;
    bench.nodes(3, {.cores = 8});
    const auto five = bench.pending([](Ask& ask) { ask.job.tasks = 5; });
    const auto two = bench.pending([](Ask& ask) { ask.job.tasks = 2; });
    const auto first = bench.start(five);
    EXPECT_EQ(nodes_of(bench.start(two)), nodes_of(first));
}

TEST(T07Select, LightNodesComeFirst) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .weight = 5}).nodes(1, {.cores = 8, .weight = 1});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 6; });
    EXPECT_EQ(nodes_of(bench.start(job)), Set{1});
    EXPECT_EQ(nodes_of(bench.start(job)), Set{0});
}

TEST(T07Select, JobsWithoutGpusLeaveThemToOthers) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .gpus = 4}).nodes(1, {.cores = 64});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 2; });
    EXPECT_EQ(nodes_of(bench.pick(job)), Set{1});
}

TEST(T07Select, TheLeastLoadedNodeComesFirstWhereThePartitionSaysSo) {
    SelectBench bench;
    bench.nodes(3, {.cores = 8}).partition([](auto& partition) { partition.least_loaded = 1; });
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 1; });
    Set seen;
    for (int i = 0; i < 3; ++i) seen.merge(nodes_of(bench.start(job)));
    EXPECT_EQ(seen, (Set{0, 1, 2}));
}

TEST(T07Select, AJobThatNamesNoNodesGetsAsFewAsHoldIt) {
    SelectBench bench;
    bench.nodes(4, {.cores = 8});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 12; });
    const auto placed = bench.pick(job);
    ASSERT_EQ(placed.nodes.size(), 2U);
    EXPECT_EQ(placed.nodes[0].tasks, 8U);
    EXPECT_EQ(placed.nodes[1].tasks, 4U);
}

TEST(T07Select, AsFewNodesAsPossibleMayBeHeavyOnes) {
    SelectBench bench;
    bench.nodes(4, {.cores = 4, .weight = 1}).nodes(2, {.cores = 10, .weight = 9});
    const auto light = bench.pending([](Ask& ask) { ask.job.tasks = 16; });
    const auto few = bench.pending([](Ask& ask) { ask.job.tasks = 16, ask.job.flags = SPUR_JOB_USE_MIN_NODES; });
    EXPECT_EQ(nodes_of(bench.pick(light)), (Set{0, 1, 2, 3}));
    EXPECT_EQ(nodes_of(bench.pick(few)), (Set{4, 5}));
}

TEST(T07Select, TasksAreEvenlyDealtOverANumberOfNodes) {
    SelectBench bench;
    bench.nodes(4, {.cores = 8});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 5, ask.job.min_nodes = ask.job.max_nodes = 2; });
    const auto placed = bench.pick(job);
    ASSERT_EQ(placed.nodes.size(), 2U);
    EXPECT_EQ(placed.nodes[0].tasks, 3U);
    EXPECT_EQ(placed.nodes[1].tasks, 2U);
}

TEST(T07Select, PlanesGoToNodesAsAWhole) {
    SelectBench bench;
    bench.nodes(2, {.cores = 8});
    const auto job = bench.pending([](Ask& ask) {
        ask.job.tasks = 6, ask.job.min_nodes = ask.job.max_nodes = 2;
        ask.job.spread_nodes = SPUR_SPREAD_PLANE, ask.job.plane_size = 4;
    });
    EXPECT_EQ(bench.pick(job).nodes.at(0).tasks, 4U);
}

TEST(T07Select, TasksPerNodeAreAtMostSoMany) {
    SelectBench bench;
    bench.nodes(4, {.cores = 8});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 6, ask.job.tasks_per_node = 2; });
    const auto placed = bench.pick(job);
    ASSERT_EQ(placed.nodes.size(), 3U);
    for (const auto& one : placed.nodes) EXPECT_EQ(one.tasks, 2U);
}

TEST(T07Select, SpreadJobsTakeAsManyNodesAsTheyMay) {
    SelectBench bench;
    bench.nodes(4, {.cores = 8});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 4, ask.job.flags = SPUR_JOB_SPREAD; });
    const auto placed = bench.pick(job);
    EXPECT_EQ(placed.nodes.size(), 4U);
}

TEST(T07Select, ExclusiveJobsHoldIdleNodesWithAllTheirDevices) {
    SelectBench bench;
    bench.nodes(2, {.cores = 8, .gpus = 4});
    const auto small = bench.pending([](Ask& ask) { ask.job.tasks = 1; });
    const auto whole = bench.pending([](Ask& ask) {
        ask.job.tasks = 2, ask.job.flags = SPUR_JOB_EXCLUSIVE;
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 1);
    });
    const auto first = bench.start(small);
    const auto placed = bench.start(whole);
    ASSERT_TRUE(placed.fits());
    EXPECT_NE(nodes_of(placed), nodes_of(first));
    EXPECT_EQ(placed.nodes[0].cores.size(), 8U);
    EXPECT_EQ(placed.nodes[0].gpus.size(), 4U);
    EXPECT_EQ(placed.nodes[0].flags, SPUR_SHARE_WHOLE_NODE);
    EXPECT_EQ(bench.pick(whole).verdict, SPUR_NOT_NOW);
    EXPECT_EQ(nodes_of(bench.pick(small)), nodes_of(first));
}

TEST(T07Select, APartitionOfWholeNodesGivesNothingLess) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8}).partition([](auto& partition) { partition.oversubscribe = 0; });
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 1; });
    EXPECT_EQ(bench.start(job).nodes.at(0).cores.size(), 8U);
    EXPECT_EQ(bench.pick(job).verdict, SPUR_NOT_NOW);
}

TEST(T07Select, ANodeOfOneUserTakesNobodyElse) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8});
    const auto own = bench.pending([](Ask& ask) { ask.job.tasks = 1, ask.job.flags = SPUR_JOB_EXCLUSIVE_USER; });
    const auto other = bench.pending([](Ask& ask) { ask.job.tasks = 1, ask.job.uid = 2000; });
    ASSERT_TRUE(bench.start(own).fits());
    EXPECT_EQ(bench.pick(other).verdict, SPUR_NOT_NOW);
}

TEST(T07Select, CoresAreSharedByAsManyAsThePartitionAllows) {
    SelectBench bench;
    bench.nodes(1, {.cores = 2}).partition([](auto& partition) { partition.oversubscribe = 2; });
    const auto shares = bench.pending([](Ask& ask) { ask.job.tasks = 2, ask.job.flags = SPUR_JOB_OVERSUBSCRIBE; });
    const auto alone = bench.pending([](Ask& ask) { ask.job.tasks = 1; });
    EXPECT_TRUE(bench.start(shares).fits());
    EXPECT_EQ(bench.pick(alone).verdict, SPUR_NOT_NOW);
    EXPECT_TRUE(bench.start(shares).fits());
    EXPECT_EQ(bench.pick(shares).verdict, SPUR_NOT_NOW);
}

TEST(T07Select, ACpuLimitOfThePartitionHoldsOnEachNode) {
    SelectBench bench;
    bench.nodes(2, {.cores = 8}).partition([](auto& partition) { partition.max_cpus_per_node = 4; });
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 6; });
    const auto placed = bench.pick(job);
    ASSERT_EQ(placed.nodes.size(), 2U);
    for (const auto& one : placed.nodes) EXPECT_LE(one.cpus, 4U);
}

TEST(T07Select, ContiguousNodesAreNeighbours) {
    SelectBench bench;
    bench.nodes(6, {.cores = 4});
    const auto whole = bench.pending([&](Ask& ask) {
        ask.job.flags = SPUR_JOB_EXCLUSIVE;
        ask.job.eligible_nodes = bench.node_set({1, 4});
        ask.job.min_nodes = 2;
    });
    const auto two =
        bench.pending([](Ask& ask) { ask.job.min_nodes = ask.job.max_nodes = 2, ask.job.flags = SPUR_JOB_CONTIGUOUS; });
    const auto three = bench.pending([](Ask& ask) { ask.job.min_nodes = 3, ask.job.flags = SPUR_JOB_CONTIGUOUS; });
    EXPECT_EQ(nodes_of(bench.start(whole)), (Set{1, 4}));
    EXPECT_EQ(nodes_of(bench.pick(two)), (Set{2, 3}));
    EXPECT_EQ(bench.pick(three).verdict, SPUR_NOT_NOW);
}

TEST(T07Select, RequiredAlternativeQuotaAndPreferredSetsAreKept) {
    SelectBench bench;
    bench.nodes(6, {.cores = 4});
    const auto required = bench.pending([&](Ask& ask) { ask.job.required_nodes = bench.node_set({4}); });
    const auto alternative = bench.pending([&](Ask& ask) {
        ask.job.min_nodes = 2;
        ask.job.alternatives = bench.keep(std::vector<spur_bits>{bench.node_set({3}), bench.node_set({1, 5})});
    });
    const auto quota = bench.pending([&](Ask& ask) {
        ask.job.min_nodes = ask.job.max_nodes = 3;
        ask.job.quotas = bench.keep(std::vector<spur_node_quota>{{bench.node_set({4, 5}), 2, 0}});
    });
    const auto preferred = bench.pending([&](Ask& ask) { ask.job.preferred_nodes = bench.node_set({5}); });
    EXPECT_EQ(nodes_of(bench.pick(required)), Set{4});
    EXPECT_EQ(nodes_of(bench.pick(alternative)), (Set{1, 5}));
    EXPECT_EQ(nodes_of(bench.pick(quota)), (Set{0, 4, 5}));
    EXPECT_EQ(nodes_of(bench.pick(preferred)), Set{5});
}

TEST(T07Select, OneSwitchIsWaitedForUntilItsTimeHasPassed) {
    SelectBench bench;
    bench.nodes(6, {.cores = 4}).leaf_switches(3);
    const auto fill = bench.pending([&](Ask& ask) {
        ask.job.flags = SPUR_JOB_EXCLUSIVE, ask.job.min_nodes = 2;
        ask.job.eligible_nodes = bench.node_set({0, 3});
    });
    const auto patient = bench.pending([](Ask& ask) {
        ask.job.min_nodes = ask.job.max_nodes = 3, ask.job.max_switches = 1, ask.job.switches_until = 2'000'000;
    });
    const auto tired = bench.pending([](Ask& ask) {
        ask.job.min_nodes = ask.job.max_nodes = 3, ask.job.max_switches = 1, ask.job.switches_until = 1000;
    });
    EXPECT_EQ(nodes_of(bench.pick(patient)).size(), 3U);
    ASSERT_TRUE(bench.start(fill).fits());
    EXPECT_EQ(bench.pick(patient).verdict, SPUR_NOT_NOW);
    EXPECT_TRUE(bench.pick(tired).fits());
}

TEST(T07Select, AClusterWithoutNodesGivesNothing) {
    SelectBench bench;
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 1, ask.job.mem_per_node_mib = 1000; });
    EXPECT_EQ(bench.pick(job).verdict, SPUR_NEVER);
    spur_status verdict = SPUR_E_INTERNAL;
    bench.ops().screen(bench.cycle(), 0, &job, 1, &verdict);
    EXPECT_EQ(verdict, SPUR_NOT_NOW);
    bench.copy(0, 1);
}

TEST(T07Select, DownNodesAreNotUsedAndNotForgotten) {
    SelectBench bench;
    bench.nodes(2, {.cores = 4});
    bench.node(0).flags = SPUR_NODE_DOWN;
    const auto two = bench.pending([](Ask& ask) { ask.job.min_nodes = 2; });
    const auto one = bench.pending([](Ask& ask) { ask.job.tasks = 1; });
    EXPECT_EQ(bench.pick(two).verdict, SPUR_NOT_NOW);  // it may come back
    EXPECT_EQ(nodes_of(bench.pick(one)), Set{1});
}

TEST(T07Select, GpusOfAJobMayLieOnSeveralNodes) {
    SelectBench bench;
    bench.nodes(3, {.cores = 8, .gpus = 4});
    const auto job = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_JOB, 10); });
    const auto placed = bench.pick(job);
    ASSERT_EQ(placed.nodes.size(), 3U);
    std::size_t total = 0;
    for (const auto& one : placed.nodes) total += one.gpus.size();
    EXPECT_EQ(total, 10U);
}

}  // namespace
}  // namespace spur::test
