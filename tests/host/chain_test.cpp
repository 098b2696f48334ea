// Axes whose plugins are asked one after the other: the order is the configuration's, and what a refusal or a failure
// means is the axis's rule.
#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include "tests/host/fixture.hpp"
#include "tests/host/plugins/link.h"

namespace spur::host {
namespace {

constexpr std::array link_table{OpInfo{"pass", offsetof(link_ops, pass), true, Role::any}};

constexpr AxisInfo link_axis(const ChainRule& rule) {
    return {.name = "link",
            .interface = LINK_IFACE,
            .ops = link_table,
            .defaults = {},
            .has_safe_defaults = false,
            .several = true,
            .swaps_live = true,
            .is_policy = false,
            .chain = &rule};
}
constexpr ChainRule strict{.failure_refuses = true, .needs_all = true};
constexpr ChainRule lenient{.failure_refuses = false, .needs_all = false};

struct StrictAxis {
    using Ops = link_ops;
    static const AxisInfo info;
};
const AxisInfo StrictAxis::info = link_axis(strict);
struct LenientAxis {
    using Ops = link_ops;
    static const AxisInfo info;
};
const AxisInfo LenientAxis::info = link_axis(lenient);

Config chain_of(std::vector<std::string> types, const std::string& who = {}, const std::string& answer = {}) {
    std::map<std::string, std::vector<ConfigOption>> options;
    if (!who.empty()) options[who] = {{"answer", answer, 1}};
    return config_with({{"link", std::move(types)}}, std::move(options));
}

// What the members said, then what became of it.
template <class Axis>
std::string said(const Chain<Axis>& chain) {
    plugin::StringSink text;
    const auto answer = chain.run(&link_ops::pass, text.get());
    if (!answer) return text.text + "! " + answer.error().text;
    if (answer->verdict == SPUR_OK) return text.text;
    return fmt::format("{}: {} from {}: {}", text.text, answer->verdict, answer->by, answer->sentence);
}

TEST(Chains, MembersAreAskedInTheOrderOfTheConfiguration) {
    PluginHost host{test_options()};
    const auto chain = host.open_chain<StrictAxis>(chain_of({"link/b", "link/a", "link/c"}));
    ASSERT_TRUE(chain) << chain.error().text;
    EXPECT_EQ(said(*chain), "bac");
}

TEST(Chains, NoneAtAllIsAChainThatLetsEverythingPass) {
    PluginHost host{test_options()};
    const auto chain = host.open_chain<StrictAxis>(chain_of({}));
    ASSERT_TRUE(chain);
    EXPECT_TRUE(chain->empty());
    EXPECT_EQ(said(*chain), "");
}

TEST(Chains, TheFirstThatRefusesEndsItWithItsSentence) {
    PluginHost host{test_options()};
    const auto chain = host.open_chain<StrictAxis>(chain_of({"link/a", "link/b", "link/c"}, "link/b", "refuse"));
    ASSERT_TRUE(chain) << chain.error().text;
    EXPECT_EQ(said(*chain), "ab: 7 from link/b: not with b");
}

TEST(Chains, AFailureIsARefusalOrPassedOverAsTheAxisSays) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto gate = host.open_chain<StrictAxis>(chain_of({"link/a", "link/b", "link/c"}, "link/b", "fail"));
    ASSERT_TRUE(gate) << gate.error().text;
    EXPECT_TRUE(said(*gate).starts_with("ab! ")) << said(*gate);
    EXPECT_NE(said(*gate).find("b is broken"), std::string::npos);

    PluginHost other{test_options()};
    const auto row = other.open_chain<LenientAxis>(chain_of({"link/a", "link/b", "link/c"}, "link/b", "fail"));
    ASSERT_TRUE(row);
    EXPECT_EQ(said(*row), "abc");
    EXPECT_TRUE(log.contains("the next of link is asked"));
}

TEST(Chains, AMemberThatCannotBeLoadedKeepsAGateShut) {
    log::Capture log;
    PluginHost host{test_options()};
    EXPECT_FALSE(host.open_chain<StrictAxis>(chain_of({"link/a", "link/absent"})));
    PluginHost other{test_options()};
    const auto row = other.open_chain<LenientAxis>(chain_of({"link/a", "link/absent", "link/b"}));
    ASSERT_TRUE(row);
    EXPECT_EQ(said(*row), "ab");
    EXPECT_TRUE(log.contains("goes on without link"));
}

TEST(Chains, ReconfiguringChangesTheOrderAndTheMembers) {
    PluginHost host{test_options()};
    const auto chain = host.open_chain<StrictAxis>(chain_of({"link/a", "link/b"}));
    ASSERT_TRUE(chain);
    auto changes = host.reconfigure(chain_of({"link/b", "link/a"}));
    ASSERT_TRUE(changes) << changes.error().text;
    ASSERT_EQ(changes->size(), 1U);
    EXPECT_EQ(changes->at(0).what, "order");
    EXPECT_EQ(said(*chain), "ba");
    ASSERT_TRUE(host.reconfigure(chain_of({"link/c", "link/b", "link/a"})));
    EXPECT_EQ(said(*chain), "cba") << "a new one in front";
    EXPECT_FALSE(host.reconfigure(chain_of({"link/absent", "link/a"})));
    EXPECT_EQ(said(*chain), "cba") << "a mistake changes nothing";
    ASSERT_TRUE(host.reconfigure(chain_of({"link/a"})));
    EXPECT_EQ(said(*chain), "a");
}

}  // namespace
}  // namespace spur::host
