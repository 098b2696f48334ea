// What the host makes of an auth plugin's answers.
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

#include "daemons/common/auth/binding.hpp"
#include "daemons/common/auth/plugin_auth.hpp"
#include "daemons/common/auth/scopes.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

constexpr std::string_view submit = "/spur.v1.Controller/Submit";
const wire::CredentialRequest asked{submit, {}, "cluster/spurctld/1"};

// auth/actor with these options, and both sides of a call.
struct Auth : ::testing::Test {
    void open(std::vector<ConfigOption> options) {
        const auto opened =
            host.open<AuthAxis>(config_with({{"auth", {"auth/actor"}}}, {{"auth/actor", std::move(options)}}));
        ASSERT_TRUE(opened) << opened.error().text;
        plugin = *opened;
    }
    Result<wire::Verdict> verify(const wire::CredentialRequest& request = asked, std::string credential = {}) {
        if (credential.empty()) credential = *auth::PluginCredentials{plugin}.make(request);
        return auth::PluginAuthenticator{plugin}.verify(request, credential, {});
    }
    void expect_refusal(const Result<wire::Verdict>& verdict, const std::string& sentence) {
        ASSERT_FALSE(verdict) << "uid " << verdict->caller.uid;
        EXPECT_NE(verdict.error().text.find(sentence), std::string::npos) << verdict.error().text;
    }
    PluginHost host{test_options()};
    Bound<AuthAxis> plugin;
};

wire::CredentialRequest on_behalf(std::string_view uid) { return {submit, {}, "cluster/spurctld/1", uid}; }

TEST(PluginAuth, WhoeverIsNotNamedIsNobodyAndNeverRoot) {
    PluginHost host{test_options()};
    const auto plugin = host.open<AuthAxis>(config_with({{"auth", {"auth/silent"}}}));
    ASSERT_TRUE(plugin) << plugin.error().text;
    const auto caller = auth::PluginAuthenticator{*plugin}.verify(asked, "anything", {});
    ASSERT_FALSE(caller) << "uid " << caller->caller.uid;
    EXPECT_EQ(caller.error().text, "auth/silent accepted the credential and did not say whose it is; mend the plugin");
    const auto server = auth::PluginCredentials{*plugin}.verify_reply(submit, "anything", {}, "anything");
    ASSERT_FALSE(server);
    EXPECT_NE(server.error().text.find("is not trusted to run this cluster"), std::string::npos) << server.error().text;
}

TEST_F(Auth, WhatIsBoundIsTheMethodTheBodyTheServerAndOnWhoseBehalf) {
    const wire::CredentialRequest request{"/m", sha256("body"), "c/s/1", "7"};
    auto method = request, body = request, server = request, behalf = request, shifted = request;
    method.method = "/n";
    body.body = sha256("other");
    server.audience = "c/s/2";
    behalf.on_behalf_of = "8";
    shifted.audience = "c/s/17", shifted.on_behalf_of = "";
    for (const auto& other : {method, body, server, behalf, shifted})
        EXPECT_NE(auth::binding_of(request), auth::binding_of(other));
    open({});
    const auto credential = *auth::PluginCredentials{plugin}.make(request);
    expect_refusal(verify(server, credential), "for another request");
}

TEST_F(Auth, RootAndTheDaemonsOwnUserMayAskOnBehalfOfOthersAndItIsKnownThroughWhom) {
    open({});
    const auto verdict = verify(on_behalf("1234"));
    ASSERT_TRUE(verdict) << verdict.error().text;
    EXPECT_EQ(verdict->caller.uid, 1234u);
    EXPECT_EQ(verdict->caller.through, ::geteuid());
    EXPECT_EQ(verdict->caller.gid, nobody);
    for (const std::string_view nonsense : {"alice", "12x", "-1", " 5", "4294967295", "99999999999"})
        expect_refusal(verify(on_behalf(nonsense)), "takes the number of a user");
}

TEST_F(Auth, NobodyElseMayAskOnBehalfOfOthers) {
    open({{"uid", std::int64_t{990}, 1}});
    expect_refusal(verify(on_behalf("1234")), "uid 990 may not ask on behalf of others");
    expect_refusal(verify(on_behalf("0")), "uid 990 may not ask on behalf of others");
    EXPECT_EQ(verify(on_behalf("990"))->caller.through, nobody) << "as himself he may";
}

TEST_F(Auth, ScopesSayWhatACallerMayAskForAndHoldForWhomHeSpeaksFor) {
    open({{"scopes", std::string{"read"}, 1}});
    const wire::CredentialRequest list{"/spur.v1.Controller/ListJobs", {}, "c/s/1"};
    EXPECT_TRUE(verify(list)->caller.is_scoped);
    expect_refusal(verify(), "the credential's scope is \"read\", and /spur.v1.Controller/Submit needs \"jobs\"");
    expect_refusal(verify(on_behalf("1234")), "needs \"jobs\"");
    expect_refusal(verify({"/spur.v1.Controller/WhateverComesLater", {}, "c/s/1"}), "needs \"admin\"");
    EXPECT_EQ(auth::scope_of("/spur.v1.Tokens/Issue"), "admin");
}

TEST_F(Auth, GroupsInACredentialAreAllThatItsCallerHas) {
    open({{"groups", std::string{"physics 1001"}, 1}});
    EXPECT_EQ(verify()->caller.groups, (std::vector<std::string>{"physics", "1001"}));
    open({});
    EXPECT_EQ(verify()->caller.groups, std::nullopt) << "the directory knows";
}

TEST_F(Auth, AMechanismMayAskBackBeforeItDecides) {
    open({{"legs", true, 1}});
    auth::PluginCredentials client{plugin};
    EXPECT_TRUE(client.expects_challenges());
    const auto first = *client.make(asked);
    const auto question = verify(asked, first);
    ASSERT_TRUE(question) << question.error().text;
    EXPECT_EQ(question->challenge, "q");
    EXPECT_EQ(question->caller.uid, nobody);
    const auto second = client.respond(asked, first, question->challenge);
    ASSERT_TRUE(second) << second.error().text;
    EXPECT_EQ(verify(asked, *second)->caller.uid, ::geteuid());
    expect_refusal(verify(on_behalf("5"), *second), "for another request");
}

TEST_F(Auth, APluginThatMakesNoTokensSaysSo) {
    open({});
    const auto token = auth::issue_token(plugin, {1000, "alice", std::chrono::seconds{60}, "", "cluster"});
    ASSERT_FALSE(token);
    EXPECT_EQ(token.error().text, "auth/actor makes no tokens; auth/jwt does ([auth] plugin in spur.conf)");
}

TEST_F(Auth, AVerifyThatWaitsTooLongIsStoppedAndTheCallerToldSo) {
    const TempDir dir;
    const auto trouble = dir.path() / "trouble";
    std::ofstream{trouble} << "wait";
    open({{"trouble", trouble.native(), 1}});
    const auto begun = std::chrono::steady_clock::now();
    expect_refusal(verify(), "stopped");
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{8});
}

TEST(PluginAuthHang, ACallThatDoesNotComeBackIsNamedInTheLog) {
    const TempDir dir;
    const auto trouble = (dir.path() / "trouble").native();
    std::ofstream{trouble} << "wait";
    const log::Capture lines;
    auto options = test_options();
    options.slow_call = std::chrono::milliseconds{100};
    PluginHost host{std::move(options)};
    const auto plugin =
        host.open<AuthAxis>(config_with({{"auth", {"auth/actor"}}}, {{"auth/actor", {{"trouble", trouble, 1}}}}));
    ASSERT_TRUE(plugin) << plugin.error().text;
    EXPECT_FALSE(auth::PluginAuthenticator{*plugin}.verify(asked, "x", {}));
    EXPECT_TRUE(
        lines.contains("plugin auth/actor has been in verify() for 0 s, and whoever waits for it goes on waiting; "
                       "isolate = true in [plugin.\"auth/actor\"] would let spurtest end such a call"));
}

}  // namespace
}  // namespace spur::host
