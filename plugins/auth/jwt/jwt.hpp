// Tokens: header.claims.signature, base64url, HS256.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur::jwt {

struct Claims {
    std::string user;                                // "sun"
    std::int64_t issued{}, expires{};                // "iat", "exp"
    std::vector<std::string> audience{};             // "aud": the clusters it is meant for; empty: any
    std::optional<std::string> scopes{};             // "scope": separated by spaces; nothing: whatever the user may
    std::optional<std::vector<std::string>> groups{};  // "groups": all of them; nothing: the directory's
};

std::string make(const Claims& claims, std::string_view key);
// Checks form, algorithm, signature and time; whose name it is, is the caller's to look up.
Result<Claims> verify(std::string_view token, std::string_view key, std::int64_t now, std::int64_t leeway_s);

std::string encode_base64url(std::string_view bytes);
Result<std::string> decode_base64url(std::string_view text);

}  // namespace spur::jwt
