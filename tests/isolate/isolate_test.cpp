// A plugin in a process of its own: it works as it would here, and its end, its silence and its crash cost one call.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "daemons/common/auth/plugin_auth.hpp"
#include "tests/isolate/isolating.hpp"

namespace spur::host {
namespace {

using namespace std::chrono_literals;
const wire::CredentialRequest asked{"/spur.v1.Controller/Submit", {}, "cluster/spurctld/1"};

struct Isolate : ::testing::Test {
    Isolate() { set(""); }
    void set(const std::string& word) { std::ofstream{trouble()} << word; }
    std::string trouble() const { return (dir.path() / "trouble").native(); }
    Config config(std::vector<ConfigOption> more = {}) const {
        more.push_back({"isolate", true, 1});
        more.push_back({"trouble", trouble(), 2});
        return config_with({{"auth", {"auth/actor"}}}, {{"auth/actor", std::move(more)}});
    }
    void open(std::vector<ConfigOption> more = {}) {
        const auto opened = host.open<AuthAxis>(config(std::move(more)));
        ASSERT_TRUE(opened) << opened.error().text;
        plugin = *opened;
    }
    Result<wire::Verdict> verify() {
        auto credential = auth::PluginCredentials{plugin}.make(asked);
        if (!credential) return std::unexpected(credential.error());
        return auth::PluginAuthenticator{plugin}.verify(asked, *credential, {});
    }
    Isolated::Status status() const { return *host.list().front().isolated; }
    void expect_well() {
        const auto verdict = verify();
        ASSERT_TRUE(verdict) << verdict.error().text;
        EXPECT_EQ(verdict->caller.uid, ::geteuid());
    }
    // The next verify() meets `word` and says so; the one after it is well.
    void expect_one_lost(const std::string& word, const std::string& sentence) {
        open();
        expect_well();
        const auto before = status();
        set(word);
        const auto lost = verify();
        set("");
        ASSERT_FALSE(lost);
        EXPECT_NE(lost.error().text.find(sentence), std::string::npos) << lost.error().text;
        expect_well();
        EXPECT_EQ(status().restarts, 1u);
        EXPECT_NE(status().pid, before.pid);
    }
    const TempDir dir;
    const log::Capture lines;
    PluginHost host{isolating()};
    Bound<AuthAxis> plugin;
};

TEST_F(Isolate, APluginWorksAsItWouldHereAndNothingOfItIsLoaded) {
    open({{"scopes", std::string{"read jobs"}, 3}, {"groups", std::string{"physics"}, 4}});
    const auto verdict = verify();
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_EQ(verdict->caller.uid, ::geteuid());
    EXPECT_TRUE(verdict->caller.is_scoped);
    EXPECT_EQ(verdict->caller.groups, std::vector<std::string>{"physics"});
    const auto refused = auth::PluginAuthenticator{plugin}.verify(asked, "nonsense", {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "the credential is for another request");
    const auto proof = auth::PluginAuthenticator{plugin}.prove("", "credential", {});
    ASSERT_TRUE(proof) << proof.error().text;
    EXPECT_TRUE(auth::PluginCredentials{plugin}.verify_reply("", "credential", {}, *proof));
    std::ifstream maps{"/proc/self/maps"};
    const std::string mapped{std::istreambuf_iterator<char>{maps}, {}};
    EXPECT_EQ(mapped.find("auth_actor.so"), std::string::npos);
    EXPECT_EQ(host.list().front().version, "1.0");
    EXPECT_NE(host.list().front().detail.find("in a process of its own, pid "), std::string::npos);
}

TEST_F(Isolate, ACrashCostsOneCall) { expect_one_lost("crash", "its process died of signal 6"); }
TEST_F(Isolate, AnExitCostsOneCall) { expect_one_lost("exit", "its process called exit(3) during verify()"); }
TEST_F(Isolate, ANotWantedEndCostsOneCallAndTheLogSaysWhy) {
    open();
    ::kill(status().pid, SIGKILL);
    for (int i = 0; i < 500 && status().restarts == 0; ++i) std::this_thread::sleep_for(10ms);
    expect_well();
    EXPECT_EQ(status().restarts, 1u);
    EXPECT_TRUE(
        lines.contains("plugin auth/actor: its process died of signal 9 (Killed); it is started again in 10 ms"));
}

TEST_F(Isolate, AnEndIsCalledWhatItWasAlsoByACallThatMeetsItFirst) {
    open();
    for (std::uint64_t round = 1; round <= 5; ++round) {
        ::kill(status().pid, SIGKILL);
        const auto met = verify();
        if (!met) {
            EXPECT_NE(met.error().text.find("its process died of signal 9 (Killed)"), std::string::npos)
                << met.error().text;
        }
        ASSERT_TRUE(eventually([&] { return status().restarts == round && status().pid != 0; }));
        EXPECT_EQ(status().last_end, "died of signal 9 (Killed)");
    }
}

TEST_F(Isolate, AHangIsEndedWhenTheCallsTimeIsUp) {
    open();
    set("hang");
    const auto pinned = plugin.pin();
    spur_identity who{};
    who.size = sizeof(who);
    who.uid = SPUR_NONE;
    spur_auth_request request{};
    request.size = sizeof(request);
    const spur_claims claims{sizeof(claims), 0, nullptr,
                             [](const spur_claims*, spur_str, spur_str) -> spur_status { return SPUR_OK; }};
    const auto begun = std::chrono::steady_clock::now();
    const spur_stop soon{
        sizeof(soon), -1, isolate::monotonic_ns() + 300'000'000, nullptr,
        [](const spur_stop* stop) -> std::uint32_t { return isolate::monotonic_ns() >= stop->deadline_ns; }};
    const auto lost = pinned.call(&spur_auth_ops::verify, &request, spur_str{"x", 1, 0}, &who, &claims, &soon);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 3s);
    ASSERT_FALSE(lost);
    EXPECT_NE(lost.error().text.find("did not come back from verify() within"), std::string::npos) << lost.error().text;
    EXPECT_EQ(who.uid, SPUR_NONE);
    set("");
    expect_well();
    EXPECT_EQ(status().restarts, 1u);
}

TEST_F(Isolate, AProcessThatIsStoppedIsEndedToo) {
    open();
    ::kill(status().pid, SIGSTOP);
    const auto pinned = plugin.pin();
    spur_auth_reply reply{};
    reply.size = sizeof(reply);
    const spur_sink nowhere{sizeof(nowhere), 0, nullptr,
                            [](const spur_sink*, const void*, std::uint64_t) -> spur_status { return SPUR_OK; }};
    const spur_stop now{sizeof(now), -1, 0, nullptr, [](const spur_stop*) -> std::uint32_t { return 1; }};
    EXPECT_FALSE(pinned.call(&spur_auth_ops::make_answer, &reply, &nowhere, &now));
    expect_well();
    EXPECT_EQ(status().restarts, 1u);
}

TEST_F(Isolate, CallsOfSeveralThreadsCrossAtOnce) {
    open();
    std::atomic<int> good{0};
    {
        std::vector<std::jthread> crowd;
        for (int t = 0; t < 8; ++t)
            crowd.emplace_back([&] {
                for (int i = 0; i < 100; ++i) good += verify().has_value();
            });
    }
    EXPECT_EQ(good, 800);
}

TEST_F(Isolate, WhatAPluginLeaksIsNotTheDaemons) {
    open();
    set("leak");
    const auto resident = [] {
        std::size_t total = 0, pages = 0;
        std::ifstream{"/proc/self/statm"} >> total >> pages;
        return pages;
    };
    const auto before = resident();
    for (int i = 0; i < 64; ++i) ASSERT_TRUE(verify());
    EXPECT_LT(resident() - before, 8192u) << "64 MiB were leaked over there";
}

TEST_F(Isolate, APluginThatRefusesSaysItsSentenceHere) {
    const auto opened = host.open<AuthAxis>(config({{"colour", std::string{"red"}, 7}}));
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().text.find("colour"), std::string::npos) << opened.error().text;
    EXPECT_NE(opened.error().text.find("spur.conf:7"), std::string::npos) << opened.error().text;
}

TEST_F(Isolate, ItEndsWithItsDaemonAndWithItsInstance) {
    open();
    const auto pid = status().pid;
    ASSERT_GT(pid, 0);
    host.stop();
    EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(Isolate, AnotherSettingMakesAnotherProcessAndTheSameNone) {
    open();
    const auto pid = status().pid;
    ASSERT_TRUE(host.reconfigure(config()));
    EXPECT_EQ(status().pid, pid);
    ASSERT_TRUE(host.reconfigure(config({{"legs", true, 5}})));
    EXPECT_NE(status().pid, pid);
}

TEST(IsolateAxes, PlannersStateAndCgroupsStayInsideOfTheDaemon) {
    PluginHost host{isolating()};
    auto config = config_with({{"sched", {"sched/actor"}}}, {{"sched/actor", {{"isolate", true, 12}}}});
    const auto opened = host.open<SchedAxis>(config);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().text.find("isolate is not for the axis sched, whose plugins run inside of the daemon"),
              std::string::npos)
        << opened.error().text;
    config.plugin_options["sched/actor"] = {{"isolate", std::string{"yes"}, 12}};
    EXPECT_EQ(host.open<SchedAxis>(config).error().text,
              "spur.conf:12: isolate of [plugin.\"sched/actor\"] is true or false");
}

TEST(IsolateAxes, AProgramWithoutAChildSaysSo) {
    auto options = test_options();
    options.isolate = isolate::isolator("/nowhere/spur-plugin-child", hurried());
    PluginHost host{std::move(options)};
    const auto opened =
        host.open<AuthAxis>(config_with({{"auth", {"auth/actor"}}}, {{"auth/actor", {{"isolate", true, 12}}}}));
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().text.find("cannot start /nowhere/spur-plugin-child"), std::string::npos)
        << opened.error().text;
}

}  // namespace
}  // namespace spur::host
