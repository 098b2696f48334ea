// 123, 123_4, 123_[4-9], 123+1, 123.batch: the ids that squeue, scancel and scontrol take.
#include <gtest/gtest.h>

#include "core/model/array_spec.hpp"

namespace spur {
namespace {

std::string round_trip(std::string_view text) {
    const auto ref = JobRef::parse(text);
    return ref ? ref->str() : ref.error().text;
}

TEST(T28JobRef, EveryFormIsRead) {
    for (const auto* text : {"123", "123_4", "123_[4-9,12]", "123_*", "123+1", "123.0", "123.batch", "123.extern",
                             "123.interactive", "123_4.0", "123+1.2", "123_[0-20:4]"})
        EXPECT_EQ(round_trip(text), text);
    EXPECT_EQ(round_trip(" 123 "), "123");
    EXPECT_EQ(round_trip("123_[4]"), "123_4");
    EXPECT_EQ(round_trip("123_0-3"), "123_[0-3]");
}

TEST(T28JobRef, TheNamedStepsHaveSlurmsNumbers) {
    EXPECT_EQ(JobRef::parse("5.batch")->step, step_batch);
    EXPECT_EQ(JobRef::parse("5.extern")->step, step_extern);
    EXPECT_EQ(print_step_id(step_interactive), "interactive");
    EXPECT_EQ(find_step_id("nothing"), std::nullopt);
}

TEST(T28JobRef, WhatIsNoIdIsRefused) {
    EXPECT_EQ(round_trip("x"), "Invalid job id: x");
    EXPECT_EQ(round_trip("0"), "Invalid job id: 0");
    EXPECT_EQ(round_trip("12_[4"), "Invalid job id: 12_[4 (unclosed bracket)");
    EXPECT_EQ(round_trip("12.x"),
              "Invalid job id: 12.x (after the dot goes a step number, batch, extern or interactive)");
    for (const auto* text : {"", "-1", "12_", "12_a", "12_[]", "12+", "12+x", "12.", "12x", "4294967295", "99999999999",
                             "12_[3-1]", "12__3", "_3"})
        EXPECT_TRUE(round_trip(text).starts_with("Invalid job id: ")) << text;
}

std::string repeated(std::string_view part, std::size_t times) {
    std::string text{part};
    for (std::size_t i = 1; i < times; ++i) text.append(1, ',').append(part);
    return text;
}

// Each of these would take minutes if it cost what it says rather than what it is.
TEST(T28JobRef, WhatATextCostsIsItsLength) {
    const auto wide = JobRef::parse("1_[" + repeated("0-4000000", 6'000) + "]");
    ASSERT_TRUE(wide) << wide.error().text;
    EXPECT_EQ(wide->tasks.runs().size(), 1U);
    const auto even = JobRef::parse("1_[" + repeated("0-4000000:2", 5'000) + "]");
    ASSERT_TRUE(even) << even.error().text;
    EXPECT_EQ(even->tasks.size(), 2'000'001U);
    EXPECT_TRUE(even->tasks.intersects(wide->tasks));
    EXPECT_EQ((even->tasks & wide->tasks).runs().size(), 1U);
    const auto mixed = JobRef::parse("1_[0-4000000:2,0-4000000:3]");
    ASSERT_FALSE(mixed);
    EXPECT_NE(mixed.error().text.find("overlap with different steps"), std::string::npos);
    EXPECT_FALSE(JobRef::parse("1_[" + repeated("7", 40'000) + "]")) << "longer than any list needs to be";
}

TEST(T28JobRef, ListsSplitOutsideBrackets) {
    const auto refs = parse_job_refs("12,13_[1-3,5],14.0,").value();
    ASSERT_EQ(refs.size(), 3U);
    EXPECT_EQ(refs[1].str(), "13_[1-3,5]");
    EXPECT_FALSE(parse_job_refs("12,x"));
}

}  // namespace
}  // namespace spur
