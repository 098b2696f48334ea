// The box that one thread takes from: nothing is lost, order is kept, waits end.
#include "daemons/common/work/inbox.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace spur::work {
namespace {

using Clock = Doorbell::Clock;

TEST(Inbox, WhatManyThreadsPushIsTakenOnceAndInEachOnesOrder) {
    constexpr int senders = 4, each = 5000;
    Inbox<std::pair<int, int>> box;
    std::vector<std::jthread> threads;
    for (int sender = 0; sender < senders; ++sender)
        threads.emplace_back([&box, sender] {
            for (int i = 0; i < each; ++i) box.push({sender, i});
        });
    int next[senders] = {}, taken = 0;
    while (taken < senders * each)
        for (const auto& [sender, number] : box.take()) {
            EXPECT_EQ(number, next[sender]++);
            ++taken;
        }
    EXPECT_TRUE(box.take(Clock::now()).empty());
}

TEST(Inbox, AWaitEndsAtItsDeadlineOrWhenItIsInterrupted) {
    Inbox<int> box;
    EXPECT_TRUE(box.take(Clock::now() + std::chrono::milliseconds{1}).empty());
    EXPECT_TRUE(box.take(Clock::time_point::min()).empty());
    box.interrupt();
    EXPECT_TRUE(box.take().empty());
    std::jthread other{[&box] { box.interrupt(); }};
    EXPECT_TRUE(box.take().empty());
}

TEST(Inbox, ManyRingsBeforeAWaitAreOne) {
    Doorbell bell;
    for (int i = 0; i < 1000; ++i) bell.ring();
    bell.wait();
    const auto deadline = Clock::now() + std::chrono::milliseconds{1};
    bell.wait(deadline);
    EXPECT_GE(Clock::now(), deadline);
}

}  // namespace
}  // namespace spur::work
