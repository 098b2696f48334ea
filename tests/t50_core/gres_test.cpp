// Generic and trackable resources as text.
#include "core/model/gres.hpp"

#include <gtest/gtest.h>

namespace spur {
namespace {

std::string gres(std::string_view text) {
    const auto list = parse_gres(text);
    return list ? print_gres(*list) : list.error().text;
}

std::string tres(std::string_view text) {
    const auto list = TresList::parse(text);
    return list ? list->str() : list.error().text;
}

TEST(T50Gres, EveryFormIsRead) {
    EXPECT_EQ(gres("gpu"), "gpu:1");
    EXPECT_EQ(gres("gpu:2"), "gpu:2");
    EXPECT_EQ(gres("gpu:a100"), "gpu:a100:1");
    EXPECT_EQ(gres("gpu:a100:2,shard:4"), "gpu:a100:2,shard:4");
    EXPECT_EQ(gres("gres:gpu:1"), "gpu:1");
    EXPECT_EQ(gres("gres/gpu:2"), "gpu:2");
    EXPECT_EQ(gres("gpu:1k"), "gpu:1024");
    EXPECT_EQ(gres("gpu:1g.5gb:2"), "gpu:1g.5gb:2");
    EXPECT_EQ(gres("gpu:0"), "gpu:0");
    EXPECT_EQ(gres("none"), "");
    EXPECT_EQ(gres(""), "");
}

TEST(T50Gres, EntriesOfOneKindAddUp) {
    EXPECT_EQ(gres("gpu:1,gpu:2"), "gpu:3");
    EXPECT_EQ(gres("gpu:a100:1,gpu:v100:1,gpu:a100:1"), "gpu:a100:2,gpu:v100:1");
    EXPECT_EQ(gres_count(parse_gres("gpu:a100:1,gpu:v100:2,shard:4").value(), "gpu"), 3U);
    EXPECT_EQ(gres("gpu:a100:1,gpu:2"), "Invalid GRES specification (with and without type identification)");
}

TEST(T50Gres, WhatIsNoResourceIsRefused) {
    EXPECT_EQ(gres("gpu:"),
              "Invalid generic resource (gres) specification \"gpu:\": write name, name:count, name:type or "
              "name:type:count");
    for (const auto* text : {"gpu::", "gpu:a100:", ":2", "gpu:a100:2:3", "gpu:2,", ",gpu", "gpu 2", "gpu=2",
                             "gpu:a100:x", "gpu:2(S:0-1)", "gres", "2", "gpu:a100:99999999999999999999"})
        EXPECT_TRUE(gres(text).starts_with("Invalid generic resource (gres) specification")) << text;
}

TEST(T50Gres, TypedTextIsShownAsSqueueShowsIt) {
    EXPECT_EQ(print_typed_gres("gpu"), "gres:gpu");
    EXPECT_EQ(print_typed_gres("gres:gpu:2,shard:1k"), "gres:gpu:2,gres:shard:1k");
    EXPECT_EQ(print_typed_gres("none"), "");
    EXPECT_EQ(gres_of_gpus("2"), "gpu:2");
    EXPECT_EQ(gres_of_gpus("a100:1,v100:1"), "gpu:a100:1,gpu:v100:1");
    EXPECT_EQ(gres_of_gpus(""), "");
}

TEST(T50Tres, PrintsInSlurmsOrder) {
    EXPECT_EQ(tres("gres/gpu:a100=2,billing=4,node=2,mem=16G,cpu=4,gres/gpu=2"),
              "cpu=4,mem=16G,node=2,billing=4,gres/gpu=2,gres/gpu:a100=2");
    EXPECT_EQ(tres("mem=2560"), "mem=2.50G");
    EXPECT_EQ(tres("license/matlab=3,cpu=1K"), "cpu=1024,license/matlab=3");
    EXPECT_EQ(tres(""), "");
}

TEST(T50Tres, CountsAreFoundAndChanged) {
    auto list = TresList::parse("cpu=4,mem=1G").value();
    EXPECT_EQ(list.get("mem"), 1'024U);
    EXPECT_EQ(list.get("node"), 0U);
    EXPECT_EQ(list.find("node"), std::nullopt);
    list.add("cpu", 2);
    list.set("node", 1);
    EXPECT_EQ(list.str(), "cpu=6,mem=1G,node=1");
}

TEST(T50Tres, WhatIsNoResourceIsRefused) {
    for (const auto* text :
         {"cpu", "cpu=", "cpu=x", "=4", "foo=4", "gres/=4", "/gpu=4", "cpu=4,", "mem=2.5G", "cpu=-1"})
        EXPECT_TRUE(tres(text).starts_with("Invalid Trackable RESource (TRES) specification")) << text;
    EXPECT_EQ(tres("cpu=1,cpu=2"), "Invalid Trackable RESource (TRES) specification: cpu is there twice");
}

}  // namespace
}  // namespace spur
