// What the host makes of an auth plugin's answers.
#include <gtest/gtest.h>

#include "daemons/common/auth/plugin_auth.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

TEST(PluginAuth, WhoeverIsNotNamedIsNobodyAndNeverRoot) {
    PluginHost host{test_options()};
    const auto plugin = host.open<AuthAxis>(config_with({{"auth", {"auth/silent"}}}));
    ASSERT_TRUE(plugin) << plugin.error().text;
    const auto caller = auth::PluginAuthenticator{*plugin}.verify({"/spur.v1.Controller/Submit", {}, {}}, "anything", {});
    ASSERT_FALSE(caller) << "uid " << caller->uid;
    EXPECT_EQ(caller.error().text, "auth/silent accepted the credential and did not say whose it is; mend the plugin");
    const auto server = auth::PluginCredentials{*plugin}.verify_reply("/spur.v1.Controller/Submit", "anything", {}, "anything");
    ASSERT_FALSE(server);
    EXPECT_NE(server.error().text.find("is not trusted to run this cluster"), std::string::npos) << server.error().text;
}

}  // namespace
}  // namespace spur::host
