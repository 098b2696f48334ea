// The cluster's time when the machine's clock is set.
#include <gtest/gtest.h>

#include "daemons/spurctld/engine/cluster_clock.hpp"

namespace spur::ctld {
namespace {

class ClockTest : public ::testing::Test {
protected:
    static constexpr auto second = ClusterClock::second;
    // `s` seconds pass by all clocks, a little at a time.
    void pass(std::int64_t s) {
        for (std::int64_t i = 0; i < s * 4; ++i) {
            wall += second / 4;
            steady += second / 4;
            clock.now();
        }
    }
    std::int64_t wall{1'000'000 * second}, steady{77 * second};
    int lines{0};
    ClusterClock clock{{[this] { return wall; }, [this] { return steady; }}, [this](const std::string&) { ++lines; }};
};

TEST_F(ClockTest, FollowsTheWallClock) {
    EXPECT_EQ(clock.now(), 1'000'000);
    pass(3600);
    EXPECT_EQ(clock.now(), 1'003'600);
    EXPECT_EQ(lines, 0);
}

TEST_F(ClockTest, ASmallCorrectionIsFollowed) {
    wall += second;
    EXPECT_EQ(clock.now(), 1'000'000);
    pass(60);
    EXPECT_EQ(clock.now(), 1'000'061);
    EXPECT_EQ(lines, 0);
}

TEST_F(ClockTest, AJumpForwardTimesNothingOut) {
    wall += 10 * 3600 * second;
    EXPECT_EQ(clock.now(), 1'000'000);
    pass(100);
    EXPECT_EQ(clock.now(), 1'000'105) << "a twentieth faster";
    EXPECT_EQ(lines, 1);
}

TEST_F(ClockTest, AJumpBackDoesNotStopTime) {
    wall -= 10 * 3600 * second;
    pass(100);
    EXPECT_EQ(clock.now(), 1'000'095);
    EXPECT_EQ(lines, 1);
}

TEST_F(ClockTest, TheDifferenceIsMadeUpForInTheEnd) {
    wall += 60 * second;
    pass(60 * ClusterClock::slew + 60);
    EXPECT_EQ(clock.now(), wall / second);
    EXPECT_EQ(lines, 2) << "when it jumped and when they agreed";
}

TEST_F(ClockTest, TimeGoesOnFromWhereAnEarlierLeaderWas) {
    clock.not_before(1'003'600);
    EXPECT_EQ(clock.now(), 1'003'600);
    EXPECT_EQ(clock.ahead_s(), 3600);
    pass(100);
    EXPECT_EQ(clock.now(), 1'003'695) << "it neither stands still nor stays ahead for ever";
    EXPECT_EQ(lines, 1);
    clock.not_before(900'000);
    EXPECT_EQ(clock.now(), 1'003'695);
}

TEST_F(ClockTest, SleepCounts) {
    wall += 3600 * second;
    steady += 3600 * second;  // CLOCK_BOOTTIME goes on while the machine sleeps
    EXPECT_EQ(clock.now(), 1'003'600);
    EXPECT_EQ(lines, 0);
}

}  // namespace
}  // namespace spur::ctld
