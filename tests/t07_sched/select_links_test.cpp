// The devices a job gets are the best linked of those that are free: held against every other choice.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "tests/t07_sched/select_bench.hpp"

namespace spur::test {
namespace {

using Set = std::set<std::uint32_t>;

std::uint64_t weight_of(const std::vector<Link>& links, std::uint32_t mask) {
    std::uint64_t sum = 0;
    for (const auto& link : links)
        if (link.from < link.to && (mask >> link.from & 1) != 0 && (mask >> link.to & 1) != 0) sum += link.weight;
    return sum;
}

std::uint64_t best_weight(const std::vector<Link>& links, std::uint32_t free, unsigned count) {
    std::uint64_t best = 0;
    for (std::uint32_t mask = 0; mask < 256; ++mask)
        if ((mask & ~free) == 0 && static_cast<unsigned>(std::popcount(mask)) == count)
            best = std::max(best, weight_of(links, mask));
    return best;
}

// Takes `busy` away by a job that is pinned there, one device at a time is enough: the slot is told directly.
void occupy(SelectBench& bench, std::uint32_t node, std::uint32_t busy) {
    std::vector<std::uint64_t> words{busy};
    const spur_gres_share gpus{
        SelectBench::gpu, 1, static_cast<std::uint64_t>(std::popcount(busy)), {words.data(), 8, 0}};
    // One by one: of several devices each holds a unit.
    spur_node_share share{};
    share.node = node;
    share.gres = plugin::span_of(&gpus, 1);
    bench.take(0, plugin::span_of(&share, 1));
}

std::vector<Link> random_links(std::mt19937& dice) {
    std::vector<Link> links;
    for (std::uint32_t i = 0; i < 8; ++i)
        for (std::uint32_t j = i + 1; j < 8; ++j)
            if (const auto weight = dice() % 4 * 100; weight != 0)
                links.push_back({i, j, static_cast<std::uint32_t>(weight), 3}),
                    links.push_back({j, i, static_cast<std::uint32_t>(weight), 3});
    return links;
}

TEST(T07Select, TheChosenSetWeighsAsMuchAsAnyOther) {
    std::mt19937 dice{7};
    std::vector<std::vector<Link>> wirings{nvlink_pairs(), xgmi_islands(), xgmi_islands(8, 4), {}};
    for (int i = 0; i < 4; ++i) wirings.push_back(random_links(dice));
    for (std::size_t w = 0; w < wirings.size(); ++w)
        for (std::uint32_t busy = 0; busy < 256; busy += w < 4 ? 1 : 7)
            for (unsigned count = 1; count <= 8U - static_cast<unsigned>(std::popcount(busy)); ++count) {
                SCOPED_TRACE(testing::Message() << "wiring " << w << " busy " << busy << " count " << count);
                static std::map<std::size_t, std::unique_ptr<SelectBench>> benches;  // one for each wiring
                auto& bench = benches[w];
                if (!bench) {
                    bench = std::make_unique<SelectBench>();
                    bench->nodes(1, {.sockets = 2, .cores = 8, .gpus = 8, .links = wirings[w]});
                    for (unsigned k = 1; k <= 8; ++k)
                        bench->pending([&](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, k); });
                }
                bench->new_cycle();
                if (busy != 0) occupy(*bench, 0, busy);
                const auto placed = bench->pick(count - 1);
                ASSERT_TRUE(placed.fits());
                std::uint32_t mask = 0;
                for (const auto gpu : placed.nodes[0].gpus) mask |= 1U << gpu;
                ASSERT_EQ(mask & busy, 0U);
                ASSERT_EQ(weight_of(wirings[w], mask), best_weight(wirings[w], ~busy & 0xffU, count));
            }
}

TEST(T07Select, AJobOfOneGpuTakesHalfABrokenPair) {
    SelectBench bench;
    bench.nodes(1, {.cores = 8, .gpus = 8, .links = nvlink_pairs()});
    const auto one = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 1); });
    const auto two = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 2); });
    EXPECT_EQ(bench.start(one).nodes.at(0).gpus, Set{0});
    EXPECT_EQ(bench.start(two).nodes.at(0).gpus, (Set{2, 3}));
    EXPECT_EQ(bench.start(one).nodes.at(0).gpus, Set{1});
}

TEST(T07Select, AnIslandOnAnotherNodeBeatsPiecesOnAFullerOne) {
    SelectBench bench;
    bench.nodes(2, {.cores = 16, .gpus = 8, .links = xgmi_islands(8, 4)});
    const auto four = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 4); });
    bench.cycle();
    occupy(bench, 0, 0b00110011);  // two of each island are left
    const auto placed = bench.pick(four);
    ASSERT_TRUE(placed.fits());
    EXPECT_EQ(placed.nodes[0].node, 1U);
}

TEST(T07Select, WithoutLinksTheSameNumaNodeIsBest) {
    SelectBench bench;
    bench.nodes(1, {.sockets = 2, .cores = 8, .gpus = 8});
    const auto three = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 3); });
    bench.cycle();
    occupy(bench, 0, 0b00000011);
    EXPECT_EQ(bench.pick(three).nodes.at(0).gpus, (Set{4, 5, 6}));
}

TEST(T07Select, FirstFitTakesTheLowestNumbers) {
    SelectBench bench{{{"gpu_choice", "first_fit"}}};
    bench.nodes(1, {.cores = 8, .gpus = 8, .links = nvlink_pairs()});
    const auto two = bench.pending([](Ask& ask) { ask.gres(SelectBench::gpu, SPUR_GRES_PER_NODE, 2); });
    bench.cycle();
    occupy(bench, 0, 0b1);
    EXPECT_EQ(bench.pick(two).nodes.at(0).gpus, (Set{1, 2}));
}

}  // namespace
}  // namespace spur::test
