// What a user's processes get from the daemons, and what they cannot make the daemons believe.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

namespace fs = std::filesystem;

class AgentTrust : public Node {
protected:
    void begin(SpurdOptions options = {}) {
        start_spurd(std::move(options));
        ASSERT_TRUE(joined());
    }
    // A program in place of spurstepd.
    std::string write_stepd(const std::string& text) const {
        const auto path = root / "stepd";
        std::ofstream{path} << text;
        fs::permissions(path, fs::perms{0755});
        return path;
    }
    void expect_only_stdio(std::uint32_t job) {
        start_job(job);
        const auto run = run_step(step_launch(credential(job, 0, 1), {"ls", "/proc/self/fd"}));
        EXPECT_EQ(run.out, "0\n1\n2\n3\n") << "3 is the directory that ls reads";
    }
};

TEST_F(AgentTrust, ATaskGetsNothingButItsThreeStreams) {
    begin();
    expect_only_stdio(1);
}

TEST_F(AgentTrust, NorDoesOneWhoseStepDaemonWasNotForked) {
    const auto stepd =
        write_stepd("#!/bin/sh\n[ \"$1\" = --zygote ] && exit 0\nexec " + std::string{SPURSTEPD} + " \"$@\"\n");
    begin({.extra = {"--stepd", stepd}});
    expect_only_stdio(2);
}

// It says hello, that it started, and that job 999 is over.
TEST_F(AgentTrust, AStepDaemonCannotSpeakForAnotherJob) {
    const auto stepd = write_stepd(R"(#!/usr/bin/env python3
import socket, sys, time
if sys.argv[1] == "--zygote":
    sys.exit(0)
link = socket.socket(fileno=3)
link.setblocking(True)
link.recv(1 << 20)
frame = lambda kind, body=b"": link.sendall((len(body) + 1).to_bytes(4, "little") + bytes([kind]) + body)
frame(32, b"\x02\xe7\x07")
frame(33)
frame(37, b"spur-step-result/1\n" + b"\x02\xe7\x07" + b"\x04\x01" + b"\x06\xfb\xff\xff\xff\x0f" + b"\n")
time.sleep(0.2)
)");
    begin({.extra = {"--stepd", stepd}});
    const auto report = run(batch(3, "true"));
    ASSERT_TRUE(report) << "the end of its own job, as the daemon that died";
    EXPECT_TRUE(report->lost());
    for (const auto& each : controller.reports()) EXPECT_NE(each.job_id(), 999u);
    EXPECT_NE(file("../spurd.log").find("the daemon of step 3.batch reports the end of something else"),
              std::string::npos);
}

TEST_F(AgentTrust, NobodysHardLimitIsRaised) {
    begin({.open_files = 700});
    auto order = batch(4, "ulimit -Hn; ulimit -Sn; ulimit -Hc");
    auto& files = *order.mutable_job()->add_rlimits();
    files.set_name("NOFILE");
    files.set_soft(900);
    files.set_hard(1'000'000);
    auto& core = *order.mutable_job()->add_rlimits();
    core.set_name("CORE");
    core.set_soft(0);
    core.set_hard(0);
    ASSERT_TRUE(run(order));
    EXPECT_EQ(file("out.4"), "700\n700\n0\n");
}

// A real Slurm on the same machine may have a job of that number on a node of that name.
TEST_F(AgentTrust, AStrangersProcessesAreLeftAlone) {
    begin();
    launch(batch(5, "echo $$ > pid; echo $PPID > daemon; echo up; exec sleep 1000"));
    ASSERT_TRUE(wait_file("out.5", "up"));
    const auto task = std::atoi(file("pid").c_str());
    char name[] = "sleep", seconds[] = "1000", job[] = "SLURM_JOB_ID=5", node[] = "SLURMD_NODENAME=n1";
    char* const argv[] = {name, seconds, nullptr};
    char* const environment[] = {job, node, nullptr};
    pid_t stranger{};
    ASSERT_EQ(posix_spawn(&stranger, "/bin/sleep", nullptr, nullptr, argv, environment), 0);
    ASSERT_EQ(kill(std::atoi(file("daemon").c_str()), SIGKILL), 0);
    const auto report = controller.wait_report(5, v1::StepReport::FINISHED);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->lost());
    EXPECT_EQ(report->exit_status(), 1u) << "0:1, as Slurm says";
    EXPECT_TRUE(wait_until([&] { return kill(task, 0) != 0; })) << "and all that is below it";
    EXPECT_EQ(waitpid(stranger, nullptr, WNOHANG), 0) << "it lives";
    kill(stranger, SIGKILL);
    waitpid(stranger, nullptr, 0);
}

}  // namespace
}  // namespace spur::test
