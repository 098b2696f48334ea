/* SHA-256 and HMAC (FIPS 180-4, RFC 2104). */
#ifndef HMAC_H
#define HMAC_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256_state {
    uint32_t words[8];
    uint64_t length;
    uint8_t block[64];
} sha256_state;

typedef struct hmac_state {
    sha256_state inner, outer;
} hmac_state;

void hmac_begin(hmac_state* state, const void* key, size_t length);
void hmac_add(hmac_state* state, const void* data, size_t length);
void hmac_end(hmac_state* state, uint8_t digest[32]);

#endif
