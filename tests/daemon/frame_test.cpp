// A daemon in the frame: what it prints, with which status it ends, when its starter returns, what signals do.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/version.hpp"
#include "daemons/common/daemon/daemon.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::daemon {
namespace {

namespace fs = std::filesystem;

struct Ended {
    int status;
    std::string out, err;
};

class FrameTest : public testing::Test {
protected:
    FrameTest() {
        std::string name = testing::TempDir() + "spurXXXXXX";
        dir_ = ::mkdtemp(name.data());
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // daemons in the background can be waited for
        std::ofstream{dir_ / "spur.conf"} << "cluster_name = \"test\"\n";
        program_ = {.name = "spurtest",
                    .summary = "a daemon for tests",
                    .options = {{"depth", 0, "COUNT", "how deep"}},
                    .check = [](const DaemonOptions& options, const Config& config) -> Result<void> {
                        fmt::print("{} {}\n", config.cluster.cluster_name.view(), options.get("depth", "0"));
                        return {};
                    },
                    .serve = [](Frame& frame) { return frame.run_until_stopped({}); }};
    }
    ~FrameTest() override { fs::remove_all(dir_); }

    static std::string contents(const fs::path& file) {
        std::ifstream in{file};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    pid_t start(std::vector<std::string> words) {
        words.insert(words.begin(), "spurtest");
        std::vector<const char*> argv;
        for (const auto& word : words) argv.push_back(word.c_str());
        const pid_t child = ::fork();
        if (child != 0) return child;
        std::freopen((dir_ / "out").c_str(), "w", stdout);
        std::freopen((dir_ / "err").c_str(), "w", stderr);
        const int status = run(program_, static_cast<int>(argv.size()), argv.data());
        std::fflush(nullptr);
        ::_exit(status);
    }
    Ended end_of(pid_t child) {
        int status = 0;
        ::waitpid(child, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), contents(dir_ / "out"),
                contents(dir_ / "err")};
    }
    Ended run_it(std::vector<std::string> words) { return end_of(start(std::move(words))); }
    std::string config() const { return (dir_ / "spur.conf").native(); }

    fs::path dir_;
    Program program_;
};

TEST_F(FrameTest, SaysWhatItIsAndWhichRelease) {
    EXPECT_EQ(run_it({"-V"}).out, std::string{"spurtest "} + program_version + "\n");
    const auto help = run_it({"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(help.out.starts_with("spurtest - a daemon for tests\n")) << help.out;
    EXPECT_NE(help.out.find("--depth=COUNT"), std::string::npos) << help.out;
}

TEST_F(FrameTest, AMistakeOnTheCommandLineIsAUsageError) {
    const auto ended = run_it({"--deepth=1"});
    EXPECT_EQ(ended.status, EX_USAGE);
    EXPECT_EQ(ended.err, "spurtest: error: there is no option --deepth; did you mean \"depth\"?; try spurtest -h\n");
}

TEST_F(FrameTest, AConfigurationThatCannotBeReadIsAnError) {
    const auto ended = run_it({"-t", "-f", (dir_ / "none.conf").native()});
    EXPECT_EQ(ended.status, EX_SOFTWARE);
    EXPECT_NE(ended.err.find("none.conf"), std::string::npos) << ended.err;
}

TEST_F(FrameTest, WithoutNeedOfAConfigurationItRunsOnDefaults) {
    ::setenv("SPUR_CONF", (dir_ / "none.conf").c_str(), 1);
    EXPECT_EQ(run_it({"-t"}).status, EX_SOFTWARE);
    program_.needs_config = false;
    EXPECT_EQ(run_it({"-t"}).status, 0);
    EXPECT_EQ(run_it({"-t", "-f", (dir_ / "none.conf").native()}).status, EX_SOFTWARE)
        << "one that is named must exist";
    ::unsetenv("SPUR_CONF");
}

TEST_F(FrameTest, ATrialChecksAndDoesNotServe) {
    program_.serve = [](Frame&) -> Result<void> { return fail(ErrorCode::internal, "served"); };
    const auto ended = run_it({"-t", "--depth", "7", "-f", config()});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out, "test 7\n");
}

TEST_F(FrameTest, InTheBackgroundItsStarterReturnsOnceItServes) {
    const auto pid_file = dir_ / "pid", log = dir_ / "log";
    const auto started = run_it({"-f", config(), "--pid-file", pid_file, "-L", log});
    EXPECT_EQ(started.status, 0) << started.err;
    pid_t daemon = 0;
    std::ifstream{pid_file} >> daemon;
    ASSERT_GT(daemon, 1);
    EXPECT_EQ(::kill(daemon, SIGTERM), 0);
    EXPECT_EQ(end_of(daemon).status, 0);
    EXPECT_FALSE(fs::exists(pid_file));
    EXPECT_NE(contents(log).find("stopping"), std::string::npos);
}

TEST_F(FrameTest, ADaemonThatCannotStartTellsItsStarterWhy) {
    program_.serve = [](Frame&) -> Result<void> { return fail(ErrorCode::unavailable, "the port is taken"); };
    const auto log = dir_ / "log";
    const auto ended = run_it({"-f", config(), "-L", log});
    EXPECT_EQ(ended.status, EX_SOFTWARE);
    EXPECT_EQ(ended.err, "spurtest: error: the port is taken\n");
    EXPECT_NE(contents(log).find("the port is taken"), std::string::npos);
}

TEST_F(FrameTest, TwoDaemonsDoNotShareAStateDirectory) {
    const auto state = (dir_ / "state").native();
    program_.serve = [&](Frame& frame) -> Result<void> {
        SPUR_CHECK(frame.take_state_dir(state));
        return frame.run_until_stopped({});
    };
    const auto pid_file = dir_ / "pid";
    ASSERT_EQ(run_it({"-f", config(), "--pid-file", pid_file, "-L", dir_ / "log"}).status, 0);
    pid_t first = 0;
    std::ifstream{pid_file} >> first;
    const auto second = run_it({"-f", config(), "-D"});
    EXPECT_EQ(second.status, EX_SOFTWARE);
    EXPECT_EQ(second.err, fmt::format("spurtest: error: state directory {} is in use by process {}; stop it first, or "
                                      "name another with --state-dir\n",
                                      state, first));
    ::kill(first, SIGTERM);
    EXPECT_EQ(end_of(first).status, 0);
}

TEST_F(FrameTest, SignalsReloadReopenTheLogAndStop) {
    const auto log = dir_ / "log";
    program_.serve = [&](Frame& frame) {
        int reloads = 0;
        fs::rename(log, dir_ / "log.1");
        ::kill(::getpid(), SIGUSR2);
        ::kill(::getpid(), SIGHUP);
        return frame.run_until_stopped([&] {
            log::info("reload {}", ++reloads);
            Frame::request_stop();
        });
    };
    EXPECT_EQ(run_it({"-D", "-f", config(), "-L", log}).status, 0);
    const auto text = contents(log);
    EXPECT_NE(text.find("reload 1\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("reload 2"), std::string::npos) << "only SIGHUP reloads";
}

TEST_F(FrameTest, ANewerReleaseInTheFeedIsALineInTheLog) {
    std::ofstream{dir_ / "feed"} << "stable 999.1\n";
    std::ofstream{dir_ / "spur.conf"} << "cluster_name = \"test\"\n[update]\ncheck_on_startup = true\nfeed = \""
                                      << (dir_ / "feed").native() << "\"\n";
    program_.serve = [](Frame&) -> Result<void> { return {}; };
    const auto ended = run_it({"-D", "-f", config()});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_NE(ended.err.find("release 999.1 is out on the stable channel; this is "), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace spur::daemon
