// Credentials made with a shared key: who, when, for which request, once.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/base/result.hpp"
#include "core/base/sha256.hpp"

namespace spur::local_auth {

struct Key {
    std::string bytes;
    std::uint32_t owner{};  // of the file

    // Refuses a file that others may read or write. `make`: create it if it is missing.
    static Result<Key> load(const std::string& path, bool make);
};

// What a credential is for.
struct Request {
    std::string_view method, digest, audience;
};

struct Claim {
    std::uint32_t uid{}, gid{};
    std::int64_t time{};
};

// Remembers what was used within the last two windows; older credentials are refused for their age.
class ReplayCache {
public:
    explicit ReplayCache(std::int64_t window_s) : window_s_{window_s} {}
    bool first_use(std::string_view nonce, std::int64_t now);

private:
    std::int64_t window_s_;
    std::mutex mutex_;
    std::int64_t turned_{};
    std::unordered_set<std::string> fresh_, stale_;
};

class Authority {
public:
    Authority(Key key, std::int64_t max_age_s) : key_{std::move(key)}, max_age_s_{max_age_s}, seen_{2 * max_age_s} {}

    std::string make(const Request& request, const Claim& claim, std::string_view nonce) const;
    Result<Claim> verify(const Request& request, std::string_view credential, std::int64_t now);
    std::string answer(std::string_view credential, std::string_view reply_digest) const;
    bool is_answer(std::string_view credential, std::string_view reply_digest, std::string_view answer) const;
    std::uint32_t owner() const { return key_.owner; }

private:
    Digest mac(const Request& request, std::string_view head) const;
    Key key_;
    std::int64_t max_age_s_;
    ReplayCache seen_;
};

}  // namespace spur::local_auth
