// cgroup/v2 under a real spurd, where this machine lets us; and what is left of it where it does not.
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

namespace fs = std::filesystem;

std::string find_mount() {
    std::ifstream mounts{"/proc/self/mounts"};
    std::string device, place, type, rest;
    while (mounts >> device >> place >> type && std::getline(mounts, rest))
        if (type == "cgroup2") return place;
    return {};
}

class AgentCgroup : public Node {
protected:
    void SetUp() override {
        parent = "spur-test-" + root.filename().string();
        const auto mount = find_mount();
        if (geteuid() != 0 || mount.empty() || access((mount + "/cgroup.procs").c_str(), W_OK) != 0)
            GTEST_SKIP() << "needs root and a writable cgroup v2";
        group = fs::path{mount} / parent / "n1";
        start_spurd(
            {.config = "[plugins]\ncgroup = \"cgroup/v2\"\ngpu = [\"gpu/none\"]\n[plugin.\"cgroup/v2\"]\nparent = \"" +
                       parent + "\"\n"});
        ASSERT_TRUE(joined());
    }
    void TearDown() override {
        Node::TearDown();
        if (group.empty()) return;
        wait_until([&] { return ::rmdir(group.c_str()) == 0; }, 5s);
        ::rmdir(group.parent_path().c_str());
    }
    std::string parent;
    fs::path group;
};

TEST_F(AgentCgroup, AStepsProcessesLiveInItsGroupAndNothingIsLeftOfIt) {
    const auto report = run(batch(1, "grep '^0::' /proc/self/cgroup; (grep '^0::' /proc/self/cgroup)"));
    ASSERT_TRUE(report);
    const auto line = "0::/" + parent + "/n1/job_1.1/step_batch\n";
    EXPECT_EQ(file("out.1"), line + line);
    EXPECT_FALSE(fs::exists(group / "job_1.1"));
}

TEST_F(AgentCgroup, CpuTimeIsCountedByTheGroup) {
    const auto report = run(batch(2, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
    ASSERT_TRUE(report);
    EXPECT_GT(report->usage().user_us() + report->usage().system_us(), 1000u);
}

TEST_F(AgentCgroup, KillingReachesProcessesThatHideFromTheirParent) {
    launch(batch(3,
                 "setsid sh -c 'trap \"\" TERM; setsid sh -c \"trap \\\"\\\" TERM; echo \\$\\$ > hidden; while :; do "
                 "sleep 1; done\" & exit' & "
                 "while ! test -s hidden; do sleep 0.01; done; echo up; sleep 1000"));
    ASSERT_TRUE(wait_file("out.3", "up"));
    end(3);
    ASSERT_TRUE(controller.wait_report(3, v1::StepReport::EPILOG_DONE, step_extern));
    EXPECT_NE(kill(std::atoi(file("hidden").c_str()), 0), 0);
    EXPECT_FALSE(fs::exists(group / "job_3.1"));
}

TEST_F(AgentCgroup, SuspendFreezesTheGroup) {
    launch(batch(4, "echo up; while ! test -e go; do sleep 0.02; done; echo done"));
    ASSERT_TRUE(wait_file("out.4", "up"));
    v1::ControllerMessage message;
    message.mutable_suspend()->set_job_id(4);
    message.mutable_suspend()->set_attempt(1);
    controller.send(message);
    const auto frozen = [&] {
        std::ifstream events{group / "job_4.1/step_batch/cgroup.events"};
        const std::string text{std::istreambuf_iterator<char>{events}, {}};
        return text.find("frozen 1") != std::string::npos;
    };
    EXPECT_TRUE(wait_until(frozen));
    std::ofstream{work / "go"} << "x";
    message.mutable_suspend()->set_resume(true);
    controller.send(message);
    ASSERT_TRUE(controller.wait_report(4, v1::StepReport::FINISHED));
    EXPECT_EQ(file("out.4"), "up\ndone\n");
}

TEST_F(AgentCgroup, ASuspendedJobCanBeEnded) {
    launch(batch(5, "echo up; sleep 1000"));
    ASSERT_TRUE(wait_file("out.5", "up"));
    v1::ControllerMessage message;
    message.mutable_suspend()->set_job_id(5);
    message.mutable_suspend()->set_attempt(1);
    controller.send(message);
    end(5);
    EXPECT_TRUE(controller.wait_report(5, v1::StepReport::EPILOG_DONE, step_extern));
}

TEST_F(AgentCgroup, WhatADeadStepDaemonLeftIsKilledByItsGroup) {
    launch(batch(6,
                 "echo $PPID > daemon; env -i sh -c 'echo $$ > pid; exec sleep 1000' & while ! test -s pid; do sleep "
                 "0.01; done; echo up; wait"));
    ASSERT_TRUE(wait_file("out.6", "up"));
    ASSERT_EQ(kill(std::atoi(file("daemon").c_str()), SIGKILL), 0);
    ASSERT_TRUE(controller.wait_report(6, v1::StepReport::FINISHED));
    EXPECT_TRUE(wait_until([&] { return kill(std::atoi(file("pid").c_str()), 0) != 0; }))
        << "it carried no variables to be found by";
}

TEST_F(AgentCgroup, AStepThatRunsOutOfMemorySaysSoAsSlurmDoes) {
    std::ifstream controllers{group.parent_path().parent_path() / "cgroup.controllers"};
    const std::string available{std::istreambuf_iterator<char>{controllers}, {}};
    if (available.find("memory") == std::string::npos) GTEST_SKIP() << "the memory controller is not in cgroup v2 here";
    auto order = batch(7, "head -c 200M /dev/zero | tail; echo the script goes on");
    order.mutable_job()->mutable_share()->set_memory_mib(32);
    const auto report = run(order);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->oom());
    EXPECT_EQ(report->exit_status(), 125u) << "0:125, whatever the script made of it";
    EXPECT_NE(file("out.7").find("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.batch. Some of your "
                                 "processes may have been killed by the cgroup out-of-memory handler.\n"),
              std::string::npos)
        << file("out.7");
}

// Whoever ignores SIGCHLD hears nothing of what his children used: then only the group knows.
TEST_F(AgentCgroup, WhatAStepReadsAndWritesOnADiskIsInItsUsage) {
    const char* const disk = std::getenv("SPUR_TEST_DISK");  // a directory on a block device; tests/vm makes one
    if (disk == nullptr) GTEST_SKIP() << "SPUR_TEST_DISK names no directory on a disk that counts by control group";
    const auto report = run(batch(8, "cd " + std::string{disk} + R"(
python3 - <<'end'
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def alone(*words):
    if os.fork() == 0:
        os.execvp(words[0], words)
    try:
        os.wait()
    except ChildProcessError:
        pass
alone("dd", "if=/dev/zero", "of=file", "bs=64k", "count=32", "oflag=direct")
alone("dd", "if=file", "of=/dev/null", "bs=64k", "count=16", "iflag=direct")
end
stat -c %s file)"));
    ASSERT_TRUE(report);
    EXPECT_NE(file("out.8").find("2097152\n"), std::string::npos) << file("out.8");
    constexpr std::uint64_t mib = 1U << 20;
    EXPECT_GE(report->usage().write_bytes(), 2 * mib);
    EXPECT_LT(report->usage().write_bytes(), 3 * mib);
    EXPECT_GE(report->usage().read_bytes(), mib);
}

class AgentWithoutCgroup : public Node {};

TEST_F(AgentWithoutCgroup, AnOrdinaryUserGetsJobsRunAndOneWarning) {
    SpurdOptions options{.config = "[plugins]\ncgroup = \"cgroup/v2\"\ngpu = [\"gpu/none\"]\n"};
    if (geteuid() == 0) options.uid = 65534;
    start_spurd(options);
    ASSERT_TRUE(joined());
    ASSERT_TRUE(run(batch(1, "echo one")));
    ASSERT_TRUE(run(batch(2, "echo two")));
    EXPECT_EQ(file("out.2"), "two\n");
}

}  // namespace
}  // namespace spur::test
