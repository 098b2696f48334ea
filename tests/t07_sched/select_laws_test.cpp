// Whatever is asked of whatever cluster: nothing is given twice, what is given is what was asked for, and slots
// restore.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/t07_sched/select_bench.hpp"

namespace spur::test {
namespace {

std::uint32_t number(std::uint32_t from, std::uint32_t to) { return *rc::gen::inRange(from, to + 1); }
bool coin(std::uint32_t one_in) { return number(1, one_in) == 1; }

NodeShape some_shape() {
    NodeShape shape{.sockets = number(1, 2), .cores = number(1, 8), .threads = number(1, 2)};
    shape.memory_mib = number(1, 16) * 1024;
    shape.gpus = coin(3) ? 0 : number(1, 8);
    if (shape.gpus > 0 && coin(2)) shape.links = coin(2) ? nvlink_pairs(shape.gpus) : xgmi_islands(shape.gpus, 4);
    shape.near_cores = coin(2);
    shape.shards_per_gpu = shape.gpus > 0 && coin(3) ? number(1, 4) : 0;
    shape.weight = number(1, 2);
    return shape;
}

void some_request(Ask& ask) {
    auto& job = ask.job;
    job.min_nodes = coin(4) ? number(1, 3) : 1;
    if (coin(3)) job.max_nodes = job.min_nodes + number(0, 1);
    if (!coin(4)) job.tasks = number(1, 8), job.cpus_per_task = number(0, 3);
    if (coin(6)) job.tasks_per_core = 1;
    if (coin(6)) job.tasks_per_socket = number(1, 3);
    if (coin(5)) job.mem_per_node_mib = number(1, 4000);
    if (coin(5)) job.mem_per_cpu_mib = number(1, 1000);
    if (coin(8)) job.flags |= SPUR_JOB_EXCLUSIVE;
    if (coin(8)) job.flags |= SPUR_JOB_ONE_THREAD_PER_CORE;
    if (coin(8)) job.flags |= SPUR_JOB_CONTIGUOUS;
    if (coin(8)) job.flags |= SPUR_JOB_SPREAD;
    const auto scope = number(SPUR_GRES_PER_NODE, SPUR_GRES_PER_SOCKET);
    if (coin(2)) ask.gres(SelectBench::gpu, scope, number(1, 4), coin(2) ? 1 : 0);
    if (coin(6)) ask.gres(SelectBench::shard, SPUR_GRES_PER_NODE, number(1, 5));
}

// What is held on one node, kept by the test itself.
struct Held {
    std::multiset<std::uint32_t> cores, gpus;
    std::map<std::uint32_t, std::uint64_t> shards;
    std::uint64_t memory_mib = 0;
};

void check_free(const SelectBench& bench, std::vector<Held>& held, const Placed& placed) {
    for (const auto& one : placed.nodes) {
        auto& node = held[one.node];
        const auto& shape = bench.shape(one.node);
        for (const auto core : one.cores) RC_ASSERT(!node.cores.contains(core) && core < shape.sockets * shape.cores);
        for (const auto gpu : one.gpus) RC_ASSERT(!node.gpus.contains(gpu) && node.shards[gpu] == 0U);
        for (const auto& [gpu, count] : one.shards) {
            RC_ASSERT(!node.gpus.contains(gpu) && !one.gpus.contains(gpu));
            RC_ASSERT(node.shards[gpu] + count <= shape.shards_per_gpu);
        }
        RC_ASSERT(node.memory_mib + one.memory_mib <= shape.memory_mib);
    }
}

void hold(std::vector<Held>& held, const Placed& placed) {
    for (const auto& one : placed.nodes) {
        auto& node = held[one.node];
        node.cores.insert(one.cores.begin(), one.cores.end());
        node.gpus.insert(one.gpus.begin(), one.gpus.end());
        for (const auto& [gpu, count] : one.shards) node.shards[gpu] += count;
        node.memory_mib += one.memory_mib;
    }
}

void check_granted(const SelectBench& bench, const spur_job_view& job, const Placed& placed) {
    std::uint64_t tasks = 0, gpus = 0, wanted_gpus = 0;
    RC_ASSERT(placed.nodes.size() >= job.min_nodes && placed.nodes.size() <= job.max_nodes);
    for (const auto& one : placed.nodes) {
        const auto threads = bench.shape(one.node).threads;
        tasks += one.tasks;
        gpus += one.gpus.size();
        RC_ASSERT(one.cpus == one.cores.size() * threads);  // whole cores
        const auto usable = (job.flags & SPUR_JOB_ONE_THREAD_PER_CORE) != 0 ? one.cores.size() : one.cpus;
        RC_ASSERT(usable >= std::uint64_t{one.tasks} * std::max(job.cpus_per_task, 1U));
        if (job.tasks_per_core != 0) RC_ASSERT(one.cores.size() >= one.tasks);
        RC_ASSERT(one.memory_mib >= job.mem_per_node_mib);
        if (job.mem_per_node_mib == 0) RC_ASSERT(one.memory_mib >= job.mem_per_cpu_mib * one.tasks);
        for (const auto& wanted : plugin::Records<spur_gres_request>{job.gres}) {
            const bool shards = wanted.name == SelectBench::shard;
            std::uint64_t here = one.gpus.size();
            if (shards) {
                here = 0;
                for (const auto& [gpu, count] : one.shards) here += count;
            }
            if (wanted.scope == SPUR_GRES_PER_NODE) RC_ASSERT(here >= wanted.count);
            if (wanted.scope == SPUR_GRES_PER_TASK) RC_ASSERT(here >= wanted.count * one.tasks);
        }
    }
    for (const auto& wanted : plugin::Records<spur_gres_request>{job.gres})
        if (wanted.scope == SPUR_GRES_PER_JOB) wanted_gpus = wanted.count;
    RC_ASSERT(tasks >= job.tasks);
    RC_ASSERT(gpus >= wanted_gpus);
}

std::vector<Placed> portrait(SelectBench& bench, std::uint32_t jobs, std::uint32_t slot) {
    std::vector<Placed> answers;
    for (std::uint32_t job = 0; job < jobs; ++job) answers.push_back(bench.pick(job, slot));
    return answers;
}

RC_GTEST_PROP(T07SelectLaws, NothingIsGivenTwiceAndAllOfItWasAskedFor, ()) {
    SelectBench bench;
    for (auto kinds = number(1, 3); kinds > 0; --kinds) bench.nodes(number(1, 3), some_shape());
    const auto jobs = number(1, 10);
    for (std::uint32_t i = 0; i < jobs; ++i) bench.pending(some_request);
    std::vector<Held> held(bench.node_count());
    const auto& view = bench.view();
    bench.new_cycle();
    for (auto starts = number(1, 20); starts > 0; --starts) {
        const auto job = number(0, jobs - 1);
        const auto placed = bench.pick(job);
        if (!placed.fits()) continue;
        check_free(bench, held, placed);
        check_granted(bench, *SPUR_AT(spur_job_view, view.pending, job), placed);
        hold(held, placed);
        bench.take(0, placed.shares, SPUR_AT(spur_job_view, view.pending, job)->flags);
    }
}

RC_GTEST_PROP(T07SelectLaws, TakingAndGivingRestoresASlotAndTouchesNoOther, ()) {
    SelectBench bench;
    for (auto kinds = number(1, 3); kinds > 0; --kinds) bench.nodes(number(1, 3), some_shape());
    const auto jobs = number(1, 6);
    for (std::uint32_t i = 0; i < jobs; ++i) bench.pending(some_request);
    for (auto starts = number(0, 4); starts > 0; --starts) bench.start(number(0, jobs - 1));
    const auto before = portrait(bench, jobs, 0);
    bench.copy(0, 5);
    RC_ASSERT(portrait(bench, jobs, 5) == before);
    const auto job = number(0, jobs - 1);
    const auto flags = SPUR_AT(spur_job_view, bench.view().pending, job)->flags;
    const auto placed = bench.pick(job, 5);
    if (!placed.fits()) return;
    bench.take(5, placed.shares, flags);
    bench.take(5, placed.shares, flags);  // promised twice, on purpose
    bench.give(5, placed.shares, flags);
    bench.give(5, placed.shares, flags);
    RC_ASSERT(portrait(bench, jobs, 5) == before);
    RC_ASSERT(portrait(bench, jobs, 0) == before);
}

}  // namespace
}  // namespace spur::test
