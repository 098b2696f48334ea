// The part of OpenSSL we use, opened at run time by the first TLS connection. Loading it with the program would cost
// every command a millisecond for something most clusters do not turn on.
#pragma once

#include "core/base/result.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace spur::wire {

#define SPUR_OPENSSL_FUNCTIONS(X)                                                                                     \
    X(SSL_CTX_new)                                                                                                    \
    X(SSL_CTX_free)                                                                                                   \
    X(SSL_CTX_ctrl)                                                                                                   \
    X(SSL_CTX_load_verify_locations)                                                                                  \
    X(SSL_CTX_use_certificate_chain_file)                                                                             \
    X(SSL_CTX_use_PrivateKey_file)                                                                                    \
    X(SSL_CTX_check_private_key)                                                                                      \
    X(SSL_CTX_set_verify)                                                                                             \
    X(SSL_CTX_set_alpn_protos) X(SSL_CTX_set_alpn_select_cb) X(SSL_CTX_set_client_CA_list) X(SSL_load_client_CA_file) \
        X(TLS_client_method) X(TLS_server_method) X(SSL_new) X(SSL_free) X(SSL_set_bio) X(SSL_set_connect_state)      \
            X(SSL_set_accept_state) X(SSL_do_handshake) X(SSL_read) X(SSL_write) X(SSL_get_error) X(SSL_ctrl)         \
                X(SSL_set1_host) X(SSL_get0_param) X(SSL_get_verify_result) X(SSL_get1_peer_certificate)              \
                    X(SSL_get0_alpn_selected) X(BIO_new) X(BIO_s_mem) X(BIO_read) X(BIO_write) X(BIO_ctrl_pending)    \
                        X(ERR_get_error) X(ERR_reason_error_string) X(ERR_clear_error)                                \
                            X(X509_verify_cert_error_string) X(X509_get_subject_name) X(X509_NAME_get_text_by_NID)    \
                                X(X509_VERIFY_PARAM_set1_ip_asc) X(X509_free) X(X509_get_ext_d2i) X(OPENSSL_sk_num)   \
                                    X(OPENSSL_sk_value) X(GENERAL_NAMES_free) X(GENERAL_NAME_get0_value)              \
                                        X(ASN1_STRING_get0_data) X(ASN1_STRING_length)

struct OpenSsl {
#define SPUR_OPENSSL_POINTER(name) decltype(&::name) name;
    SPUR_OPENSSL_FUNCTIONS(SPUR_OPENSSL_POINTER)
#undef SPUR_OPENSSL_POINTER

    // Opened once, kept for the life of the process. [any thread]
    static Result<const OpenSsl*> load();
};

}  // namespace spur::wire
