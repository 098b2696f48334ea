// SHA-256 and HMAC (FIPS 180-4, RFC 2104), enough to sign short texts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);
std::string to_hex(const Digest& digest);

// Takes the same time wherever they differ.
bool equal(std::string_view a, std::string_view b);
