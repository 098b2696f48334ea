// Little-endian integers in byte buffers.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace spur::raftlog {

static_assert(std::endian::native == std::endian::little, "stored integers are little endian and copied as they are");

template <class Integer>
Integer read_integer(const std::uint8_t* at) {
    Integer value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <class Integer>
void write_integer(std::uint8_t* at, Integer value) {
    std::memcpy(at, &value, sizeof value);
}

template <class Integer>
void append_integer(std::string& out, Integer value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::span<const std::uint8_t> as_bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace spur::raftlog
