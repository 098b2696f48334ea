// SHA-256 and HMAC by nettle, which uses the processor's SHA instructions where it has them.
#include "core/base/sha256.hpp"

#include <nettle/hmac.h>
#include <nettle/memops.h>

namespace spur {
namespace {

const std::uint8_t* data_of(std::string_view bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.data()); }

}  // namespace

Digest sha256(std::string_view bytes) { return sha256({bytes}); }

Digest sha256(std::initializer_list<std::string_view> parts) {
    sha256_ctx context;
    Digest digest;
    sha256_init(&context);
    for (const auto part : parts) sha256_update(&context, part.size(), data_of(part));
    sha256_digest(&context, digest.size(), digest.data());
    return digest;
}

struct HmacKey::State {
    hmac_sha256_ctx context;
};

HmacKey::HmacKey(std::string_view key) {
    auto state = std::make_shared<State>();
    hmac_sha256_set_key(&state->context, key.size(), data_of(key));
    state_ = std::move(state);
}

Digest HmacKey::mac(std::initializer_list<std::string_view> parts) const {
    auto context = state_->context;
    Digest digest;
    for (const auto part : parts) hmac_sha256_update(&context, part.size(), data_of(part));
    hmac_sha256_digest(&context, digest.size(), digest.data());
    return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) { return HmacKey{key}.mac({bytes}); }

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
