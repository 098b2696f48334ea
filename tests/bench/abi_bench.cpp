// What the plugin ABI costs: one call against the same function called directly, and a view of a big cluster handed
// over against the number of records in it. Counters: allocations in each round.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>

#include "daemons/common/host/host.hpp"
#include "daemons/common/host/planner.hpp"
#include "daemons/common/planning/mirror.hpp"
#include "tests/bench/bench_plan.h"
#include "tests/support/cluster_builder.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};
}

// The compiler does not see that these three belong together once they are inlined.
[[gnu::noinline]] void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* const memory = std::malloc(size)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace spur {
namespace {

using host::Bound;
using host::SchedAxis;

// Counts what is allocated while it lives, a round.
class CountAllocations {
public:
    explicit CountAllocations(benchmark::State& state) : state_{state}, before_{allocations.load()} {}
    ~CountAllocations() {
        state_.counters["allocations"] =
            benchmark::Counter(static_cast<double>(allocations.load() - before_), benchmark::Counter::kAvgIterations);
    }

private:
    benchmark::State& state_;
    std::uint64_t before_;
};

// ---- one call ----------------------------------------------------------------------------------------------------

Bound<SchedAxis> open_plugin() {
    static host::PluginHost host{[] {
        host::HostOptions options;
        options.program = "abi_bench";
        options.check_roles = false;  // as in a release
        options.check_owner = false;
        return options;
    }()};
    static const auto bound = [] {
        host.set_dirs({SPUR_BENCH_PLUGINS});
        auto opened = host.open<SchedAxis>("sched/bench");
        if (!opened) throw std::runtime_error(opened.error().text);
        return *opened;
    }();
    return bound;
}

const spur_cluster_view no_jobs{};

void CalledDirectly(benchmark::State& state) {
    const auto* view = &no_jobs;
    for (auto _ : state) {
        benchmark::DoNotOptimize(view);
        benchmark::DoNotOptimize(bench_plan(nullptr, view, nullptr, nullptr, nullptr));
    }
}
BENCHMARK(CalledDirectly);

void CalledThroughTheTable(benchmark::State& state) {
    const auto pin = open_plugin().pin();
    const auto* ops = &pin.ops();
    const auto* view = &no_jobs;
    for (auto _ : state) {
        benchmark::DoNotOptimize(ops);
        benchmark::DoNotOptimize(view);
        benchmark::DoNotOptimize(ops->plan(pin.self(), view, nullptr, nullptr, nullptr));
    }
}
BENCHMARK(CalledThroughTheTable);

void CalledThroughAPin(benchmark::State& state) {  // counted, timed, named in crash reports, safe from exceptions
    const auto pin = open_plugin().pin();
    const CountAllocations count{state};
    for (auto _ : state) benchmark::DoNotOptimize(pin.call(&spur_sched_ops::plan, &no_jobs, nullptr, nullptr));
}
BENCHMARK(CalledThroughAPin);

void CalledThroughTheAxis(benchmark::State& state) {  // the same, and safe from a reconfiguration between two calls
    const auto bound = open_plugin();
    const CountAllocations count{state};
    for (auto _ : state) benchmark::DoNotOptimize(bound.call(&spur_sched_ops::plan, &no_jobs, nullptr, nullptr));
}
BENCHMARK(CalledThroughTheAxis);

// ---- a view of 10,000 nodes --------------------------------------------------------------------------------------

constexpr UnixSeconds now = testing::ClusterBuilder::start + 10;

// A controller's read model with this many waiting jobs, and the scheduler's mirror of it.
struct BigCluster {
    explicit BigCluster(std::int64_t jobs) {
        builder.nodes("n[1-10000]", testing::cpus(64));
        for (std::int64_t i = 0; i < jobs; ++i) builder.submit(std::to_string(i));
        planning::Changes all;
        all.everything = true;
        auto published = all;
        model = models.publish(builder.cluster(), published);
        mirror.update(model, all);
        for (const auto slot : mirror.unscored()) mirror.place(slot, 1000 + slot % 1000);
        mirror.unscored().clear();
        mirror.view(now);
        mirror.end_cycle();
    }
    testing::ClusterBuilder builder;
    planning::ReadModelBuilder models;
    std::shared_ptr<const planning::ReadModel> model;
    planning::Mirror mirror;
};

BigCluster& cluster_of(std::int64_t jobs) {
    static std::map<std::int64_t, std::unique_ptr<BigCluster>> all;
    auto& one = all[jobs];
    if (!one) one = std::make_unique<BigCluster>(jobs);
    return *one;
}

void ViewHandedOver(benchmark::State& state) {
    auto& big = cluster_of(state.range(0));
    const auto pin = open_plugin().pin();
    state.counters["nodes"] = static_cast<double>(big.mirror.view(now).nodes.count);
    const CountAllocations count{state};
    for (auto _ : state)
        benchmark::DoNotOptimize(pin.call(&spur_sched_ops::plan, &big.mirror.view(now), nullptr, nullptr));
}
BENCHMARK(ViewHandedOver)->Arg(1'000)->Arg(10'000)->Arg(100'000);

void ViewHandedOverAfterOneJobChanged(benchmark::State& state) {  // its reason, say, or when it is expected to start
    auto& big = cluster_of(state.range(0));
    const auto pin = open_plugin().pin();
    planning::Changes one;
    one.jobs.push_back(big.builder.id("0"));
    for (auto _ : state) {
        big.mirror.update(big.model, one);
        benchmark::DoNotOptimize(pin.call(&spur_sched_ops::plan, &big.mirror.view(now), nullptr, nullptr));
        big.mirror.end_cycle();
    }
}
BENCHMARK(ViewHandedOverAfterOneJobChanged)->Arg(1'000)->Arg(10'000)->Arg(100'000);

void ViewHandedOverAfterOneJobMoved(
    benchmark::State& state) {  // a new priority: the order, four bytes a job, is merged anew
    auto& big = cluster_of(state.range(0));
    const auto pin = open_plugin().pin();
    std::uint64_t priority = 5000;
    for (auto _ : state) {
        big.mirror.place(0, ++priority);
        benchmark::DoNotOptimize(pin.call(&spur_sched_ops::plan, &big.mirror.view(now), nullptr, nullptr));
        big.mirror.end_cycle();
    }
}
BENCHMARK(ViewHandedOverAfterOneJobMoved)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void EveryRecordCopied(benchmark::State& state) {  // what is not done: the floor of handing over copies
    const auto& view = cluster_of(state.range(0)).mirror.view(now);
    std::vector<spur_job_view> jobs(view.pending.count);
    std::vector<spur_node_view> nodes(view.nodes.count);
    for (auto _ : state) {
        std::copy_n(static_cast<const spur_job_view*>(view.pending.data), jobs.size(), jobs.data());
        std::copy_n(static_cast<const spur_node_view*>(view.nodes.data), nodes.size(), nodes.data());
        benchmark::DoNotOptimize(jobs.data());
        benchmark::ClobberMemory();
    }
}
BENCHMARK(EveryRecordCopied)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace spur

BENCHMARK_MAIN();
