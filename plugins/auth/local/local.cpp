// The key file, the MAC over a request, and the memory of credentials that were used.
#include "local.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace spur::local_auth {

namespace {

constexpr std::size_t key_size = 32;
constexpr std::string_view scheme = "local1";

// Written beside its place and linked there, so that two daemons starting at once end up with one key.
Result<void> create_key(const std::string& path) {
    std::array<char, key_size> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        return fail(ErrorCode::internal, "the system gave no random bytes: {}", std::strerror(errno));
    std::string temporary = path + ".XXXXXX";
    const int fd = mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) return fail(ErrorCode::internal, "cannot create key file {}: {}", path, std::strerror(errno));
    const bool written =
        ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) && ::fsync(fd) == 0;
    ::close(fd);
    const bool linked = written && (::link(temporary.c_str(), path.c_str()) == 0 || errno == EEXIST);
    const int reason = errno;
    ::unlink(temporary.c_str());
    if (!linked) return fail(ErrorCode::internal, "cannot write key file {}: {}", path, std::strerror(reason));
    return {};
}

std::string_view next_field(std::string_view& rest) {
    const auto colon = rest.find(':');
    const auto field = rest.substr(0, colon);
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    return field;
}

template <class Number>
bool read(std::string_view text, Number& value) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && rest == text.data() + text.size() && !text.empty();
}

}  // namespace

Result<Key> Key::load(const std::string& path, bool make) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT && make) {
        SPUR_CHECK(create_key(path));
        fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (fd < 0)
        return fail(ErrorCode::denied,
                    "cannot read key file {}: {}; only the cluster's own user can, others need auth/munge or auth/jwt",
                    path, std::strerror(errno));
    struct stat info {};
    std::array<char, key_size + 1> bytes{};
    const bool known = ::fstat(fd, &info) == 0;
    const auto length = ::read(fd, bytes.data(), bytes.size());
    ::close(fd);
    if (!known || !S_ISREG(info.st_mode)) return fail(ErrorCode::invalid, "key file {} is not a regular file", path);
    if ((info.st_mode & 077) != 0)
        return fail(ErrorCode::invalid, "key file {} has mode {:04o}: others could read it; run chmod 600 on it", path,
                    info.st_mode & 07777);
    if (info.st_uid != ::geteuid() && info.st_uid != 0)
        return fail(ErrorCode::invalid, "key file {} belongs to uid {}, this process runs as uid {}", path, info.st_uid,
                    ::geteuid());
    if (length != static_cast<ssize_t>(key_size))
        return fail(ErrorCode::invalid, "key file {} must hold exactly {} bytes; remove it and a new one will be made",
                    path, key_size);
    return Key{std::string{bytes.data(), key_size}, info.st_uid};
}

bool ReplayCache::first_use(std::string_view nonce, std::int64_t now) {
    const std::lock_guard lock{mutex_};
    if (now - turned_ >= window_s_) {
        if (now - turned_ >= 2 * window_s_) fresh_.clear();
        stale_ = std::move(fresh_);
        fresh_ = {};
        turned_ = now;
    }
    std::string key{nonce};
    return !stale_.contains(key) && fresh_.insert(std::move(key)).second;
}

Digest Authority::mac(std::string_view kind, std::string_view binding, std::string_view head) const {
    constexpr std::string_view end_of_scheme{"\0", 1};
    return hmac_.mac({scheme, end_of_scheme, kind, binding, head});
}

std::string Authority::make(std::string_view binding, const Claim& claim, std::string_view nonce) const {
    auto head = fmt::format("{}:{}:{}:{}:{}", scheme, claim.uid, claim.gid, claim.time, nonce);
    const auto sum = to_hex(mac("request", binding, head));
    return head + ":" + sum;
}

Result<Claim> Authority::verify(std::string_view binding, std::string_view credential, std::int64_t now) {
    if (credential.size() > 512) return fail(ErrorCode::denied, "the credential is too long");
    const auto last = credential.rfind(':');
    if (last == std::string_view::npos)
        return fail(ErrorCode::denied, "{}",
                    credential.empty() ? "there is no credential" : "the credential is malformed");
    const auto head = credential.substr(0, last);
    const auto given = find_digest(credential.substr(last + 1));
    if (!given) return fail(ErrorCode::denied, "the credential is malformed");
    if (!same_digest(*given, mac("request", binding, head)))
        return fail(ErrorCode::denied, "the credential was made with another key or for another request");
    auto rest = head;
    Claim claim;
    if (next_field(rest) != scheme || !read(next_field(rest), claim.uid) || !read(next_field(rest), claim.gid) ||
        !read(next_field(rest), claim.time))
        return fail(ErrorCode::denied, "the credential is malformed");
    if (key_.owner != 0 && claim.uid != key_.owner)
        return fail(ErrorCode::denied, "the credential claims uid {}, but its key belongs to uid {}", claim.uid,
                    key_.owner);
    if (claim.time > now + max_age_s_ || claim.time < now - max_age_s_)
        return fail(ErrorCode::denied,
                    "the credential is {} s old; at most {} s are accepted (are the clocks in step?)", now - claim.time,
                    max_age_s_);
    if (!seen_.first_use(rest, now)) return fail(ErrorCode::denied, "the credential was used before");
    return claim;
}

std::string Authority::answer(std::string_view binding) const { return to_hex(mac("answer", binding, {})); }

bool Authority::is_answer(std::string_view binding, std::string_view text) const {
    const auto expected = answer(binding);
    if (text.size() != expected.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) difference |= static_cast<unsigned char>(expected[i] ^ text[i]);
    return difference == 0;
}

}  // namespace spur::local_auth
