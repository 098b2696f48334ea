// A start gives a job what it asked for, whatever the plan says.
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

std::string refusal_of(
    ClusterBuilder& b, std::string_view job, std::string_view nodes,
    const std::function<void(NodeShare&)>& change = [](NodeShare&) {}) {
    auto placement = b.place(b.id(job), nodes);
    for (auto& share : placement.shares) change(share);
    const auto started = b.apply(StartJob{{placement}});
    return started ? "" : started.error().text;
}

TEST(T50Grant, ANodeThatTheJobExcludesIsRefused) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).pending("a", spec([](JobSpec& job) { job.exclude_nodes = "n1"; }));
    EXPECT_EQ(refusal_of(b, "a", "n1"), fmt::format("job {} excludes node n1", b.id("a").value));
    EXPECT_EQ(refusal_of(b, "a", "n2"), "");
}

TEST(T50Grant, NodesThatDoNotMeetTheConstraintAreRefused) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4), feature("fast")).nodes("n2", cpus(4)).pending("a", spec([](JobSpec& job) {
                                                                             job.features = "fast";
                                                                         }));
    EXPECT_EQ(refusal_of(b, "a", "n2"),
              fmt::format("the nodes placed for job {} do not meet its constraint fast", b.id("a").value));
    EXPECT_EQ(refusal_of(b, "a", "n1"), "");
}

TEST(T50Grant, FewerCpusThanAskedForAreRefused) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).pending("a", tasks(3));
    const auto cut = [](NodeShare& share) {
        share.cpus = 2;
        share.cores = Bitset::range(0, 2);
    };
    EXPECT_EQ(refusal_of(b, "a", "n1", cut),
              fmt::format("the plan gives job {} 2 cpus, and it asks for 3", b.id("a").value));
    EXPECT_EQ(refusal_of(b, "a", "n1"), "");
}

TEST(T50Grant, LessMemoryThanAskedForIsRefused) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4), memory_mib(4096)).pending("a", spec([](JobSpec& job) { job.mem_per_node_mib = 1024; }));
    EXPECT_EQ(refusal_of(b, "a", "n1", [](NodeShare& share) { share.memory_mib = 1000; }),
              fmt::format("the plan gives job {} 1000 MiB of memory on n1, and it asks for 1024", b.id("a").value));
    EXPECT_EQ(refusal_of(b, "a", "n1"), "");
}

TEST(T50Grant, FewerDevicesThanAskedForAreRefused) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4), gpus(4)).pending("a", spec([](JobSpec& job) { job.gres_per_node = "gpu:2"; }));
    const auto give = [](std::uint32_t count) {
        return [count](NodeShare& share) { share.gres = {{"gpu", {}, count, Bitset::range(0, count), {}}}; };
    };
    EXPECT_EQ(refusal_of(b, "a", "n1", give(1)),
              fmt::format("the plan gives job {} 1 gpu on n1, and it asks for 2", b.id("a").value));
    EXPECT_EQ(refusal_of(b, "a", "n1", give(2)), "");
}

}  // namespace
}  // namespace spur
