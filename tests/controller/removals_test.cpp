// What a new configuration takes away from jobs that run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemons/spurctld/settings/config_warnings.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur::ctld {
namespace {

using namespace testing;

TEST(Removals, NodesAndPartitionsWithRunningJobsAreNamedWithThem) {
    ClusterBuilder builder;
    builder.nodes("n[1-3]", testing::cpus(8))
        .running("a", on("n1"), cpus_each(1))
        .running("b", on("n[1-2]"), cpus_each(1))
        .pending("c");
    const auto& cluster = builder.cluster();
    planning::ReadModelBuilder models;
    planning::Changes all;
    all.everything = true;
    const auto model = models.publish(cluster, all);

    EXPECT_TRUE(warn_of_removals(*model, cluster.config()).empty());

    ClusterConfig fresh = cluster.config();
    fresh.nodes.clear();
    NodeConfig kept;
    kept.names = {"n2"};
    fresh.nodes.push_back(kept);
    const auto a = builder.id("a").value, b = builder.id("b").value;
    EXPECT_THAT(
        warn_of_removals(*model, fresh),
        ::testing::ElementsAre(fmt::format("node n1 leaves the configuration: jobs {}, {} run there and may end as "
                                           "usual; nothing new starts there",
                                           a, b)));
    fresh = cluster.config();
    fresh.partitions.clear();
    const auto warnings = warn_of_removals(*model, fresh);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_THAT(warnings[0],
                ::testing::HasSubstr(fmt::format("leaves the configuration: jobs {}, {} run there", a, b)));
}

}  // namespace
}  // namespace spur::ctld
