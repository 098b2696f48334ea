// -C: features, counts, alternatives.
#include "core/model/constraint.hpp"

#include <gtest/gtest.h>

#include <set>

namespace spur {
namespace {

std::string round_trip(std::string_view text) {
    const auto constraint = Constraint::parse(text);
    return constraint ? constraint->str() : constraint.error().text;
}

bool matches(std::string_view text, const std::set<std::string, std::less<>>& features) {
    return Constraint::parse(text).value().matches([&](std::string_view name) { return features.contains(name); });
}

TEST(T50Constraint, EveryFormIsRead) {
    for (const auto* text :
         {"rack1", "rack1&ib", "rack1|ib", "rack1*2", "[rack1*2&ib*4]", "[rack1|ib]", "(rack1|ib)&a-b",
          "rack1&(ib|a-b)", "rack1*2&ib*2", "[rack1*2]", "[(rack1&ib)*1&a-b*1]", "(rack1&ib)*2", "[rack1|ib]&a-b",
          "[(rack1&ib)|a-b]", "[rack1*2&ib*1]&a-b", "[(rack1|rack2)*1&rack3*2]"})
        EXPECT_EQ(round_trip(text), text);
    EXPECT_EQ(round_trip("rack1,ib"), "rack1&ib");
    EXPECT_EQ(round_trip("rack1|ib&x"), "rack1|(ib&x)");
    EXPECT_EQ(round_trip("((a))"), "a");
    EXPECT_TRUE(Constraint::parse("")->empty());
}

TEST(T50Constraint, ANodeIsMatchedByItsFeatures) {
    EXPECT_TRUE(matches("a&b", {"a", "b", "c"}));
    EXPECT_FALSE(matches("a&b", {"a"}));
    EXPECT_TRUE(matches("a|b", {"b"}));
    EXPECT_TRUE(matches("(a|b)&c", {"b", "c"}));
    EXPECT_FALSE(matches("(a|b)&c", {"a", "b"}));
    EXPECT_TRUE(matches("", {}));
}

TEST(T50Constraint, ACountAsksNothingOfOtherNodes) {
    EXPECT_TRUE(matches("graphics*4", {}));
    EXPECT_TRUE(matches("graphics*4&ib", {"ib"}));
    EXPECT_FALSE(matches("graphics*4&ib", {"graphics"}));
    const auto counts = Constraint::parse("graphics*4&ib")->counts();
    ASSERT_EQ(counts.size(), 1U);
    EXPECT_EQ(counts[0].what.feature, "graphics");
    EXPECT_EQ(counts[0].nodes, 4U);
}

TEST(T50Constraint, ABracketWantsEveryNodeToServeOneOfItsParts) {
    EXPECT_TRUE(matches("[rack1*2&rack2*4]", {"rack2"}));
    EXPECT_FALSE(matches("[rack1*2&rack2*4]", {"rack3"}));
    EXPECT_EQ(Constraint::parse("[(a|b)*1&c*2]")->counts().size(), 2U);
    EXPECT_TRUE(matches("[rack1|rack2]", {"rack2"}));
    const auto alternatives = Constraint::parse("[rack1|rack2]&ib")->alternatives();
    ASSERT_EQ(alternatives.size(), 2U);
    EXPECT_EQ(alternatives[1].feature, "rack2");
    EXPECT_TRUE(Constraint::parse("a|b")->alternatives().empty());
}

TEST(T50Constraint, FeaturesAreListedOnce) {
    EXPECT_EQ(Constraint::parse("[(b|a)*1&c*2]&a")->features(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(T50Constraint, WhatIsNoConstraintIsRefusedWithTheReason) {
    EXPECT_EQ(round_trip("rack1*"), "Invalid feature specification \"rack1*\": after * goes a number of nodes above 0");
    EXPECT_EQ(round_trip("[rack1&ib]"),
              "Invalid feature specification \"[rack1&ib]\": & inside brackets needs a count for each part, as in "
              "[rack1*2&rack2*4]");
    EXPECT_EQ(round_trip("a&&b"), "Invalid feature specification \"a&&b\": a feature is missing at position 3");
    for (const auto* text :
         {"a&",    "&a",        "a*0",     "a*-1", "[a",  "a]", "(a", "a)",      "[a|[b]]",     "!a", " a",
          "a & b", "[a*1|b*2]", "[a|b]*2", "2*",   "a*x", "()", "[]", "[a|b]|c", "[a|b]&[c|d]", "a b"})
        EXPECT_TRUE(round_trip(text).starts_with("Invalid feature specification")) << text << ": " << round_trip(text);
    EXPECT_FALSE(Constraint::parse(std::string(100'000, '(')));
}

}  // namespace
}  // namespace spur
