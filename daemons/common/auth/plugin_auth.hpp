// The auth plugin in force, as the wire wants it: one side makes credentials, the other checks them.
#pragma once

#include <chrono>

#include "core/text/endpoint.hpp"
#include "daemons/common/host/host.hpp"
#include "daemons/common/wire/auth.hpp"

namespace spur::auth {

// [server side, any thread]
class PluginAuthenticator final : public wire::Authenticator {
public:
    explicit PluginAuthenticator(host::Bound<host::AuthAxis> auth) : auth_{auth} {}
    Result<wire::Verdict> verify(const wire::CredentialRequest& request, std::string_view credential,
                                 const wire::Peer& peer) override;
    [[nodiscard]] bool gives_proof() const override;
    Result<std::string> prove(std::string_view method, std::string_view credential, const Digest& reply) override;

private:
    Result<std::string> challenge(const spur_auth_request& request, std::string_view credential) const;

    host::Bound<host::AuthAxis> auth_;
};

// [client side] The answer must come from root, from the user this process runs as, or from `also_trusted`.
class PluginCredentials final : public wire::CredentialSource {
public:
    // `token`: what the user brought, for plugins that take one.
    explicit PluginCredentials(host::Bound<host::AuthAxis> auth, std::uint32_t also_trusted = 0, std::string token = {})
        : auth_{auth}, also_trusted_{also_trusted}, token_{std::move(token)} {}
    Result<std::string> make(const wire::CredentialRequest& request) override;
    [[nodiscard]] bool needs_privacy() const override;
    [[nodiscard]] bool expects_challenges() const override;
    Result<std::string> respond(const wire::CredentialRequest& request, std::string_view credential,
                                std::string_view challenge) override;
    [[nodiscard]] bool demands_proof() const override;
    Result<void> verify_reply(std::string_view method, std::string_view credential, const Digest& reply,
                              std::string_view proof) override;

private:
    host::Bound<host::AuthAxis> auth_;
    std::uint32_t also_trusted_;
    std::string token_;
};

// A token for a user, by plugins that can make one (scontrol token).
struct TokenWanted {
    std::uint32_t uid;
    std::string user;
    std::chrono::seconds lifespan;
    std::string scopes;   // separated by spaces; empty: whatever the user may
    std::string cluster;  // where it is to work
};
Result<std::string> issue_token(const host::Bound<host::AuthAxis>& auth, const TokenWanted& wanted);

// Refuses to serve beyond this machine with a plugin that has no proof of the server, or whose credentials can be used
// by whoever sees them, unless TLS makes up for that.
Result<void> check_transport(const host::Bound<host::AuthAxis>& auth, const Endpoint& listen, bool has_tls);

}  // namespace spur::auth
