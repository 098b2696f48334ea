// What TLS needs to know, on either side. OpenSSL itself is loaded only when a TLS connection is made or served, so a
// command that talks to a plain port never pays for it.
#pragma once

#include <string>

namespace spur::wire {

struct TlsOptions {
    std::string ca_file;  // PEM; whom to trust. Client: required. Server: names who may sign client certificates
    std::string certificate_file;            // PEM chain. Server: required. Client: when the server asks for one
    std::string key_file;                    // PEM; belongs to certificate_file
    std::string server_name;                 // client: the name the certificate must bear, if not the endpoint's host
    bool require_client_certificate{false};  // server: mutual
};

}  // namespace spur::wire
