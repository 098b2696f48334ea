#include "daemons/common/auth/plugin_auth.hpp"

#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <cstring>

namespace spur::daemon {

namespace {

spur_auth_request request_for(std::string_view method, const Digest& body, std::string_view peer) {
    spur_auth_request request{};
    request.size = sizeof(request);
    request.method = plugin::str(method);
    std::memcpy(request.digest, body.data(), body.size());
    request.peer = plugin::str(peer);
    return request;
}

bool answers(const Bound<AuthAxis>& auth) {
    const auto pinned = auth.pin();
    return pinned && (pinned.ops().features & SPUR_AUTH_ANSWERS) != 0;
}

spur_error empty_error() {
    spur_error error{};
    error.size = sizeof(error);
    return error;
}

}  // namespace

Result<wire::Caller> PluginAuthenticator::verify(std::string_view method, const Digest& body,
                                                 std::string_view credential, const wire::Peer& peer) {
    const auto request = request_for(method, body, peer.address);
    spur_identity identity{};
    identity.size = sizeof(identity);
    auto error = empty_error();
    SPUR_TRY(const auto verdict,
             auth_.call(&spur_auth_ops::verify, &request, plugin::str(credential), &identity, &error));
    if (verdict != SPUR_OK)
        return fail(ErrorCode::denied, "{}", error.text[0] != '\0' ? error.text : "the credential was refused");
    identity.user[sizeof(identity.user) - 1] = '\0';
    return wire::Caller{identity.uid, identity.gid, identity.user};
}

bool PluginAuthenticator::gives_proof() const { return answers(auth_); }

Result<std::string> PluginAuthenticator::prove(std::string_view, std::string_view credential, const Digest& reply) {
    plugin::StringSink answer;
    SPUR_CHECK(auth_.call(&spur_auth_ops::make_answer, plugin::str(credential), reply.data(), answer.get()));
    return std::move(answer.text);
}

Result<std::string> PluginCredentials::make(std::string_view method, const Digest& body) {
    const auto request = request_for(method, body, {});
    plugin::StringSink credential;
    SPUR_CHECK(auth_.call(&spur_auth_ops::make, &request, credential.get()));
    return std::move(credential.text);
}

bool PluginCredentials::demands_proof() const { return answers(auth_); }

Result<void> PluginCredentials::verify_reply(std::string_view, std::string_view credential, const Digest& reply,
                                             std::string_view proof) {
    spur_identity identity{};
    identity.size = sizeof(identity);
    auto error = empty_error();
    SPUR_TRY(const auto verdict, auth_.call(&spur_auth_ops::verify_answer, plugin::str(credential), reply.data(),
                                            plugin::str(proof), &identity, &error));
    if (verdict != SPUR_OK) return fail(ErrorCode::denied, "the server's answer is not genuine: {}", error.text);
    if (identity.uid != 0 && identity.uid != ::geteuid() && identity.uid != also_trusted_)
        return fail(ErrorCode::denied, "the server's answer was made by uid {}, who is not trusted to run this cluster",
                    identity.uid);
    return {};
}

}  // namespace spur::daemon
