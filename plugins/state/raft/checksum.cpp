// CRC-32, eight bytes at a time.
#include "checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace spur::raftlog {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

consteval Tables make_tables() {
    Tables tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i << 24;
        for (int bit = 0; bit < 8; ++bit) value = (value << 1) ^ ((value & 0x80000000u) != 0 ? 0x04C11DB7u : 0u);
        tables[0][i] = value;
    }
    for (std::size_t t = 1; t < 8; ++t)
        for (std::size_t i = 0; i < 256; ++i)
            tables[t][i] = (tables[t - 1][i] << 8) ^ tables[0][tables[t - 1][i] >> 24];
    return tables;
}

constexpr Tables tables = make_tables();
static_assert(std::endian::native == std::endian::little, "the eight-byte step assumes it");

std::uint32_t big_endian(const std::uint8_t* at) {
    std::uint32_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return __builtin_bswap32(value);
}

}  // namespace

std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t start) {
    auto crc = start;
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        const auto first = big_endian(bytes.data()) ^ crc;
        const auto second = big_endian(bytes.data() + 4);
        crc = tables[7][first >> 24] ^ tables[6][first >> 16 & 0xFF] ^ tables[5][first >> 8 & 0xFF] ^
              tables[4][first & 0xFF] ^ tables[3][second >> 24] ^ tables[2][second >> 16 & 0xFF] ^
              tables[1][second >> 8 & 0xFF] ^ tables[0][second & 0xFF];
    }
    for (const auto byte : bytes) crc = (crc << 8) ^ tables[0][(crc >> 24) ^ byte];
    return crc;
}

}  // namespace spur::raftlog
