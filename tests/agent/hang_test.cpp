// Files that hang and profiles that hang: orders and limits arrive all the same.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>

#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

class AgentHang : public Node {
protected:
    void SetUp() override {
        controller.policy.set_kill_wait_s(1);
        ASSERT_EQ(mkfifo((work / "pipe").c_str(), 0666), 0);
    }
    void begin(SpurdOptions options = {}) {
        start_spurd(std::move(options));
        ASSERT_TRUE(joined());
    }
    // A job whose output is a pipe that nobody reads.
    v1::LaunchBatch into_pipe(std::uint32_t job, const std::string& script) const {
        auto order = batch(job, script);
        order.mutable_job()->set_std_out("pipe");
        return order;
    }
    // Holds the pipe open; what is written to it stays there.
    int hold_pipe() const { return open((work / "pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC); }
    bool is_over(std::uint32_t job) {
        return controller.wait_report(job, v1::StepReport::EPILOG_DONE, step_extern).has_value();
    }
};

TEST_F(AgentHang, AnOutputThatNobodyReadsDoesNotOutliveTheTimeLimit) {
    begin();
    auto order = into_pipe(1, "echo never");
    order.mutable_job()->set_end_time(std::time(nullptr) + 1);
    const auto report = run(order);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->timed_out());
    EXPECT_EQ(report->exit_status(), static_cast<unsigned>(SIGTERM));
}

TEST_F(AgentHang, AnOutputThatNobodyReadsCanBeCancelled) {
    begin();
    launch(into_pipe(2, "echo never"));
    end(2);
    EXPECT_TRUE(is_over(2));
}

TEST_F(AgentHang, AnInputThatNobodyWritesCanBePreempted) {
    begin();
    auto order = batch(3, "cat");
    order.mutable_job()->set_std_in("pipe");
    launch(order);
    end(3, "PREEMPTED");
    EXPECT_TRUE(is_over(3));
    EXPECT_FALSE(std::filesystem::exists(work / "never"));
}

TEST_F(AgentHang, AJobStartsOnceItsOutputIsRead) {
    begin();
    launch(into_pipe(4, "touch begun; echo hello"));
    const int reader = open((work / "pipe").c_str(), O_RDONLY | O_CLOEXEC);
    char text[16]{};
    EXPECT_EQ(read(reader, text, sizeof text), 6);
    EXPECT_STREQ(text, "hello\n");
    EXPECT_TRUE(controller.wait_report(4, v1::StepReport::FINISHED));
    close(reader);
}

// The line that says why the job ends has no room in the pipe: its signals come first, and nothing waits for it.
TEST_F(AgentHang, AFullPipeDoesNotKeepAJobFromItsEnd) {
    begin();
    std::uint32_t job = 5;
    for (const auto* why : {"CANCELLED", "TIMEOUT", "PREEMPTED"}) {
        const auto pipe = work / ("pipe." + std::to_string(job));
        ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
        const int held = open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        auto order = batch(job, "head -c 65536 /dev/zero; touch full.$SLURM_JOB_ID; sleep 1000");
        order.mutable_job()->set_std_out(pipe);
        launch(order);
        const auto full = work / ("full." + std::to_string(job));
        ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(full); })) << why;
        end(job, why);
        EXPECT_TRUE(is_over(job)) << why;
        close(held);
        ++job;
    }
}

TEST_F(AgentHang, LabelledOutputIntoAFullPipeCanBeEnded) {
    begin();
    const int held = hold_pipe();
    start_job(8);
    auto order = step_launch(credential(8, 0, 1), {"sh", "-c", "yes | head -c 4000000; sleep 1000"});
    order.set_std_out("pipe");
    order.set_label(true);
    const auto run = srun(order);
    run.read([](const StepRun& sofar) { return sofar.started; });
    end(8);
    EXPECT_EQ(run.read().end, static_cast<unsigned>(SIGTERM));
    EXPECT_TRUE(is_over(8));
    close(held);
}

// ---- a login shell that does not come back -------------------------------------------------------------------------

class AgentLogin : public AgentHang {
protected:
    // A home whose profile is this.
    void begin_with(const std::string& profile) {
        std::filesystem::create_directories(root / "home");
        std::ofstream{root / "home" / ".profile"} << profile << "\n";
        begin({.environment = {"LD_PRELOAD=" HOME_ELSEWHERE, "SPUR_TEST_HOME=" + (root / "home").string()}});
    }
    v1::LaunchBatch with_login(std::uint32_t job, const std::string& script) const {
        auto order = batch(job, script);
        order.add_environment("SLURM_GET_USER_ENV=1");
        return order;
    }
};

TEST_F(AgentLogin, TheProfilesVariablesReachTheJob) {
    begin_with("export FROM_PROFILE=yes; echo noise");
    ASSERT_TRUE(run(with_login(10, "echo $FROM_PROFILE")));
    EXPECT_EQ(file("out.10"), "yes\n");
}

TEST_F(AgentLogin, AProfileThatPrintsForEverIsCutOff) {
    begin_with("yes");
    ASSERT_TRUE(run(with_login(11, "echo ran")));
    EXPECT_EQ(file("out.11"), "ran\n");
    EXPECT_NE(file("../spurd.log").find("printed more than 4 MiB"), std::string::npos);
}

TEST_F(AgentLogin, AProfileThatHangsCanBeCancelled) {
    begin_with("echo $$ > " + (work / "shell").string() + "; while :; do sleep 1000; done");
    launch(with_login(12, "echo never"));
    ASSERT_TRUE(wait_until([&] { return !file("shell").empty(); }));
    end(12);
    EXPECT_TRUE(is_over(12));
    EXPECT_NE(kill(std::atoi(file("shell").c_str()), 0), 0);
}

}  // namespace
}  // namespace spur::test
