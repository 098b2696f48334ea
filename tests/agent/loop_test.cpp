// The agent's loop: descriptors, timers and posted work, as the rest of spurd relies on them.
#include "daemons/spurd/loop.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

namespace spur::agent {
namespace {

using namespace std::chrono_literals;

struct Pair {
    Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0); }
    ~Pair() {
        close(ends[0]);
        close(ends[1]);
    }
    void say(std::string_view text) { EXPECT_EQ(write(ends[1], text.data(), text.size()), ssize_t(text.size())); }
    std::array<int, 2> ends{};
};

TEST(AgentLoop, WorkOfOtherThreadsRunsInTheOrderItWasPosted) {
    Loop loop;
    std::vector<int> ran;
    std::thread other{[&] {
        for (int i = 0; i < 1000; ++i) loop.post([&ran, i] { ran.push_back(i); });
        loop.stop();
    }};
    loop.run();
    other.join();
    ASSERT_EQ(ran.size(), 1000u);
    EXPECT_TRUE(std::ranges::is_sorted(ran));
}

TEST(AgentLoop, TimersRunInTheOrderTheyAreDueAndACancelledOneNever) {
    Loop loop;
    std::vector<int> ran;
    Loop::TimerId second = loop.after(0ms, [&] { ran.push_back(2); });
    loop.after(-1s, [&] {
        ran.push_back(1);
        loop.cancel(second);  // it is due as well
    });
    loop.after(2ms, [&] {
        ran.push_back(3);
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(ran, (std::vector{1, 3}));
    EXPECT_EQ(second, 0u);
}

TEST(AgentLoop, WhatIsLeftUnreadIsReportedAgain) {
    Loop loop;
    Pair pair;
    pair.say("abc");
    std::string heard;
    loop.watch(pair.ends[0], EPOLLIN, [&](std::uint32_t events) {
        EXPECT_EQ(events, EPOLLIN);
        char byte = 0;
        EXPECT_EQ(read(pair.ends[0], &byte, 1), 1);
        heard += byte;
        if (heard.size() == 3) loop.stop();
    });
    loop.run();
    EXPECT_EQ(heard, "abc");
}

TEST(AgentLoop, OnlyWhatIsWantedIsReportedEvenOfAPeerThatHasGone) {
    Loop loop;
    Pair pair;
    pair.say("x");
    EXPECT_EQ(shutdown(pair.ends[1], SHUT_RDWR), 0);
    std::vector<std::uint32_t> reported;
    loop.watch(pair.ends[0], 0, [&](std::uint32_t events) {
        reported.push_back(events);
        loop.change(pair.ends[0], events == EPOLLOUT ? std::uint32_t{EPOLLIN} : 0u);
    });
    loop.after(1ms, [&] { loop.change(pair.ends[0], EPOLLOUT); });
    loop.after(20ms, [&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(reported, (std::vector<std::uint32_t>{EPOLLOUT, EPOLLIN}));
}

TEST(AgentLoop, ADescriptorMayBeForgottenInItsOwnHandlerClosedAndWatchedUnderTheSameNumber) {
    Loop loop;
    int rounds = 0;
    std::function<void()> next = [&] {
        std::array<int, 2> ends{};
        ASSERT_EQ(pipe(ends.data()), 0);
        close(ends[1]);  // the end of the pipe is something to read
        loop.watch(ends[0], EPOLLIN, [&, fd = ends[0]](std::uint32_t) {
            loop.forget(fd);
            close(fd);
            if (++rounds == 100) return loop.stop();
            next();
        });
    };
    next();
    loop.run();
    EXPECT_EQ(rounds, 100);
}

TEST(AgentLoop, WorkThatNeverRanMayForgetAndCancelWhenTheLoopGoes) {
    Pair pair;
    struct Guard {
        ~Guard() { loop.forget(fd), loop.cancel(timer); }
        Loop& loop;
        int fd;
        Loop::TimerId timer;
    };
    {
        Loop loop;
        loop.watch(pair.ends[0], EPOLLIN, [](std::uint32_t) {});
        const auto guard = std::make_shared<Guard>(loop, pair.ends[0], loop.after(1h, [] {}));
        loop.post([guard] {});
        loop.after(1h, [guard] {});
    }
    pair.say("x");
    char byte = 0;
    EXPECT_EQ(read(pair.ends[0], &byte, 1), 1) << "descriptors belong to whoever opened them";
}

}  // namespace
}  // namespace spur::agent
