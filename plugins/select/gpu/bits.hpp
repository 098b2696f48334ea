// Sets of small numbers as words, as the ABI hands them over.
#pragma once

#include <spur/plugin/abi.h>

#include <bit>
#include <cstdint>

namespace spur::select_gpu {

inline bool has(const spur_bits& bits, std::uint32_t i) {
    return bits.words != nullptr && i < bits.count && (bits.words[i / 64] >> (i % 64) & 1) != 0;
}
// The w-th word, 0 where the set ends earlier.
inline std::uint64_t word(const spur_bits& bits, std::uint32_t w) {
    return bits.words != nullptr && w < (bits.count + 63) / 64 ? bits.words[w] : 0;
}
// Written out: std::popcount is a call where the processor is not known to have an instruction for it.
inline std::uint32_t count(std::uint64_t word) {
    word -= word >> 1 & 0x5555555555555555ULL;
    word = (word & 0x3333333333333333ULL) + (word >> 2 & 0x3333333333333333ULL);
    return static_cast<std::uint32_t>(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL) * 0x0101010101010101ULL >> 56);
}
inline std::uint32_t count(const spur_bits& bits) {
    std::uint32_t sum = 0;
    for (std::uint32_t w = 0; w < (bits.count + 63) / 64; ++w) sum += count(word(bits, w));
    return sum;
}
inline std::uint64_t bit(std::uint32_t i) { return std::uint64_t{1} << (i % 64); }
inline std::uint32_t lowest(std::uint64_t word) { return static_cast<std::uint32_t>(std::countr_zero(word)); }

// Calls f(i) for each number in `word`, counted from `first`.
template <class F>
void for_each_bit(std::uint64_t word, std::uint32_t first, F&& f) {
    for (; word != 0; word &= word - 1) f(first + lowest(word));
}

}  // namespace spur::select_gpu
