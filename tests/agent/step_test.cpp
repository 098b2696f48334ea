// Steps that srun starts: streams, credentials, terminals, ends.
#include <signal.h>
#include <unistd.h>

#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

class AgentStep : public Node {
protected:
    void SetUp() override {
        start_spurd();
        ASSERT_TRUE(joined());
        start_job(1);
    }
    static v1::StepInput signal_message(int number) {
        v1::StepInput message;
        message.mutable_signal()->set_signal(static_cast<std::uint32_t>(number));
        return message;
    }
};

TEST_F(AgentStep, EveryTaskRunsWithItsOwnNumbersAndExitCode) {
    const auto run = run_step(step_launch(
        credential(1, 0, 3),
        {"sh", "-c",
         "echo $SLURM_PROCID/$SLURM_NTASKS $SLURM_LOCALID $SLURM_STEP_ID; echo e >&2; exit $SLURM_PROCID"}));
    EXPECT_TRUE(run.started);
    EXPECT_EQ(run.failure, "");
    EXPECT_EQ(run.task_out.at(2), "2/3 2 0\n");
    EXPECT_EQ(run.err, "e\ne\ne\n");
    EXPECT_EQ(run.status, (std::map<std::uint32_t, std::uint32_t>{{0, 0}, {1, 1 << 8}, {2, 2 << 8}}));
    EXPECT_EQ(run.end, 2u << 8);
    const auto report = controller.wait_report(1, v1::StepReport::FINISHED, 0);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 2u << 8);
    EXPECT_FALSE(report->node_done());
}

TEST_F(AgentStep, StdinReachesAllTasksAndItsEndToo) {
    const auto run = srun(step_launch(credential(1, 0, 2), {"cat"}));
    run.input("one\n", false);
    run.input("two\n", true);
    const auto result = run.read();
    EXPECT_EQ(result.task_out.at(0), "one\ntwo\n");
    EXPECT_EQ(result.task_out.at(1), "one\ntwo\n");
    EXPECT_EQ(result.end, 0u);
}

TEST_F(AgentStep, MuchInputAndOutputPassUnharmed) {
    const auto run = srun(step_launch(credential(1, 0, 1), {"cat"}));
    std::string line(1023, 'x');
    line += '\n';
    std::string sent;
    for (int i = 0; i < 64; ++i) {
        std::string block;
        for (int j = 0; j < 128; ++j) block += line;
        run.input(block, false);
        sent += block;
    }
    run.input("", true);
    const auto result = run.read();
    EXPECT_EQ(result.out.size(), sent.size());
    EXPECT_TRUE(result.out == sent);
    EXPECT_EQ(result.end, 0u);
}

TEST_F(AgentStep, LinesArriveWholeUnlessUnbuffered) {
    const std::vector<std::string> script{"sh", "-c", "printf abc; while ! test -e go; do sleep 0.02; done; echo def"};
    const auto held = srun(step_launch(credential(1, 0, 1), script));
    auto first = held.read([](const StepRun& run) { return run.started; });
    EXPECT_EQ(first.out, "");
    auto launch = step_launch(credential(1, 1, 1), script);
    launch.set_unbuffered(true);
    const auto free = srun(launch);
    EXPECT_EQ(free.read([](const StepRun& run) { return !run.out.empty(); }).out, "abc") << "a partial line, at once";
    ASSERT_EQ(system(("touch " + (work / "go").string()).c_str()), 0);
    EXPECT_EQ(held.read().out, "abcdef\n");
    EXPECT_EQ(free.read().out, "def\n");
}

TEST_F(AgentStep, APseudoTerminalIsOneWithTheWindowItWasGiven) {
    auto launch =
        step_launch(credential(1, 0, 1), {"sh", "-c", "tty -s && stty size; read line; stty size; echo got $line"});
    launch.set_pty(true);
    launch.mutable_window()->set_rows(33);
    launch.mutable_window()->set_columns(99);
    const auto run = srun(launch);
    auto output = run.read([](const StepRun& sofar) { return sofar.out.find("33 99") != std::string::npos; }).out;
    v1::StepInput resize;
    resize.mutable_window()->set_rows(44);
    resize.mutable_window()->set_columns(111);
    run.send(resize);
    run.input("hello\n", false);
    const auto rest = run.read();
    output += rest.out;
    EXPECT_NE(output.find("44 111\r\ngot hello\r\n"), std::string::npos) << output;
    EXPECT_EQ(rest.end, 0u);
}

TEST_F(AgentStep, OutputMayGoToFilesByPattern) {
    auto launch = step_launch(credential(1, 5, 2), {"sh", "-c", "echo out; echo err >&2"});
    launch.set_std_out("o.%j.%s.%t");
    launch.set_std_err("e.%J.%n");
    launch.set_std_in("/dev/null");
    const auto run = run_step(launch);
    EXPECT_EQ(run.end, 0u);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(file("o.1.5.0"), "out\n");
    EXPECT_EQ(file("o.1.5.1"), "out\n");
    EXPECT_EQ(file("e.1.5.0"), "err\nerr\n");
}

TEST_F(AgentStep, SignalsReachTheTasks) {
    const auto run = srun(step_launch(
        credential(1, 0, 2), {"sh", "-c", "trap 'echo usr; exit 7' USR1; echo up; while :; do sleep 0.02; done"}));
    auto seen = run.read([](const StepRun& sofar) { return sofar.out.size() >= 6; });
    run.send(signal_message(SIGUSR1));
    const auto rest = run.read();
    EXPECT_EQ(rest.out, "usr\nusr\n");
    EXPECT_EQ(rest.end, 7u << 8);
}

TEST_F(AgentStep, AMissingCommandSaysSoAsSlurmDoes) {
    const auto run = run_step(step_launch(credential(1, 0, 1), {"no-such-command"}));
    EXPECT_EQ(run.err, "slurmstepd: error: execve(): no-such-command: No such file or directory\n");
    EXPECT_EQ(run.end, 2u << 8);
}

TEST_F(AgentStep, EndingTheJobTellsItsSteps) {
    const auto run = srun(step_launch(credential(1, 0, 1), {"sh", "-c", "echo up; sleep 1000"}));
    run.read([](const StepRun& sofar) { return !sofar.out.empty(); });
    end(1);
    const auto rest = run.read();
    EXPECT_NE(rest.err.find("slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT 20"), std::string::npos) << rest.err;
    EXPECT_EQ(rest.end, static_cast<unsigned>(SIGTERM));
    EXPECT_TRUE(controller.wait_report(1, v1::StepReport::EPILOG_DONE, step_extern));
}

TEST_F(AgentStep, AStepEndsWithItsStream) {
    {
        const auto run = srun(step_launch(credential(1, 0, 1), {"sh", "-c", "echo $$; exec sleep 1000"}));
        run.read([](const StepRun& sofar) { return !sofar.out.empty(); });
        run.stream->cancel();
        run.channel->disconnect();
    }
    const auto report = controller.wait_report(1, v1::StepReport::FINISHED, 0);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), static_cast<unsigned>(SIGTERM));
}

TEST_F(AgentStep, WhatTasksLeaveBehindIsKilledAndDoesNotHoldTheStepUp) {
    const auto run = run_step(step_launch(credential(1, 0, 1), {"sh", "-c", "sleep 1000 & echo $!"}));
    EXPECT_EQ(run.end, 0u);
    EXPECT_NE(kill(std::atoi(run.out.c_str()), 0), 0);
}

TEST_F(AgentStep, ForgedAlteredExpiredAndForeignCredentialsAreRefused) {
    const auto good = credential(1, 0, 1);
    auto forged = step_launch(good, {"touch", "ran"});
    forged.set_credential(sign(good, *spur::sign::SigningKey::make()));
    EXPECT_EQ(run_step(forged).failure, "the step's credential was not signed by this cluster's controller");
    v1::SignedCredential claimed;
    ASSERT_TRUE(claimed.ParseFromString(forged.credential()));
    claimed.set_key(controller.key.public_key());
    forged.set_credential(claimed.SerializeAsString());
    EXPECT_EQ(run_step(forged).failure, "the step's credential was not signed by this cluster's controller");

    auto altered = step_launch(good, {"touch", "ran"});
    v1::SignedCredential outer;
    ASSERT_TRUE(outer.ParseFromString(altered.credential()));
    auto richer = good;
    richer.mutable_job()->set_uid(0);
    richer.mutable_step()->set_tasks(99);
    outer.set_body(richer.SerializeAsString());
    altered.set_credential(outer.SerializeAsString());
    EXPECT_EQ(run_step(altered).failure, "the step's credential was not signed by this cluster's controller");

    auto old = good;
    old.set_expires(std::time(nullptr) - 10);
    EXPECT_NE(run_step(step_launch(old, {"touch", "ran"})).failure.find("has expired"), std::string::npos);

    auto elsewhere = good;
    elsewhere.mutable_layout(0)->set_node("n2");
    EXPECT_EQ(run_step(step_launch(elsewhere, {"touch", "ran"})).failure, "the step's credential is not for node n1");

    auto junk = step_launch(good, {"touch", "ran"});
    junk.set_credential("junk");
    EXPECT_EQ(run_step(junk).failure, "the step's credential is malformed");
    EXPECT_FALSE(std::filesystem::exists(work / "ran"));
}

TEST_F(AgentStep, ACredentialStartsItsStepOnce) {
    const auto launch = step_launch(credential(1, 0, 1), {"sh", "-c", "echo x >> ran"});
    EXPECT_EQ(run_step(launch).end, 0u);
    EXPECT_NE(run_step(launch).failure.find("was started on node n1 before"), std::string::npos);
    EXPECT_EQ(file("ran"), "x\n");
}

TEST_F(AgentStep, AJobThatIsOverTakesNoMoreSteps) {
    end(1, "COMPLETED");
    ASSERT_TRUE(controller.wait_report(1, v1::StepReport::EPILOG_DONE, step_extern));
    ASSERT_TRUE(wait_until([&] { return std::filesystem::is_empty(state / "jobs"); }));
    EXPECT_EQ(run_step(step_launch(credential(1, 0, 1), {"true"})).failure, "job 1 is over on node n1");
}

TEST_F(AgentStep, AStepMayComeBeforeTheWordAboutItsJob) {
    const auto run = srun(step_launch(credential(2, 0, 1), {"echo", "early"}));
    start_job(2);
    EXPECT_EQ(run.read().out, "early\n");
}

TEST_F(AgentStep, MultiProgGivesEachTaskItsOwnCommand) {
    auto launch = step_launch(credential(1, 0, 2), {});
    launch.add_multi_prog("echo zero");
    launch.add_multi_prog("echo one 1");
    const auto run = run_step(launch);
    EXPECT_EQ(run.task_out.at(0), "zero\n");
    EXPECT_EQ(run.task_out.at(1), "one 1\n");
}

}  // namespace
}  // namespace spur::test
