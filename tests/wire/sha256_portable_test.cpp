// The portable SHA-256, which processors with SHA instructions never run: compiled here a second time, under another
// name.
#define SPUR_PORTABLE_SHA256
#define spur portable_spur
#include "core/base/sha256.cpp"
#undef spur

#include <gtest/gtest.h>
#include <openssl/sha.h>

namespace {

TEST(Sha256, ThePortableCodeAgreesWithOpenSsl) {
    std::string bytes;
    for (int length = 0; length < 1000; ++length) {
        portable_spur::Digest expected;
        SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), expected.data());
        EXPECT_EQ(portable_spur::sha256(bytes), expected) << length;
        bytes += static_cast<char>(length * 7);
    }
}

}  // namespace
