// What every fuzz target needs: the input as text, and a check that stops the fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spur {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

inline void must(bool law) {
    if (!law) __builtin_trap();
}

}  // namespace spur
