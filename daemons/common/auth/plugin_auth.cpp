// Calls of the auth plugin: make a credential, check one, and whether a transport is safe enough for it.
#include "daemons/common/auth/plugin_auth.hpp"

#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <cstring>

namespace spur::auth {

namespace {

spur_auth_request to_plugin(const wire::CredentialRequest& asked, std::string_view peer) {
    spur_auth_request request{};
    request.size = sizeof(request);
    request.method = plugin::str(asked.method);
    std::memcpy(request.digest, asked.body.data(), asked.body.size());
    request.peer = plugin::str(peer);
    request.audience = plugin::str(asked.audience);
    return request;
}

// Nobody, until the plugin says who.
spur_identity nobody() {
    spur_identity identity{};
    identity.size = sizeof(identity);
    identity.uid = identity.gid = SPUR_NONE;
    return identity;
}

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

}  // namespace

Result<wire::Caller> PluginAuthenticator::verify(const wire::CredentialRequest& asked, std::string_view credential,
                                                 const wire::Peer& peer) {
    const auto request = to_plugin(asked, peer.address);
    auto identity = nobody();
    auto error = empty_error();
    SPUR_TRY(const auto verdict,
             auth_.call(&spur_auth_ops::verify, &request, plugin::str(credential), &identity, &error));
    if (verdict != SPUR_OK)
        return fail(ErrorCode::denied, "{}", error.text[0] != '\0' ? error.text : "the credential was refused");
    if (identity.uid == SPUR_NONE)
        return fail(ErrorCode::denied, "{} accepted the credential and did not say whose it is; mend the plugin",
                    auth_.type());
    identity.user[sizeof(identity.user) - 1] = '\0';
    return wire::Caller{identity.uid, identity.gid, identity.user};
}

bool PluginAuthenticator::gives_proof() const { return answers(auth_); }

Result<std::string> PluginAuthenticator::prove(std::string_view, std::string_view credential, const Digest& reply) {
    plugin::StringSink answer;
    SPUR_CHECK(auth_.call(&spur_auth_ops::make_answer, plugin::str(credential), reply.data(), answer.get()));
    return std::move(answer.text);
}

Result<std::string> PluginCredentials::make(const wire::CredentialRequest& asked) {
    const auto request = to_plugin(asked, {});
    plugin::StringSink credential;
    SPUR_CHECK(auth_.call(&spur_auth_ops::make, &request, credential.get()));
    return std::move(credential.text);
}

bool PluginCredentials::needs_privacy() const { return !has_feature(auth_, SPUR_AUTH_BINDS_REQUEST); }

bool PluginCredentials::demands_proof() const { return answers(auth_); }

Result<void> PluginCredentials::verify_reply(std::string_view, std::string_view credential, const Digest& reply,
                                             std::string_view proof) {
    auto identity = nobody();
    auto error = empty_error();
    SPUR_TRY(const auto verdict, auth_.call(&spur_auth_ops::verify_answer, plugin::str(credential), reply.data(),
                                            plugin::str(proof), &identity, &error));
    if (verdict != SPUR_OK) return fail(ErrorCode::denied, "the server's answer is not genuine: {}", error.text);
    if (identity.uid != 0 && identity.uid != ::geteuid() && identity.uid != also_trusted_)
        return fail(ErrorCode::denied, "the server's answer was made by uid {}, who is not trusted to run this cluster",
                    identity.uid);
    return {};
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
