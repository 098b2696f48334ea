// SHA-256 (FIPS 180-4) in portable C++, and with x86 SHA instructions where the processor has them.
#include "core/base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>) && !defined(SPUR_PORTABLE_SHA256)
#include <immintrin.h>
#if defined(__clang__) && !defined(_Bool)
#define _Bool bool  // the C library's header says it in C
#endif
#include <sys/platform/x86.h>
#define SPUR_SHA_NI 1
#endif

namespace spur {
namespace {

constexpr std::size_t block_size = 64;

constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t load_big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

void store_big_endian(std::uint32_t value, std::uint8_t* bytes) {
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

void compress_portable(std::array<std::uint32_t, 8>& state, const std::uint8_t* block) {
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
        const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> mixed{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += mixed[i];
}

#if SPUR_SHA_NI
// The instructions keep the state as ABEF and CDGH; four rounds at a time, the message schedule rolling through
// w[0..3].
__attribute__((target("sha,sse4.1,ssse3"))) void compress_sha_ni(std::array<std::uint32_t, 8>& state,
                                                                 const std::uint8_t* block) {
    const __m128i byte_order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    auto* words = reinterpret_cast<__m128i*>(state.data());
    const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    const __m128i abef_before = abef, cdgh_before = cdgh;

    __m128i w[4];
    for (int i = 0; i < 4; ++i)
        w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), byte_order);
    for (int group = 0; group < 16; ++group) {
        const __m128i now = w[group & 3];
        const __m128i sum =
            _mm_add_epi32(now, _mm_loadu_si128(reinterpret_cast<const __m128i*>(round_constants.data()) + group));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        const __m128i newest = w[(group + 3) & 3];
        const __m128i ahead = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(group + 1) & 3]),
                                            _mm_alignr_epi8(newest, w[(group + 2) & 3], 4));
        w[group & 3] = _mm_sha256msg2_epu32(ahead, newest);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

// Asks the C library, which has asked the processor already: the cpuid instruction costs 15 us in a virtual machine.
bool has_sha_instructions() {
    return CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1) && CPU_FEATURE_ACTIVE(SSSE3);
}
#endif

}  // namespace

void Sha256::compress(const std::uint8_t* blocks, std::size_t count) {
#if SPUR_SHA_NI
    if (has_sha_instructions()) {
        for (; count > 0; --count, blocks += block_size) compress_sha_ni(state_, blocks);
        return;
    }
#endif
    for (; count > 0; --count, blocks += block_size) compress_portable(state_, blocks);
}

Sha256& Sha256::update(std::string_view bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    std::size_t size = bytes.size();
    const std::size_t held = length_ % block_size;
    length_ += size;
    if (held > 0) {
        const std::size_t taken = std::min(size, block_size - held);
        std::copy_n(data, taken, tail_.data() + held);
        data += taken, size -= taken;
        if (held + taken < block_size) return *this;
        compress(tail_.data(), 1);
    }
    compress(data, size / block_size);
    std::copy_n(data + size / block_size * block_size, size % block_size, tail_.data());
    return *this;
}

Digest Sha256::finish() {
    const std::uint64_t bits = length_ * 8;
    std::array<std::uint8_t, 2 * block_size> padding{0x80};
    const std::size_t held = length_ % block_size;
    const std::size_t zeros_until = (held < 56 ? 56 : 120) - held;
    store_big_endian(static_cast<std::uint32_t>(bits >> 32), padding.data() + zeros_until);
    store_big_endian(static_cast<std::uint32_t>(bits), padding.data() + zeros_until + 4);
    update({reinterpret_cast<const char*>(padding.data()), zeros_until + 8});

    Digest digest;
    for (std::size_t i = 0; i < 8; ++i) store_big_endian(state_[i], digest.data() + 4 * i);
    return digest;
}

Digest sha256(std::string_view bytes) { return Sha256{}.update(bytes).finish(); }

HmacSha256::HmacSha256(std::string_view key) {
    std::array<char, block_size> inner_pad{}, outer_pad{};
    const Digest hashed = key.size() > block_size ? sha256(key) : Digest{};
    if (key.size() > block_size) key = as_bytes(hashed);
    std::copy(key.begin(), key.end(), inner_pad.begin());
    outer_pad = inner_pad;
    for (auto& byte : inner_pad) byte ^= 0x36;
    for (auto& byte : outer_pad) byte ^= 0x5c;
    inner_.update({inner_pad.data(), inner_pad.size()});
    outer_.update({outer_pad.data(), outer_pad.size()});
}

HmacSha256& HmacSha256::update(std::string_view bytes) {
    inner_.update(bytes);
    return *this;
}

Digest HmacSha256::finish() {
    const Digest inner = inner_.finish();
    return outer_.update(as_bytes(inner)).finish();
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) { return HmacSha256{key}.update(bytes).finish(); }

bool same_digest(const Digest& a, const Digest& b) {
    std::uint8_t difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<std::uint8_t>(a[i] ^ b[i]);
    return difference == 0;
}

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
