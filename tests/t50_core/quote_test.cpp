// Text from outside, made fit for a line.
#include "core/text/quote.hpp"

#include <gtest/gtest.h>

namespace spur {
namespace {

TEST(T50Quote, WhatAUserChoseStaysOneShortLine) {
    EXPECT_EQ(quote("PATH=/bin"), "\"PATH=/bin\"");
    EXPECT_EQ(quote("a\nerror: forged\x1b[2J\r\t\x7f"), "\"a\\nerror: forged\\x1b[2J\\x0d\\t\\x7f\"");
    EXPECT_EQ(quote("say \"hi\" \\"), R"("say \"hi\" \\")");
    EXPECT_EQ(quote(std::string(100, 'x'), 3), "\"xxx...\" (97 more bytes)");
    EXPECT_EQ(quote(std::string_view{"a\0b", 3}), "\"a\\x00b\"");
    EXPECT_EQ(quote("\xc2\x9b"
                    "2J"),
              "\"\\xc2\x9b"
              "2J\"")
        << "the byte that makes it an order is gone";
    EXPECT_EQ(quote("für"), "\"für\"");
}

TEST(T50Quote, NoCharacterIsTorn) {
    EXPECT_EQ(printable("aü", 2), "a... (2 more bytes)");
    EXPECT_EQ(printable("aü", 3), "aü");
    EXPECT_EQ(printable("line\nline", 100), "line\\nline");
}

}  // namespace
}  // namespace spur
