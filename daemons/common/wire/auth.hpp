// What the wire asks of authentication. The auth plugin host implements both sides; the wire only carries the text.
//
// A credential is made for one request: its method, the SHA-256 of its message bytes, and the server it is meant for.
// The digest and the audience travel beside it (`spur-digest`, `spur-audience`), so that the server knows who asks
// before it takes any of the body; when the body is complete it is compared with the digest. Of a stream, whose
// messages come later, the digest is that of nothing.
// The server's proof binds the client's credential and a digest of the reply: SHA-256 of the reply's message bytes; of
// a failed call, SHA-256 of "<status number>\n<message>\n<spur-leader or nothing>"; of a stream, SHA-256 of nothing:
// its proof comes with the response headers, before the first message, and the client's messages wait for it.
#pragma once

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/sha256.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::wire {

// The server that a credential is meant for: worth nothing at another one, and nothing at this one once it has been
// restarted. What a client does not know it leaves out; what it says must be true.
struct Audience {
    std::string cluster;        // by name; empty: not known on this side
    std::string server;         // "spurctld", or the name of an agent's node
    std::uint64_t instance{0};  // drawn anew by each process that serves, and told to whoever connects

    [[nodiscard]] std::string text() const;  // "cluster/server/instance": what is bound, and what the header says
    // `text` means this server, or the error says whom.
    [[nodiscard]] Result<void> check(std::string_view text) const;
};

// What a credential is for, and what else is known about the call.
struct CredentialRequest {
    std::string_view method;
    Digest body{};
    std::string_view audience;        // Audience::text(), as the client knows it
    std::string_view on_behalf_of{};  // a uid in decimal: as whom a front end asks; empty: as itself
    std::string_view peer{};          // the other side's address...
    std::string_view peer_name{};     // ...and its name: in the client's certificate, or as the client was told it
    std::string_view server{};        // on the server: its own Audience::text(), complete; not bound
};

// How many credentials a server may ask for before it has to decide.
inline constexpr unsigned most_legs = 4;

// [client side] Used by one thread at a time, the channel's.
class CredentialSource {
public:
    virtual ~CredentialSource() = default;

    // A fresh credential for one attempt at one call: printable ASCII, at most 32 KiB. Called again for every retry.
    virtual Result<std::string> make(const CredentialRequest& request) = 0;

    // Whether whoever sees a credential can use it: then it is only sent over TLS, or within this machine.
    [[nodiscard]] virtual bool needs_privacy() const { return false; }

    // May the server ask back? Then a stream waits for its first word, and respond() makes the next credential, for the
    // same request, where `credential` was met with `challenge`.
    [[nodiscard]] virtual bool expects_challenges() const { return false; }
    virtual Result<std::string> respond(const CredentialRequest& request, std::string_view credential,
                                        std::string_view challenge) {
        static_cast<void>(request), static_cast<void>(credential), static_cast<void>(challenge);
        return fail(ErrorCode::denied, "the server asks back, and this side's auth plugin has no answer to that");
    }

    // Should the server prove itself? If so, a reply without a proof is refused before anyone sees it.
    [[nodiscard]] virtual bool demands_proof() const { return false; }
    // `credential` is what make() returned for this attempt; `proof` is the server's spur-auth-reply.
    virtual Result<void> verify_reply(std::string_view method, std::string_view credential, const Digest& reply,
                                      std::string_view proof) {
        static_cast<void>(method), static_cast<void>(credential), static_cast<void>(reply), static_cast<void>(proof);
        return {};
    }
};

// Who is calling, as the auth plugin says. Nothing in a request's body can change it.
struct Caller {
    std::uint32_t uid{nobody};
    std::uint32_t gid{nobody};
    std::string name{};  // of the user, when known
    std::uint32_t through{nobody};  // the front end that asks on this user's behalf; nobody: he asks himself
    std::string origin{};           // where the credential was made, as far as its mechanism proves that
    std::optional<std::vector<std::string>> groups{};  // all of them, by name or number; nothing: ask the directory
    bool is_scoped{false};                             // may do less than the user himself
    std::int64_t token_expires{0};  // of a token that whoever has it can use; 0: the credential is none
};

// Who is calling, or what he must answer first.
struct Verdict {
    Verdict(Caller is) : caller{std::move(is)} {}  // NOLINT: a caller is a verdict
    static Verdict ask_back(std::string question) {
        Verdict verdict{Caller{}};
        verdict.challenge = std::move(question);
        return verdict;
    }
    Caller caller;
    std::string challenge{};  // not empty: nobody yet
};

// Where a call came from: for logs and for plugins that look at it. It proves nothing by itself.
struct Peer {
    std::string address;               // "10.0.0.7:41822"
    std::string certificate;           // the common name in the client's verified certificate; empty without mutual TLS
    std::vector<std::string> names{};  // all that it is made out to: that one, and its DNS names
};

// [server side] Called from several I/O threads at once. May block for as long as a local daemon takes to answer.
class Authenticator {
public:
    virtual ~Authenticator() = default;

    // `credential` is empty if the caller sent none. An error ends the call with UNAUTHENTICATED and that sentence; a
    // challenge does too, and goes along.
    virtual Result<Verdict> verify(const CredentialRequest& request, std::string_view credential, const Peer& peer) = 0;

    // Whether replies carry a proof; costs a digest of each reply.
    [[nodiscard]] virtual bool gives_proof() const { return false; }
    // The spur-auth-reply for a caller that sent `credential`: printable ASCII, at most 32 KiB.
    virtual Result<std::string> prove(std::string_view method, std::string_view credential, const Digest& reply) {
        static_cast<void>(method), static_cast<void>(credential), static_cast<void>(reply);
        return std::string{};
    }
};

}  // namespace spur::wire
