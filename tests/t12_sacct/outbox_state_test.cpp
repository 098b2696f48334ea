// What accounting hears of beside jobs: nodes, what the cluster has, changes of accounts; and numbers that are never
// used twice.
#include <gtest/gtest.h>

#include "core/store/state_version.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

// A cluster whose outbox somebody reads.
ClusterBuilder read_cluster() {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).policies([](Policies& policies) { policies.keep_outbox = true; });
    if (b.cluster().state_version() < newest_state_version) b.must(SetStateVersion{newest_state_version});
    b.must(OutboxDelivered{0});
    return b;
}

std::vector<NodeEvent> events_of(const Cluster& cluster) {
    std::vector<NodeEvent> found;
    for (const auto& entry : cluster.outbox())
        if (entry.event) found.push_back(*entry.event);
    return found;
}

UpdateNode update(NodeAction action, const char* reason) {
    UpdateNode command;
    command.nodes = {NodeId{0}};
    command.action = action;
    command.reason = Text{reason};
    command.actor = Actor::root();
    return command;
}

TEST(T12OutboxState, AReaderHearsFirstWhatTheClusterHas) {
    auto b = read_cluster();
    const auto events = events_of(b.cluster());
    ASSERT_EQ(events.size(), 1U);
    EXPECT_TRUE(events[0].node.empty());
    EXPECT_EQ(events[0].tres.get("cpu"), 8U);
    EXPECT_EQ(events[0].tres.get("node"), 2U);
    EXPECT_EQ(b.cluster().outbox().back().kind, OutboxKind::mirror);
}

TEST(T12OutboxState, ANodeThatGoesDownAndComesBackIsOneEventWithBothEnds) {
    auto b = read_cluster();
    b.must(update(NodeAction::down, "disk broke"));
    ASSERT_EQ(events_of(b.cluster()).size(), 2U);
    const auto open = events_of(b.cluster()).back();
    EXPECT_EQ(open.node, "n1");
    EXPECT_EQ(open.state, "DOWN");
    EXPECT_EQ(open.reason, "disk broke");
    EXPECT_EQ(open.end, 0);
    auto again = Cluster::load(snapshot_of(b.cluster()));
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(events_of(*again), events_of(b.cluster())) << "a snapshot has them";
    b.must(update(NodeAction::resume, ""));
    const auto over = events_of(b.cluster()).back();
    EXPECT_EQ(over.start, open.start);
    EXPECT_EQ(over.node, "n1");
    EXPECT_NE(over.end, 0);
}

TEST(T12OutboxState, WhoChangedAnAccountIsTold) {
    auto b = read_cluster();
    EditAccount add{Edit::create, {"physics", "phys", "science", {}}};
    AccountsEdit edit;
    edit.account = add;
    b.must(EditAccounts{{edit}, "ann"});
    const AccountsChange* change = nullptr;
    for (const auto& entry : b.cluster().outbox())
        if (entry.change) change = entry.change.get();
    ASSERT_NE(change, nullptr);
    EXPECT_EQ(change->actor, "ann");
    EXPECT_EQ(change->action, "Add Accounts");
    EXPECT_EQ(change->subject, "name='physics'");
    EXPECT_EQ(change->change, "description='phys',organization='science'");
    EXPECT_EQ(b.cluster().outbox().back().kind, OutboxKind::mirror);
}

TEST(T12OutboxState, ACopyThatIsPutBackNumbersAboveEverythingOfTheLostFuture) {
    auto b = read_cluster();
    b.must(BeginEra{"h", 1});
    const auto copy = snapshot_of(b.cluster());
    for (int i = 0; i < 10; ++i) b.must(update(i % 2 == 0 ? NodeAction::down : NodeAction::resume, "x"));
    const auto lost = b.cluster().outbox().back().sequence;
    const auto later = b.cluster().now() + 1;
    auto restored = Cluster::load(copy);
    ASSERT_TRUE(restored);
    ASSERT_TRUE(restored->apply({later, BeginEra{"h", 2}}));
    ASSERT_TRUE(restored->apply({later, update(NodeAction::down, "y")}));
    EXPECT_GT(restored->outbox().back().sequence, lost);
}

}  // namespace
}  // namespace spur
