// TLS as a filter between the socket's bytes and HTTP/2's: no I/O of its own, the same for client and server.
#pragma once

#include "core/base/result.hpp"
#include "daemons/common/wire/tls.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

// OpenSSL's types, named here so that nobody else includes its headers.
struct ssl_ctx_st;
struct ssl_st;
struct bio_st;

namespace spur::wire {

// Certificates, keys and trust, loaded once and shared by connections.
class TlsContext {
public:
    static Result<std::shared_ptr<TlsContext>> for_client(const TlsOptions& options);
    static Result<std::shared_ptr<TlsContext>> for_server(const TlsOptions& options);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;

private:
    friend class TlsEngine;
    TlsContext(ssl_ctx_st* context, bool client) : context_(context), client_(client) {}
    ssl_ctx_st* context_;
    bool client_;
};

class TlsEngine {
public:
    // `server_name` is what the peer's certificate must bear, a host name or an address; unused on the server.
    static Result<TlsEngine> make(std::shared_ptr<TlsContext> context, const std::string& server_name = {});
    TlsEngine(TlsEngine&& other) noexcept;
    TlsEngine& operator=(TlsEngine&&) = delete;
    ~TlsEngine();

    // Begins or continues the handshake; what must be sent is appended to `wire`.
    Result<void> advance(std::string& wire);
    // Bytes from the socket: what they decrypt to is appended to `plain`, what must be sent in answer to `wire`.
    Result<void> receive(std::string_view bytes, std::string& plain, std::string& wire);
    // Only once established.
    Result<void> send(std::string_view plain, std::string& wire);

    [[nodiscard]] bool established() const { return established_; }
    [[nodiscard]] std::string peer_name() const;  // common name of the peer's verified certificate, or empty
    [[nodiscard]] std::vector<std::string> peer_names() const;  // that one and its DNS names

private:
    TlsEngine(std::shared_ptr<TlsContext> context, ssl_st* ssl) : context_(std::move(context)), ssl_(ssl) {}
    Result<void> check_established();
    void collect(std::string& wire);
    [[nodiscard]] std::string why() const;

    std::shared_ptr<TlsContext> context_;
    ssl_st* ssl_;  // owns the two below
    bio_st* incoming_{nullptr};
    bio_st* outgoing_{nullptr};
    bool established_{false};
};

}  // namespace spur::wire
