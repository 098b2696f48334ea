// Nodes coming, going, draining, rebooting, and what becomes of their jobs.
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

template <class E>
std::vector<E> only(const Events& events) {
    std::vector<E> found;
    for (const auto& event : events)
        if (const auto* match = std::get_if<E>(&event)) found.push_back(*match);
    return found;
}

std::string shown(ClusterBuilder& b, std::string_view name) {
    const auto* node = b.cluster().find_node(name);
    return display_compact_state(node->shown_state(), node->shown_flags());
}

UpdateNode change(ClusterBuilder& b, std::string_view node, NodeAction action, std::string_view why = "test") {
    return {.nodes = {b.node(node)}, .action = action, .reason = Text{why}, .actor = Actor::root()};
}

TEST(T50Nodes, ANodeIsUnknownUntilItRegisters) {
    Cluster cluster;
    ClusterConfig config;
    NodeConfig node;
    node.names = {"n1"};
    config.nodes = {node};
    ASSERT_TRUE(cluster.apply({1, ApplyConfig{config}}));
    EXPECT_EQ(display_compact_state(cluster.nodes()[0].shown_state(), cluster.nodes()[0].shown_flags()), "UNK*");
    EXPECT_FALSE(cluster.nodes()[0].is_available());
    NodeRegistered found;
    found.topology = {1, 1, 1, 1};
    found.cpus = 1;
    found.memory_mib = 1;
    ASSERT_TRUE(cluster.apply({2, found}));
    EXPECT_EQ(display_compact_state(cluster.nodes()[0].shown_state(), cluster.nodes()[0].shown_flags()), "IDLE");
}

TEST(T50Nodes, EachNodeOfAnEntryHasItsOwnAddressAndHostname) {
    Cluster cluster;
    ClusterConfig config;
    NodeConfig node;
    node.names = {"n1", "n2"};
    node.addr = "ib[7-8].lab";
    node.hostname = "rack1,rack2";
    config.nodes = {node};
    ASSERT_TRUE(cluster.apply({1, ApplyConfig{config}}));
    EXPECT_EQ(cluster.nodes()[0].addr, "ib7.lab");
    EXPECT_EQ(cluster.nodes()[1].addr, "ib8.lab");
    EXPECT_EQ(cluster.nodes()[1].hostname, "rack2");
}

TEST(T50Nodes, AChangedAddressKeepsThePortItsAgentIsOn) {
    Cluster cluster;
    ClusterConfig config;
    NodeConfig node;
    node.names = {"n1"};
    config.nodes = {node};
    ASSERT_TRUE(cluster.apply({1, ApplyConfig{config}}));
    NodeRegistered found;
    found.topology = {1, 1, 1, 1};
    found.cpus = 1;
    found.memory_mib = 1;
    found.addr = "n1:41233";
    ASSERT_TRUE(cluster.apply({2, found}));
    config.nodes[0].addr = "10.0.0.1";
    ASSERT_TRUE(cluster.apply({3, ApplyConfig{config}}));
    EXPECT_EQ(cluster.nodes()[0].addr, "10.0.0.1:41233");
    config.nodes[0].addr = "fd00::1";
    ASSERT_TRUE(cluster.apply({4, ApplyConfig{config}}));
    EXPECT_EQ(cluster.nodes()[0].addr, "[fd00::1]:41233");
}

TEST(T50Nodes, StatesFollowFromWhatIsInUse) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), cpus_each(1));
    EXPECT_EQ(shown(b, "n1"), "MIX");
    b.running("b", on("n1"), cpus_each(3));
    EXPECT_EQ(shown(b, "n1"), "ALLOC");
    b.must(change(b, "n1", NodeAction::drain));
    EXPECT_EQ(shown(b, "n1"), "DRNG");
    b.finish(b.id("a"));
    b.finish(b.id("b"));
    EXPECT_EQ(shown(b, "n1"), "DRAIN");
    b.pending("c");
    EXPECT_FALSE(b.start_on(b.id("c"), "n1"));
    b.must(change(b, "n1", NodeAction::resume));
    EXPECT_EQ(shown(b, "n1"), "IDLE");
    EXPECT_TRUE(b.start_on(b.id("c"), "n1"));
}

TEST(T50Nodes, ASilentNodeKeepsItsJobsUntilItIsLost) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(NodeSilent{b.node("n1")});
    EXPECT_EQ(shown(b, "n1"), "ALLOC*");
    EXPECT_TRUE(b.job("a").is_running());
    b.must(NodeLost{b.node("n1"), {}});
    EXPECT_EQ(shown(b, "n1"), "DOWN*");
    EXPECT_EQ(b.cluster().find_node("n1")->reason, "Not responding");
    EXPECT_TRUE(b.job("a").is_pending()) << "requeued: nothing is left to clean up";
    EXPECT_EQ(b.job("a").restarts, 1U);
    b.must(b.registration("n1"));
    EXPECT_EQ(shown(b, "n1"), "IDLE") << "it was only silent";
}

TEST(T50Nodes, AJobThatMayNotRequeueFailsWithItsNode) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n[1-2]"), spec([](JobSpec& job) { job.requeue = false; }));
    b.must(NodeLost{b.node("n2"), {}});
    EXPECT_EQ(b.job("a").state, JobState::node_fail);
    EXPECT_EQ(to_string(b.job("a").reason), "NodeDown");
    EXPECT_TRUE(b.job("a").is_completing()) << "n1 still has to clean up";
    EXPECT_EQ(b.job("a").failed_node, b.node("n2"));
    b.must(NodeJobDone{b.id("a"), 1, {b.node("n1")}});
    EXPECT_FALSE(b.job("a").is_completing());
}

TEST(T50Nodes, NoKillJobsLiveOnWithoutTheLostNode) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n[1-2]"), spec([](JobSpec& job) { job.no_kill = true; }));
    b.must(NodeLost{b.node("n2"), {}});
    EXPECT_TRUE(b.job("a").is_running());
    EXPECT_EQ(b.job("a").open_shares.size(), 1U);
    b.finish(b.id("a"));
    EXPECT_EQ(b.job("a").state, JobState::completed);
}

TEST(T50Nodes, AReturningAgentIsAskedToContinueWhatItHolds) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), cpus_each(1)).running("b", on("n1"), cpus_each(1));
    b.running("c", on("n1"), cpus_each(1));
    b.must(CancelJob{{.job = b.id("c").value}, Actor::root()});
    auto back = b.registration("n1");
    back.held = {{b.id("a"), 1, StepId{step_batch}}, {JobId{77}, 1, StepId{0}}, {b.id("a"), 9, StepId{1}}};
    const auto events = b.must(back);
    EXPECT_TRUE(b.job("a").is_running());
    EXPECT_EQ(only<EndUnknown>(events).size(), 2U) << "job 77, and attempt 9 of a";
    EXPECT_EQ(only<LaunchAgain>(events), (std::vector{LaunchAgain{b.node("n1"), b.id("b"), 1}}));
    EXPECT_EQ(only<JobEnding>(events), (std::vector{JobEnding{b.id("c"), 1}}));
}

TEST(T50Nodes, AnAgentThatLostItsMemoryNeverGetsTheSameAttemptAgain) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), cpus_each(1)).running("b", on("n1"), cpus_each(1));
    b.running("c", on("n1"), cpus_each(1), spec([](JobSpec& job) { job.requeue = false; }));
    auto back = b.registration("n1");
    back.spool_id = "first";
    back.held = {{b.id("a"), 1, StepId{step_batch}}};
    EXPECT_EQ(only<LaunchAgain>(b.must(back)).size(), 2U) << "the first memory that is heard of is trusted";
    back.spool_id = "second";
    const auto events = b.must(back);
    EXPECT_TRUE(only<LaunchAgain>(events).empty()) << "they may have run";
    EXPECT_TRUE(b.job("a").is_running()) << "it is there";
    EXPECT_TRUE(b.job("b").is_pending());
    EXPECT_EQ(b.job("b").restarts, 1U);
    EXPECT_EQ(b.job("c").state, JobState::node_fail);
    EXPECT_EQ(shown(b, "n1"), "MIX") << "nothing of them is held there any more";
    ASSERT_TRUE(b.start_on(b.id("b"), "n1"));
    EXPECT_EQ(b.job("b").attempt, 2U);
    EXPECT_EQ(only<LaunchAgain>(b.must(back)), (std::vector{LaunchAgain{b.node("n1"), b.id("b"), 2}}))
        << "the same memory: it never got this one";
}

TEST(T50Nodes, AnAgentThatCannotContainJobsIsDrainedUntilItCan) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).policies([](Policies& policies) { policies.config_overrides = true; });
    b.cluster();
    auto found = b.registration("n1");
    found.unfit = "cgroup/v2 could not be loaded";
    b.must(found);
    EXPECT_EQ(shown(b, "n1"), "INVAL");
    EXPECT_EQ(b.cluster().find_node("n1")->reason, "cgroup/v2 could not be loaded");
    found.unfit = "";
    b.must(found);
    EXPECT_EQ(shown(b, "n1"), "IDLE");
}

TEST(T50Nodes, WhatIsNotEnforcedIsNamedOnceItIsKnown) {
    using namespace node_limit;
    EXPECT_EQ(display_unenforced(0), "") << "an agent that says nothing";
    EXPECT_EQ(display_unenforced(known | containment | cores), "memory,devices,processes");
    EXPECT_EQ(display_unenforced(known | containment | cores | memory | devices | processes), "");
}

TEST(T50Nodes, ARebootLosesTheJobsOfTheNode) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), cpus_each(1));
    b.running("b", on("n1"), cpus_each(1), spec([](JobSpec& job) { job.requeue = false; }));
    b.must(b.registration("n1", "boot-2"));
    EXPECT_TRUE(b.job("a").is_pending());
    EXPECT_EQ(b.job("b").state, JobState::node_fail);
    EXPECT_EQ(shown(b, "n1"), "DOWN");
    EXPECT_EQ(b.cluster().find_node("n1")->reason, "Node unexpectedly rebooted");
    EXPECT_EQ(b.cluster().find_node("n1")->job_count, 0U);
}

TEST(T50Nodes, ReturnToServiceTwoForgivesAReboot) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).policies([](Policies& policies) { policies.return_to_service = 2; });
    b.cluster();
    b.must(b.registration("n1", "boot-2"));
    EXPECT_EQ(shown(b, "n1"), "IDLE");
}

TEST(T50Nodes, ARebootThatWasAskedForBringsTheNodeBack) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(change(b, "n1", NodeAction::reboot));
    EXPECT_EQ(shown(b, "n1"), "ALLOC@");
    b.must(FinishJob{.job = b.id("a"), .attempt = 1});
    EXPECT_EQ(only<RebootWanted>(b.must(NodeJobDone{b.id("a"), 1, {b.node("n1")}})).size(), 1U);
    EXPECT_EQ(shown(b, "n1"), "BOOT^");
    b.must(b.registration("n1", "boot-2"));
    EXPECT_EQ(shown(b, "n1"), "IDLE");
}

class T50Reboots : public ::testing::Test {
protected:
    T50Reboots() {
        b.nodes("n1", cpus(4)).cluster();
        b.must(SetStateVersion{newest_state_version});
    }
    Events ask(NodeAction action, AfterReboot after = AfterReboot::as_before) {
        return b.must(
            UpdateNode{.nodes = {b.node("n1")}, .action = action, .actor = Actor::root(), .after_reboot = after});
    }
    const Node& node() { return *b.cluster().find_node("n1"); }
    ClusterBuilder b;
};

TEST_F(T50Reboots, ANodeThatComesBackWithoutHavingBootedIsStillToReboot) {
    EXPECT_EQ(only<RebootWanted>(ask(NodeAction::reboot)).size(), 1U);
    EXPECT_EQ(node().reason, "reboot requested : reboot issued");
    b.must(b.registration("n1"));
    EXPECT_EQ(shown(b, "n1"), "BOOT^");
    b.must(b.registration("n1", "boot-2"));
    EXPECT_EQ(shown(b, "n1"), "IDLE");
    EXPECT_EQ(node().reason, "");
}

TEST_F(T50Reboots, AsSoonAsPossibleTakesNoNewJobsAndServesAgainAfterwards) {
    b.running("a", on("n1"), cpus_each(1));
    EXPECT_TRUE(only<RebootWanted>(ask(NodeAction::reboot_asap)).empty()) << "a job is left on it";
    EXPECT_FALSE(node().is_available());
    EXPECT_EQ(node().reason, "Reboot ASAP");
    b.must(FinishJob{.job = b.id("a"), .attempt = 1});
    EXPECT_EQ(only<RebootWanted>(b.must(NodeJobDone{b.id("a"), 1, {b.node("n1")}})).size(), 1U);
    b.must(b.registration("n1", "boot-2"));
    EXPECT_EQ(shown(b, "n1"), "IDLE");
    EXPECT_EQ(node().reason, "");
}

TEST_F(T50Reboots, NextstateDownLeavesItDown) {
    ask(NodeAction::reboot, AfterReboot::down);
    b.must(b.registration("n1", "boot-2"));
    EXPECT_EQ(shown(b, "n1"), "DOWN");
    EXPECT_EQ(node().reason, "reboot requested : reboot issued : reboot complete");
}

TEST_F(T50Reboots, ADrainedNodeIsStillDrainedAfterwardsUnlessItIsToResume) {
    b.must(change(b, "n1", NodeAction::drain, "broken fan"));
    ask(NodeAction::reboot);
    b.must(b.registration("n1", "boot-2"));
    EXPECT_EQ(shown(b, "n1"), "DRAIN");
    ask(NodeAction::reboot, AfterReboot::resume);
    b.must(b.registration("n1", "boot-3"));
    EXPECT_EQ(shown(b, "n1"), "IDLE");
}

TEST_F(T50Reboots, ACancelledOneTakesBackTheDrain) {
    b.running("a", on("n1"), cpus_each(1));
    ask(NodeAction::reboot_asap);
    ask(NodeAction::cancel_reboot);
    EXPECT_EQ(shown(b, "n1"), "MIX");
    EXPECT_TRUE(node().is_available());
    EXPECT_EQ(node().reason, "");
}

TEST_F(T50Reboots, OneThatTakesTooLongIsDownAndComesBackAllTheSame) {
    ask(NodeAction::reboot);
    b.must(NodeLost{b.node("n1"), "Not responding"});
    EXPECT_EQ(node().state, NodeState::down);
    EXPECT_EQ(node().reason, "reboot requested : reboot issued : reboot timed out");
    b.must(b.registration("n1", "boot-2"));
    EXPECT_EQ(shown(b, "n1"), "IDLE");
}

TEST_F(T50Reboots, ResumingOrDowningANodeByHandEndsIt) {
    ask(NodeAction::reboot);
    ask(NodeAction::resume);
    EXPECT_EQ(shown(b, "n1"), "IDLE");
    ask(NodeAction::reboot);
    b.must(change(b, "n1", NodeAction::down, "reboot failed: exited with 1"));
    EXPECT_EQ(shown(b, "n1"), "DOWN");
}

TEST(T50Nodes, ANodeWithLessThanConfiguredIsInvalid) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4), memory_mib(1000), gpus(2)).cluster();
    auto less = b.registration("n1");
    less.memory_mib = 980;
    b.must(less);
    EXPECT_EQ(shown(b, "n1"), "INVAL");
    EXPECT_EQ(b.cluster().find_node("n1")->reason, "Low RealMemory (reported:980 < 100.00% of configured:1000)");
    less.memory_mib = 1000;
    less.gres = {};
    b.must(less);
    EXPECT_EQ(shown(b, "n1"), "INVAL");
    b.must(b.registration("n1"));
    EXPECT_EQ(shown(b, "n1"), "IDLE");
}

TEST(T50Nodes, DowningANodeByHandEndsItsJobs) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(change(b, "n1", NodeAction::down, "broken fan"));
    EXPECT_EQ(shown(b, "n1"), "DOWN");
    EXPECT_EQ(b.cluster().find_node("n1")->reason, "broken fan");
    EXPECT_TRUE(b.job("a").is_pending());
    b.must(b.registration("n1"));
    EXPECT_EQ(shown(b, "n1"), "DOWN") << "registering does not undo an operator's decision";
}

TEST(T50Nodes, UsersMayNotChangeNodes) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    auto command = change(b, "n1", NodeAction::drain);
    command.actor = {1000, AdminLevel::none, "alice"};
    EXPECT_FALSE(b.apply(command));
    command.actor.level = AdminLevel::operator_;
    EXPECT_TRUE(b.apply(command));
}

TEST(T50Nodes, AConfigurationKeepsNumbersConditionsAndJobs) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n1"));
    b.must(change(b, "n2", NodeAction::drain));
    const auto id = b.node("n2");
    b.nodes("m1", cpus(2)).cluster();
    EXPECT_EQ(b.node("n2"), id);
    EXPECT_EQ(shown(b, "n2"), "DRAIN");
    EXPECT_TRUE(b.job("a").is_running());
    EXPECT_EQ(shown(b, "m1"), "IDLE");
}

TEST(T50Nodes, ANodeThatLeavesTheConfigurationFinishesItsJobs) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n2")).pending("b");
    auto config = b.cluster().config();
    config.nodes[0].names = {"n1"};
    b.must(ApplyConfig{config});
    EXPECT_TRUE(b.job("a").is_running());
    b.finish(b.id("a"));
    EXPECT_FALSE(b.start_on(b.id("b"), "n2"));
    EXPECT_EQ(b.cluster().find_partition("main")->nodes.size(), 1U);
}

TEST(T50Nodes, AConfigurationThatJobsDoNotFitIsRefusedWithTheRemedy) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8)).running("a", on("n1"));
    auto config = b.cluster().config();
    config.nodes[0].topology = {1, 1, 4, 1};
    config.nodes[0].cpus = 4;
    const auto before = snapshot_of(b);
    const auto refused = b.apply(ApplyConfig{config});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text,
              "node n1: job 1 would no longer fit: n1 has no cores 4-7 for jobs; drain the node first");
    EXPECT_EQ(snapshot_of(b), before);
}

TEST(T50Nodes, WrongConfigurationsAreRefusedWithASentence) {
    const auto refusal = [](const std::function<void(ClusterConfig&)>& spoil) {
        ClusterConfig config;
        NodeConfig node;
        node.names = {"n1", "n2"};
        Partition partition;
        partition.name = "gpu";
        partition.node_text = "n[1-2]";
        config.nodes = {node};
        config.partitions = {partition};
        spoil(config);
        Cluster cluster;
        const auto done = cluster.apply({1, ApplyConfig{config}});
        return done ? std::string{"accepted"} : done.error().text;
    };
    EXPECT_EQ(refusal([](auto&) {}), "accepted");
    EXPECT_EQ(refusal([](auto& config) { config.partitions[0].node_text = "n[1-3]"; }),
              "partition \"gpu\": node \"n3\" is not defined");
    EXPECT_EQ(refusal([](auto& config) { config.nodes[0].cpus = 3; }),
              "node n1: cpus = 3 matches neither its 1 cores nor its 1 threads");
    EXPECT_EQ(refusal([](auto& config) { config.nodes.push_back(config.nodes[0]); }), "node n1 is defined twice");
    EXPECT_EQ(refusal([](auto& config) { config.partitions.push_back(config.partitions[0]); }),
              "partition \"gpu\" is defined twice");
}

TEST(T50Nodes, APartitionInUseIsNotRemoved) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).partition("main", "ALL").partition("other", "n1").pending("a", partition("other"));
    Partition other;
    other.name = "other";
    const auto refused = b.apply(EditPartition{Edit::remove, other});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "Partition is in use");
    b.must(CancelJob{{.job = b.id("a").value}, Actor::root()});
    EXPECT_TRUE(b.apply(EditPartition{Edit::remove, other}));
}

}  // namespace
}  // namespace spur
