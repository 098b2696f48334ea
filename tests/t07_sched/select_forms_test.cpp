// Every way to ask for cores, memory and devices, and what it comes to.
#include <gtest/gtest.h>

#include "tests/t07_sched/select_bench.hpp"

namespace spur::test {
namespace {

using Set = std::set<std::uint32_t>;

TEST(T07Select, ThreadsOfACoreGoToOneJob) {
    SelectBench bench;
    bench.nodes(1, {.cores = 2, .threads = 2});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 1; });
    const auto first = bench.start(job), second = bench.start(job);
    ASSERT_TRUE(first.fits() && second.fits());
    EXPECT_EQ(first.nodes[0].cpus, 2U);  // rounded up to a whole core
    EXPECT_EQ(first.nodes[0].cores, Set{0});
    EXPECT_EQ(second.nodes[0].cores, Set{1});
    EXPECT_EQ(bench.pick(job).verdict, SPUR_NOT_NOW);
}

TEST(T07Select, CpusPerTaskAreCounted) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 2, ask.job.cpus_per_task = 3; });
    const auto placed = bench.pick(job);
    ASSERT_TRUE(placed.fits());
    EXPECT_EQ(placed.nodes[0].cpus, 6U);
    EXPECT_EQ(placed.nodes[0].tasks, 2U);
}

TEST(T07Select, OneTaskPerCoreLeavesTheOtherThreadsIdle) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .threads = 2});
    const auto by_core = bench.pending([](Ask& ask) { ask.job.tasks = 4, ask.job.tasks_per_core = 1; });
    const auto by_hint =
        bench.pending([](Ask& ask) { ask.job.tasks = 4, ask.job.flags = SPUR_JOB_ONE_THREAD_PER_CORE; });
    const auto plain = bench.pending([](Ask& ask) { ask.job.tasks = 4; });
    EXPECT_EQ(bench.pick(by_core).nodes.at(0).cores.size(), 4U);
    EXPECT_EQ(bench.pick(by_hint).nodes.at(0).cores.size(), 4U);
    EXPECT_EQ(bench.pick(plain).nodes.at(0).cores.size(), 2U);
}

TEST(T07Select, TasksPerSocketSpreadOverSockets) {
    SelectBench bench;
    bench.nodes(1, {.sockets = 2, .cores = 4});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 4, ask.job.tasks_per_socket = 2; });
    EXPECT_EQ(bench.pick(job).nodes.at(0).cores, (Set{0, 1, 4, 5}));
    const auto more = bench.pending([](Ask& ask) { ask.job.tasks = 5, ask.job.tasks_per_socket = 2; });
    EXPECT_EQ(bench.pick(more).verdict, SPUR_NEVER);
}

TEST(T07Select, CoresAreDealtInBlocksOrRoundTheSockets) {
    SelectBench bench;
    bench.nodes(1, {.sockets = 2, .cores = 4});
    const auto block = bench.pending([](Ask& ask) { ask.job.tasks = 4; });
    const auto cyclic = bench.pending([](Ask& ask) { ask.job.tasks = 4, ask.job.spread_sockets = SPUR_SPREAD_CYCLIC; });
    const auto bound = bench.pending([](Ask& ask) { ask.job.tasks = 2, ask.job.flags = SPUR_JOB_MEMORY_BOUND; });
    EXPECT_EQ(bench.pick(block).nodes.at(0).cores, (Set{0, 1, 2, 3}));
    EXPECT_EQ(bench.pick(cyclic).nodes.at(0).cores, (Set{0, 1, 4, 5}));
    EXPECT_EQ(bench.pick(bound).nodes.at(0).cores, (Set{0, 4}));
}

TEST(T07Select, OvercommitTakesOneCpuForManyTasks) {
    SelectBench bench;
    bench.nodes(1, {.cores = 4});
    const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 100, ask.job.flags = SPUR_JOB_OVERCOMMIT; });
    const auto placed = bench.pick(job);
    ASSERT_TRUE(placed.fits());
    EXPECT_EQ(placed.nodes[0].tasks, 100U);
    EXPECT_EQ(placed.nodes[0].cpus, 1U);
}

TEST(T07Select, MemoryIsHeldByNodeByCpuOrByGpu) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .memory_mib = 1000, .gpus = 4});
    const auto by_node = bench.pending([](Ask& ask) { ask.job.tasks = 1, ask.job.mem_per_node_mib = 300; });
    const auto by_cpu = bench.pending([](Ask& ask) { ask.job.tasks = 3, ask.job.mem_per_cpu_mib = 100; });
    const auto by_gpu = bench.pending([](Ask& ask) {
        ask.job.mem_per_gpu_mib = 200;
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 2);
    });
    const auto all = bench.pending([](Ask& ask) { ask.job.flags = SPUR_JOB_MEM_ALL; });
    EXPECT_EQ(bench.pick(all).nodes.at(0).memory_mib, 1000U);
    EXPECT_EQ(bench.start(by_node).nodes.at(0).memory_mib, 300U);
    EXPECT_EQ(bench.start(by_cpu).nodes.at(0).memory_mib, 300U);
    EXPECT_EQ(bench.start(by_gpu).nodes.at(0).memory_mib, 400U);
    EXPECT_EQ(bench.pick(by_node).verdict, SPUR_NOT_NOW);  // 1000 are held
    EXPECT_EQ(bench.pick(all).verdict, SPUR_NOT_NOW);
}

TEST(T07Select, MemoryNobodyAskedForIsHeldOnlyWhereConfigured) {
    for (const bool whole : {false, true}) {
        SelectBench bench{{{"memory_unsaid", whole ? "node" : "none"}}};
        bench.nodes(1, {.memory_mib = 1000});
        const auto job = bench.pending([](Ask& ask) { ask.job.tasks = 1; });
        EXPECT_EQ(bench.start(job).nodes.at(0).memory_mib, whole ? 1000U : 0U);
        EXPECT_EQ(bench.pick(job).fits(), !whole);
    }
}

TEST(T07Select, GpusPerNodeTaskSocketAndJobComeToTheSameThing) {
    SelectBench bench;
    bench.nodes(2, {.sockets = 2, .cores = 8, .gpus = 8});
    const auto ask_for = [&](std::uint32_t scope, std::uint64_t count, auto change) {
        return bench.pending([&](Ask& ask) {
            ask.gres(SelectBench::gpu, scope, count);
            change(ask.job);
        });
    };
    const auto plain = [](spur_job_view&) {};
    const auto by_node = ask_for(SPUR_GRES_PER_NODE, 4, plain);
    const auto by_job = ask_for(SPUR_GRES_PER_JOB, 4, plain);
    const auto by_task = ask_for(SPUR_GRES_PER_TASK, 2, [](auto& job) { job.tasks = 2; });
    const auto by_socket = ask_for(SPUR_GRES_PER_SOCKET, 2, [](auto& job) { job.min_sockets = 2; });
    for (const auto job : {by_node, by_job, by_task, by_socket}) {
        const auto placed = bench.pick(job);
        ASSERT_TRUE(placed.fits()) << job;
        ASSERT_EQ(placed.nodes.size(), 1U) << job;
        EXPECT_EQ(placed.nodes[0].gpus.size(), 4U) << job;
    }
    EXPECT_EQ(bench.pick(by_socket).nodes.at(0).gpus, (Set{0, 1, 4, 5}));  // two on each
}

TEST(T07Select, SeveralFormsAreConditionsOnOneAmount) {
    SelectBench bench;
    bench.nodes(4, {.cores = 8, .gpus = 8});
    const auto job = bench.pending([](Ask& ask) {
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_JOB, 8).gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 4);
    });
    const auto placed = bench.pick(job);
    ASSERT_TRUE(placed.fits());
    ASSERT_EQ(placed.nodes.size(), 2U);
    for (const auto& one : placed.nodes) EXPECT_EQ(one.gpus.size(), 4U);
    // Tasks that nobody counted follow from the devices.
    const auto tasks = bench.pending([](Ask& ask) {
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_JOB, 8).gres(SelectBench::gpu, SPUR_GRES_PER_TASK, 2);
    });
    EXPECT_EQ(bench.pick(tasks).nodes.at(0).tasks, 4U);
}

TEST(T07Select, TasksPerGpuAndCpusPerGpuFollowTheDevices) {
    SelectBench bench;
    bench.nodes(1, {.cores = 16, .gpus = 8});
    const auto tasks = bench.pending([](Ask& ask) {
        ask.job.tasks_per_gpu = 3;
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 2);
    });
    EXPECT_EQ(bench.pick(tasks).nodes.at(0).tasks, 6U);
    const auto implied = bench.pending([](Ask& ask) { ask.job.tasks_per_gpu = 2, ask.job.tasks = 5; });
    EXPECT_EQ(bench.pick(implied).nodes.at(0).gpus.size(), 3U);
    const auto cpus = bench.pending([](Ask& ask) {
        ask.job.cpus_per_gpu = 4;
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 3);
    });
    EXPECT_EQ(bench.pick(cpus).nodes.at(0).cpus, 12U);
    const auto too_many = bench.pending([](Ask& ask) {
        ask.job.cpus_per_gpu = 4;
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 5);
    });
    EXPECT_EQ(bench.pick(too_many).verdict, SPUR_NEVER);
}

TEST(T07Select, TypedWishesGetTheirType) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .gpus = 4, .gpu_types = {1, 1, 2, 2}});
    const auto second = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 2, 2); });
    const auto both = bench.pending([](Ask& ask) {
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 1, 2).gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 3);
    });
    const auto more = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 3, 2); });
    EXPECT_EQ(bench.pick(second).nodes.at(0).gpus, (Set{2, 3}));
    EXPECT_EQ(bench.pick(both).nodes.at(0).gpus.size(), 4U);
    EXPECT_EQ(bench.pick(more).verdict, SPUR_NEVER);
}

TEST(T07Select, CountedResourcesAreCounted) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .counted = 10});
    const auto job = bench.pending([](Ask& ask) { ask.gres(SelectBench::bandwidth, SPUR_GRES_PER_NODE, 4); });
    EXPECT_TRUE(bench.start(job).fits());
    EXPECT_TRUE(bench.start(job).fits());
    EXPECT_EQ(bench.pick(job).verdict, SPUR_NOT_NOW);
}

TEST(T07Select, CountsAreKeptByType) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .counted_types = {{1, 4}, {2, 2}}});
    const auto of_second = [&](std::uint64_t count) {
        return bench.pending([&](Ask& ask) { ask.gres(SelectBench::bandwidth, SPUR_GRES_PER_NODE, count, 2); });
    };
    const auto two = of_second(2), three = of_second(3);
    const auto any = bench.pending([](Ask& ask) { ask.gres(SelectBench::bandwidth, SPUR_GRES_PER_NODE, 4); });
    EXPECT_EQ(bench.pick(three).verdict, SPUR_NEVER);
    EXPECT_EQ(bench.start(two).nodes.at(0).gres_count, 2U);
    EXPECT_EQ(bench.pick(two).verdict, SPUR_NOT_NOW);
    EXPECT_EQ(bench.start(any).nodes.at(0).gres_count, 4U);
    EXPECT_EQ(bench.pick(any).verdict, SPUR_NOT_NOW);
}

TEST(T07Select, ShardsFillAGpuAndKeepItFromBeingGivenWhole) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .gpus = 2, .shards_per_gpu = 4});
    const auto shards = bench.pending([](Ask& ask) { ask.gres(SelectBench::shard, SPUR_GRES_PER_NODE, 2); });
    const auto whole = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 1); });
    const auto two = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 2); });
    const auto first = bench.start(shards);
    ASSERT_TRUE(first.fits());
    EXPECT_EQ(first.nodes[0].shards, (std::map<std::uint32_t, std::uint64_t>{{0, 2}}));
    EXPECT_EQ(bench.pick(shards).nodes.at(0).shards, (std::map<std::uint32_t, std::uint64_t>{{0, 2}}));
    EXPECT_EQ(bench.pick(two).verdict, SPUR_NOT_NOW);
    EXPECT_EQ(bench.start(whole).nodes.at(0).gpus, Set{1});
    const auto five = bench.pending([](Ask& ask) { ask.gres(SelectBench::shard, SPUR_GRES_PER_NODE, 5); });
    EXPECT_EQ(bench.pick(five).nodes.at(0).shards, (std::map<std::uint32_t, std::uint64_t>{{0, 4}, {1, 1}}));
}

TEST(T07Select, CoresComeFromNearTheGpus) {
    for (const bool listed : {false, true}) {
        SelectBench bench;
        bench.nodes(1, {.sockets = 2, .cores = 8, .gpus = 8, .near_cores = listed});
        const auto job = bench.pending([](Ask& ask) {
            ask.job.tasks = 4;
            ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 4);
        });
        const auto first = bench.start(job), second = bench.start(job);
        ASSERT_TRUE(first.fits() && second.fits());
        EXPECT_EQ(first.nodes[0].gpus, (Set{0, 1, 2, 3}));
        EXPECT_EQ(first.nodes[0].cores, (Set{0, 1, 2, 3}));
        EXPECT_EQ(second.nodes[0].gpus, (Set{4, 5, 6, 7}));
        EXPECT_EQ(second.nodes[0].cores, (Set{8, 9, 10, 11}));
    }
}

TEST(T07Select, FormsThatNothingCanGrantNeverFit) {
    SelectBench bench;
    bench.nodes(2, {.cores = 4, .gpus = 2, .shards_per_gpu = 2});
    const auto no_gpu = bench.pending([](Ask& ask) { ask.job.cpus_per_gpu = 1; });
    const auto missing = bench.pending([](Ask& ask) { ask.gres(SelectBench::bandwidth, SPUR_GRES_PER_NODE, 1); });
    const auto three = bench.pending([](Ask& ask) { ask.job.min_nodes = 3; });
    const auto both = bench.pending([](Ask& ask) {
        ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 1).gres(SelectBench::shard, SPUR_GRES_PER_NODE, 1);
    });
    for (const auto job : {no_gpu, missing, three, both}) EXPECT_EQ(bench.pick(job).verdict, SPUR_NEVER) << job;
}

}  // namespace
}  // namespace spur::test
