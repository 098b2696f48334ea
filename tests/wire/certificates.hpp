// A certificate authority for one test: makes certificates and writes them as PEM files.
#pragma once

#include <memory>
#include <string>

namespace spur::wire {

class CertificateAuthority {
public:
    explicit CertificateAuthority(std::string directory, const std::string& name = "ca");
    ~CertificateAuthority();

    struct Files {
        std::string certificate, key;
    };
    // Valid for the host names and addresses in `alternatives`: "DNS:localhost,IP:127.0.0.1".
    Files issue(const std::string& common_name, const std::string& alternatives, int days = 1);
    [[nodiscard]] const std::string& certificate_file() const { return file_; }

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    std::string directory_, file_;
};

}  // namespace spur::wire
