// Calls of the auth plugin: make a credential, check one, and whether a transport is safe enough for it.
#include "daemons/common/auth/plugin_auth.hpp"

#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>

#include "daemons/common/auth/binding.hpp"
#include "daemons/common/auth/scopes.hpp"
#include "daemons/common/host/time_limit.hpp"

namespace spur::auth {

namespace {

// A caller waits for it, and so does everybody whose connection is served by the same thread.
constexpr std::chrono::seconds patience{5};
constexpr std::size_t most_claims = 4096, longest_claim = 1024;

spur_auth_request to_plugin(const wire::CredentialRequest& asked) {
    spur_auth_request request{};
    request.size = sizeof(request);
    const auto binding = binding_of(asked);
    std::memcpy(request.binding, binding.data(), binding.size());
    request.method = plugin::str(asked.method);
    request.audience = plugin::str(asked.audience);
    request.server = plugin::str(asked.server);
    request.on_behalf_of = plugin::str(asked.on_behalf_of);
    request.peer = plugin::str(asked.peer);
    request.peer_name = plugin::str(asked.peer_name);
    return request;
}

spur_auth_reply to_plugin(std::string_view credential, const Digest& digest) {
    spur_auth_reply reply{};
    reply.size = sizeof(reply);
    const auto binding = binding_of(credential, digest);
    std::memcpy(reply.binding, binding.data(), binding.size());
    reply.credential = plugin::str(credential);
    return reply;
}

// Nobody, until the plugin says who.
spur_identity nobody() {
    spur_identity identity{};
    identity.size = sizeof(identity);
    identity.uid = identity.gid = SPUR_NONE;
    return identity;
}

// What a plugin claims of a caller, besides who he is.
struct Claims {
    Claims() : table{sizeof(table), 0, this, take} {}
    spur_claims table;
    std::vector<std::string> groups, scopes;

private:
    static spur_status take(const spur_claims* claims, spur_str name, spur_str value) noexcept try {
        auto& self = *static_cast<Claims*>(claims->context);
        const auto key = plugin::view(name), text = plugin::view(value);
        auto* const list = key == "group" ? &self.groups : key == "scope" ? &self.scopes : nullptr;
        if (list == nullptr) return SPUR_OK;
        if (text.empty() || text.size() > longest_claim || list->size() == most_claims) return SPUR_E_INVALID;
        list->emplace_back(text);
        return SPUR_OK;
    } catch (...) {
        return SPUR_E_INTERNAL;
    }
};

bool has_feature(const host::Bound<host::AuthAxis>& auth, std::uint32_t feature) {
    const auto pinned = auth.pin();
    return pinned && (pinned.ops().features & feature) != 0;
}

bool answers(const host::Bound<host::AuthAxis>& auth) { return has_feature(auth, SPUR_AUTH_ANSWERS); }

spur_error empty_error() {
    spur_error error{};
    error.size = sizeof(error);
    return error;
}

template <std::size_t Size>
std::string text_of(char (&text)[Size]) {
    text[Size - 1] = '\0';
    return text;
}

// What goes into a header must be fit for one.
Result<std::string> printable_only(std::string text, const std::string& type, std::string_view what) {
    if (text.empty() || text.size() > 16384 || !std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; }))
        return fail(ErrorCode::internal, "{} made a {} that no header can carry; mend the plugin", type, what);
    return text;
}

// A front end asks as somebody else: root's or this daemon's own user's may. What its own credential may not do, it may
// do for nobody.
Result<wire::Caller> act_for(wire::Caller front_end, std::string_view uid) {
    std::uint32_t wanted = spur::nobody;
    const auto [end, error] = std::from_chars(uid.data(), uid.data() + uid.size(), wanted);
    if (error != std::errc{} || end != uid.data() + uid.size() || wanted == spur::nobody)
        return fail(ErrorCode::denied, "on behalf of whom? It takes the number of a user");
    if (wanted == front_end.uid) return front_end;
    if (front_end.uid != 0 && front_end.uid != ::geteuid())
        return fail(ErrorCode::denied,
                    "uid {} may not ask on behalf of others; root and the user this daemon runs as may", front_end.uid);
    wire::Caller caller{.uid = wanted};
    caller.through = front_end.uid;
    caller.origin = std::move(front_end.origin);
    caller.is_scoped = front_end.is_scoped;
    caller.token_expires = front_end.token_expires;
    return caller;
}

}  // namespace

Result<wire::Verdict> PluginAuthenticator::verify(const wire::CredentialRequest& asked, std::string_view credential,
                                                  const wire::Peer&) {
    const auto request = to_plugin(asked);
    auto identity = nobody();
    auto error = empty_error();
    Claims claims;
    const host::TimeLimit limit{patience};
    SPUR_TRY(const auto verdict, auth_.call(&spur_auth_ops::verify, &request, plugin::str(credential), &identity,
                                            &claims.table, limit.get(), &error));
    if (verdict == SPUR_AUTH_CHALLENGE) {
        SPUR_TRY(auto question, challenge(request, credential));
        return wire::Verdict::ask_back(std::move(question));
    }
    if (verdict != SPUR_OK)
        return fail(ErrorCode::denied, "{}",
                    error.text[0] != '\0' ? text_of(error.text) : "the credential was refused");
    if (identity.uid == SPUR_NONE)
        return fail(ErrorCode::denied, "{} accepted the credential and did not say whose it is; mend the plugin",
                    auth_.type());
    wire::Caller caller{.uid = identity.uid, .gid = identity.gid, .name = text_of(identity.user)};
    caller.origin = text_of(identity.origin);
    caller.is_scoped = (identity.flags & SPUR_IDENTITY_IS_SCOPED) != 0;
    if (caller.is_scoped) SPUR_CHECK(check_scopes(asked.method, claims.scopes));
    if ((identity.flags & SPUR_IDENTITY_HAS_GROUPS) != 0) caller.groups = std::move(claims.groups);
    if (!has_feature(auth_, SPUR_AUTH_BINDS_REQUEST)) caller.token_expires = identity.expires;
    if (asked.on_behalf_of.empty()) return caller;
    return act_for(std::move(caller), asked.on_behalf_of);
}

Result<std::string> PluginAuthenticator::challenge(const spur_auth_request& request,
                                                   std::string_view credential) const {
    plugin::StringSink question;
    const host::TimeLimit limit{patience};
    SPUR_CHECK(auth_.call(&spur_auth_ops::challenge, &request, plugin::str(credential), question.get(), limit.get()));
    return printable_only(std::move(question.text), auth_.type(), "challenge");
}

bool PluginAuthenticator::gives_proof() const { return answers(auth_); }

Result<std::string> PluginAuthenticator::prove(std::string_view, std::string_view credential, const Digest& digest) {
    plugin::StringSink answer;
    const auto reply = to_plugin(credential, digest);
    const host::TimeLimit limit{patience};
    SPUR_CHECK(auth_.call(&spur_auth_ops::make_answer, &reply, answer.get(), limit.get()));
    return std::move(answer.text);
}

Result<std::string> PluginCredentials::make(const wire::CredentialRequest& asked) {
    auto request = to_plugin(asked);
    request.token = plugin::str(token_);
    plugin::StringSink credential;
    const host::TimeLimit limit{patience};
    SPUR_CHECK(auth_.call(&spur_auth_ops::make, &request, credential.get(), limit.get()));
    return std::move(credential.text);
}

bool PluginCredentials::needs_privacy() const { return !has_feature(auth_, SPUR_AUTH_BINDS_REQUEST); }

bool PluginCredentials::expects_challenges() const { return has_feature(auth_, SPUR_AUTH_CHALLENGES); }

Result<std::string> PluginCredentials::respond(const wire::CredentialRequest& asked, std::string_view credential,
                                               std::string_view challenge) {
    if (!expects_challenges()) return wire::CredentialSource::respond(asked, credential, challenge);
    auto request = to_plugin(asked);
    request.token = plugin::str(token_);
    plugin::StringSink next;
    const host::TimeLimit limit{patience};
    SPUR_CHECK(auth_.call(&spur_auth_ops::respond, &request, plugin::str(credential), plugin::str(challenge),
                          next.get(), limit.get()));
    return std::move(next.text);
}

bool PluginCredentials::demands_proof() const { return answers(auth_); }

Result<void> PluginCredentials::verify_reply(std::string_view, std::string_view credential, const Digest& digest,
                                             std::string_view proof) {
    auto identity = nobody();
    auto error = empty_error();
    const auto reply = to_plugin(credential, digest);
    const host::TimeLimit limit{patience};
    SPUR_TRY(const auto verdict,
             auth_.call(&spur_auth_ops::verify_answer, &reply, plugin::str(proof), &identity, limit.get(), &error));
    if (verdict != SPUR_OK) return fail(ErrorCode::denied, "the server's answer is not genuine: {}", error.text);
    if (identity.uid != 0 && identity.uid != ::geteuid() && identity.uid != also_trusted_)
        return fail(ErrorCode::denied, "the server's answer was made by uid {}, who is not trusted to run this cluster",
                    identity.uid);
    return {};
}

Result<std::string> issue_token(const host::Bound<host::AuthAxis>& auth, const TokenWanted& wanted) {
    if (!has_feature(auth, SPUR_AUTH_ISSUES))
        return fail(ErrorCode::invalid, "{} makes no tokens; auth/jwt does ([auth] plugin in spur.conf)", auth.type());
    spur_token_request request{};
    request.size = sizeof(request);
    request.uid = wanted.uid;
    request.user = plugin::str(wanted.user);
    request.expires = static_cast<std::int64_t>(std::time(nullptr)) + wanted.lifespan.count();
    request.scopes = plugin::str(wanted.scopes);
    request.audience = plugin::str(wanted.cluster);
    plugin::StringSink token;
    const host::TimeLimit limit{patience};
    SPUR_CHECK(auth.call(&spur_auth_ops::issue, &request, token.get(), limit.get()));
    return printable_only(std::move(token.text), auth.type(), "token");
}

Result<void> check_transport(const host::Bound<host::AuthAxis>& auth, const Endpoint& listen, bool has_tls) {
    const bool binds = has_feature(auth, SPUR_AUTH_BINDS_REQUEST);
    if (has_tls || listen.is_loopback() || (binds && answers(auth))) return {};
    return fail(ErrorCode::invalid,
                "{} {}, so it cannot serve {} without TLS: set certificate, key and ca under [tls], or listen on "
                "127.0.0.1",
                auth.type(),
                binds ? "does not prove the server to its callers" : "sends tokens that whoever sees them can use",
                listen.text());
}

}  // namespace spur::auth
