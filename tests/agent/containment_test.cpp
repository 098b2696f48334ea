// Containment that fails, and memory that was lost: no step runs without what its node promises, and none runs twice.
#include <signal.h>
#include <unistd.h>

#include "core/model/node.hpp"
#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

namespace fs = std::filesystem;

class AgentContainment : public Node {
protected:
    std::string config(const std::string& plugin, const std::string& dir, const std::string& refuses = "",
                       const std::string& option = "refuses") const {
        auto text = "[plugins]\ndirs = [\"" + dir + "\", \"" SPUR_BUILD_DIR "/lib/spur\"]\ncgroup = \"" + plugin +
                    "\"\ngpu = [\"gpu/none\"]\n";
        if (!refuses.empty()) text += "[plugin.\"cgroup/refusing\"]\n" + option + " = \"" + refuses + "\"\n";
        return text;
    }
    void start_refusing(const std::string& what) {
        start_spurd({.config = config("cgroup/refusing", SPUR_TEST_PLUGINS, what)});
        ASSERT_TRUE(joined());
    }
};

TEST_F(AgentContainment, ATaskThatCannotEnterItsGroupDoesNotRunAndTheNodeIsDrained) {
    start_refusing("attach");
    launch(batch(1, "echo ran > ran"));
    const auto report = controller.wait_report(1, v1::StepReport::LAUNCH_FAILED);
    ASSERT_TRUE(report);
    EXPECT_NE(report->error().find("cannot enter the step's control group: attach is refused"), std::string::npos)
        << report->error();
    EXPECT_NE(report->drain().find("Step cannot be contained"), std::string::npos) << report->drain();
    EXPECT_FALSE(fs::exists(work / "ran"));
}

TEST_F(AgentContainment, AStepWithoutAGroupIsRefusedAndTheNodeIsDrained) {
    start_refusing("make");
    launch(batch(2, "echo ran > ran"));
    const auto report = controller.wait_report(2, v1::StepReport::LAUNCH_FAILED);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->drain(), "Step cannot be contained: plugin cgroup/refusing: make is refused");
    EXPECT_FALSE(fs::exists(work / "ran"));
}

TEST_F(AgentContainment, AGroupThatNothingEmptiesDrainsTheNode) {
    start_refusing("remove");
    const auto report = run(batch(3, "exit 4"));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 4U << 8);
    EXPECT_EQ(report->drain(), "Kill task failed");
}

// What the plugin does to the step daemon, and what the controller hears.
TEST_F(AgentContainment, APluginThatMisbehavesInTheStepDaemonRunsNothingAndDrainsTheNode) {
    const std::pair<const char*, const char*> attacks[] = {
        {"crash-create", "plugin cgroup/refusing crashed in create()"},
        {"no-table", "its query() answers NULL"},
        {"thread-create", "it has started 1 threads"},
        {"crash-make", "plugin cgroup/refusing crashed in make()"},
        {"thread-make", "started a thread in make()"},
        {"crash-attach", "a task ended in attach() of the cgroup plugin (Segmentation fault)"},
        {"exit-attach", "a task ended in attach() of the cgroup plugin (it exited)"},
    };
    std::uint32_t job = 20;
    std::size_t registrations = 0;
    for (const auto& [attack, sentence] : attacks) {
        start_spurd({.config = config("cgroup/refusing", SPUR_TEST_PLUGINS, attack, "attack")});
        ASSERT_TRUE(joined(++registrations)) << attack;
        launch(batch(++job, "echo ran > ran"));
        const auto report = controller.wait_report(job, v1::StepReport::LAUNCH_FAILED);
        ASSERT_TRUE(report) << attack;
        EXPECT_NE(report->drain().find(sentence), std::string::npos) << attack << ": " << report->drain();
        EXPECT_TRUE(report->drain().starts_with("Step cannot be contained: ")) << report->drain();
        EXPECT_FALSE(fs::exists(work / "ran")) << attack;
        kill_spurd(SIGTERM);
    }
}

TEST_F(AgentContainment, APluginThatCrashesWhenTheStepIsOverDrainsTheNode) {
    start_spurd({.config = config("cgroup/refusing", SPUR_TEST_PLUGINS, "crash-remove", "attack")});
    ASSERT_TRUE(joined());
    const auto report = run(batch(40, "exit 3"));
    ASSERT_TRUE(report);
    EXPECT_EQ(report->exit_status(), 3U << 8);
    EXPECT_NE(report->drain().find("crashed in remove()"), std::string::npos) << report->drain();
}

// Whoever looks at the processes of a machine sees their words.
TEST_F(AgentContainment, OptionsOfThePluginAreNotOnAnyCommandLine) {
    start_spurd({.config = config("cgroup/refusing", SPUR_TEST_PLUGINS, "a secret", "attack")});
    ASSERT_TRUE(joined());
    launch(batch(41, "cat /proc/$PPID/cmdline; echo up; sleep 1000"));
    ASSERT_TRUE(wait_file("out.41", "up"));
    const auto id = std::to_string(spurd_pid);
    const auto zygote = file("/proc/" + id + "/task/" + id + "/children");
    EXPECT_EQ(file("/proc/" + std::to_string(std::atoi(zygote.c_str())) + "/cmdline").find("secret"), std::string::npos);
    EXPECT_EQ(file("out.41").find("secret"), std::string::npos) << file("out.41");
}

TEST_F(AgentContainment, ANodeWhosePluginIsNotThereSaysSoAndRunsNothing) {
    start_spurd({.config = config("cgroup/absent", SPUR_TEST_PLUGINS)});
    const auto hello = joined();
    ASSERT_TRUE(hello);
    EXPECT_NE(hello->unfit().find("Jobs cannot be contained"), std::string::npos) << hello->unfit();
    EXPECT_NE(hello->unfit().find("cgroup/absent"), std::string::npos) << hello->unfit();
    launch(batch(4, "echo ran > ran"));
    ASSERT_TRUE(controller.wait_report(4, v1::StepReport::LAUNCH_FAILED));
    EXPECT_FALSE(fs::exists(work / "ran"));
}

TEST_F(AgentContainment, APluginThatDisappearsUnderTheStepDaemonsStopsThem) {
    const auto dir = root / "plugins";
    fs::create_directory(dir);
    fs::copy(SPUR_TEST_PLUGINS "/cgroup_refusing.so", dir);
    fs::permissions(dir, fs::perms{0755});
    start_spurd({.config = config("cgroup/refusing", dir)});
    ASSERT_TRUE(joined());
    ASSERT_TRUE(run(batch(5, "true")));
    fs::remove(dir / "cgroup_refusing.so");
    const auto id = std::to_string(spurd_pid);
    const auto zygote = std::atoi(file("/proc/" + id + "/task/" + id + "/children").c_str());
    ASSERT_EQ(kill(zygote, SIGKILL), 0);
    launch(batch(6, "echo ran > ran"));
    const auto report = controller.wait_report(6, v1::StepReport::LAUNCH_FAILED);
    ASSERT_TRUE(report);
    EXPECT_NE(report->drain().find("cgroup_refusing.so"), std::string::npos) << report->drain();
    EXPECT_FALSE(fs::exists(work / "ran"));
}

TEST_F(AgentContainment, TheNodeSaysWhatItDoesNotEnforce) {
    start_spurd();
    const auto hello = joined();
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->node().enforced(), node_limit::known | node_limit::devices) << "it has no devices to refuse";
    EXPECT_EQ(display_unenforced(hello->node().enforced()), "memory,cores,processes,containment");
}

// ---- memory that was lost ------------------------------------------------------------------------------------------

class AgentMemory : public Node {};

TEST_F(AgentMemory, AJobOfALostSpoolIsDeadBeforeTheNodeRegisters) {
    start_spurd();
    const auto before = joined();
    ASSERT_TRUE(before);
    launch(batch(1,
                 "echo $PPID > daemon; setsid sh -c 'echo $$ > hidden; exec sleep 1000' & "
                 "while ! test -s hidden; do sleep 0.01; done; echo up; sleep 1000"));
    ASSERT_TRUE(wait_file("out.1", "up"));
    kill_spurd();
    fs::remove_all(state);
    fs::create_directory(state);
    start_spurd(options_);
    const auto after = joined(2);
    ASSERT_TRUE(after);
    for (const auto* name : {"daemon", "hidden"})
        EXPECT_NE(kill(std::atoi(file(name).c_str()), 0), 0) << name << " lives on";
    EXPECT_EQ(after->held_size(), 0);
    EXPECT_FALSE(after->spool_id().empty());
    EXPECT_NE(after->spool_id(), before->spool_id()) << "the controller must know that jobs may have been forgotten";
}

TEST_F(AgentMemory, ASingleJobThatIsForgottenIsToldToo) {
    start_spurd();
    const auto before = joined();
    ASSERT_TRUE(before);
    launch(batch(2, "echo $PPID > daemon; echo up; sleep 1000"));
    ASSERT_TRUE(wait_file("out.2", "up"));
    kill_spurd();
    fs::remove_all(state / "jobs/job00002.1");
    start_spurd(options_);
    const auto after = joined(2);
    ASSERT_TRUE(after);
    EXPECT_NE(kill(std::atoi(file("daemon").c_str()), 0), 0);
    EXPECT_NE(after->spool_id(), before->spool_id());
}

TEST_F(AgentMemory, WhatIsRememberedKeepsItsNameAndItsJobs) {
    start_spurd();
    const auto before = joined();
    ASSERT_TRUE(before);
    launch(batch(3, "echo up; sleep 1000"));
    ASSERT_TRUE(wait_file("out.3", "up"));
    restart_spurd();
    const auto after = joined(2);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->spool_id(), before->spool_id());
    EXPECT_EQ(after->held_size(), 2) << "the job and its batch step";
}

}  // namespace
}  // namespace spur::test
