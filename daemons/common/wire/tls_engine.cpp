// TLS over OpenSSL's memory BIOs.
#include "daemons/common/wire/tls_engine.hpp"

#include "daemons/common/wire/openssl.hpp"

#include <arpa/inet.h>

#include <utility>

namespace spur::wire {
namespace {

constexpr unsigned char h2_alpn[] = {2, 'h', '2'};

// Contexts and engines exist only after a successful load, so this cannot fail where it is used.
const OpenSsl& openssl() { return **OpenSsl::load(); }

std::string last_reason() {
    const unsigned long code = openssl().ERR_get_error();
    const char* reason = code == 0 ? nullptr : openssl().ERR_reason_error_string(code);
    openssl().ERR_clear_error();
    return reason != nullptr ? reason : "unknown reason";
}

int choose_h2(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* offered, unsigned length,
              void*) {
    for (unsigned at = 0; at < length && at + offered[at] < length; at += 1u + offered[at]) {
        if (offered[at] != 2 || offered[at + 1] != 'h' || offered[at + 2] != '2') continue;
        *out = offered + at + 1;
        *out_length = 2;
        return SSL_TLSEXT_ERR_OK;
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

Result<void> use_certificate(SSL_CTX* context, const TlsOptions& options) {
    const auto& ssl = openssl();
    if (options.certificate_file.empty() != options.key_file.empty())
        return fail(ErrorCode::invalid,
                    "TLS: a certificate needs its key and a key its certificate; give both or neither");
    if (options.certificate_file.empty()) return {};
    if (ssl.SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1)
        return fail(ErrorCode::invalid, "TLS: certificate {} cannot be used: {}", options.certificate_file,
                    last_reason());
    if (ssl.SSL_CTX_use_PrivateKey_file(context, options.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
        return fail(ErrorCode::invalid, "TLS: key {} cannot be used: {}", options.key_file, last_reason());
    if (ssl.SSL_CTX_check_private_key(context) != 1)
        return fail(ErrorCode::invalid, "TLS: key {} does not belong to certificate {}", options.key_file,
                    options.certificate_file);
    return {};
}

Result<void> trust(SSL_CTX* context, const std::string& ca_file) {
    if (openssl().SSL_CTX_load_verify_locations(context, ca_file.c_str(), nullptr) != 1)
        return fail(ErrorCode::invalid, "TLS: CA file {} cannot be used: {}", ca_file, last_reason());
    return {};
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::for_client(const TlsOptions& options) {
    SPUR_TRY(const OpenSsl* ssl, OpenSsl::load());
    std::shared_ptr<TlsContext> made{new TlsContext{ssl->SSL_CTX_new(ssl->TLS_client_method()), true}};
    SSL_CTX* context = made->context_;
    if (context == nullptr) return fail(ErrorCode::internal, "TLS: no context: {}", last_reason());
    if (options.ca_file.empty())
        return fail(ErrorCode::invalid, "TLS: no CA file is configured, so no server can be trusted; set [tls] ca");
    ssl->SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
    SPUR_CHECK(trust(context, options.ca_file));
    SPUR_CHECK(use_certificate(context, options));
    ssl->SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    ssl->SSL_CTX_set_alpn_protos(context, h2_alpn, sizeof h2_alpn);
    return made;
}

Result<std::shared_ptr<TlsContext>> TlsContext::for_server(const TlsOptions& options) {
    SPUR_TRY(const OpenSsl* ssl, OpenSsl::load());
    std::shared_ptr<TlsContext> made{new TlsContext{ssl->SSL_CTX_new(ssl->TLS_server_method()), false}};
    SSL_CTX* context = made->context_;
    if (context == nullptr) return fail(ErrorCode::internal, "TLS: no context: {}", last_reason());
    if (options.certificate_file.empty())
        return fail(ErrorCode::invalid, "TLS: a server needs a certificate and its key; set [tls] certificate and key");
    ssl->SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, nullptr);
    SPUR_CHECK(use_certificate(context, options));
    if (options.require_client_certificate && options.ca_file.empty())
        return fail(ErrorCode::invalid,
                    "TLS: client certificates are required but no CA is named to check them; set [tls] ca");
    if (!options.ca_file.empty()) {
        SPUR_CHECK(trust(context, options.ca_file));
        ssl->SSL_CTX_set_client_CA_list(context, ssl->SSL_load_client_CA_file(options.ca_file.c_str()));
        const int required = options.require_client_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
        ssl->SSL_CTX_set_verify(context, SSL_VERIFY_PEER | required, nullptr);
    }
    // No resumption: a handshake per connection is rare, and resumed sessions would have to be kept apart by context.
    ssl->SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, nullptr);
    ssl->SSL_CTX_set_alpn_select_cb(context, &choose_h2, nullptr);
    return made;
}

TlsContext::~TlsContext() {
    if (context_ != nullptr) openssl().SSL_CTX_free(context_);
}

Result<TlsEngine> TlsEngine::make(std::shared_ptr<TlsContext> context, const std::string& server_name) {
    const auto& ssl = openssl();
    SSL* session = ssl.SSL_new(context->context_);
    if (session == nullptr) return fail(ErrorCode::internal, "TLS: no session: {}", last_reason());
    const bool client = context->client_;
    TlsEngine engine{std::move(context), session};
    BIO* in = ssl.BIO_new(ssl.BIO_s_mem());
    BIO* out = ssl.BIO_new(ssl.BIO_s_mem());
    ssl.SSL_set_bio(session, in, out);
    engine.incoming_ = in;
    engine.outgoing_ = out;
    if (!client) {
        ssl.SSL_set_accept_state(session);
        return engine;
    }
    ssl.SSL_set_connect_state(session);
    in6_addr ignored{};
    const bool is_address = inet_pton(AF_INET, server_name.c_str(), &ignored) == 1 ||
                            inet_pton(AF_INET6, server_name.c_str(), &ignored) == 1;
    if (is_address) {
        ssl.X509_VERIFY_PARAM_set1_ip_asc(ssl.SSL_get0_param(session), server_name.c_str());
    } else {
        ssl.SSL_set1_host(session, server_name.c_str());
        ssl.SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                     const_cast<char*>(server_name.c_str()));
    }
    return engine;
}

TlsEngine::TlsEngine(TlsEngine&& other) noexcept
    : context_(std::move(other.context_)),
      ssl_(std::exchange(other.ssl_, nullptr)),
      incoming_(other.incoming_),
      outgoing_(other.outgoing_),
      established_(other.established_) {}

TlsEngine::~TlsEngine() {
    if (ssl_ != nullptr) openssl().SSL_free(ssl_);
}

std::string TlsEngine::why() const {
    const long verdict = openssl().SSL_get_verify_result(ssl_);
    if (verdict != X509_V_OK) {
        openssl().ERR_clear_error();
        return fmt::format("the peer's certificate is not accepted: {}",
                           openssl().X509_verify_cert_error_string(verdict));
    }
    return last_reason();
}

void TlsEngine::collect(std::string& wire) {
    while (const std::size_t pending = openssl().BIO_ctrl_pending(outgoing_)) {
        const std::size_t before = wire.size();
        wire.resize(before + pending);
        const int got = openssl().BIO_read(outgoing_, wire.data() + before, static_cast<int>(pending));
        wire.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
        if (got <= 0) return;
    }
}

Result<void> TlsEngine::check_established() {
    const unsigned char* protocol = nullptr;
    unsigned length = 0;
    openssl().SSL_get0_alpn_selected(ssl_, &protocol, &length);
    if (length != 2 || protocol[0] != 'h' || protocol[1] != '2')
        return fail(ErrorCode::unavailable, "TLS: the peer does not speak HTTP/2 (h2); is this a Spur port?");
    established_ = true;
    return {};
}

Result<void> TlsEngine::advance(std::string& wire) {
    if (established_) return {};
    const int done = openssl().SSL_do_handshake(ssl_);
    const int state = openssl().SSL_get_error(ssl_, done);
    collect(wire);  // also after a failure: the alert tells the peer why
    if (done == 1) return check_established();
    if (state == SSL_ERROR_WANT_READ || state == SSL_ERROR_WANT_WRITE) return {};
    return fail(ErrorCode::unavailable, "TLS handshake failed: {}", why());
}

Result<void> TlsEngine::receive(std::string_view bytes, std::string& plain, std::string& wire) {
    const auto& ssl = openssl();
    ssl.BIO_write(incoming_, bytes.data(), static_cast<int>(bytes.size()));
    if (!established_) {
        SPUR_CHECK(advance(wire));
        if (!established_) return {};
    }
    char buffer[16384];
    for (;;) {
        const int got = ssl.SSL_read(ssl_, buffer, sizeof buffer);
        if (got > 0) {
            plain.append(buffer, static_cast<std::size_t>(got));
            continue;
        }
        const int state = ssl.SSL_get_error(ssl_, got);
        collect(wire);
        if (state == SSL_ERROR_WANT_READ || state == SSL_ERROR_WANT_WRITE) return {};
        if (state == SSL_ERROR_ZERO_RETURN) return fail(ErrorCode::unavailable, "the peer closed the TLS session");
        return fail(ErrorCode::unavailable, "TLS: {}", why());
    }
}

Result<void> TlsEngine::send(std::string_view plain, std::string& wire) {
    while (!plain.empty()) {
        const int taken =
            openssl().SSL_write(ssl_, plain.data(), static_cast<int>(std::min<std::size_t>(plain.size(), 1u << 20)));
        if (taken <= 0) return fail(ErrorCode::unavailable, "TLS: {}", why());
        plain.remove_prefix(static_cast<std::size_t>(taken));
    }
    collect(wire);
    return {};
}

std::string TlsEngine::peer_name() const {
    const auto& ssl = openssl();
    X509* certificate = ssl.SSL_get1_peer_certificate(ssl_);
    if (certificate == nullptr) return {};
    char name[256] = "";
    ssl.X509_NAME_get_text_by_NID(ssl.X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
    ssl.X509_free(certificate);
    return name;
}

std::vector<std::string> TlsEngine::peer_names() const {
    const auto& ssl = openssl();
    std::vector<std::string> names;
    if (auto common = peer_name(); !common.empty()) names.push_back(std::move(common));
    X509* certificate = ssl.SSL_get1_peer_certificate(ssl_);
    if (certificate == nullptr) return names;
    auto* others =
        static_cast<GENERAL_NAMES*>(ssl.X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    const auto* list = reinterpret_cast<const OPENSSL_STACK*>(others);
    for (int i = 0; i < (list == nullptr ? 0 : ssl.OPENSSL_sk_num(list)); ++i) {
        int kind = 0;
        const auto* entry = static_cast<const GENERAL_NAME*>(ssl.OPENSSL_sk_value(list, i));
        const auto* value = static_cast<const ASN1_STRING*>(ssl.GENERAL_NAME_get0_value(entry, &kind));
        if (kind != GEN_DNS) continue;
        names.emplace_back(reinterpret_cast<const char*>(ssl.ASN1_STRING_get0_data(value)),
                           static_cast<std::size_t>(ssl.ASN1_STRING_length(value)));
    }
    ssl.GENERAL_NAMES_free(others);
    ssl.X509_free(certificate);
    return names;
}

}  // namespace spur::wire
