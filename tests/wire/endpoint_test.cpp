// Addresses as administrators and users write them.
#include "core/text/endpoint.hpp"

#include <gtest/gtest.h>

namespace spur::wire {
namespace {

void expect_refused(std::string_view text, std::string_view sentence_part) {
    const auto endpoint = Endpoint::parse(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_NE(endpoint.error().text.find(sentence_part), std::string::npos) << endpoint.error().text;
}

TEST(WireEndpoint, AHostAloneGetsTheDefaultPort) {
    EXPECT_EQ(Endpoint::parse("ctrl1"), (Endpoint{"ctrl1", 6817}));
    EXPECT_EQ(Endpoint::parse("ctrl1", 6819), (Endpoint{"ctrl1", 6819}));
}

TEST(WireEndpoint, HostAndPortAreTakenApart) {
    EXPECT_EQ(Endpoint::parse("ctrl1.example.org:7000"), (Endpoint{"ctrl1.example.org", 7000}));
    EXPECT_EQ(Endpoint::parse("10.0.0.1:0"), (Endpoint{"10.0.0.1", 0}));
}

TEST(WireEndpoint, AUrlSaysWhetherTlsIsUsed) {
    EXPECT_EQ(Endpoint::parse("http://ctrl1:6817"), (Endpoint{"ctrl1", 6817, Endpoint::Scheme::plain}));
    EXPECT_EQ(Endpoint::parse("https://ctrl1/"), (Endpoint{"ctrl1", 6817, Endpoint::Scheme::tls}));
}

TEST(WireEndpoint, Ipv6AddressesComeWithOrWithoutBrackets) {
    EXPECT_EQ(Endpoint::parse("[::1]:6817"), (Endpoint{"::1", 6817}));
    EXPECT_EQ(Endpoint::parse("[fe80::1%eth0]"), (Endpoint{"fe80::1%eth0", 6817}));
    EXPECT_EQ(Endpoint::parse("::1"), (Endpoint{"::1", 6817}));
    EXPECT_EQ(Endpoint::parse("[::1]:6817")->text(), "[::1]:6817");
}

TEST(WireEndpoint, WhatMakesNoSenseIsRefusedWithASentence) {
    expect_refused("", "the host is missing");
    expect_refused(":6817", "the host is missing");
    expect_refused("ctrl1:", "the port is missing");
    expect_refused("ctrl1:70000", "\"70000\" is not a port");
    expect_refused("ctrl1:http", "\"http\" is not a port");
    expect_refused("ctrl1:-1", "is not a port");
    expect_refused("[::1", "bracket is not closed");
    expect_refused("[::1]x", "only a port may follow");
    expect_refused("ctrl 1", "cannot be part of a host name");
    expect_refused("http://ctrl1/path", "cannot be part of a host name");
}

TEST(WireEndpoint, WithoutADefaultAPortIsRequired) { EXPECT_FALSE(Endpoint::parse("ctrl1", 0)); }

TEST(WireEndpoint, AListIsSeparatedByCommasOrSpaces) {
    const auto list = Endpoint::parse_list("ctrl1, ctrl2:7000 http://ctrl3");
    ASSERT_TRUE(list);
    ASSERT_EQ(list->size(), 3u);
    EXPECT_EQ((*list)[1].text(), "ctrl2:7000");
    EXPECT_FALSE(Endpoint::parse_list(" , "));
    EXPECT_FALSE(Endpoint::parse_list("ctrl1,ctrl2:x"));
}

}  // namespace
}  // namespace spur::wire
