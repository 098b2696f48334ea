// Tokens: header.claims.signature, base64url, HS256.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace spur::jwt {

struct Claims {
    std::string user;
    std::int64_t issued{}, expires{};
};

std::string make(const Claims& claims, std::string_view key);
// Checks form, algorithm, signature and time; whose name it is, is the caller's to look up.
Result<Claims> verify(std::string_view token, std::string_view key, std::int64_t now, std::int64_t leeway_s);

std::string encode_base64url(std::string_view bytes);
Result<std::string> decode_base64url(std::string_view text);

}  // namespace spur::jwt
