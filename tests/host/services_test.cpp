// What the host offers to plugins, and what happens to those that use it wrongly.
#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "daemons/common/host/executor.hpp"
#include "daemons/common/host/metrics.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

using namespace std::chrono_literals;

template <class Done>
bool eventually(const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

TEST(Services, LogLinesCarryTheTypeAndStayOneLine) {
    log::Capture log;
    PluginHost host{test_options()};
    ASSERT_TRUE(host.open<SchedAxis>(actor_config("nothing")));
    EXPECT_TRUE(log.contains("debug: sched/actor: created with depth 10"));
}

TEST(Services, MetricsAreNamedAfterThePlugin) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config("nothing"));
    ASSERT_TRUE(sched);
    const spur_cluster_view view{};
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(sched->call(&spur_sched_ops::plan, &view, nullptr, nullptr));
    const auto metrics = host.metrics();
    ASSERT_EQ(metrics.size(), 1U);
    EXPECT_EQ(metrics[0].name, "sched_actor_plans_total");
    EXPECT_EQ(metrics[0].value, 3);
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

TEST(Executor, RefusesMoreThanAThousandWaitingTasksOfOneInstance) {
    Executor executor{1};
    const auto client = executor.add_client("test");
    std::uint64_t timer = 0;
    for (std::size_t i = 0; i < Executor::most_waiting; ++i)
        ASSERT_EQ(executor.post_after(
                      client, 3'600'000'000'000, [](void*) {}, nullptr, &timer),
                  SPUR_OK);
    EXPECT_EQ(executor.post(
                  client, [](void*) {}, nullptr),
              SPUR_E_BUSY);
    EXPECT_EQ(executor.post(
                  executor.add_client("other"), [](void*) {}, nullptr),
              SPUR_OK);
    EXPECT_TRUE(executor.cancel(client, timer));
    EXPECT_FALSE(executor.cancel(client, timer));
    EXPECT_EQ(executor.post(
                  client, [](void*) {}, nullptr),
              SPUR_OK);
    EXPECT_TRUE(executor.drain(client, 5s));
    EXPECT_EQ(executor.post(
                  client, [](void*) {}, nullptr),
              SPUR_E_STOPPED);
}

TEST(Executor, TimersRunInTheOrderOfTheirTimes) {
    Executor executor{1};
    const auto client = executor.add_client("test");
    static std::atomic<int> order;
    order = 0;
    executor.post_after(
        client, 20'000'000, [](void*) { order = order * 10 + 2; }, nullptr, nullptr);
    executor.post_after(
        client, 1'000'000, [](void*) { order = order * 10 + 1; }, nullptr, nullptr);
    EXPECT_TRUE(eventually([] { return order == 12; }));
}

TEST(Executor, AnExceptionEndsTheTaskAndNothingElse) {
    log::Capture log;
    Executor executor{1};
    const auto client = executor.add_client("sched/thrower");
    static std::atomic<bool> ran;
    ran = false;
    executor.post(
        client, [](void*) { throw 1; }, nullptr);
    executor.post(
        client, [](void*) { ran = true; }, nullptr);
    EXPECT_TRUE(executor.drain(client, 5s));
    EXPECT_TRUE(ran);
    EXPECT_TRUE(log.contains("plugin sched/thrower threw an exception out of a task"));
    EXPECT_EQ(executor.stats(client).failures, 1U);
}

TEST(Metrics, HandlesNamesAndKindsAreChecked) {
    MetricTable table{"gpu_x"};
    const auto counter = table.define("devices_total", SPUR_METRIC_COUNTER, "how many");
    EXPECT_EQ(table.define("devices_total", SPUR_METRIC_COUNTER, "again"), counter);
    EXPECT_EQ(table.define("devices_total", SPUR_METRIC_GAUGE, "another kind"), 0U);
    EXPECT_EQ(table.define("Bad Name", SPUR_METRIC_GAUGE, ""), 0U);
    EXPECT_EQ(table.define(nullptr, SPUR_METRIC_GAUGE, ""), 0U);
    const auto histogram = table.define("scan_ns", SPUR_METRIC_HISTOGRAM, "how long");
    table.add(counter, 2);
    table.add(counter, -5);  // a counter only grows
    table.set(histogram, 3);
    table.set(histogram, 1e30);
    table.add(12345, 1);
    const auto metrics = table.read();
    ASSERT_EQ(metrics.size(), 2U);
    EXPECT_EQ(metrics[0].value, 2);
    EXPECT_EQ(metrics[1].count, 2U);
    EXPECT_EQ(metrics[1].buckets.at(12), 1U);  // 2 < 3 <= 4: 2^2, counted from 2^-10
    EXPECT_EQ(metrics[1].buckets.back(), 1U);
}

TEST(Metrics, ThereIsRoomFor256) {
    MetricTable table{"x"};
    for (int i = 0; i < 256; ++i) EXPECT_NE(table.define(("m" + std::to_string(i)).c_str(), SPUR_METRIC_GAUGE, ""), 0U);
    EXPECT_EQ(table.define("one_more", SPUR_METRIC_GAUGE, ""), 0U);
}

}  // namespace
}  // namespace spur::host
