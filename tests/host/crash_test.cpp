// A plugin that takes the process down is named on the way, and left out after it did so three times.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <fstream>
#include <functional>

#include "tests/host/fixture.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPUR_SANITIZED 1
#else
#define SPUR_SANITIZED 0
#endif

namespace spur::host {
namespace {

struct Ended {
    std::string text;  // what it wrote to stderr
    int status{};
    bool by(int signal) const { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }
};

// Runs `body` in a child and catches its stderr.
Ended in_child(const std::function<void()>& body) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        body();
        ::_exit(99);
    }
    ::close(ends[1]);
    Ended ended;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
        ended.text.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
    ::waitpid(child, &ended.status, 0);
    return ended;
}

void run_actor(const std::string& act, const std::string& when, const std::filesystem::path& journal = {}) {
    log::set_level(log::Level::error);
    (void)install_crash_handler({"spurtest", journal});
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config(act, when));
    if (!sched) ::_exit(98);
    const spur_cluster_view view{};
    (void)sched->call(CallHint{"job", 12}, &spur_sched_ops::plan, &view, nullptr, nullptr);
}

TEST(Crash, IsOneLineWithPluginOpAndJob) {
    const auto ended = in_child([] { run_actor("crash", "plan"); });
    EXPECT_TRUE(ended.text.starts_with("spurtest: plugin sched/actor crashed in plan (job 12): Segmentation fault\n"))
        << ended.text;
    EXPECT_TRUE(SPUR_SANITIZED || ended.by(SIGSEGV));
}

TEST(Crash, OfEveryKindIsNamed) {
    EXPECT_TRUE(
        in_child([] {
            run_actor("divide", "plan");
        }).text.starts_with("spurtest: plugin sched/actor crashed in plan (job 12): Floating point exception\n"));
    const auto aborted = in_child([] { run_actor("abort", "plan"); });
    EXPECT_TRUE(aborted.text.starts_with("spurtest: plugin sched/actor crashed in plan (job 12): Aborted\n"))
        << aborted.text;
    EXPECT_TRUE(aborted.by(SIGABRT));
}

TEST(Crash, InCreateAndDestroyIsNamedToo) {
    EXPECT_TRUE(in_child([] {
                    run_actor("crash", "create");
                }).text.starts_with("spurtest: plugin sched/actor crashed in create: "));
    EXPECT_TRUE(in_child([] {
                    run_actor("crash", "destroy");
                }).text.starts_with("spurtest: plugin sched/actor crashed in destroy: "));
}

TEST(Crash, ByStackOverflowIsReportedFromTheAlternateStack) {
    if (SPUR_SANITIZED) GTEST_SKIP() << "sanitizers watch the stack themselves";
    const auto ended = in_child([] { run_actor("overflow", "plan"); });
    EXPECT_TRUE(ended.text.starts_with("spurtest: plugin sched/actor crashed in plan (job 12): Segmentation fault\n"))
        << ended.text;
}

TEST(Crash, InAThreadOfThePluginsOwnIsTracedByItsCode) {
    const auto ended = in_child([] { run_actor("crash_thread", "plan"); });
    EXPECT_TRUE(
        ended.text.starts_with("spurtest: plugin sched/actor crashed in a thread of its own: Segmentation fault\n"))
        << ended.text;
}

TEST(Crash, ExitInsideOfAPluginIsAFailure) {
    const auto ended = in_child([] { run_actor("exit", "plan"); });
    EXPECT_EQ(ended.text, "spurtest: plugin sched/actor called exit() in plan (job 12)\n");
    EXPECT_TRUE(WIFEXITED(ended.status));
    EXPECT_EQ(WEXITSTATUS(ended.status), 70);
}

TEST(Crash, ExitInAThreadOfThePluginsOwnIsAFailureToo) {
    const auto ended = in_child([] { run_actor("exit_thread", "plan"); });
    EXPECT_EQ(ended.text, "spurtest: plugin sched/actor called exit() in a thread of its own\n");
    EXPECT_EQ(WEXITSTATUS(ended.status), 70);
}

TEST(Crash, AThreadOfTheHostThatAPluginEndsIsTheEndAndIsNamed) {
    const auto ended = in_child([] { run_actor("end_thread", "plan"); });
    EXPECT_EQ(ended.text,
              "plugin sched/actor ended the thread that called plan() (pthread_exit or pthread_cancel)\n"
              "spurtest: plugin sched/actor crashed in plan: Aborted\n");
    EXPECT_TRUE(ended.by(SIGABRT));
    EXPECT_TRUE(in_child([] { run_actor("end_thread", "create"); }).text.ends_with("crashed in create: Aborted\n"));
}

TEST(Crash, OfAPluginWhoseFileWasWrittenOverSaysSo) {
    const TempDir dir;
    const auto file = dir.copy("sched_actor.so");
    const auto ended = in_child([&] {
        log::set_level(log::Level::error);
        (void)install_crash_handler({"spurtest", {}});
        PluginHost host{test_options()};
        auto config = actor_config("crash");
        config.plugin_dirs = {dir.path()};
        const auto sched = host.open<SchedAxis>(config);
        std::ofstream{file, std::ios::app} << "more";
        const spur_cluster_view view{};
        (void)sched->call(&spur_sched_ops::plan, &view, nullptr, nullptr);
    });
    EXPECT_TRUE(
        ended.text.starts_with("spurtest: plugin sched/actor crashed in plan: Segmentation fault; its file was "
                               "written over while it was in use\n"))
        << ended.text;
}

TEST(Crash, AHandlerThatAPluginPutInPlaceOfOursIsReplaced) {
    const auto ended = in_child([] {
        log::set_level(log::Level::error);
        (void)install_crash_handler({"spurtest", {}});
        PluginHost host{test_options()};
        (void)host.open<SchedAxis>(actor_config("handler", "create"));
        ::raise(SIGSEGV);
    });
    EXPECT_NE(ended.text.find("plugin sched/actor breaks a rule: create() changed the handler of crashes of spurtest; "
                              "put back"),
              std::string::npos)
        << ended.text;
    EXPECT_NE(ended.text.find("spurtest: crashed outside of any plugin: Segmentation fault"), std::string::npos)
        << ended.text;
}

TEST(Crash, OutsideOfPluginsSaysSo) {
    const auto ended = in_child([] {
        (void)install_crash_handler({"spurtest", {}});
        ::raise(SIGSEGV);
    });
    EXPECT_TRUE(ended.text.starts_with("spurtest: crashed outside of any plugin: Segmentation fault\n")) << ended.text;
}

TEST(Crash, TheThirdWithinTenMinutesQuarantinesThePlugin) {
    const TempDir dir;
    const auto journal = dir.path() / "plugin-crashes";
    for (int i = 0; i < 3; ++i) {
        const auto crashes = load_crash_journal(journal);
        ASSERT_EQ(crashes.size(), static_cast<std::size_t>(i));
        in_child([&] { run_actor("crash", "plan", journal); });
    }
    const auto crashes = load_crash_journal(journal);
    ASSERT_EQ(crashes.size(), 3U);
    EXPECT_EQ(crashes[0].plugin, "sched/actor");
    EXPECT_EQ(crashes[0].op, "plan");
    EXPECT_EQ(crashes[0].cause, "Segmentation fault");

    log::Capture log;
    auto options = test_options();
    options.crash_journal = journal;
    PluginHost host{options};
    const auto sched = host.open<SchedAxis>(config_with({{"sched", {"sched/actor", "sched/other"}}}));
    ASSERT_TRUE(sched) << sched.error().text;
    EXPECT_EQ(sched->type(), "sched/other");
    EXPECT_TRUE(
        log.contains("plugin sched/actor is quarantined: it crashed spurtest at least 3 times within 10 minutes"));
    const auto listed = host.list();
    ASSERT_EQ(listed.size(), 2U);
    EXPECT_EQ(listed[1].type, "sched/actor");
    EXPECT_EQ(listed[1].state, "quarantined");
}

TEST(Crash, AQuarantinedPluginWithoutAnotherChoiceIsAnError) {
    const TempDir dir;
    const auto journal = dir.path() / "plugin-crashes";
    const auto now = std::to_string(std::time(nullptr));
    std::ofstream{journal} << now << "\tstate/stub\topen\tAborted\n"
                           << now << "\tstate/stub\topen\tAborted\n"
                           << now << "\tstate/stub\topen\tAborted\n";
    auto options = test_options();
    options.crash_journal = journal;
    PluginHost host{options};
    const auto state = host.open<StateAxis>(config_with({{"state", {"state/stub"}}}));
    ASSERT_FALSE(state);
    EXPECT_TRUE(state.error().text.starts_with("plugin state/stub is quarantined: ")) << state.error().text;
    EXPECT_TRUE(state.error().text.ends_with("or remove " + journal.native() + " to try it again"))
        << state.error().text;
}

TEST(Quarantine, NeedsThreeCrashesWithinTenMinutesSinceTheFileWasWritten) {
    const auto crash = [](std::int64_t time, const char* plugin = "sched/x") {
        return Crash{time, plugin, "plan", "Aborted"};
    };
    EXPECT_TRUE(is_quarantined({crash(1'000), crash(1'300), crash(1'600)}, "sched/x", 0, 1'700));
    EXPECT_FALSE(is_quarantined({crash(1'000), crash(1'300), crash(1'601)}, "sched/x", 0, 1'700));
    EXPECT_FALSE(is_quarantined({crash(1'000), crash(1'300)}, "sched/x", 0, 1'700));
    EXPECT_FALSE(is_quarantined({crash(1'000), crash(1'300), crash(1'600)}, "sched/x", 1'200, 1'700))
        << "the file is newer";
    EXPECT_FALSE(is_quarantined({crash(1'000), crash(1'300), crash(1'600)}, "sched/y", 0, 1'700));
    EXPECT_FALSE(is_quarantined({crash(1'000), crash(1'300), crash(1'600)}, "sched/x", 0, 1'600 + 86'400));
}

TEST(Quarantine, ADamagedJournalHasFewerEntries) {
    const TempDir dir;
    const auto journal = dir.path() / "plugin-crashes";
    std::ofstream{journal} << "garbage\n12\tsched/x\tplan\tAborted\nx12\tsched/x\tplan\tAborted\n\n13\tsched/x\n";
    EXPECT_EQ(load_crash_journal(journal).size(), 1U);
    EXPECT_TRUE(load_crash_journal(dir.path() / "none").empty());
}

}  // namespace
}  // namespace spur::host
