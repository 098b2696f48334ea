// TLS 1.3 with an external pre-shared key, over memory BIOs.
#include "secure_session.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>
#include <new>
#include <string_view>

namespace spur::raftlog {
namespace {

constexpr std::string_view identity = "spur-raft/1";

int key_slot() {
    static const int slot = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return slot;
}

SSL_SESSION* shared_session(SSL* ssl) {
    const auto* key = static_cast<const Key*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), key_slot()));
    static constexpr unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const auto* cipher = SSL_CIPHER_find(ssl, aes_128_gcm_sha256);
    SSL_SESSION* session = SSL_SESSION_new();
    if (session != nullptr && key != nullptr && cipher != nullptr &&
        SSL_SESSION_set1_master_key(session, key->data(), key->size()) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
        return session;
    SSL_SESSION_free(session);
    return nullptr;
}

int offer_key(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* id_length, SSL_SESSION** session) {
    *session = shared_session(ssl);
    *id = reinterpret_cast<const unsigned char*>(identity.data());
    *id_length = identity.size();
    return *session == nullptr ? 0 : 1;
}

int find_key(SSL* ssl, const unsigned char* id, std::size_t id_length, SSL_SESSION** session) {
    *session = nullptr;
    if (id_length != identity.size() || std::memcmp(id, identity.data(), id_length) != 0) return 1;
    *session = shared_session(ssl);
    return *session == nullptr ? 0 : 1;
}

Outcome<void> refused() {
    char text[160] = "no proof";
    if (const auto code = ERR_peek_last_error(); code != 0) ERR_error_string_n(code, text, sizeof text);
    ERR_clear_error();
    return fault(SPUR_E_DENIED, "{}", text);
}

}  // namespace

SecureContext::SecureContext(const Key& key) : key_(key), context_(SSL_CTX_new(TLS_method())) {
    if (context_ == nullptr) throw std::bad_alloc();
    SSL_CTX_set_ex_data(context_, key_slot(), &key_);
    SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(context_, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context_, "TLS_AES_128_GCM_SHA256");
    SSL_CTX_set_num_tickets(context_, 0);
    SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_psk_use_session_callback(context_, offer_key);
    SSL_CTX_set_psk_find_session_callback(context_, find_key);
}

SecureContext::~SecureContext() { SSL_CTX_free(context_); }

SecureSession::SecureSession(const SecureContext& context, Side side)
    : side_(side), session_(SSL_new(context.context_)) {
    BIO* in = BIO_new(BIO_s_mem());
    BIO* out = BIO_new(BIO_s_mem());
    if (session_ == nullptr || in == nullptr || out == nullptr) throw std::bad_alloc();
    SSL_set_bio(session_, in, out);
    if (side == Side::server) {
        SSL_set_accept_state(session_);
    } else {
        SSL_set_connect_state(session_);
        SSL_do_handshake(session_);  // puts the first message on the wire
        ERR_clear_error();
    }
}

SecureSession::~SecureSession() { SSL_free(session_); }

bool SecureSession::is_ready() const { return SSL_is_init_finished(session_) == 1; }

Outcome<void> SecureSession::receive(std::span<const std::uint8_t> wire) {
    if (BIO_write(SSL_get_rbio(session_), wire.data(), static_cast<int>(wire.size())) != static_cast<int>(wire.size()))
        return fault(SPUR_E_INTERNAL, "out of memory");
    return advance();
}

Outcome<void> SecureSession::advance() {
    ERR_clear_error();
    if (!is_ready()) {
        const int done = SSL_do_handshake(session_);
        if (done != 1) {
            if (SSL_get_error(session_, done) != SSL_ERROR_WANT_READ) return refused();
            // A server about to speak to somebody who has not proved anything (a retry request, say) keeps silent.
            const bool proven = SSL_session_reused(session_) == 1;
            if (side_ == Side::server && !proven && BIO_ctrl_pending(SSL_get_wbio(session_)) > 0) return refused();
            return {};
        }
        // Only the shared key counts: a handshake that got through any other way did not prove anything.
        if (SSL_session_reused(session_) != 1) return refused();
    }
    for (;;) {
        char buffer[16384];
        std::size_t length = 0;
        if (SSL_read_ex(session_, buffer, sizeof buffer, &length) == 1) {
            plain_.append(buffer, length);
            continue;
        }
        if (SSL_get_error(session_, 0) == SSL_ERROR_WANT_READ) return {};
        return refused();
    }
}

Outcome<void> SecureSession::send(std::span<const std::uint8_t> plain) {
    std::size_t written = 0;
    ERR_clear_error();
    if (plain.empty()) return {};
    if (SSL_write_ex(session_, plain.data(), plain.size(), &written) != 1 || written != plain.size()) return refused();
    return {};
}

std::string SecureSession::take_plain() { return std::exchange(plain_, {}); }

std::string SecureSession::take_wire() {
    BIO* out = SSL_get_wbio(session_);
    std::string wire(BIO_ctrl_pending(out), '\0');
    if (!wire.empty()) BIO_read(out, wire.data(), static_cast<int>(wire.size()));
    return wire;
}

}  // namespace spur::raftlog
