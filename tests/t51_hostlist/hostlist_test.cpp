// What scontrol show hostnames, hostlist and hostlistsorted print, as observed with Slurm 22.05.
#include "core/text/hostlist.hpp"

#include <gtest/gtest.h>

#include <ctime>

namespace spur {
namespace {

std::string names(std::string_view text) {
    const auto list = HostList::parse(text);
    if (!list) return list.error().text;
    std::string result;
    for (const auto& name : list->names()) result += (result.empty() ? "" : " ") + name;
    return result;
}

std::string compressed(std::string_view text) {
    const auto list = HostList::parse(text);
    return list ? list->str() : list.error().text;
}

std::string sorted(std::string_view text) {
    const auto list = HostList::parse(text);
    return list ? list->sorted().str() : list.error().text;
}

TEST(T51Hostlist, ManyPartsInABracketCostNoMoreThanTheirHosts) {
    std::string text = "a[1";
    for (int i = 2; i <= 120'000; ++i) text += fmt::format(",{}", i);
    const auto before = std::clock();  // of this process alone, however busy the machine is
    const auto list = HostList::parse(text + "]b[0-1]");
    EXPECT_LT(std::clock() - before, 3 * CLOCKS_PER_SEC) << "its square would take that twice";
    ASSERT_TRUE(list) << list.error().text;
    EXPECT_EQ(list->size(), 240'000U);
    EXPECT_FALSE(HostList::parse("a[1-1000]b[1-1000]c[1-1000]"));
    EXPECT_FALSE(HostList::parse("n[1-100]", 99));
    EXPECT_TRUE(HostList::parse("n[1-100]", 100));
}

TEST(T51Hostlist, RangesExpandInOrder) {
    EXPECT_EQ(names("n[1-3,7]"), "n1 n2 n3 n7");
    EXPECT_EQ(names("n[3,1-2]"), "n3 n1 n2");
    EXPECT_EQ(names("login,n[1-2],gpu7"), "login n1 n2 gpu7");
    EXPECT_EQ(names("[1-3]"), "1 2 3");
}

TEST(T51Hostlist, ZeroPaddingIsKept) {
    EXPECT_EQ(names("n[08-11]"), "n08 n09 n10 n11");
    EXPECT_EQ(names("n[001-3]"), "n001 n002 n003");
    EXPECT_EQ(names("n[8-012]"), "n8 n9 n10 n11 n12");
    EXPECT_EQ(names("n[098-101]"), "n098 n099 n100 n101");
    EXPECT_EQ(compressed("n[001-064,70]"), "n[001-064,70]");
    EXPECT_EQ(compressed("n09,n10,n11"), "n[09-11]");
    EXPECT_EQ(compressed("n9,n10"), "n[9-10]");
    EXPECT_EQ(compressed("n1,n01,n001"), "n[1,01,001]");
}

TEST(T51Hostlist, TheLastBracketTurnsFastestAndThenTheFirst) {
    EXPECT_EQ(names("n[1-2][3-4]"), "n13 n14 n23 n24");
    EXPECT_EQ(names("n[1-2]-[1-2]-[1-2]"), "n1-1-1 n1-1-2 n2-1-1 n2-1-2 n1-2-1 n1-2-2 n2-2-1 n2-2-2");
    EXPECT_EQ(compressed("gpu[001-002,70]-ib[0-1]"), "gpu001-ib[0-1],gpu002-ib[0-1],gpu70-ib[0-1]");
}

TEST(T51Hostlist, TextAfterTheLastBracketIsPartOfEachName) {
    EXPECT_EQ(names("n[1-2].cluster"), "n1.cluster n2.cluster");
    EXPECT_EQ(names("r[1-2]-x5"), "r1-x5 r2-x5");
    EXPECT_EQ(compressed("r1x[4-5]b"), "r1x4b,r1x5b");
}

TEST(T51Hostlist, CommasAndBlanksSeparate) {
    EXPECT_EQ(names("a b  c\td\n"), "a b c d");
    EXPECT_EQ(names("a,,b,"), "a b");
    EXPECT_EQ(names(""), "");
    EXPECT_EQ(names(","), "");
}

TEST(T51Hostlist, CompressingKeepsOrderAndRepeats) {
    EXPECT_EQ(compressed("n1,n2,n3"), "n[1-3]");
    EXPECT_EQ(compressed("n3,n2,n1"), "n[3,2,1]");
    EXPECT_EQ(compressed("n1,n1,n2"), "n[1,1-2]");
    EXPECT_EQ(compressed("n[1-2],m[1-2],n[3-4]"), "n[1-2],m[1-2],n[3-4]");
    EXPECT_EQ(compressed("n1,b1,n2"), "n1,b1,n2");
    EXPECT_EQ(compressed("n1-1,n1-2,n2-1"), "n1-[1-2],n2-1");
    EXPECT_EQ(compressed("n00[1-3]"), "n00[1-3]");
    EXPECT_EQ(compressed("n1x,n2x"), "n1x,n2x");
}

TEST(T51Hostlist, SortingIsNatural) {
    EXPECT_EQ(sorted("n2,n10,n1"), "n[1-2,10]");
    EXPECT_EQ(sorted("n10-1,n2-1"), "n2-1,n10-1");
    EXPECT_EQ(sorted("n10,m,n,N1,a"), "N1,a,m,n,n10");
    EXPECT_EQ(sorted("n100-1,n1-1,n001-1,n01-1,n10-1,n010-1,n9-1"), "n001-1,n01-1,n010-1,n1-1,n9-1,n10-1,n100-1");
    EXPECT_EQ(sorted("n1-,n2"), "n2,n1-");
}

TEST(T51Hostlist, SortingPutsShorterNumbersFirst) {
    EXPECT_EQ(sorted("n[001-064,70]"), "n[70,001-064]");
    EXPECT_EQ(sorted("n007,n08,n9"), "n[9,08,007]");
    EXPECT_EQ(sorted("n[100-120],n[099]"), "n[099-120]");
    EXPECT_EQ(sorted("[104],[081,99-100]"), "[99-100,081,104]");
}

TEST(T51Hostlist, SortingKeepsRepeats) {
    EXPECT_EQ(sorted("n[1-10],n[4-5]"), "n[1-4,4-5,5-10]");
    EXPECT_EQ(sorted("n[1-3,1-5,9]"), "n[1,1-2,2-3,3-5,9]");
    EXPECT_EQ(HostList::parse("n[96-101,010,99-110]")->sorted().size(), 19U);
}

TEST(T51Hostlist, LookingUpNeedsNoExpansion) {
    const auto list = HostList::parse("login,n[008-065543],x").value();
    EXPECT_EQ(list.size(), 65'538U);
    EXPECT_EQ(list.find("n008"), 1U);
    EXPECT_EQ(list.find("n1000"), 993U);
    EXPECT_EQ(list.find("n8"), std::nullopt);
    EXPECT_EQ(list.find("n01000"), std::nullopt);
    EXPECT_EQ(list.nth(0), "login");
    EXPECT_EQ(list.nth(2), "n009");
    EXPECT_EQ(list.nth(65'537), "x");
    EXPECT_EQ(list.nth(65'538), std::nullopt);
}

TEST(T51Hostlist, ErrorsNameThePartAndTheReason) {
    EXPECT_EQ(names("a,n[01-04"), "\"n[01-04\" has an unclosed bracket");
    EXPECT_EQ(names("n01-04]"), "\"n01-04]\" has a closing bracket without an opening one");
    EXPECT_EQ(names("n[[1-2]]"), "\"n[[1-2]]\" has a bracket inside a bracket");
    EXPECT_EQ(names("n[4-1]"), "\"n[4-1]\" has a range that runs backwards: \"4-1\"");
    EXPECT_EQ(names("n[a-b]"),
              "\"n[a-b]\" has an invalid range \"a-b\"; write numbers like 1-4 or 7 between the brackets");
    EXPECT_TRUE(names("n[]").contains("invalid range"));
    EXPECT_TRUE(names("n[1,,2]").contains("invalid range"));
    EXPECT_TRUE(names("n[1-2-3]").contains("invalid range"));
    EXPECT_TRUE(names("n[99999999999999999999]").contains("invalid range"));
}

TEST(T51Hostlist, ARangeHoldsAtMost65536Hosts) {
    EXPECT_EQ(HostList::parse("n[0-65535]")->size(), 65'536U);
    EXPECT_EQ(names("n[0-65536]"), "\"n[0-65536]\" has too many hosts in range \"0-65536\"; at most 65536 are allowed");
    EXPECT_EQ(HostList::parse("n[0-65535][0-65535]").error().code, ErrorCode::limit);
    EXPECT_EQ(compressed("n[0-65535],n65536"), "n[0-65535,65536]") << "what is printed can be read back";
}

TEST(T51Hostlist, NumbersTooLongForAMachineWordStayNames) {
    EXPECT_EQ(names("n99999999999999999999"), "n99999999999999999999");
    EXPECT_EQ(compressed("n99999999999999999998,n99999999999999999999"), "n99[999999999999999998-999999999999999999]");
}

TEST(T51Hostlist, TenThousandNodesAreAFewRanges) {
    EXPECT_EQ(HostList::parse("n[00001-10000]")->ranges().size(), 1U);
    const auto racks = HostList::parse("rack[1-100]-n[001-100]").value();
    EXPECT_EQ(racks.size(), 10'000U);
    EXPECT_EQ(racks.ranges().size(), 100U);
    EXPECT_EQ(HostList::of(racks.names()).ranges().size(), 100U);
}

}  // namespace
}  // namespace spur
