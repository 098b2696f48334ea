// --array: what it takes and how squeue shows it.
#include "core/model/array_spec.hpp"

#include <gtest/gtest.h>

namespace spur {
namespace {

std::string shown(std::string_view text, std::uint32_t max_size = 100'001) {
    const auto spec = ArraySpec::parse(text, max_size);
    return spec ? spec->elided() : spec.error().text;
}

TEST(T28ArraySpec, ListsRangesAndStepsAreRead) {
    EXPECT_EQ(shown("7"), "7");
    EXPECT_EQ(shown("0-1"), "0-1");
    EXPECT_EQ(shown("1,3,5-9"), "1,3,5-9");
    EXPECT_EQ(shown("5,3,1"), "1,3,5");
    EXPECT_EQ(shown("1-3,2-5"), "1-5");
    EXPECT_EQ(shown("0-5:10"), "0");
    EXPECT_EQ(shown("0-2,4,6,8"), "0-2,4,6,8");
    EXPECT_EQ(shown("01-03"), "1-3");
    EXPECT_EQ(shown("[1-3]"), "1-3");
    EXPECT_EQ(shown("1,,2,"), "1-2");
}

TEST(T28ArraySpec, ALongProgressionIsShownWithItsStep) {
    EXPECT_EQ(shown("0-15:4%3"), "0,4,8,12%3");
    EXPECT_EQ(shown("0-16:4"), "0,4,8,12,16");
    EXPECT_EQ(shown("0-20:4"), "0-20:4");
    EXPECT_EQ(shown("0-99999:7%50"), "0-99995:7%50");
    EXPECT_EQ(shown("0-2:2,4-100:2"), "0-100:2");
    EXPECT_EQ(shown("0-50:5,57"), "0,5,10,15,20,25,30,35,40,45,50,57");
}

TEST(T28ArraySpec, AProgressionTakesOneRunHoweverLong) {
    const auto spec = ArraySpec::parse("0-99999:7", 100'001).value();
    EXPECT_EQ(spec.tasks.runs().size(), 1U);
    EXPECT_EQ(spec.tasks.size(), 14'286U);
}

TEST(T28ArraySpec, LongListsAreElidedAsSqueueElidesThem) {
    const std::string base = "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40";
    EXPECT_EQ(shown(base + ",143"), base + ",143") << "61 characters fit";
    EXPECT_EQ(shown(base + ",1143"), base + ",11...") << "62 do not";
    EXPECT_EQ(shown(base + ",1143%5"), base + ",11...%5");
    const auto spec = ArraySpec::parse("0-3,5%2").value();
    EXPECT_EQ(spec.elided(8), "0-3,5%2");
    EXPECT_EQ(spec.elided(7), "0-3...%2");
    EXPECT_EQ(spec.elided(5), "0...%2");
    EXPECT_EQ(spec.elided(4), "...%2");
    EXPECT_EQ(spec.elided(3), "..%2");
    EXPECT_EQ(spec.elided(1), "%2");
    EXPECT_EQ(spec.elided(0), "0-3,5%2");
}

TEST(T28ArraySpec, AShortTextNeverMakesALongList) {
    std::string text = "0-3999999";
    while (text.size() < 60'000) text += ",0-3999999";
    EXPECT_EQ(ArraySpec::parse(text, 4'000'001)->tasks.runs().size(), 1U);
    EXPECT_FALSE(ArraySpec::parse("0-3999999:2,0-3999999:3", 4'000'001));
    EXPECT_EQ(ArraySpec::parse("0-999:2,0-999:3")->tasks.size(), 667U) << "small ones are listed";
    EXPECT_EQ(ArraySpec::parse("0-3999998:2,7,11-15", 4'000'001)->tasks.size(), 2'000'004U) << "no steps are mixed";
    EXPECT_EQ(ArraySpec::parse_accepted("0-99999:2,0-99999:3", 100'001)->tasks.size(), 66'667U)
        << "what a log holds was taken once";
}

TEST(T28ArraySpec, WhatIsNoArrayIsRefusedWithTheReason) {
    EXPECT_EQ(shown("3-1"), "Invalid job array specification \"3-1\": \"3-1\" runs backwards");
    EXPECT_EQ(shown("1-5:0"), "Invalid job array specification \"1-5:0\": \"1-5:0\" has a step of 0");
    EXPECT_EQ(
        shown("5,1001", 1'001),
        "Invalid job array specification \"5,1001\": task id 1001 is not below the cluster's MaxArraySize of 1001");
    EXPECT_EQ(shown("1-5%x"),
              "Invalid job array specification \"1-5%x\": after % goes the number of tasks that may run at once");
    for (const auto* text : {"", "a", "-1", "1-", "1-5:", "1-5:2:3", "1 2", "1:2", "%2", "4294967296", "1-5%-1", ","})
        EXPECT_TRUE(shown(text).starts_with("Invalid job array specification")) << text;
}

TEST(T28TaskSet, RemovingAndInsertingKeepsRunsFew) {
    auto tasks = TaskSet::range(0, 99'999, 7);
    EXPECT_TRUE(tasks.remove(0));
    EXPECT_FALSE(tasks.remove(0));
    EXPECT_FALSE(tasks.remove(1));
    EXPECT_EQ(tasks.runs().size(), 1U);
    EXPECT_TRUE(tasks.remove(7'000));
    EXPECT_EQ(tasks.runs().size(), 2U);
    EXPECT_TRUE(tasks.insert(7'000));
    EXPECT_EQ(tasks, TaskSet::range(7, 99'999, 7));
    EXPECT_EQ(tasks.next(0), 7U);
    EXPECT_EQ(tasks.next(8), 14U);
    EXPECT_EQ(tasks.next(99'996), std::nullopt);
    EXPECT_EQ(tasks.last(), 99'995U);
}

TEST(T28TaskSet, StoredRunsAreCheckedBeforeTheyAreTrusted) {
    EXPECT_TRUE(TaskSet::from_runs({{0, 8, 4}, {9, 9, 1}}));
    EXPECT_FALSE(TaskSet::from_runs({{0, 9, 4}}));
    EXPECT_FALSE(TaskSet::from_runs({{5, 1, 1}}));
    EXPECT_FALSE(TaskSet::from_runs({{1, 5, 0}}));
    EXPECT_FALSE(TaskSet::from_runs({{1, 5, 1}, {5, 6, 1}}));
    EXPECT_FALSE(TaskSet::from_runs({{1, 1, 3}}));
}

}  // namespace
}  // namespace spur
