// The controller's state was put back or founded anew: numbers come a second time, and nothing is dropped for that.
#include <fstream>

#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

class AgentHistory : public Node {
protected:
    void SetUp() override {
        controller.now.set_history("first");
        controller.now.set_era(1);
        controller.now.set_mark(77);
        controller.now.set_version(5);
        start_spurd();
        ASSERT_TRUE(joined());
    }
    v1::LaunchBatch started_at(std::int64_t time, std::uint32_t job, const std::string& script) const {
        auto order = batch(job, script);
        order.mutable_job()->mutable_job()->set_start_time(time);
        return order;
    }
};

TEST_F(AgentHistory, ANumberThatComesAgainIsAnotherJobAndIsRun) {
    ASSERT_TRUE(run(started_at(100, 1, "echo first > ran")));
    ASSERT_TRUE(wait_until([&] { return std::filesystem::is_empty(state / "jobs"); }));
    controller.forget_reports();
    launch(started_at(200, 1, "echo second > ran"));
    ASSERT_TRUE(controller.wait_report(1, v1::StepReport::FINISHED));
    EXPECT_EQ(file("ran"), "second\n");
}

TEST_F(AgentHistory, AJobWaitsForTheOneThatStillHasItsNumber) {
    launch(started_at(100, 1, "trap '' TERM; echo up; while :; do sleep 0.02; done"));
    ASSERT_TRUE(wait_file("out.1", "up"));
    launch(started_at(200, 1, "echo second > ran"));
    ASSERT_TRUE(wait_file("ran", "second")) << "the old one is ended, then the new one starts";
    ASSERT_TRUE(controller.wait_report(1, v1::StepReport::FINISHED));
    int ends = 0;
    for (const auto& report : controller.reports()) ends += report.kind() == v1::StepReport::FINISHED ? 1 : 0;
    EXPECT_EQ(ends, 1) << "nobody is told of the old one's end: it would be taken for the new one's";
}

TEST_F(AgentHistory, AJobThatIsCancelledWhileItWaitsForItsNumberNeverRuns) {
    launch(started_at(100, 1, "trap '' TERM; echo up; while :; do sleep 0.02; done"));
    ASSERT_TRUE(wait_file("out.1", "up"));
    launch(started_at(200, 1, "echo second > ran"));
    end(1);
    ASSERT_TRUE(controller.wait_report(1, v1::StepReport::EPILOG_DONE, step_extern));
    ASSERT_TRUE(wait_until([&] { return std::filesystem::is_empty(state / "jobs"); }));
    EXPECT_EQ(file("ran"), "");
}

TEST_F(AgentHistory, TheVerySameStartIsNotRunTwiceAndItsEndIsToldAgain) {
    const auto order = started_at(100, 1, "echo ran >> ran; exit 4");
    ASSERT_TRUE(run(order));
    ASSERT_TRUE(wait_until([&] { return std::filesystem::is_empty(state / "jobs"); }));
    controller.forget_reports();
    launch(order);
    const auto report = controller.wait_report(1, v1::StepReport::FINISHED);
    ASSERT_TRUE(report) << "a controller that orders it has lost its end";
    EXPECT_EQ(report->exit_status(), 4u << 8);
    EXPECT_TRUE(report->node_done());
    EXPECT_EQ(file("ran"), "ran\n");
}

TEST_F(AgentHistory, WhatItHasSeenIsRememberedOverARestart) {
    const auto first = joined();
    EXPECT_FALSE(first->agent_id().empty());
    EXPECT_EQ(first->seen().history(), "") << "a new agent has seen nothing";
    v1::ControllerMessage message;
    *message.mutable_launch() = started_at(100, 12, "true");
    message.set_version(90);
    controller.send(message);
    ASSERT_TRUE(controller.wait_report(12, v1::StepReport::FINISHED));
    restart_spurd();
    const auto again = joined(2);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->agent_id(), first->agent_id());
    EXPECT_EQ(again->seen().history(), "first");
    EXPECT_EQ(again->seen().mark(), 77U);
    EXPECT_EQ(again->seen().version(), 90U);
    EXPECT_EQ(again->seen().job_id(), 12U);
}

TEST_F(AgentHistory, WhoseSignaturesItTrustsIsRememberedOverARestart) {
    v1::ControllerMessage message;
    message.mutable_keys()->add_keys("one");
    message.mutable_keys()->add_keys("two");
    controller.send(message);
    const auto kept = [&] {
        v1::AgentMemory memory;
        std::ifstream in{state / "cluster", std::ios::binary};
        const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
        return memory.ParseFromString(bytes) ? memory.keys().keys_size() : 0;
    };
    EXPECT_TRUE(wait_until([&] { return kept() == 2; })) << "srun can attach again before the controller is found";
}

TEST_F(AgentHistory, AnotherHistoryThatBeginsLateMakesItRegisterAgain) {
    v1::ControllerMessage message;
    message.mutable_keys()->add_keys("one");
    message.mutable_keys()->mutable_now()->set_history("second");
    controller.now.set_history("second");
    controller.send(message);
    const auto again = joined(2);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->seen().history(), "first") << "so that the controller can tell";
}

}  // namespace
}  // namespace spur::test
