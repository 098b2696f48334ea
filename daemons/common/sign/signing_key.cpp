// Making, storing and using Ed25519 keys through OpenSSL.
#include "daemons/common/sign/signing_key.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace spur::sign {

namespace {

constexpr std::size_t seed_size = 32, signature_size = 64;

const unsigned char* raw(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }
unsigned char* raw(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

// A file that is closed with its scope.
class File {
public:
    File(const std::string& path, int flags) : fd_{::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)} {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return fd_; }

private:
    int fd_;
};

}  // namespace

struct SigningKey::Handle {
    std::unique_ptr<EVP_PKEY, Free> key;
};

Result<SigningKey> SigningKey::from_seed(std::string seed) {
    auto handle = std::make_shared<Handle>();
    handle->key.reset(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, raw(std::string_view{seed}), seed.size()));
    SigningKey made;
    made.public_.resize(seed_size);
    std::size_t size = made.public_.size();
    if (!handle->key || EVP_PKEY_get_raw_public_key(handle->key.get(), raw(made.public_), &size) != 1)
        return fail(ErrorCode::unavailable, "OpenSSL makes no Ed25519 keys here; is it in a mode that forbids them?");
    made.handle_ = std::move(handle);
    made.seed_ = std::move(seed);
    return made;
}

Result<SigningKey> SigningKey::make() {
    std::string seed(seed_size, '\0');
    if (getrandom(seed.data(), seed.size(), 0) != static_cast<ssize_t>(seed.size()))
        return fail(ErrorCode::unavailable, "the system gave no random bytes");
    return from_seed(std::move(seed));
}

Result<SigningKey> SigningKey::load(const std::string& path) {
    const File file{path, O_RDONLY};
    if (file.fd() < 0)
        return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::denied, "{}: {}", path, std::strerror(errno));
    struct stat info {};
    if (::fstat(file.fd(), &info) != 0 || (info.st_mode & 077) != 0)
        return fail(ErrorCode::denied, "{} can be read by others than its owner; run chmod 600 on it", path);
    std::string seed(seed_size + 1, '\0');
    const auto got = ::read(file.fd(), seed.data(), seed.size());
    if (got != static_cast<ssize_t>(seed_size))
        return fail(ErrorCode::corrupt,
                    "{} is not a key of {} bytes; remove it, and a new one is made at the next start", path, seed_size);
    seed.resize(seed_size);
    return from_seed(std::move(seed));
}

Result<void> SigningKey::store(const std::string& path) const {
    const auto beside = path + ".new";
    ::unlink(beside.c_str());
    {
        const File file{beside, O_WRONLY | O_CREAT | O_EXCL};
        const bool written = file.fd() >= 0 &&
                             ::write(file.fd(), seed_.data(), seed_.size()) == static_cast<ssize_t>(seed_.size()) &&
                             ::fsync(file.fd()) == 0;
        if (!written) return fail(ErrorCode::unavailable, "cannot write {}: {}", beside, std::strerror(errno));
    }
    if (std::rename(beside.c_str(), path.c_str()) != 0)
        return fail(ErrorCode::unavailable, "cannot write {}: {}", path, std::strerror(errno));
    return {};
}

Result<std::string> SigningKey::sign(std::string_view bytes) const {
    const Context context{EVP_MD_CTX_new()};
    std::string signature(signature_size, '\0');
    std::size_t size = signature.size();
    if (!context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, handle_->key.get()) != 1 ||
        EVP_DigestSign(context.get(), raw(signature), &size, raw(bytes), bytes.size()) != 1)
        return fail(ErrorCode::internal, "OpenSSL could not sign");
    return signature;
}

bool is_signed_by(std::string_view public_key, std::string_view bytes, std::string_view signature) {
    if (public_key.size() != seed_size || signature.size() != signature_size) return false;
    const std::unique_ptr<EVP_PKEY, Free> key{
        EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(public_key), public_key.size())};
    const Context context{EVP_MD_CTX_new()};
    return key && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
           EVP_DigestVerify(context.get(), raw(signature), signature.size(), raw(bytes), bytes.size()) == 1;
}

}  // namespace spur::sign
