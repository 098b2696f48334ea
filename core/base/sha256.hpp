// SHA-256 and HMAC-SHA-256: every request carries a digest of its body. The library behind it is linked statically, so
// that commands start no later for it (docs/decisions/0012).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spur {

using Digest = std::array<std::uint8_t, 32>;

[[nodiscard]] Digest sha256(std::string_view bytes);
[[nodiscard]] Digest sha256(std::initializer_list<std::string_view> parts);  // of all of them, one after the other
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view bytes);

// A key that is used again and again: what HMAC makes of it is kept.
class HmacKey {
public:
    explicit HmacKey(std::string_view key);
    [[nodiscard]] Digest mac(std::initializer_list<std::string_view> parts) const;

private:
    struct State;
    std::shared_ptr<const State> state_;
};

// Takes the same time wherever the two differ, so that a forger learns nothing from how quickly it was refused.
[[nodiscard]] bool same_digest(const Digest& a, const Digest& b);

[[nodiscard]] inline std::string_view as_bytes(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
[[nodiscard]] std::string to_hex(const Digest& digest);
// What to_hex() wrote. Only its own spelling: an upper-case digit is another text.
[[nodiscard]] std::optional<Digest> find_digest(std::string_view hex);

}  // namespace spur
