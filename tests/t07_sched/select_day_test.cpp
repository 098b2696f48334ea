// A random day on sixteen nodes of eight linked GPUs: choosing by links against taking the first that are free.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <queue>
#include <random>

#include "tests/t07_sched/select_bench.hpp"

namespace spur::test {
namespace {

constexpr std::uint32_t node_count = 16, island = 4, jobs_a_day = 2500, seed = 20240229;

struct DayJob {
    std::int64_t arrives, runs;
    std::uint32_t gpus;
};

std::vector<DayJob> random_day() {
    std::mt19937 dice{seed};
    std::vector<DayJob> day;
    constexpr std::uint32_t sizes[] = {1, 1, 1, 2, 2, 3, 4, 4, 8};
    for (std::uint32_t i = 0; i < jobs_a_day; ++i) {
        const std::int64_t runs =
            300 + static_cast<std::int64_t>(dice() % 60) * static_cast<std::int64_t>(dice() % 120);
        day.push_back({static_cast<std::int64_t>(dice() % 86400), runs, sizes[dice() % std::size(sizes)]});
    }
    std::ranges::stable_sort(day, {}, &DayJob::arrives);
    return day;
}

struct Figures {
    double link_share{};  // of the weight the same sizes would have on idle nodes
    double split{};       // of the jobs that fit an island, those that got pieces of several
    double mean_wait_s{};
    std::uint32_t run{};
};

// In order of arrival, whoever fits starts: the same rule for both.
Figures live_through(const std::vector<DayJob>& day, const std::string& choice) {
    SelectBench bench{{{"gpu_choice", choice}}};
    bench.nodes(node_count, {.sockets = 2, .cores = 32, .gpus = 8, .links = xgmi_islands(8, island)});
    for (std::uint32_t size = 0; size <= 8; ++size)
        bench.pending([&](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, std::max(size, 1U)); });
    bench.cycle();
    struct End {
        std::int64_t at;
        std::uint32_t node;
        std::uint64_t gpus, cores;
        std::uint32_t cpus;
        bool operator>(const End& other) const { return at > other.at; }
    };
    std::priority_queue<End, std::vector<End>, std::greater<>> running;
    std::vector<DayJob> waiting;
    Figures figures;
    double got = 0, ideal = 0, wait = 0;
    std::uint32_t islanders = 0, split = 0;
    const auto start_waiting = [&](std::int64_t now) {
        std::set<std::uint32_t> hopeless;
        std::erase_if(waiting, [&](const DayJob& job) {
            if (hopeless.contains(job.gpus)) return false;
            const auto placed = bench.start(job.gpus);
            if (!placed.fits()) return hopeless.insert(job.gpus), false;
            End end{now + job.runs, placed.nodes[0].node, 0, 0, placed.nodes[0].cpus};
            for (const auto gpu : placed.nodes[0].gpus) end.gpus |= std::uint64_t{1} << gpu;
            for (const auto core : placed.nodes[0].cores) end.cores |= std::uint64_t{1} << core;
            running.push(end);
            const auto low = static_cast<double>(std::popcount(end.gpus & 0xf)),
                       high = static_cast<double>(std::popcount(end.gpus >> 4));
            const auto size = static_cast<double>(job.gpus), first = std::min<double>(size, island),
                       second = size - first;
            got += low * (low - 1) + high * (high - 1);
            ideal += first * (first - 1) + second * (second - 1);
            if (job.gpus > 1 && job.gpus <= island) ++islanders, split += low > 0 && high > 0;
            wait += static_cast<double>(now - job.arrives);
            ++figures.run;
            return true;
        });
    };
    const auto finish_one = [&] {
        const auto end = running.top();
        running.pop();
        const spur_gres_share gpus{
            SelectBench::gpu, 1, static_cast<std::uint64_t>(std::popcount(end.gpus)), {&end.gpus, 8, 0}};
        spur_node_share share{};
        share.node = end.node;
        share.cpus = end.cpus;
        share.cores = {&end.cores, 64, 0};
        share.gres = plugin::span_of(&gpus, 1);
        bench.give(0, plugin::span_of(&share, 1));
        start_waiting(end.at);
    };
    for (const auto& job : day) {
        while (!running.empty() && running.top().at <= job.arrives) finish_one();
        waiting.push_back(job);
        start_waiting(job.arrives);
    }
    while (!waiting.empty()) finish_one();
    figures.link_share = got / ideal;
    figures.split = static_cast<double>(split) / islanders;
    figures.mean_wait_s = wait / figures.run;
    return figures;
}

TEST(T07Select, ADayByLinksIsBetterLinkedThanADayByFirstFit) {
    const auto day = random_day();
    const auto links = live_through(day, "topology"), first = live_through(day, "first_fit");
    for (const auto& [name, figures] : {std::pair{"topology", links}, std::pair{"first_fit", first}})
        std::printf(
            "%-10s seed %u: %u jobs, link weight %.1f%% of ideal, %.1f%% of island-sized jobs split, mean wait %.0f "
            "s\n",
            name, seed, figures.run, figures.link_share * 100, figures.split * 100, figures.mean_wait_s);
    EXPECT_EQ(links.run, jobs_a_day);
    EXPECT_EQ(first.run, jobs_a_day);
    EXPECT_GT(links.link_share, first.link_share);
    EXPECT_LT(links.split, first.split);
}

}  // namespace
}  // namespace spur::test
