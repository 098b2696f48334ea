/* Straight from the standards. */
#include "hmac.h"

#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int by) { return word >> by | word << (32 - by); }

static void add_block(sha256_state* state) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) {
        const uint8_t* at = state->block + 4 * i;
        w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, state->words, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                      ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + w[i];
        uint32_t t2 =
            (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) state->words[i] += v[i];
}

static void sha256_begin(sha256_state* state) {
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(state->words, start, sizeof start);
    state->length = 0;
}

static void sha256_add(sha256_state* state, const void* data, size_t length) {
    for (const uint8_t* at = data; length > 0; at++, length--) {
        state->block[state->length++ % 64] = *at;
        if (state->length % 64 == 0) add_block(state);
    }
}

static void sha256_end(sha256_state* state, uint8_t digest[32]) {
    uint64_t bits = state->length * 8;
    sha256_add(state, "\x80", 1);
    while (state->length % 64 != 56) sha256_add(state, "", 1);
    for (int shift = 56; shift >= 0; shift -= 8) {
        uint8_t byte = (uint8_t)(bits >> shift);
        sha256_add(state, &byte, 1);
    }
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(state->words[i / 4] >> (24 - i % 4 * 8));
}

void hmac_begin(hmac_state* state, const void* key, size_t length) {
    uint8_t padded[64] = {0}, inner[64], outer[64];
    if (length > 64) {
        sha256_begin(&state->inner);
        sha256_add(&state->inner, key, length);
        sha256_end(&state->inner, padded);
    } else {
        memcpy(padded, key, length);
    }
    for (int i = 0; i < 64; i++) inner[i] = padded[i] ^ 0x36, outer[i] = padded[i] ^ 0x5c;
    sha256_begin(&state->inner);
    sha256_add(&state->inner, inner, sizeof inner);
    sha256_begin(&state->outer);
    sha256_add(&state->outer, outer, sizeof outer);
}

void hmac_add(hmac_state* state, const void* data, size_t length) { sha256_add(&state->inner, data, length); }

void hmac_end(hmac_state* state, uint8_t digest[32]) {
    sha256_end(&state->inner, digest);
    sha256_add(&state->outer, digest, 32);
    sha256_end(&state->outer, digest);
}
