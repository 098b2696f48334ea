// One side of a connection between controllers: TLS 1.3 with the shared key instead of certificates.
//
// The client proves that it knows the key in its first message, before the server has said anything; the server proves
// it in its answer; what follows is encrypted and authenticated with keys that live as long as the connection. No
// sockets here: bytes from the wire go in, bytes for the wire come out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fault.hpp"
#include "key.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace spur::raftlog {

// What all sessions of one instance share.
class SecureContext {
public:
    explicit SecureContext(const Key& key);
    ~SecureContext();
    SecureContext(const SecureContext&) = delete;
    SecureContext& operator=(const SecureContext&) = delete;

private:
    friend class SecureSession;
    Key key_;
    ssl_ctx_st* context_;
};

enum class Side { client, server };

class SecureSession {
public:
    SecureSession(const SecureContext& context, Side side);
    ~SecureSession();
    SecureSession(const SecureSession&) = delete;
    SecureSession& operator=(const SecureSession&) = delete;

    // Takes what the wire brought. A fault means the other side is a stranger or a meddler: close, and send nothing
    // more.
    Outcome<void> receive(std::span<const std::uint8_t> wire);
    // Both sides have proved themselves.
    bool is_ready() const;
    Outcome<void> send(std::span<const std::uint8_t> plain);

    std::string take_plain();  // decrypted so far
    std::string take_wire();   // to be sent now

private:
    Outcome<void> advance();
    Side side_;
    ssl_st* session_;
    std::string plain_;
};

}  // namespace spur::raftlog
