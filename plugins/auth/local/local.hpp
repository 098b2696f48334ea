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
    Authority(Key key, std::int64_t max_age_s) : key_{std::move(key)}, hmac_{key_.bytes}, max_age_s_{max_age_s}, seen_{2 * max_age_s} {}

    // `binding`: what the credential or the answer is for.
    std::string make(std::string_view binding, const Claim& claim, std::string_view nonce) const;
    Result<Claim> verify(std::string_view binding, std::string_view credential, std::int64_t now);
    std::string answer(std::string_view binding) const;
    bool is_answer(std::string_view binding, std::string_view answer) const;
    std::uint32_t owner() const { return key_.owner; }

private:
    Digest mac(std::string_view kind, std::string_view binding, std::string_view head) const;
    Key key_;
    HmacKey hmac_;
    std::int64_t max_age_s_;
    ReplayCache seen_;
};

}  // namespace spur::local_auth
