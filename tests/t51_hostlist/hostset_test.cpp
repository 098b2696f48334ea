// Sets of hosts: union, intersection, difference, membership.
#include <gtest/gtest.h>

#include "core/text/hostlist.hpp"

namespace spur {
namespace {

HostSet set(std::string_view text) { return HostSet::parse(text).value(); }

TEST(T51HostSet, ForgetsOrderAndRepeats) {
    EXPECT_EQ(set("n3,n1,n2,n1").str(), "n[1-3]");
    EXPECT_EQ(set("n3,n1,n2,n1").size(), 3U);
    EXPECT_EQ(compress_hosts(std::vector<std::string>{"b2", "b1", "a", "b1"}), "a,b[1-2]");
}

TEST(T51HostSet, EqualNamesAreEqualHoweverTheyWereWritten) {
    EXPECT_EQ(set("n[1-2][3-4]"), set("n[13-14,23-24]"));
    EXPECT_EQ(set("n0[1-9],n10"), set("n[01-10]"));
    EXPECT_EQ(set("n[8-12]"), set("n[10-12],n8,n9"));
    EXPECT_NE(set("n[1-3]"), set("n[01-03]"));
    EXPECT_EQ(set("n1[0-9],n[2-9]").str(), "n[2-19]");
}

TEST(T51HostSet, Combines) {
    EXPECT_EQ((set("n[1-5]") | set("n[4-9],m1")).str(), "m1,n[1-9]");
    EXPECT_EQ((set("n[1-5],x") & set("n[4-9],x,y")).str(), "n[4-5],x");
    EXPECT_EQ((set("n[1-10]") - set("n[3-4,7],z")).str(), "n[1-2,5-6,8-10]");
    EXPECT_EQ((set("n[1-10]") - set("n[1-10]")).str(), "");
    EXPECT_EQ((set("n[95-105]") - set("n100")).str(), "n[95-99,101-105]");
    EXPECT_EQ((set("n[098-102]") & set("n[98-102]")).str(), "n[100-102]");
}

TEST(T51HostSet, AnswersMembership) {
    const auto nodes = set("n[001-500],gpu[1-4]-ib[0-1],login");
    EXPECT_TRUE(nodes.contains("n007"));
    EXPECT_TRUE(nodes.contains("gpu3-ib1"));
    EXPECT_TRUE(nodes.contains("login"));
    EXPECT_FALSE(nodes.contains("n7"));
    EXPECT_FALSE(nodes.contains("n501"));
    EXPECT_FALSE(nodes.contains("log"));
    EXPECT_FALSE(nodes.contains(""));
    EXPECT_TRUE(nodes.contains(set("n[010-020],login")));
    EXPECT_FALSE(nodes.contains(set("n[490-510]")));
    EXPECT_TRUE(nodes.intersects(set("n[490-510]")));
    EXPECT_FALSE(nodes.intersects(set("m[1-9]")));
}

}  // namespace
}  // namespace spur
