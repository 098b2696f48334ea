// spurd dies, the controller goes away, the machine boots: jobs live on, ends are heard of, nothing runs twice.
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

namespace fs = std::filesystem;

class AgentRestart : public Node {
protected:
    void release() { std::ofstream{work / "go"} << "x"; }
    static bool holds(const v1::Register& hello, std::uint32_t job, std::uint32_t step) {
        for (const auto& held : hello.held())
            if (held.job_id() == job && held.step_id() == step && held.attempt() == 1) return true;
        return false;
    }
    static constexpr const char* waiting_script = "echo up; while ! test -e go; do sleep 0.02; done; echo down; exit 9";
};

TEST_F(AgentRestart, AJobSurvivesAKilledSpurdAndItsExitCodeArrives) {
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(1, waiting_script));
    ASSERT_TRUE(wait_file("out.1", "up"));
    restart_spurd();
    const auto again = joined(2);
    ASSERT_TRUE(again);
    EXPECT_TRUE(holds(*again, 1, step_batch));
    release();
    const auto report = controller.wait_report(1, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 9u << 8);
    EXPECT_EQ(file("out.1"), "up\ndown\n");
}

TEST_F(AgentRestart, AJobThatEndsWhileSpurdIsAwayIsReportedWhenItIsBack) {
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(2, waiting_script));
    ASSERT_TRUE(wait_file("out.2", "up"));
    kill_spurd();
    release();
    ASSERT_TRUE(wait_file("../state/jobs/job00002.1/batch.result", "\n"));
    start_spurd(options_);
    const auto again = joined(2);
    ASSERT_TRUE(again);
    EXPECT_TRUE(holds(*again, 2, step_batch));
    const auto report = controller.wait_report(2, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 9u << 8);
    EXPECT_TRUE(wait_until([&] { return fs::is_empty(state / "jobs"); }));
}

TEST_F(AgentRestart, AComponentThatRunsNoScriptMissesNoneAfterARestart) {
    start_spurd();
    ASSERT_TRUE(joined());
    v1::ControllerMessage message;  // the second component of a heterogeneous batch job, on its first node
    *message.mutable_start()->mutable_job() = batch(7, "").job();
    message.mutable_start()->mutable_job()->mutable_job()->set_het_offset(1);
    controller.send(message);
    ASSERT_TRUE(wait_until([&] { return fs::exists(state / "jobs/job00007.1"); }));
    restart_spurd();
    ASSERT_TRUE(joined(2));
    ASSERT_TRUE(run(batch(8, "sleep 3"))) << "longer than spurd waits for a script's daemon to show itself";
    for (const auto& report : controller.reports()) EXPECT_NE(report.job_id(), 7U) << report.error();
}

TEST_F(AgentRestart, OrdersStillReachAStepAfterARestart) {
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(3, waiting_script));
    ASSERT_TRUE(wait_file("out.3", "up"));
    restart_spurd();
    ASSERT_TRUE(joined(2));
    end(3);
    const auto report = controller.wait_report(3, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), static_cast<unsigned>(SIGTERM));
    EXPECT_NE(file("out.3").find("CANCELLED AT"), std::string::npos);
    EXPECT_TRUE(controller.wait_report(3, v1::StepReport::EPILOG_DONE, step_extern));
}

TEST_F(AgentRestart, TheLimitIsEnforcedWhileSpurdIsAway) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(4, "echo up; sleep 1000");
    order.mutable_job()->set_end_time(std::time(nullptr) + 2);
    launch(order);
    ASSERT_TRUE(wait_file("out.4", "up"));
    kill_spurd();
    ASSERT_TRUE(wait_file("out.4", "DUE TO TIME LIMIT"));
    start_spurd(options_);
    const auto report = controller.wait_report(4, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->timed_out());
}

TEST_F(AgentRestart, AnEndIsRepeatedUntilItIsAcknowledged) {
    controller.acknowledges = false;
    start_spurd();
    ASSERT_TRUE(joined());
    ASSERT_TRUE(run(batch(5, "exit 6")));
    controller.forget_reports();
    controller.close_sessions();  // a new session hears it again
    auto report = controller.wait_report(5, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 6u << 8);
    controller.forget_reports();
    restart_spurd();  // and so does the session of another spurd
    report = controller.wait_report(5, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 6u << 8);
}

TEST_F(AgentRestart, WhatTheControllerDoesNotKnowIsEnded) {
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(6, "echo up; sleep 1000"));
    ASSERT_TRUE(wait_file("out.6", "up"));
    v1::StepOnNode unknown;
    unknown.set_job_id(6);
    unknown.set_attempt(1);
    unknown.set_step_id(step_extern);
    controller.unknown = {unknown};
    controller.close_sessions();
    ASSERT_TRUE(joined(2));
    EXPECT_TRUE(wait_until([&] { return fs::is_empty(state / "jobs"); }));
    for (const auto& report : controller.reports()) EXPECT_NE(report.kind(), v1::StepReport::FINISHED);
}

TEST_F(AgentRestart, ARebootForgetsWhatWasRunning) {
    start_spurd({.extra = {"--boot-id", "first"}});
    auto hello = joined();
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->boot_id(), "first");
    launch(batch(7, "echo $PPID > daemon; echo $$ > pid; echo up; exec sleep 1000"));
    ASSERT_TRUE(wait_file("out.7", "up"));
    kill_spurd();
    for (const auto* name : {"daemon", "pid"}) ASSERT_EQ(kill(std::atoi(file(name).c_str()), SIGKILL), 0);
    start_spurd({.extra = {"--boot-id", "second"}});
    hello = joined(2);
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->boot_id(), "second");
    EXPECT_EQ(hello->held_size(), 0);
}

TEST_F(AgentRestart, ADeadStepDaemonIsReportedAndItsProcessesAreKilled) {
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(8, "echo $$ > pid; echo $PPID > daemon; echo up; exec sleep 1000"));
    ASSERT_TRUE(wait_file("out.8", "up"));
    const auto daemon = std::atoi(file("daemon").c_str()), task = std::atoi(file("pid").c_str());
    ASSERT_GT(daemon, 1);
    ASSERT_EQ(kill(daemon, SIGKILL), 0);
    const auto report = controller.wait_report(8, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->error(), "its spurstepd died");
    EXPECT_TRUE(wait_until([&] { return kill(task, 0) != 0; }));
}

TEST_F(AgentRestart, AStepDaemonThatDiesBetweenItsTasksHasStartedSomething) {
    start_spurd();
    ASSERT_TRUE(joined());
    start_job(19);
    run_step(step_launch(credential(19, 0, 200),
                         {"sh", "-c", "[ $SLURM_PROCID = 0 ] && kill -KILL $PPID; exec sleep 1000"}));
    const auto report = controller.wait_report(19, v1::StepReport::FINISHED, 0);
    ASSERT_TRUE(report) << "it could be launched";
    EXPECT_TRUE(report->lost());
}

TEST_F(AgentRestart, AStepDaemonThatDoesNotAnswerIsKilledWithItsProcesses) {
    controller.policy.set_kill_wait_s(1);
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(18, "echo $$ > pid; echo $PPID > daemon; echo up; exec sleep 1000"));
    ASSERT_TRUE(wait_file("out.18", "up"));
    const auto daemon = std::atoi(file("daemon").c_str()), task = std::atoi(file("pid").c_str());
    ASSERT_GT(daemon, 1);
    ASSERT_EQ(kill(daemon, SIGSTOP), 0);
    end(18);
    const auto is_over = [&] {
        return controller.wait_report(18, v1::StepReport::EPILOG_DONE, step_extern).has_value();
    };
    EXPECT_TRUE(is_over() || is_over()) << "after half a minute";
    EXPECT_NE(kill(daemon, 0), 0);
    EXPECT_TRUE(wait_until([&] { return kill(task, 0) != 0; }));
    for (const auto& report : controller.reports()) EXPECT_EQ(report.drain(), "") << "everything could be killed";
}

TEST_F(AgentRestart, ANewForkServerIsStartedAndJobsRunMeanwhile) {
    start_spurd();
    ASSERT_TRUE(joined());
    const auto id = std::to_string(spurd_pid);
    const auto zygote = std::atoi(file("/proc/" + id + "/task/" + id + "/children").c_str());
    ASSERT_GT(zygote, 1);
    ASSERT_EQ(kill(zygote, SIGKILL), 0);
    const auto report = run(batch(9, "echo ok"));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 0u);
    EXPECT_EQ(file("out.9"), "ok\n");
}

TEST_F(AgentRestart, FollowsTheLeaderItIsSentTo) {
    FakeController leader{std::make_shared<auth::PluginAuthenticator>(auth)};
    controller.leader = leader.address();
    start_spurd();
    EXPECT_TRUE(leader.wait_registration());
}

TEST_F(AgentRestart, TwoAgentsDoNotShareAStateDirectory) {
    start_spurd();
    ASSERT_TRUE(joined());
    const auto command = std::string{SPURD} + " -D -f " + (root / "spur.conf").string() +
                         " -N n1 --listen 127.0.0.1:0 --state-dir " + state.string() + " 2>" +
                         (work / "second").string();
    EXPECT_NE(system(command.c_str()), 0);
    EXPECT_NE(file("second").find("state directory " + state.string() + " is in use by process "), std::string::npos)
        << file("second");
}

}  // namespace
}  // namespace spur::test
