// Which jobs planners are shown: those that could start somewhere.
#include <gtest/gtest.h>

#include "daemons/common/planning/mirror.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur::ctld {
namespace {

using namespace spur::testing;

std::shared_ptr<const planning::ReadModel> model_of(const Cluster& cluster) {
    planning::Changes all;
    all.everything = true;
    return planning::ReadModelBuilder{}.publish(cluster, all);
}

std::size_t shown_to_planners(const std::shared_ptr<const planning::ReadModel>& model, std::string* missing = nullptr) {
    planning::Mirror mirror;
    planning::Changes all;
    all.everything = true;
    mirror.update(model, all);
    for (const auto slot : mirror.unscored()) mirror.place(slot, 1);
    if (missing)
        for (const auto slot : mirror.without_node()) *missing = mirror.pending().backing(slot).filter->missing.str();
    return mirror.view(model->now).pending_order.count;
}

TEST(RequiredNodes, AJobWhoseNodeHasLeftTheConfigurationWaitsForIt) {
    ClusterBuilder before;
    before.nodes("n[1-4]", cpus(4)).pending("a", spec([](JobSpec& job) { job.node_list = "n[2,4]"; }));
    auto& cluster = before.cluster();
    EXPECT_EQ(shown_to_planners(model_of(cluster)), 1U);
    ClusterConfig smaller = cluster.config();
    auto with_n4 = smaller;
    for (auto& group : smaller.nodes) std::erase(group.names, Text{"n4"});
    for (auto& partition : smaller.partitions)
        if (partition.node_text != "ALL") partition.node_text = "n[1-3]";
    ASSERT_TRUE(cluster.apply({before.now(), ApplyConfig{smaller}}));
    std::string missing;
    EXPECT_EQ(shown_to_planners(model_of(cluster), &missing), 0U) << "it must not start elsewhere";
    EXPECT_EQ(missing, "n4");
    ASSERT_TRUE(cluster.apply({before.now(), ApplyConfig{with_n4}}));
    EXPECT_EQ(shown_to_planners(model_of(cluster)), 1U) << "and may once its node is back";
}

}  // namespace
}  // namespace spur::ctld
