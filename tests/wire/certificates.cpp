// Certificates by OpenSSL.
#include "tests/wire/certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>

namespace spur::wire {
namespace {

void name_it(X509* certificate, const std::string& common_name) {
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(common_name.c_str()),
                               -1, -1, 0);
}

void extend(X509* certificate, X509* issuer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

X509* fresh(EVP_PKEY* key, long serial, int days) {
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), days > 0 ? -3600 : -2 * 86400);
    X509_gmtime_adj(X509_getm_notAfter(certificate), days * 86400L);
    X509_set_pubkey(certificate, key);
    return certificate;
}

template <class Write>
void write_file(const std::string& path, Write write) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    write(file);
    std::fclose(file);
}

}  // namespace

struct CertificateAuthority::Impl {
    EVP_PKEY* key{nullptr};
    X509* certificate{nullptr};
    long serial{2};
};

CertificateAuthority::CertificateAuthority(std::string directory, const std::string& name)
    : impl_(std::make_unique<Impl>()), directory_(std::move(directory)), file_(directory_ + "/" + name + ".pem") {
    impl_->key = EVP_EC_gen("P-256");
    impl_->certificate = fresh(impl_->key, 1, 1);
    name_it(impl_->certificate, name);
    X509_set_issuer_name(impl_->certificate, X509_get_subject_name(impl_->certificate));
    extend(impl_->certificate, impl_->certificate, NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(impl_->certificate, impl_->key, EVP_sha256());
    write_file(file_, [&](std::FILE* file) { PEM_write_X509(file, impl_->certificate); });
}

CertificateAuthority::~CertificateAuthority() {
    X509_free(impl_->certificate);
    EVP_PKEY_free(impl_->key);
}

CertificateAuthority::Files CertificateAuthority::issue(const std::string& common_name, const std::string& alternatives,
                                                        int days) {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = fresh(key, impl_->serial++, days);
    name_it(certificate, common_name);
    X509_set_issuer_name(certificate, X509_get_subject_name(impl_->certificate));
    if (!alternatives.empty()) extend(certificate, impl_->certificate, NID_subject_alt_name, alternatives);
    X509_sign(certificate, impl_->key, EVP_sha256());
    Files files{directory_ + "/" + common_name + ".pem", directory_ + "/" + common_name + ".key"};
    write_file(files.certificate, [&](std::FILE* file) { PEM_write_X509(file, certificate); });
    write_file(files.key,
               [&](std::FILE* file) { PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr); });
    X509_free(certificate);
    EVP_PKEY_free(key);
    return files;
}

}  // namespace spur::wire
