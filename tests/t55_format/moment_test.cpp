// Moments: what --begin takes and how SLURM_TIME_FORMAT prints them. The present is Monday 2026-11-16 21:42:46 UTC.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "core/text/timefmt.hpp"

namespace spur {
namespace {

constexpr UnixSeconds now = 1'794'865'366;

class T55Moment : public ::testing::Test {
protected:
    void SetUp() override { set_zone("UTC"); }
    void TearDown() override { set_zone("UTC"); }
    static void set_zone(const char* zone) {
        setenv("TZ", zone, 1);
        tzset();
    }
    static std::string moment(std::string_view text) {
        const auto time = parse_time(text, now);
        return time ? print_time(*time) : time.error().text;
    }
};

TEST_F(T55Moment, NowTakesAnOffset) {
    EXPECT_EQ(moment("now"), "2026-11-16T21:42:46");
    EXPECT_EQ(moment("now+60"), "2026-11-16T21:43:46");
    EXPECT_EQ(moment("now+1hour"), "2026-11-16T22:42:46");
    EXPECT_EQ(moment("Now+1HOUR"), "2026-11-16T22:42:46");
    EXPECT_EQ(moment("now + 5 minutes"), "2026-11-16T21:47:46");
    EXPECT_EQ(moment("now+2days"), "2026-11-18T21:42:46");
    EXPECT_EQ(moment("now+1week"), "2026-11-23T21:42:46");
    EXPECT_EQ(moment("now-1hour"), "2026-11-16T20:42:46");
}

TEST_F(T55Moment, ATimeOfDayAlreadyPastIsTomorrow) {
    EXPECT_EQ(moment("16:00"), "2026-11-17T16:00:00");
    EXPECT_EQ(moment("23:59:59"), "2026-11-16T23:59:59");
    EXPECT_EQ(moment("4:30PM"), "2026-11-17T16:30:00");
    EXPECT_EQ(moment("12:00AM"), "2026-11-17T00:00:00");
    EXPECT_EQ(moment("12:30pm"), "2026-11-17T12:30:00");
    EXPECT_EQ(moment("midnight"), "2026-11-17T00:00:00");
    EXPECT_EQ(moment("NOON"), "2026-11-17T12:00:00");
    EXPECT_EQ(moment("fika"), "2026-11-17T15:00:00");
    EXPECT_EQ(moment("teatime"), "2026-11-17T16:00:00");
}

TEST_F(T55Moment, AccountingLooksBack) {
    EXPECT_EQ(print_time(parse_past_time("16:00", now).value()), "2026-11-16T16:00:00");
    EXPECT_EQ(print_time(parse_past_time("midnight", now).value()), "2026-11-16T00:00:00");
    EXPECT_EQ(print_time(parse_past_time("01/01", now).value()), "2026-01-01T00:00:00");
}

TEST_F(T55Moment, DatesHaveManyForms) {
    for (const auto* text : {"2026-12-25", "122526", "1225", "12/25", "12/25/26", "12.25.26", "12.25", "2026-12-25T"})
        EXPECT_EQ(moment(text), "2026-12-25T00:00:00") << text;
    for (const auto* text : {"2026-12-25T08:00", "2026-12-25-08:00", "12/25/26-08:00", "12/25-08:00", "12/25T08:00",
                             "12/25/26 08:00", "08:00 12/25"})
        EXPECT_EQ(moment(text), "2026-12-25T08:00:00") << text;
    EXPECT_EQ(moment("2026-12-25T08:00:30"), "2026-12-25T08:00:30");
    EXPECT_EQ(moment("uts=1800000000"), "2027-01-15T08:00:00");
}

TEST_F(T55Moment, ADateWithoutAYearIsTheNextOne) {
    EXPECT_EQ(moment("01/01"), "2027-01-01T00:00:00");
    EXPECT_EQ(moment("11/16"), "2027-11-16T00:00:00");
    EXPECT_EQ(moment("2020-01-01"), "2020-01-01T00:00:00");
}

TEST_F(T55Moment, DaysAndTimesCombineInAnyOrder) {
    EXPECT_EQ(moment("today"), "2026-11-16T00:00:00");
    EXPECT_EQ(moment("tomorrow"), "2026-11-17T00:00:00");
    EXPECT_EQ(moment("tomorrow16:00"), "2026-11-17T16:00:00");
    EXPECT_EQ(moment("16:00tomorrow"), "2026-11-17T16:00:00");
    EXPECT_EQ(moment("noon tomorrow"), "2026-11-17T12:00:00");
    EXPECT_EQ(moment("todaynoon"), "2026-11-16T12:00:00");
}

TEST_F(T55Moment, WhatIsNoMomentIsRefused) {
    for (const auto* text : {"",
                             "5",
                             "16",
                             "16:0",
                             "1600",
                             "24:00",
                             "25:00",
                             "13pm",
                             "4pm",
                             "yesterday",
                             "now+",
                             "now+x",
                             "now+1h",
                             "now+1hour30min",
                             "now+-1",
                             "tomorrow+1",
                             "2026-13-01",
                             "2026-02-30",
                             "31/12/26",
                             "12/25/2026",
                             "26-12-25",
                             "2027-12",
                             "noonx",
                             "noon noon",
                             "16:00 17:00",
                             "3:4:5",
                             "now+99999999999999999999",
                             "uts=",
                             "2027-02-29"})
        EXPECT_TRUE(moment(text).starts_with("Invalid time specification (pos=")) << text << " gave " << moment(text);
}

TEST_F(T55Moment, PrintsAsTheFormatAsks) {
    const auto print = [](std::string_view text, const std::string& format) {
        return print_time(parse_time(text, now).value(), now, format);
    };
    EXPECT_EQ(print("23:30", "relative"), "23:30:00");
    EXPECT_EQ(print("tomorrow16:05", "relative"), "Tomorr 16:05");
    EXPECT_EQ(print("2026-11-15T10:00", "relative"), "Ystday 10:00");
    EXPECT_EQ(print("now+2days", "relative"), "Wed 21:42");
    EXPECT_EQ(print("now+6days", "relative"), "Sun 21:42");
    EXPECT_EQ(print("now+7days", "relative"), "23 Nov 21:42");
    EXPECT_EQ(print("12/03", "relative"), "3 Dec 00:00");
    EXPECT_EQ(print("01/05/27", "relative"), "5 Jan 2027");
    EXPECT_EQ(print("23:30", "%a %T"), "Mon 23:30:00");
    EXPECT_EQ(print("23:30", ""), "2026-11-16T23:30:00");
    EXPECT_EQ(print("23:30", "standard"), "2026-11-16T23:30:00");
    EXPECT_EQ(print("23:30", "foo"), "2026-11-16T23:30:00");
    EXPECT_FALSE(is_time_format("foo"));
    EXPECT_TRUE(is_time_format("%H:%M"));
    EXPECT_EQ(print_time(0), "Unknown");
}

TEST_F(T55Moment, TheClockChangeIsHonoured) {
    set_zone("EST5EDT,M3.2.0,M11.1.0");
    const auto before = parse_time("2026-11-01T00:30", now).value();
    const auto after = parse_time("2026-11-01T03:30", now).value();
    EXPECT_EQ(after - before, 4 * 3'600);
}

}  // namespace
}  // namespace spur
