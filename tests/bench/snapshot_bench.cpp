// How long a snapshot holds up the engine: serialising in place beside a forked child, in the same run.
//   snapshot_bench [JOBS]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "daemons/spurctld/engine/snapshot_child.hpp"
#include "tests/support/cluster_builder.hpp"

namespace {

using namespace spur;
using spur::testing::ClusterBuilder;
using spur::testing::cpus;

double ms_since(std::chrono::steady_clock::time_point began) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

int run(std::size_t jobs) {
    ClusterBuilder builder;
    builder.nodes("n[1-1000]", cpus(64));
    auto& cluster = builder.cluster();
    for (std::size_t i = 0; i < jobs; ++i) {
        JobSpec spec;
        spec.name = Text{fmt::format("job-{}", i)};
        spec.script = "#!/bin/bash\nsrun ./a.out\n";
        spec.work_dir = "/home/alice/project/run";
        spec.user_name = "alice";
        spec.uid = 1000;
        spec.tasks = 4;
        spec.time_limit_min = 10;
        if (!cluster.apply({builder.now(), SubmitJob{{spec}, Actor::root(), {}}})) return 1;
    }
    std::string bytes;
    auto began = std::chrono::steady_clock::now();
    cluster.save([&](std::string_view piece) { bytes.append(piece); });
    const auto in_place = ms_since(began);

    began = std::chrono::steady_clock::now();
    auto child = ctld::SnapshotChild::start(cluster);
    const auto stall = ms_since(began);
    if (!child) return fmt::print(stderr, "{}\n", child.error().text), 1;
    const auto chunks = child->collect();
    const auto whole = ms_since(began);
    if (!chunks) return fmt::print(stderr, "{}\n", chunks.error().text), 1;
    std::string joined;
    for (const auto& chunk : *chunks) joined += chunk;
    fmt::print("{} jobs, {:.1f} MB\n", jobs, static_cast<double>(bytes.size()) / 1e6);
    fmt::print("  the engine stands still, serialising itself  {:9.2f} ms\n", in_place);
    fmt::print("  the engine stands still, forking a child     {:9.2f} ms   {:.0f} times less\n", stall,
               in_place / stall);
    fmt::print("  until the child's bytes are there            {:9.2f} ms   {}\n", whole,
               joined == bytes ? "the same bytes" : "OTHER BYTES");
    return joined == bytes ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100'000); }
