// SHA-256 and HMAC against OpenSSL's, at every length around the block size.
#include "core/base/sha256.hpp"

#include <gtest/gtest.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <random>

namespace spur {
namespace {

Digest openssl_digest(std::string_view bytes) {
    Digest digest;
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
    return digest;
}

Digest openssl_hmac(std::string_view key, std::string_view bytes) {
    Digest digest;
    unsigned length = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(bytes.data()),
         bytes.size(), digest.data(), &length);
    return digest;
}

std::string random_bytes(std::mt19937& dice, std::size_t length) {
    std::string bytes(length, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(dice());
    return bytes;
}

TEST(Sha256, TheStandardsExamplesComeOutRight) {
    EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, EveryLengthAgreesWithOpenSsl) {
    std::mt19937 dice{1};
    for (std::size_t length = 0; length < 300; ++length) {
        const auto bytes = random_bytes(dice, length);
        EXPECT_EQ(sha256(bytes), openssl_digest(bytes)) << length;
    }
    const auto large = random_bytes(dice, 1'000'003);
    EXPECT_EQ(sha256(large), openssl_digest(large));
}

TEST(Sha256, HmacAgreesWithOpenSslForShortAndLongKeys) {
    std::mt19937 dice{3};
    for (const std::size_t key_length : {1, 20, 63, 64, 65, 200}) {
        const auto key = random_bytes(dice, key_length);
        const auto bytes = random_bytes(dice, 1000);
        EXPECT_EQ(hmac_sha256(key, bytes), openssl_hmac(key, bytes)) << key_length;
    }
}

TEST(Sha256, DigestsAreComparedWhole) {
    Digest a = sha256("a"), b = a;
    EXPECT_TRUE(same_digest(a, b));
    b[31] ^= 1;
    EXPECT_FALSE(same_digest(a, b));
}

}  // namespace
}  // namespace spur
