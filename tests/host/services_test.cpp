// What the host offers to plugins, and what happens to those that use it wrongly.
#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include <chrono>
#include <mutex>
#include <thread>

#include "daemons/common/host/metrics.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

using namespace std::chrono_literals;

TEST(Services, LogLinesCarryTheTypeAndStayOneLine) {
    log::Capture log;
    PluginHost host{test_options()};
    ASSERT_TRUE(host.open<SchedAxis>(actor_config("nothing")));
    EXPECT_TRUE(log.contains("debug: sched/actor: created with depth 10"));
}

TEST(Services, APluginThatFloodsTheLogIsCutShortAndTheRestCounted) {
    log::Capture log;
    std::int64_t now = 1;
    auto options = test_options();
    options.monotonic_ns = [&] { return now; };
    PluginHost host{options};
    const auto sched = host.open<SchedAxis>(actor_config("flood"));
    ASSERT_TRUE(sched);
    const spur_cluster_view view{};
    ASSERT_TRUE(sched->call(&spur_sched_ops::plan, &view, nullptr, nullptr));
    EXPECT_EQ(log.count("sched/actor: once more"), 999U);  // and a line of create()
    EXPECT_EQ(log.count("plugin sched/actor wrote 1000 lines to the log within 10 s; the rest of them is dropped"), 1U);
    now += 10'000'000'000;
    ASSERT_TRUE(sched->call(&spur_sched_ops::plan, &view, nullptr, nullptr));
    EXPECT_EQ(log.count("plugin sched/actor: 2001 lines of its log were dropped"), 1U);
    EXPECT_EQ(log.count("sched/actor: once more"), 1999U);
    host.stop();
    EXPECT_EQ(log.count("plugin sched/actor: 2000 lines of its log were dropped"), 0U);  // 2001: one is destroy()'s
    EXPECT_EQ(log.count("plugin sched/actor: 2001 lines of its log were dropped"), 2U);
}

TEST(Services, MetricsAreNamedAfterThePlugin) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config("nothing"));
    ASSERT_TRUE(sched);
    const spur_cluster_view view{};
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(sched->call(&spur_sched_ops::plan, &view, nullptr, nullptr));
    const auto metrics = host.metrics();
    ASSERT_GE(metrics.size(), 1U);
    EXPECT_EQ(metrics[0].name, "spur_sched_actor_plans_total");
    ASSERT_EQ(metrics[0].series.size(), 1U);
    EXPECT_EQ(metrics[0].series[0].value, 3);
    const auto text = openmetrics_text(metrics);
    EXPECT_TRUE(
        text.starts_with("# TYPE spur_sched_actor_plans counter\n# HELP spur_sched_actor_plans calls of plan()\n"
                         "spur_sched_actor_plans_total 3\n"))
        << text;
    EXPECT_NE(text.find("spur_plugin_calls_total{plugin=\"sched/actor\",op=\"plan\"} 3\n"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(Services, TasksRunAndAreDoneBeforeDestroy) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config("task"));
    ASSERT_TRUE(sched);
    const spur_cluster_view view{};
    ASSERT_TRUE(sched->call(&spur_sched_ops::plan, &view, nullptr, nullptr));
    EXPECT_TRUE(eventually([&] { return told_by(*sched).ends_with("tasks 10"); }));
    EXPECT_TRUE(eventually([&] { return host.list().at(0).ops.back().calls == 10; }));
    EXPECT_EQ(host.list().at(0).ops.back().op, "task");
    host.stop();  // the timer of an hour is dropped
}

TEST(Services, AThreadThatWasLeftBehindIsReportedOnce) {
    log::Capture log;
    {
        PluginHost host{test_options()};
        ASSERT_TRUE(host.open<SchedAxis>(actor_config("leave_thread", "create")));
    }
    EXPECT_TRUE(eventually(
        [&] { return log.contains("plugin sched/actor used spur.log/1 after destroy(): it left a thread behind"); }));
    EXPECT_EQ(log.count("after destroy()"), 1U);
}

TEST(Services, APolicyThatReadsTheClockIsReported) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config("clock"));
    ASSERT_TRUE(sched);
    const spur_cluster_view view{};
    ASSERT_TRUE(sched->call(&spur_sched_ops::plan, &view, nullptr, nullptr));
    EXPECT_TRUE(log.contains("plugin sched/actor read the clock"));
    EXPECT_EQ(host.list().at(0).detail, "broke rules of the ABI 1 time; see the log");
}

TEST(Services, WhatAPluginSaysIsActedOnOnceForAllOfIt) {
    PluginHost host{test_options()};
    std::mutex mutex;
    std::vector<Notice> heard;
    host.on_changed(SPUR_CHANGED_PLAN, [&](const Notice& notice) {
        const std::lock_guard lock{mutex};
        heard.push_back(notice);
    });
    const auto sched = host.open<SchedAxis>(actor_config("notify"));
    ASSERT_TRUE(sched);
    const spur_cluster_view view{};
    ASSERT_TRUE(sched->call(&spur_sched_ops::plan, &view, nullptr, nullptr));  // fails if PEERS were heard as well
    EXPECT_TRUE(eventually([&] {
        const std::lock_guard lock{mutex};
        return !heard.empty();
    }));
    host.stop();
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_EQ(heard[0].plugin, "sched/actor");
    EXPECT_EQ(heard[0].count, 3U);
    EXPECT_EQ(heard[0].reason, "the moon rose  over there");  // one line
    EXPECT_EQ(heard[0].subject, "");                          // three, so all
}

TEST(Services, AStoreOutlivesInstancesAndIsNotThereWithoutAStateDirectory) {
    const auto keeps = [](PluginHost& host) {
        const auto sched = host.open<SchedAxis>(actor_config("store", "create"));
        EXPECT_TRUE(sched) << (sched ? "" : sched.error().text);
        return sched ? told_by(*sched) : "";
    };
    log::Capture log;
    PluginHost poor{test_options()};
    keeps(poor);
    EXPECT_TRUE(log.contains("sched/actor: no store"));
    const TempDir directory;
    auto options = test_options();
    options.facts["state_dir"] = directory.path();
    for (int round = 0; round < 3; ++round) {
        PluginHost host{options};
        keeps(host);
        EXPECT_TRUE(log.contains(fmt::format("sched/actor: created {} times before", round)));
    }
}

}  // namespace
}  // namespace spur::host
