// The network's switches: a tree out of what was written, and the mistakes it can have.
#include <gtest/gtest.h>

#include "core/model/switches.hpp"

namespace spur {
namespace {

std::vector<Text> texts(std::initializer_list<const char*> names) { return {names.begin(), names.end()}; }
SwitchConfig leaf(const char* name, std::initializer_list<const char*> nodes) { return {Text{name}, texts(nodes), {}}; }
SwitchConfig above(const char* name, std::initializer_list<const char*> below) {
    return {Text{name}, {}, texts(below)};
}
std::string mistake(const std::vector<SwitchConfig>& written) {
    const auto tree = SwitchTree::resolve(written);
    return tree ? "" : tree.error().text;
}

TEST(T50Switches, NodesHangBelowEverySwitchAboveThem) {
    const auto tree = SwitchTree::resolve({above("top", {"mid", "s2"}), leaf("s0", {"n1", "n2"}), leaf("s1", {"n3"}),
                                           above("mid", {"s0", "s1"}), leaf("s2", {"n4"})});
    ASSERT_TRUE(tree);
    const auto& all = tree->all();
    EXPECT_EQ(all[0].level, 2U);
    EXPECT_EQ(all[0].nodes, texts({"n1", "n2", "n3", "n4"}));
    EXPECT_EQ(all[0].parent, Switch::none);
    EXPECT_EQ(all[3].level, 1U);
    EXPECT_EQ(all[3].nodes, texts({"n1", "n2", "n3"}));
    EXPECT_EQ(all[3].parent, 0U);
    EXPECT_EQ(tree->leaf_of("n3"), 2U);
    EXPECT_EQ(tree->leaf_of("n9"), Switch::none);
    EXPECT_EQ(tree->address_of("n1").address, "top.mid.s0.n1");
    EXPECT_EQ(tree->address_of("n1").pattern, "switch.switch.switch.node");
    EXPECT_EQ(tree->address_of("n9").address, "n9");
    EXPECT_EQ(tree->address_of("n9").pattern, "node");
}

TEST(T50Switches, WhatIsNoTreeIsRefused) {
    EXPECT_EQ(mistake({leaf("a", {"n1"}), leaf("a", {"n2"})}), "switch \"a\" is described twice; remove one");
    EXPECT_EQ(mistake({leaf("a", {"n1"}), leaf("b", {"n1"})}),
              "switch \"b\": node \"n1\" hangs off switch \"a\" already");
    EXPECT_EQ(mistake({above("a", {"b"})}), "switch \"a\": switch \"b\" is not described; add a [[switches]]");
    EXPECT_EQ(mistake({leaf("l", {"n1"}), above("a", {"l"}), above("b", {"l"})}),
              "switch \"b\": switch \"l\" is below switch \"a\" already");
    EXPECT_EQ(mistake({above("a", {"b"}), above("b", {"a"})}), "switch \"a\" is below itself");
    EXPECT_EQ(mistake({{Text{"a"}, texts({"n1"}), texts({"b"})}}),
              "switch \"a\" needs nodes = \"n[1-4]\" or switches = \"s[1-2]\", and has both");
    EXPECT_EQ(mistake({{Text{"a"}, {}, {}}}),
              "switch \"a\" needs nodes = \"n[1-4]\" or switches = \"s[1-2]\", and has none");
}

}  // namespace
}  // namespace spur
