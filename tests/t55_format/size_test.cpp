// Sizes and counts: what --mem, -n and -N take and squeue prints.
#include <gtest/gtest.h>

#include "core/text/quantity.hpp"

namespace spur {
namespace {

std::string memory(std::string_view text) {
    const auto mib = parse_mib(text);
    return mib ? print_mib(*mib) : "refused";
}

TEST(T55Size, MemoryIsInMegabytesUnlessASuffixSaysOtherwise) {
    EXPECT_EQ(memory("500"), "500M");
    EXPECT_EQ(memory("500m"), "500M");
    EXPECT_EQ(memory("1GB"), "1G");
    EXPECT_EQ(memory("1gb"), "1G");
    EXPECT_EQ(memory("1T"), "1T");
    EXPECT_EQ(memory("1024KB"), "1M");
    EXPECT_EQ(memory("1K"), "1M") << "rounded up";
    EXPECT_EQ(memory("1025K"), "2M");
    EXPECT_EQ(memory("0"), "0");
}

TEST(T55Size, MemoryPrintsInTheLargestUnitThatIsExactToAHalf) {
    EXPECT_EQ(memory("1023"), "1023M");
    EXPECT_EQ(memory("1024"), "1G");
    EXPECT_EQ(memory("1025"), "1025M");
    EXPECT_EQ(memory("1280"), "1280M");
    EXPECT_EQ(memory("1536"), "1.50G");
    EXPECT_EQ(memory("2560"), "2.50G");
    EXPECT_EQ(memory("2000"), "2000M");
    EXPECT_EQ(memory("1572864"), "1.50T");
    EXPECT_EQ(memory("1310720"), "1280G");
    EXPECT_EQ(memory("16777216"), "16T");
    EXPECT_EQ(print_mib(768'000'000), "750000G");
    EXPECT_EQ(print_mib_unconverted(2'560), "2560M");
    EXPECT_EQ(print_mib_unconverted(0), "0");
}

TEST(T55Size, WhatIsNoSizeIsRefused) {
    for (const auto* text : {"", "G", "1X", "1P", "-1", "1GiB", "1e3", "1KK", "2.5G", "99999999999999999999",
                             "11220202121123521211K", "B", "1B"})
        EXPECT_EQ(memory(text), "refused") << text;
    EXPECT_EQ(parse_mib("2.5G").error().text,
              "\"2.5G\" is not a memory size; write a number of megabytes, or one with K, M, G or T");
}

TEST(T55Size, CountsAreAboveZero) {
    EXPECT_EQ(parse_count("16", "--ntasks"), 16U);
    EXPECT_EQ(parse_count("1k", "--ntasks"), 1'024U);
    EXPECT_EQ(parse_count("0", "--ntasks").error().text, "Invalid numeric value \"0\" for --ntasks.");
    for (const auto* text : {"", "x", "-1", "1.5", "1kk", "4294967296", "99999999999"})
        EXPECT_FALSE(parse_count(text, "--ntasks")) << text;
}

TEST(T55Size, NodeCountsMayBeRanges) {
    EXPECT_EQ(NodeCount::parse("2"), (NodeCount{2, 2}));
    EXPECT_EQ(NodeCount::parse("2-4"), (NodeCount{2, 4}));
    EXPECT_EQ(NodeCount::parse("2 - 4"), (NodeCount{2, 4}));
    EXPECT_EQ(NodeCount::parse("1k-2k"), (NodeCount{1'024, 2'048}));
    EXPECT_EQ(NodeCount::parse("-2"), (NodeCount{1, 2}));
    EXPECT_EQ(NodeCount::parse("2-4")->str(), "2-4");
    EXPECT_EQ(NodeCount::parse("a").error().text, "\"a\" is not a valid node count");
    EXPECT_EQ(NodeCount::parse("2-8:2").error().text, "\"8:2\" is not a valid node count");
    EXPECT_EQ(NodeCount::parse("4-2").error().text, "Maximum node count 2 is less than minimum node count 4");
    EXPECT_FALSE(NodeCount::parse("2-"));
}

}  // namespace
}  // namespace spur
