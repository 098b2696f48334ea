// What a planner pays for asking select/gpu: a cycle over many nodes and jobs, beside one walk over the nodes' records.
//   select_bench [nodes] [jobs]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unordered_set>
#include <vector>

#include "tests/t07_sched/select_bench.hpp"

namespace {

using namespace spur::test;
using Clock = std::chrono::steady_clock;

template <class Body>
double milliseconds(Body&& body) {
    const auto begun = Clock::now();
    body();
    return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

void report(const char* what, double ms, double floor, std::uint64_t count) {
    std::printf("%-44s %9.2f ms %8.1f x %10.0f ns each\n", what, ms, ms / floor, ms * 1e6 / static_cast<double>(count));
}

// A queue as sites have it: mostly small jobs, some with devices, a few that want many nodes.
void write_request(Ask& ask, std::mt19937& dice) {
    auto& job = ask.job;
    job.klass = 1 + dice() % 4000;
    std::mt19937 own{static_cast<std::uint32_t>(job.klass)};  // one class, one request
    job.tasks = 1 + own() % 32;
    job.cpus_per_task = 1 + own() % 4;
    job.mem_per_cpu_mib = own() % 4096;
    const auto kind = own() % 10;
    if (kind < 4) ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 1 + own() % 8);
    if (kind == 9) {
        job.min_nodes = job.max_nodes = 1 + own() % 64;
        job.tasks = job.min_nodes;
        job.flags = SPUR_JOB_EXCLUSIVE;
    }
}

}  // namespace

int main(int argc, char** argv) {
    const auto nodes = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 10'000);
    const auto jobs = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 100'000);
    std::mt19937 dice{1};
    SelectBench bench;
    bench.nodes(nodes / 2, {.sockets = 2, .cores = 64, .memory_mib = 1024 * 1024, .gpus = 8, .links = xgmi_islands()});
    bench.nodes(nodes - nodes / 2, {.sockets = 2, .cores = 32, .memory_mib = 512 * 1024});
    for (std::uint32_t i = 0; i < jobs; ++i) bench.pending([&](Ask& ask) { write_request(ask, dice); });
    const auto& view = bench.view();

    std::uint64_t sum = 0;
    const auto floor = milliseconds([&] {
        for (std::uint32_t i = 0; i < nodes; ++i) sum += SPUR_AT(spur_node_view, view.nodes, i)->cores_offered.words[0];
    });
    std::printf("%u nodes, %u jobs; one walk over the nodes' records takes %.3f ms (%llx)\n", nodes, jobs, floor,
                static_cast<unsigned long long>(sum));
    report("begin, first", milliseconds([&] { bench.new_cycle(); }), floor, nodes);
    report("begin, again", milliseconds([&] { bench.new_cycle(); }), floor, nodes);
    const auto& ops = bench.ops();
    auto* const cycle = bench.cycle();

    std::vector<std::uint32_t> slots(jobs);
    for (std::uint32_t i = 0; i < jobs; ++i) slots[i] = i;
    std::vector<spur_status> verdicts(jobs);
    report("screen of all jobs, empty cluster",
           milliseconds([&] { ops.screen(cycle, 0, slots.data(), jobs, verdicts.data()); }), floor, jobs);
    std::uint32_t started = 0, picks = 0;
    double good = 0, bad = 0;  // microseconds
    std::unordered_set<std::uint64_t> hopeless;
    const auto pass = [&] {
        for (std::uint32_t i = 0; i < jobs; ++i) {
            const auto klass = SPUR_AT(spur_job_view, view.pending, i)->klass;
            if (verdicts[i] != SPUR_FITS || hopeless.contains(klass)) continue;
            ++picks;
            const auto begun = Clock::now();
            const bool fits = bench.start(i).fits();
            (fits ? good : bad) += std::chrono::duration<double, std::micro>(Clock::now() - begun).count();
            if (fits)
                ++started;
            else
                hopeless.insert(klass);
        }
    };
    const auto filling = milliseconds(pass);
    report("a pass that fills the cluster", filling, floor, jobs);
    std::printf("    %u picks; %u started, %.1f us each; the others %.1f us each\n", picks, started, good / started,
                bad / (picks - started));
    hopeless.clear();
    picks = started = 0;
    report("screen of all jobs, full cluster",
           milliseconds([&] { ops.screen(cycle, 0, slots.data(), jobs, verdicts.data()); }), floor, jobs);
    report("a pass over the full cluster", milliseconds(pass), floor, jobs);
    std::printf("    %u picks, %u started\n", picks, started);
    report("copy of a slot, 1000 times", milliseconds([&] {
               for (std::uint32_t i = 0; i < 1000; ++i) bench.copy(0, 1 + i % 40);
           }),
           floor, 1000);
    return 0;
}
