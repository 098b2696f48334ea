// Which node an agent is, where it listens and what it tells others, from its options and the configuration.
#include "daemons/spurd/settings.hpp"

#include <gtest/gtest.h>

namespace spur::agent {
namespace {

Config config_with(std::string_view addr, std::string_view hostname = "", std::uint16_t port = 0) {
    Config config;
    NodeConfig node;
    node.names = {"n1", "n2"};
    node.addr = addr;
    node.hostname = hostname;
    node.port = port;
    config.cluster.nodes.push_back(node);
    return config;
}

Settings settings_of(const Config& config, const daemon::DaemonOptions& options = {}) {
    Hardware hardware;
    hardware.hostname = "n2.lab.org";
    auto settings = make_settings(options, config, hardware);
    EXPECT_TRUE(settings) << settings.error().text;
    return settings ? *settings : Settings{};
}

TEST(AgentSettings, TheAddressOfTheNodesEntryIsWhatOthersAreTold) {
    const auto settings = settings_of(config_with("10.0.0.[7-8]"));
    EXPECT_EQ(serve_address(settings, 41233, "n2"), "10.0.0.8:41233");
    EXPECT_EQ(serve_address(settings_of(config_with("fd00::1,fd00::2")), 41233, "n2"), "[fd00::2]:41233");
    daemon::DaemonOptions options;
    options.own["advertise"] = "elsewhere:1";
    EXPECT_EQ(serve_address(settings_of(config_with("10.0.0.[7-8]"), options), 41233, "n2"), "elsewhere:1");
}

TEST(AgentSettings, WithoutAnAddressItIsWhereTheAgentListens) {
    auto config = config_with("");
    EXPECT_EQ(serve_address(settings_of(config), 41233, "n2"), "127.0.0.1:41233");
    config.auth.plugin = "auth/munge";
    EXPECT_EQ(serve_address(settings_of(config), 41233, "n2"), "n2:41233");
}

TEST(AgentSettings, ItListensOnTheAddressAndPortOfItsEntry) {
    auto config = config_with("10.0.0.[7-8]", "", 7000);
    EXPECT_EQ(settings_of(config).listen.text(), "10.0.0.8:7000");
    config.auth.plugin = "auth/munge";
    EXPECT_EQ(settings_of(config).listen.text(), "0.0.0.0:7000");
    config.agent.listen_addr = "10.1.0.8";
    EXPECT_EQ(settings_of(config).listen.text(), "10.1.0.8:7000");
    daemon::DaemonOptions options;
    options.listen = "127.0.0.1:0";
    EXPECT_EQ(settings_of(config, options).listen.text(), "127.0.0.1:0");
}

TEST(AgentSettings, AMachineIsTheNodeWhoseEntryHasItsHostname) {
    EXPECT_EQ(settings_of(config_with("")).node, "n2");
    EXPECT_EQ(settings_of(config_with("", "n2,n1")).node, "n1");
    daemon::DaemonOptions options;
    options.own["node"] = "n2";
    EXPECT_EQ(settings_of(config_with("", "n2,n1"), options).node, "n2");
}

}  // namespace
}  // namespace spur::agent
