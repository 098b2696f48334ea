// SHA-256 and HMAC-SHA-256: every request carries a digest of its body, and the commands must not pay for loading a
// cryptographic library (a third of their start-up) to compute one. Uses the processor's SHA instructions where it has
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spur {

using Digest = std::array<std::uint8_t, 32>;

// Bytes may be fed in any number of pieces; finish() ends the computation, after which the object is not used again.
class Sha256 {
public:
    Sha256& update(std::string_view bytes);
    [[nodiscard]] Digest finish();

private:
    void compress(const std::uint8_t* blocks, std::size_t count);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> tail_{};
    std::uint64_t length_{0};
};

[[nodiscard]] Digest sha256(std::string_view bytes);

class HmacSha256 {
public:
    explicit HmacSha256(std::string_view key);
    HmacSha256& update(std::string_view bytes);
    [[nodiscard]] Digest finish();

private:
    Sha256 inner_, outer_;
};

[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view bytes);

// Takes the same time wherever the two differ, so that a forger learns nothing from how quickly it was refused.
[[nodiscard]] bool same_digest(const Digest& a, const Digest& b);

[[nodiscard]] inline std::string_view as_bytes(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
[[nodiscard]] std::string to_hex(const Digest& digest);
// What to_hex() wrote. Only its own spelling: an upper-case digit is another text.
[[nodiscard]] std::optional<Digest> find_digest(std::string_view hex);

}  // namespace spur
