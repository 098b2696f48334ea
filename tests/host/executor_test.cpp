// Work that plugins hand over: turns, timers, descriptors, threads that may wait, and an end that leaks nothing.
#include "daemons/common/host/executor.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

using namespace std::chrono_literals;

// What became of one argument.
struct Fate {
    std::atomic<int> runs{0}, drops{0};
    std::atomic<bool> hold{false};
    static void run(void* fate) {
        auto& self = *static_cast<Fate*>(fate);
        ++self.runs;
        while (self.hold) std::this_thread::sleep_for(1ms);
    }
    static void drop(void* fate) { ++static_cast<Fate*>(fate)->drops; }
};
constexpr std::int64_t an_hour = 3'600'000'000'000, a_millisecond = 1'000'000;

TEST(Executor, RefusesMoreThanAThousandWaitingTasksOfOneInstance) {
    Executor executor{1};
    const auto client = executor.add_client("test");
    std::uint64_t timer = 0;
    for (std::size_t i = 0; i < Executor::most_waiting; ++i)
        ASSERT_EQ(executor.post_after(
                      client, 3'600'000'000'000, [](void*) {}, nullptr, nullptr, &timer),
                  SPUR_OK);
    EXPECT_EQ(executor.post(
                  client, [](void*) {}, nullptr, nullptr),
              SPUR_E_BUSY);
    EXPECT_EQ(executor.post(
                  executor.add_client("other"), [](void*) {}, nullptr, nullptr),
              SPUR_OK);
    EXPECT_TRUE(executor.cancel(client, timer));
    EXPECT_FALSE(executor.cancel(client, timer));
    EXPECT_EQ(executor.post(
                  client, [](void*) {}, nullptr, nullptr),
              SPUR_OK);
    EXPECT_TRUE(executor.drain(client, 5s));
    EXPECT_EQ(executor.post(
                  client, [](void*) {}, nullptr, nullptr),
              SPUR_E_STOPPED);
}

TEST(Executor, TimersRunInTheOrderOfTheirTimes) {
    Executor executor{1};
    const auto client = executor.add_client("test");
    static std::atomic<int> order;
    order = 0;
    executor.post_after(
        client, 20'000'000, [](void*) { order = order * 10 + 2; }, nullptr, nullptr, nullptr);
    executor.post_after(
        client, 1'000'000, [](void*) { order = order * 10 + 1; }, nullptr, nullptr, nullptr);
    EXPECT_TRUE(eventually([] { return order == 12; }));
}

TEST(Executor, AnExceptionEndsTheTaskAndNothingElse) {
    log::Capture log;
    Executor executor{1};
    const auto client = executor.add_client("sched/thrower");
    static std::atomic<bool> ran;
    ran = false;
    executor.post(
        client, [](void*) { throw 1; }, nullptr, nullptr);
    executor.post(
        client, [](void*) { ran = true; }, nullptr, nullptr);
    EXPECT_TRUE(eventually([] { return ran.load(); }));
    EXPECT_TRUE(executor.drain(client, 5s));
    EXPECT_TRUE(log.contains("plugin sched/thrower threw an exception out of a task"));
    EXPECT_EQ(executor.stats(client).failures, 1U);
}

TEST(Executor, OneThatPostsAThousandDelaysAnotherByOne) {
    Executor executor{2};
    const auto greedy = executor.add_client("greedy"), modest = executor.add_client("modest");
    static std::atomic<int> greedy_runs;
    static std::atomic<int> seen_by_modest;
    greedy_runs = 0;
    seen_by_modest = -1;
    for (int i = 0; i < 500; ++i)
        executor.post(
            greedy, [](void*) { std::this_thread::sleep_for(1ms), ++greedy_runs; }, nullptr, nullptr);
    executor.post(
        modest, [](void*) { seen_by_modest = greedy_runs.load(); }, nullptr, nullptr);
    EXPECT_TRUE(eventually([] { return seen_by_modest >= 0; }));
    EXPECT_LT(seen_by_modest, 100);
    EXPECT_TRUE(executor.drain(greedy, 5s));
}

TEST(Executor, AHungTaskLeavesAThreadToOthers) {
    Executor executor{2};
    const auto hung = executor.add_client("hung"), other = executor.add_client("other");
    Fate stuck, fine;
    stuck.hold = true;
    for (int i = 0; i < 5; ++i) executor.post(hung, Fate::run, Fate::drop, &stuck);
    executor.post(other, Fate::run, nullptr, &fine);
    EXPECT_TRUE(eventually([&] { return fine.runs == 1; }));
    EXPECT_FALSE(executor.drain(hung, 10ms));
    stuck.hold = false;
    EXPECT_TRUE(executor.drain(hung, 5s));
    EXPECT_EQ(stuck.runs + stuck.drops, 5);
}

TEST(Executor, EveryArgumentIsRunOrDropped) {
    Executor executor{1};
    const auto client = executor.add_client("test");
    Fate cancelled, ended;
    std::uint64_t id = 0;
    ASSERT_EQ(executor.post_after(client, an_hour, Fate::run, Fate::drop, &cancelled, &id), SPUR_OK);
    EXPECT_TRUE(executor.cancel(client, id));
    EXPECT_EQ(cancelled.drops, 1);
    EXPECT_FALSE(executor.cancel(client, id));
    ASSERT_EQ(executor.post_after(client, an_hour, Fate::run, Fate::drop, &ended, nullptr), SPUR_OK);
    ASSERT_EQ(executor.post_every(client, an_hour, Fate::run, Fate::drop, &ended, nullptr), SPUR_OK);
    const int fd = eventfd(0, EFD_CLOEXEC);
    ASSERT_EQ(executor.watch_fd(
                  client, fd, SPUR_WATCH_READ, [](void*, std::uint32_t) {}, Fate::drop, &ended, nullptr),
              SPUR_OK);
    EXPECT_TRUE(executor.drain(client, 5s));
    EXPECT_EQ(ended.drops, 3);
    EXPECT_EQ(cancelled.runs + ended.runs, 0);
    EXPECT_EQ(executor.post(client, Fate::run, Fate::drop, &ended), SPUR_E_STOPPED);
    close(fd);
}

TEST(Executor, ATickerTicksUntilItIsCancelledEvenByItself) {
    Executor executor{2};
    const auto client = executor.add_client("test");
    struct Ticker {
        Executor* executor;
        const std::shared_ptr<Executor::Client>* client;
        std::atomic<std::uint64_t> id{0};
        Fate fate;
    } ticker{&executor, &client, {}, {}};
    std::uint64_t id = 0;
    ASSERT_EQ(executor.post_every(
                  client, a_millisecond,
                  [](void* self) {
                      auto& it = *static_cast<Ticker*>(self);
                      if (++it.fate.runs >= 5 && it.id != 0) it.executor->cancel(*it.client, it.id);
                  },
                  [](void* self) { ++static_cast<Ticker*>(self)->fate.drops; }, &ticker, &id),
              SPUR_OK);
    ticker.id = id;
    EXPECT_TRUE(eventually([&] { return ticker.fate.drops == 1; }));
    const int runs = ticker.fate.runs;
    EXPECT_GE(runs, 5);
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(ticker.fate.runs, runs);
    EXPECT_EQ(executor.post_every(client, 10, Fate::run, nullptr, nullptr, nullptr), SPUR_E_INVALID);
}

TEST(Executor, AWatchIsCalledAsLongAsThereIsSomething) {
    Executor executor{2};
    const auto client = executor.add_client("test");
    struct Watch {
        int fd;
        std::atomic<int> calls{0};
        std::atomic<std::uint32_t> seen{0};
    } watch{eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE), {}, {}};
    std::uint64_t id = 0;
    const auto run = [](void* self, std::uint32_t events) {
        auto& it = *static_cast<Watch*>(self);
        it.seen = events;
        eventfd_t one = 0;
        eventfd_read(it.fd, &one);
        ++it.calls;
    };
    ASSERT_EQ(executor.watch_fd(client, watch.fd, SPUR_WATCH_READ, run, nullptr, &watch, &id), SPUR_OK);
    EXPECT_EQ(executor.watch_fd(client, watch.fd, SPUR_WATCH_READ, run, nullptr, &watch, nullptr), SPUR_E_INVALID);
    EXPECT_EQ(executor.watch_fd(client, watch.fd, 0, run, nullptr, &watch, nullptr), SPUR_E_INVALID);
    eventfd_write(watch.fd, 3);
    EXPECT_TRUE(eventually([&] { return watch.calls == 3; }));
    EXPECT_EQ(watch.seen, SPUR_WATCH_READ);
    EXPECT_TRUE(executor.cancel(client, id));
    eventfd_write(watch.fd, 1);
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(watch.calls, 3);
    EXPECT_TRUE(executor.drain(client, 5s));
    close(watch.fd);
}

TEST(Executor, WhatMayWaitHasThreadsOfItsOwnAndIsStopped) {
    Executor executor{1};
    const auto client = executor.add_client("test");
    static std::atomic<int> waiting, most, stopped;
    waiting = most = stopped = 0;
    const auto wait = [](void*, const spur_stop* stop) {
        most = std::max(most.load(), ++waiting);
        while (stop->stopped(stop) == 0) std::this_thread::sleep_for(1ms);
        --waiting;
        ++stopped;
    };
    Fate fate;
    for (int i = 0; i < 10; ++i) ASSERT_EQ(executor.post_blocking(client, wait, Fate::drop, &fate), SPUR_OK);
    EXPECT_TRUE(eventually([] { return waiting == 4; }));
    executor.post(client, Fate::run, nullptr, &fate);
    EXPECT_TRUE(eventually([&] { return fate.runs == 1; }));
    EXPECT_TRUE(executor.drain(client, 10s));
    EXPECT_EQ(most, 4);
    EXPECT_EQ(stopped + fate.drops, 10);
}

}  // namespace
}  // namespace spur::host
