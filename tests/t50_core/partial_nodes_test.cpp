// Parts of nodes: what fits beside others is accepted to the last core and device, and nothing more.
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

// A node of 8 cores and 4 GPUs, and jobs that get what a test says.
class T50PartialNodes : public ::testing::Test {
protected:
    T50PartialNodes() {
        b_.nodes("n1", topology(2, 4, 2), memory_mib(1000), gpus(4, "a100"));
        auto found = (b_.cluster(), b_.registration("n1"));
        found.gpu_places = {{0, 0, Bitset{0, 1, 2, 3}, false}, {1, 0, {}, false}, {2, 1, {}, false}, {3, 1, {}, true}};
        found.gpu_links = {{0, 1, 3, 400}, {1, 0, 3, 400}};
        b_.must(found);
    }
    Result<Events> start(std::string_view name, const Bitset& cores, std::uint64_t memory, const Bitset& devices) {
        b_.pending(name, tasks(1));
        Placement part{.job = b_.id(name), .partition = b_.job(name).spec->partitions.front()};
        NodeShare share{.node = b_.node("n1"), .cores = cores, .cpus = cores.count() * 2, .memory_mib = memory};
        if (!devices.empty()) share.gres = {{"gpu", "a100", devices.count(), devices, {}}};
        part.shares = {share};
        return b_.apply(StartJob{{part}});
    }
    const Node& node() { return *b_.cluster().find_node("n1"); }
    ClusterBuilder b_;
};

TEST_F(T50PartialNodes, JobsFillANodeToTheLastCoreAndDevice) {
    EXPECT_TRUE(start("a", {0, 1, 2}, 400, {0, 1}));
    EXPECT_TRUE(start("b", {3, 4, 5, 6, 7}, 600, {2}));
    EXPECT_EQ(node().use.cpus, 16U);
    EXPECT_EQ(node().use.memory_mib, 1000U);
    b_.finish(b_.id("a"));
    EXPECT_EQ(node().use.busy_cores(), (Bitset{3, 4, 5, 6, 7}));
    EXPECT_EQ(node().use.devices.at(0), Bitset{2});
}

TEST_F(T50PartialNodes, NothingIsGivenTwice) {
    ASSERT_TRUE(start("a", {0, 1, 2}, 400, {0, 1}));
    const auto cores = start("b", {2, 3}, 0, {});
    ASSERT_FALSE(cores);
    EXPECT_EQ(cores.error().text, "cores 2 of n1 are in use");
    const auto memory = start("c", {3}, 700, {});
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().text, "700 MiB of memory are wanted on n1, 600 are free");
    const auto device = start("d", {3}, 0, {1, 2});
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().text, "gpu 1 of n1 is in use");
    EXPECT_EQ(node().use.busy_cores(), (Bitset{0, 1, 2}));
}

TEST_F(T50PartialNodes, AFailedDeviceIsNotGiven) {
    const auto failed = start("a", {0}, 0, {3});
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().text, "gpu 3 of n1 has failed");
}

TEST_F(T50PartialNodes, WhereDevicesSitIsKept) {
    const auto copy = Cluster::load(snapshot_of(b_));
    ASSERT_TRUE(copy) << copy.error().text;
    EXPECT_EQ(copy->find_node("n1")->gpu_places, node().gpu_places);
    EXPECT_EQ(copy->find_node("n1")->gpu_links, node().gpu_links);
    EXPECT_EQ(node().gpu_places.at(3).socket, 1U);
}

TEST(T50PartialNodesOfAPartition, JobsOfAPartitionKeepToItsPartOfANode) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8)).partition("part", "n1", [](Partition& partition) { partition.max_cpus_per_node = 4; });
    b.running("a", on("n1"), cpus_each(3), partition("part"));
    b.pending("b", partition("part")).pending("c", partition("part"));
    const auto refused = b.start_on(b.id("b"), "n1", 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "jobs of partition part would have 5 cpus of n1, 4 are allowed");
    EXPECT_TRUE(b.start_on(b.id("c"), "n1", 1));
}

}  // namespace
}  // namespace spur
