// Nodes whose clocks are wrong, and a controller whose clock is set.
#include "tests/controller/agents_fixture.hpp"

namespace spur::ctld {
namespace {

using namespace testing;

TEST_F(AgentsTest, AClockThatIsFarOffIsNamedOnceAndShown) {
    FakeAgent agent{agents, "n1"};
    agent.join();
    await(agent, Message::kWelcome);
    v1::AgentMessage beat;
    const auto skew = [&](std::int64_t seconds) {
        beat.mutable_heartbeat()->set_now(wall + seconds);
        agent.send(beat);
        return agents.vitals(NodeId{0})->clock_skew_s;
    };
    EXPECT_EQ(skew(5), 0);
    EXPECT_EQ(skew(-100), -100);
    EXPECT_EQ(skew(-100), -100);
    EXPECT_EQ(skew(0), 0);
    const std::lock_guard lock{mutex};
    EXPECT_EQ(std::ranges::count_if(lines, [](const auto& line) { return line.find("clock") != std::string::npos; }),
              2);
}

class NodeClocks : public AgentsTest {
protected:
    NodeClocks() {
        agent.join();
        await(agent, Message::kWelcome);
    }
    // The node says what time it is; its record after that.
    Node hear(UnixSeconds now) {
        v1::AgentMessage beat;
        beat.mutable_heartbeat()->set_now(now);
        agent.send(beat);
        rig.settle();
        Node node;
        rig.look([&](const Cluster& cluster) { node = *cluster.find_node("n1"); });
        return node;
    }
    void pass(UnixSeconds s) { wall = wall + s, steady = steady + s; }

    FakeAgent agent{agents, "n1"};
};

TEST_F(NodeClocks, ANodeWhoseClockIsMinutesOffGetsNoNewJobsUntilItIsRight) {
    EXPECT_TRUE(hear(wall + 299).is_available()) << "named, and no more";
    const auto off = hear(wall - 301);
    EXPECT_FALSE(off.is_available());
    EXPECT_EQ(off.reason, "ClockSkew: its clock is 301 s behind the controller's");
    pass(3600);
    EXPECT_FALSE(hear(wall - 200).is_available()) << "not yet";
    const auto right = hear(wall - 30);
    EXPECT_TRUE(right.is_available());
    EXPECT_EQ(right.reason, "");
}

TEST_F(NodeClocks, WhoeverElseDrainedItHasTheLastWord) {
    const auto drain = [&](const char* why) {
        UpdateNode update{.nodes = {NodeId{0}}, .action = NodeAction::drain, .actor = Actor::root()};
        update.reason = why;
        ASSERT_TRUE(rig.propose(update));
    };
    drain("broken fan");
    EXPECT_EQ(hear(wall + 4000).reason, "broken fan");
    EXPECT_FALSE(hear(wall).is_available());
}

TEST_F(NodeClocks, AClockThatIsSetHereClosesNoNode) {
    wall = wall + 3600;  // wrongly
    EXPECT_TRUE(hear(wall - 3600).is_available());
    pass(100'000);
    EXPECT_TRUE(hear(wall - 3600).is_available()) << "however long it stays wrong";
    wall = wall - 3600;
    EXPECT_TRUE(hear(wall).is_available());
    wall = wall - 7200;  // and this is right: the controller began with a clock that was ahead
    EXPECT_TRUE(hear(wall).is_available());
    EXPECT_FALSE(hear(wall + 10'000).is_available()) << "far from both";
}

}  // namespace
}  // namespace spur::ctld
