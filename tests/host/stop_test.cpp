// How calls are asked to give up.
#include "daemons/common/host/stop.hpp"

#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include <csignal>
#include <thread>

#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

using namespace std::chrono_literals;
using Clock = StopSource::Clock;

bool is_readable(int fd) {
    pollfd watched{fd, POLLIN, 0};
    return poll(&watched, 1, 0) == 1;
}

TEST(Stop, StopsOnceAndForAllWhoAsk) {
    StopSource stop;
    EXPECT_EQ(stop.get()->stopped(stop.get()), 0U);
    EXPECT_FALSE(is_readable(stop.get()->fd));
    EXPECT_EQ(stop.get()->deadline_ns, INT64_MAX);
    stop.stop();
    stop.stop();
    EXPECT_EQ(stop.get()->stopped(stop.get()), 1U);
    EXPECT_TRUE(is_readable(stop.get()->fd));
}

TEST(Stop, ADeadlineNeedsNobody) {
    StopSource stop{Clock::now() + 30ms};
    EXPECT_LT(stop.get()->deadline_ns, INT64_MAX);
    EXPECT_EQ(spur_wait(stop.get(), -1, 0, 20'000), SPUR_E_STOPPED);
    EXPECT_TRUE(stop.stopped());
    StopSource past{Clock::now() - 1s};
    EXPECT_TRUE(past.stopped());
    EXPECT_TRUE(is_readable(past.get()->fd));
}

TEST(Stop, ChildrenStopWithTheirParent) {
    StopSource parent;
    StopSource before{parent};
    parent.stop();
    StopSource after{parent, Clock::now() + 1h};
    for (const auto* const child : {&before, &after}) {
        EXPECT_TRUE(child->stopped());
        EXPECT_TRUE(is_readable(child->get()->fd));
    }
}

TEST(Stop, WaitingEndsWithWhateverComesFirst) {
    StopSource stop;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_EQ(spur_wait(stop.get(), ends[0], POLLIN, 10), 0);
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    EXPECT_EQ(spur_wait(stop.get(), ends[0], POLLIN, -1), 1);
    const std::jthread later{[&] {
        std::this_thread::sleep_for(20ms);
        stop.stop();
    }};
    EXPECT_EQ(spur_wait(stop.get(), -1, 0, -1), SPUR_E_STOPPED);
    EXPECT_THROW(plugin::Stop{stop.get()}.throw_if(), plugin::Failure);
    close(ends[0]);
    close(ends[1]);
}

TEST(Stop, WithoutADescriptorItIsAskedForOftenEnough) {
    std::atomic<bool> is_time{false};
    const StopWhen stop{[&] { return is_time.load(); }};
    EXPECT_EQ(stop.get()->fd, -1);
    EXPECT_EQ(spur_wait(stop.get(), -1, 0, 5), 0);
    const std::jthread later{[&] {
        std::this_thread::sleep_for(20ms);
        is_time = true;
    }};
    EXPECT_EQ(spur_wait(stop.get(), -1, 0, -1), SPUR_E_STOPPED);
}

TEST(Stop, ASignalThatWaitsIsSeen) {
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    EXPECT_FALSE(is_stop_signal_pending());
    raise(SIGTERM);
    EXPECT_TRUE(is_stop_signal_pending());
    int number = 0;
    sigwait(&set, &number);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Stop, WhoGoesOnIsNamed) {
    log::Capture log;
    StopSource stop{Clock::now() - 5s};
    stop.report_if_late("state/slow", "snapshot");
    EXPECT_TRUE(log.contains("plugin state/slow went on in snapshot() for 5"));
    const StopSource never;
    never.report_if_late("state/slow", "open");
    EXPECT_FALSE(log.contains("open()"));
}

}  // namespace
}  // namespace spur::host
