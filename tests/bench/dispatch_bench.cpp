// What it costs to make the launch of a job that has so many nodes: once for all of them, and for each.
#include <benchmark/benchmark.h>

#include "daemons/common/planning/read_model.hpp"
#include "daemons/spurctld/agents/launch.hpp"
#include "tests/support/cluster_builder.hpp"

namespace {

using namespace spur;

void make_launches(benchmark::State& state) {
    const auto nodes = static_cast<std::uint32_t>(state.range(0));
    testing::ClusterBuilder builder;
    const auto names = fmt::format("n[1-{}]", nodes);
    builder.nodes(names, testing::cpus(64)).running("wide", testing::on(names));
    planning::ReadModelBuilder models;
    planning::Changes changes;
    changes.everything = true;
    const auto model = models.publish(builder.cluster(), changes);
    const auto& job = model->jobs.get(builder.id("wide").value);
    const auto owner = std::make_shared<const ctld::UserRecord>(
        ctld::UserRecord{.uid = 1000, .gid = 100, .name = "user", .groups = {100, 200}, .group_names = {}});
    std::size_t bytes = 0;
    for (auto _ : state) {
        bytes = 0;
        const ctld::LaunchBody body{*model, job, owner};
        for (std::size_t i = 0; i < nodes; ++i) bytes += body.message(*model, i, builder.now()).size();
    }

    state.counters["bytes_per_node"] = static_cast<double>(bytes) / nodes;
}
BENCHMARK(make_launches)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
