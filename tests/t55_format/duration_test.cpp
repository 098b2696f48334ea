// Time limits: what -t takes and squeue's %l, %M and %L print.
#include <gtest/gtest.h>

#include "core/text/timefmt.hpp"

namespace spur {
namespace {

std::string limit(std::string_view text) {
    const auto minutes = parse_limit_min(text);
    return minutes ? print_limit(*minutes) : "refused";
}

TEST(T55Duration, EveryFormOfATimeLimitIsRead) {
    EXPECT_EQ(limit("5"), "5:00");
    EXPECT_EQ(limit("90"), "1:30:00");
    EXPECT_EQ(limit("60:00"), "1:00:00");
    EXPECT_EQ(limit("100:00:00"), "4-04:00:00");
    EXPECT_EQ(limit("1-0"), "1-00:00:00");
    EXPECT_EQ(limit("1-"), "1-00:00:00");
    EXPECT_EQ(limit("1-25"), "2-01:00:00");
    EXPECT_EQ(limit("1-2:3"), "1-02:03:00");
    EXPECT_EQ(limit("00005"), "5:00");
}

TEST(T55Duration, SecondsAreRoundedUpToMinutes) {
    EXPECT_EQ(limit("0:30"), "1:00");
    EXPECT_EQ(limit("1:29"), "2:00");
    EXPECT_EQ(limit("1:2:3"), "1:03:00");
    EXPECT_EQ(limit("1:99:99"), "2:41:00");
    EXPECT_EQ(limit("1-2:3:4"), "1-02:04:00");
    EXPECT_EQ(parse_duration_s("1-2:3:4"), 93'784);
}

TEST(T55Duration, NoLimitHasManyNames) {
    for (const auto* text : {"INFINITE", "infinite", "UNLIMITED", "Unlimited", "-1", "0", "0:00"})
        EXPECT_EQ(limit(text), "UNLIMITED") << text;
    EXPECT_EQ(parse_duration_s("UNLIMITED"), unlimited_s);
    EXPECT_EQ(parse_duration_s("0"), 0);
}

TEST(T55Duration, WhatIsNoTimeIsRefused) {
    for (const auto* text : {"",
                             " 5",
                             "5 ",
                             "5m",
                             "1h",
                             "a",
                             "1:2:3:4",
                             "1--2",
                             "1-2-3",
                             ":5",
                             "5:",
                             "1::2",
                             "1.5",
                             "+5",
                             "0x10",
                             "1-2:",
                             "-5",
                             "1 2",
                             "NOT_SET",
                             "99999999999999999999",
                             "999999999999"})
        EXPECT_EQ(limit(text), "refused") << text;
    EXPECT_EQ(parse_limit_min("5m").error().text,
              "\"5m\" is not a time; write minutes, minutes:seconds, hours:minutes:seconds, days-hours, "
              "days-hours:minutes, days-hours:minutes:seconds or UNLIMITED");
}

TEST(T55Duration, PrintsAsSqueueAndScontrolDo) {
    EXPECT_EQ(print_duration(0), "0:00");
    EXPECT_EQ(print_duration(59), "0:59");
    EXPECT_EQ(print_duration(3'600), "1:00:00");
    EXPECT_EQ(print_duration(93'784), "1-02:03:04");
    EXPECT_EQ(print_duration(-1), "INVALID");
    EXPECT_EQ(print_long_duration(300), "00:05:00");
    EXPECT_EQ(print_long_duration(93'784), "1-02:03:04");
    EXPECT_EQ(print_long_limit(5), "00:05:00");
    EXPECT_EQ(print_long_limit(unlimited), "UNLIMITED");
    EXPECT_EQ(print_limit(no_value), "NOT_SET");
}

}  // namespace
}  // namespace spur
