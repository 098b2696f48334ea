// SHA-256 and HMAC by nettle, which uses the processor's SHA instructions where it has them.
#include "core/base/sha256.hpp"

#include <nettle/hmac.h>
#include <nettle/memops.h>

namespace spur {
namespace {

const std::uint8_t* data_of(std::string_view bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }

}  // namespace

Digest sha256(std::string_view bytes) {
    sha256_ctx context;
    Digest digest;
    sha256_init(&context);
    sha256_update(&context, bytes.size(), data_of(bytes));
    sha256_digest(&context, digest.size(), digest.data());
    return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
    hmac_sha256_ctx context;
    Digest digest;
    hmac_sha256_set_key(&context, key.size(), data_of(key));
    hmac_sha256_update(&context, bytes.size(), data_of(bytes));
    hmac_sha256_digest(&context, digest.size(), digest.data());
    return digest;
}

bool same_digest(const Digest& a, const Digest& b) { return memeql_sec(a.data(), b.data(), a.size()) != 0; }

std::string to_hex(const Digest& digest) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * digest.size());
    for (const auto byte : digest) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::optional<Digest> find_digest(std::string_view hex) {
    Digest digest{};
    if (hex.size() != 2 * digest.size()) return std::nullopt;
    const auto value = [](char digit) {
        return digit >= '0' && digit <= '9' ? digit - '0' : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
    };
    for (std::size_t i = 0; i < digest.size(); ++i) {
        const int high = value(hex[2 * i]), low = value(hex[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        digest[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return digest;
}

}  // namespace spur
