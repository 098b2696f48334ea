// Batch jobs through a real spurd: output, exit codes, signals, limits, scripts around them.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

namespace fs = std::filesystem;

class AgentBatch : public Node {};

TEST_F(AgentBatch, RegistersWithTheHardwareOfThisMachine) {
    start_spurd();
    const auto hello = joined();
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->node().name(), "n1");
    EXPECT_EQ(hello->node().cpus(),
              hello->node().sockets() * hello->node().cores_per_socket() * hello->node().threads_per_core());
    EXPECT_GT(hello->node().memory_mib(), 0u);
    EXPECT_FALSE(hello->boot_id().empty());
    EXPECT_EQ(hello->held_size(), 0);
    EXPECT_TRUE(controller.wait_heartbeat());
}

TEST_F(AgentBatch, RunsAScriptAndReportsItsExitCode) {
    start_spurd();
    ASSERT_TRUE(joined());
    const auto report = run(batch(7, "echo hello from $SLURM_JOB_ID; echo oops >&2; exit 3"));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 3u << 8);
    EXPECT_TRUE(report->node_done());
    EXPECT_EQ(file("out.7"), "hello from 7\noops\n");
    EXPECT_TRUE(wait_until([&] { return fs::is_empty(state / "jobs"); }))
        << "nothing is left once the end is acknowledged";
}

TEST_F(AgentBatch, PassesArgumentsWorkingDirectoryAndUmask) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(8, "echo \"$1|$2\"; pwd; umask; basename $0");
    order.add_argv("a b");
    order.add_argv("c");
    order.mutable_job()->set_umask(027);
    ASSERT_TRUE(run(order));
    EXPECT_EQ(file("out.8"), "a b|c\n" + work.string() + "\n0027\nslurm_script\n");
}

TEST_F(AgentBatch, AMissingDirectoryIsToldAndTmpIsUsed) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(9, "pwd");
    order.mutable_job()->set_std_out((work / "out.9").string());
    order.mutable_job()->set_work_dir("/no/such/place");
    ASSERT_TRUE(run(order));
    EXPECT_EQ(file("out.9"),
              "slurmstepd: error: couldn't chdir to `/no/such/place': No such file or directory: going to /tmp "
              "instead\n/tmp\n");
}

TEST_F(AgentBatch, OutputThatCannotBeOpenedFailsTheJobAndNotTheLaunch) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(10, "true");
    order.mutable_job()->set_std_out("/no/such/place/out");
    launch(order);
    const auto report = controller.wait_report(10, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 53u);
    EXPECT_EQ(report->error(), "Could not open stdout file /no/such/place/out: No such file or directory");
}

TEST_F(AgentBatch, FilesAreTruncatedUnlessAppendIsAsked) {
    start_spurd();
    ASSERT_TRUE(joined());
    std::ofstream{work / "out.11"} << "old\n";
    std::ofstream{work / "out.12"} << "old\n";
    ASSERT_TRUE(run(batch(11, "echo new")));
    auto order = batch(12, "echo new");
    order.mutable_job()->set_append(true);
    order.mutable_job()->set_std_err("err.%j");
    ASSERT_TRUE(run(order));
    EXPECT_EQ(file("out.11"), "new\n");
    EXPECT_EQ(file("out.12"), "old\nnew\n");
    EXPECT_EQ(file("err.12"), "");
}

TEST_F(AgentBatch, TheSameLaunchTwiceRunsOnce) {
    start_spurd();
    ASSERT_TRUE(joined());
    const auto order = batch(13, "echo run >> ran; test -e go || sleep 1000");
    launch(order);
    ASSERT_TRUE(wait_file("ran", "run"));
    launch(order);
    signal(13, SIGKILL, true);
    ASSERT_TRUE(controller.wait_report(13, v1::StepReport::FINISHED));
    launch(order);
    ASSERT_TRUE(run(batch(14, "true")));  // whatever the order did, it has been looked at by now
    EXPECT_EQ(file("ran"), "run\n");
}

TEST_F(AgentBatch, CancellingTellsTheJobWaitsAndKills) {
    start_spurd();
    ASSERT_TRUE(joined());
    launch(
        batch(15, "trap 'echo got term' TERM; (trap '' TERM; sleep 1000) & echo started; while :; do sleep 0.1; done"));
    ASSERT_TRUE(wait_file("out.15", "started"));
    end(15);
    const auto report = controller.wait_report(15, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), static_cast<unsigned>(SIGKILL));
    EXPECT_TRUE(controller.wait_report(15, v1::StepReport::EPILOG_DONE, step_extern));
    const auto text = file("out.15");
    EXPECT_NE(text.find("slurmstepd: error: *** JOB 15 ON n1 CANCELLED AT 20"), std::string::npos) << text;
    EXPECT_NE(text.find("got term"), std::string::npos) << text;
}

TEST_F(AgentBatch, ATimeLimitIsEnforcedOnTheNode) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(16, "sleep 1000");
    order.mutable_job()->set_end_time(std::time(nullptr) + 2);
    const auto report = run(order);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->timed_out());
    EXPECT_EQ(report->exit_status(), static_cast<unsigned>(SIGTERM));
    EXPECT_NE(file("out.16").find("DUE TO TIME LIMIT ***"), std::string::npos) << file("out.16");
}

TEST_F(AgentBatch, TheSecondsThatAreLeftCountAndNotTheClockOfTheNode) {
    start_spurd();
    ASSERT_TRUE(joined());
    // This node's clock is an hour behind the controller's, or was set back.
    auto late = batch(26, "sleep 1000");
    late.mutable_job()->set_end_time(std::time(nullptr) + 3600);
    late.mutable_job()->set_remaining_s(1);
    const auto report = run(late);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->timed_out());
    // And here it is an hour ahead.
    auto early = batch(27, "sleep 0.1; exit 3");
    early.mutable_job()->set_end_time(std::time(nullptr) - 3600);
    early.mutable_job()->set_remaining_s(1000);
    const auto done = run(early);
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->timed_out());
    EXPECT_EQ(done->exit_status(), 3u << 8);
    // A new limit is told the same way.
    auto order = batch(28, "echo up; sleep 1000");
    launch(order);
    ASSERT_TRUE(wait_file("out.28", "up"));
    v1::ControllerMessage message;
    message.mutable_limits()->set_job_id(28);
    message.mutable_limits()->set_attempt(1);
    message.mutable_limits()->set_end_time(std::time(nullptr) + 3600);
    message.mutable_limits()->set_remaining_s(0);
    controller.send(message);
    const auto ended = controller.wait_report(28, v1::StepReport::FINISHED);
    ASSERT_TRUE(ended);
    EXPECT_TRUE(ended->timed_out());
}

TEST_F(AgentBatch, ANewLimitReplacesTheOld) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(17, "echo up; sleep 1000");
    order.mutable_job()->set_end_time(std::time(nullptr) + 1000);
    launch(order);
    ASSERT_TRUE(wait_file("out.17", "up"));
    v1::ControllerMessage message;
    message.mutable_limits()->set_job_id(17);
    message.mutable_limits()->set_attempt(1);
    message.mutable_limits()->set_end_time(std::time(nullptr));
    controller.send(message);
    const auto report = controller.wait_report(17, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->timed_out());
}

TEST_F(AgentBatch, AWarningSignalComesBeforeTheLimit) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(18, "trap 'echo warned; exit 4' USR1; echo up; while :; do sleep 0.05; done");
    order.mutable_job()->set_end_time(std::time(nullptr) + 1000);
    order.mutable_job()->set_signal("B:USR1@999");
    const auto report = run(order);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 4u << 8);
    EXPECT_EQ(file("out.18"), "up\nwarned\n");
}

TEST_F(AgentBatch, ASignalToTheBatchShellSparesItsChildren) {
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(19,
                 "trap 'echo shell' USR1; sh -c 'trap \"echo child\" USR1; echo up; while :; do sleep 0.05; done' & "
                 "wait; kill $!; exit 5"));
    ASSERT_TRUE(wait_file("out.19", "up"));
    signal(19, SIGUSR1, true);
    const auto report = controller.wait_report(19, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 5u << 8);
    EXPECT_EQ(file("out.19"), "up\nshell\n");
}

TEST_F(AgentBatch, WhatAScriptLeavesBehindIsKilled) {
    start_spurd();
    ASSERT_TRUE(joined());
    ASSERT_TRUE(
        run(batch(20, "setsid sh -c 'echo $$ > left; sleep 1000' & while ! test -s left; do sleep 0.01; done")));
    const auto pid = std::atoi(file("left").c_str());
    ASSERT_GT(pid, 0);
    EXPECT_NE(kill(pid, 0), 0) << "a background process outlived its job";
}

TEST_F(AgentBatch, SuspendStopsAndResumeContinues) {
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(21, "echo $$ > pid; echo up; while ! test -e go; do sleep 0.02; done; echo done"));
    ASSERT_TRUE(wait_file("out.21", "up"));
    const auto state_of = [&] {
        std::ifstream stat{"/proc/" + std::to_string(std::atoi(file("pid").c_str())) + "/stat"};
        std::string text;
        std::getline(stat, text);
        return text.size() > 4 ? text[text.rfind(')') + 2] : '?';
    };
    v1::ControllerMessage message;
    message.mutable_suspend()->set_job_id(21);
    message.mutable_suspend()->set_attempt(1);
    controller.send(message);
    // D: it waits for a child that was stopped between vfork and exec.
    EXPECT_TRUE(wait_until([&] { return state_of() == 'T' || state_of() == 'D'; }));
    std::ofstream{work / "go"} << "x";
    message.mutable_suspend()->set_resume(true);
    controller.send(message);
    ASSERT_TRUE(controller.wait_report(21, v1::StepReport::FINISHED));
    EXPECT_EQ(file("out.21"), "up\ndone\n");
}

TEST_F(AgentBatch, PrologAndEpilogRunAroundTheJob) {
    std::ofstream{root / "pro.sh"} << "#!/bin/sh\necho $SLURM_SCRIPT_CONTEXT $SLURM_JOB_ID >> "
                                   << (work / "log").string() << "\n";
    fs::permissions(root / "pro.sh", fs::perms{0755});
    controller.policy.set_prolog(root / "pro.sh");
    controller.policy.set_epilog(root / "pro.sh");
    start_spurd();
    ASSERT_TRUE(joined());
    const auto report = run(batch(22, "echo job >> log"));
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->node_done());
    end(22, "COMPLETED");
    ASSERT_TRUE(controller.wait_report(22, v1::StepReport::EPILOG_DONE, step_extern));
    EXPECT_EQ(file("log"), "prolog_slurmd 22\njob\nepilog_slurmd 22\n");
}

TEST_F(AgentBatch, AFailingPrologKeepsTheJobFromRunning) {
    controller.policy.set_prolog("/bin/false");
    start_spurd();
    ASSERT_TRUE(joined());
    launch(batch(23, "echo ran > ran"));
    const auto report = controller.wait_report(23, v1::StepReport::PROLOG_FAILED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->error(), "prolog /bin/false exited with 1");
    end(23, "PENDING");
    ASSERT_TRUE(controller.wait_report(23, v1::StepReport::EPILOG_DONE, step_extern));
    EXPECT_FALSE(fs::exists(work / "ran"));
}

TEST_F(AgentBatch, TaskPrologChangesTheEnvironment) {
    std::ofstream{root / "tp.sh"} << "#!/bin/sh\necho export TP=hello\necho print from the prolog\necho unset GONE\n";
    fs::permissions(root / "tp.sh", fs::perms{0755});
    controller.policy.set_task_prolog(root / "tp.sh");
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(24, "echo \"$TP-$GONE-\"");
    order.add_environment("GONE=here");
    ASSERT_TRUE(run(order));
    EXPECT_EQ(file("out.24"), "from the prolog\nhello--\n");
}

TEST_F(AgentBatch, WithoutItsTaskPrologThereIsNoTask) {
    std::ofstream{root / "tp.sh"} << "#!/bin/sh\nexit 7\n";
    fs::permissions(root / "tp.sh", fs::perms{0755});
    controller.policy.set_task_prolog(root / "tp.sh");
    start_spurd();
    ASSERT_TRUE(joined());
    const auto report = run(batch(27, "echo ran"));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 7U << 8);
    EXPECT_EQ(file("out.27"), "slurmstepd: error: TaskProlog failed status=7\n");
}

TEST_F(AgentBatch, AFailedEpilogIsReportedAsSuch) {
    controller.policy.set_epilog("/bin/false");
    start_spurd();
    ASSERT_TRUE(joined());
    ASSERT_TRUE(run(batch(28, "true")));
    end(28);
    const auto report = controller.wait_report(28, v1::StepReport::EPILOG_DONE, step_extern);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->error(), "epilog /bin/false exited with 1");
}

TEST_F(AgentBatch, EndingAnUnknownJobIsAnsweredAsDone) {
    start_spurd();
    ASSERT_TRUE(joined());
    end(4711);
    EXPECT_TRUE(controller.wait_report(4711, v1::StepReport::EPILOG_DONE, step_extern));
}

TEST_F(AgentBatch, ResourceLimitsArePassedOn) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(25, "ulimit -n; ulimit -c");
    auto& files = *order.mutable_job()->add_rlimits();
    files.set_name("NOFILE");
    files.set_soft(123);
    files.set_hard(456);
    auto& core = *order.mutable_job()->add_rlimits();
    core.set_name("CORE");
    core.set_soft(0);
    core.set_hard(0);
    ASSERT_TRUE(run(order));
    EXPECT_EQ(file("out.25"), "123\n0\n");
}

TEST_F(AgentBatch, AScriptWithAMissingInterpreterSaysSo) {
    start_spurd();
    ASSERT_TRUE(joined());
    auto order = batch(26, "");
    order.set_script("#!/no/such/shell\n");
    const auto report = run(order);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 2u << 8);
    EXPECT_EQ(file("out.26"),
              "slurmstepd: error: execve(): bad interpreter(/no/such/shell): No such file or directory\n");
}

TEST_F(AgentBatch, ManyJobsAtOnceAllEnd) {
    start_spurd();
    ASSERT_TRUE(joined());
    for (std::uint32_t job = 1000; job < 1200; ++job) launch(batch(job, "exit " + std::to_string(job % 100)));
    for (std::uint32_t job = 1000; job < 1200; ++job) {
        const auto report = controller.wait_report(job, v1::StepReport::FINISHED);
        ASSERT_TRUE(report) << job;
        EXPECT_EQ(report->exit_status(), job % 100 << 8);
    }
}

TEST_F(AgentBatch, AnotherUsersJobIsRefusedByAnAgentThatIsNotRoot) {
    SpurdOptions options;
    if (geteuid() == 0) options.uid = 65534;
    start_spurd(options);
    ASSERT_TRUE(joined());
    ASSERT_TRUE(run(batch(30, "id -u")));
    EXPECT_EQ(file("out.30"), std::to_string(options.uid != 0 ? options.uid : geteuid()) + "\n");
    auto order = batch(31, "true");
    order.mutable_job()->set_uid(order.job().uid() + 1);
    launch(order);
    const auto report = controller.wait_report(31, v1::StepReport::LAUNCH_FAILED);
    ASSERT_TRUE(report);
    EXPECT_NE(report->error().find("run spurd as root"), std::string::npos) << report->error();
}

TEST_F(AgentBatch, RootRunsJobsAsTheirUserWithItsGroups) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    start_spurd();
    ASSERT_TRUE(joined());
    ASSERT_EQ(chown(work.c_str(), 65534, 65534), 0);
    auto order = batch(32, "id -u; id -g; id -G; cat slurm_secret 2>&1");
    std::ofstream{work / "slurm_secret"} << "root only";
    fs::permissions(work / "slurm_secret", fs::perms{0600});
    order.mutable_job()->set_uid(65534);
    order.mutable_job()->set_gid(65534);
    order.mutable_job()->add_groups(65534);
    order.mutable_job()->add_groups(100);
    ASSERT_TRUE(run(order));
    EXPECT_EQ(file("out.32"), "65534\n65534\n65534 100\ncat: slurm_secret: Permission denied\n");
    struct stat info {};
    ASSERT_EQ(stat((work / "out.32").c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 65534u) << "files are opened as the user";
}

}  // namespace
}  // namespace spur::test
