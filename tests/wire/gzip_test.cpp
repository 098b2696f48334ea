// Compressed messages, and those who send them to do harm.
#include "daemons/common/wire/gzip.hpp"

#include "daemons/common/wire/framing.hpp"

#include "tests/wire/loopback.hpp"

#include <random>

namespace spur::wire {
namespace {

TEST(WireGzip, WhatWasPackedComesOutAgain) {
    for (const std::size_t size : {1024u, 4096u, 4097u, 1'000'000u}) {
        std::string text;
        while (text.size() < size) text += fmt::format("job {} ", text.size());
        const auto packed = gzip(text);
        EXPECT_LT(packed.size(), text.size() / 2);
        EXPECT_EQ(gunzip(packed, text.size()), text);
    }
}

TEST(WireGzip, NothingIsPackedWhereItWouldGainNothing) {
    std::mt19937 dice{7};
    std::string noise(10'000, '\0');
    for (auto& byte : noise) byte = static_cast<char>(dice());
    EXPECT_EQ(gzip(noise), "");
    EXPECT_EQ(gzip(std::string(100, 'x')), "");
}

TEST(WireGzip, AMessageIsUnpackedUpToTheLimitAndNoFurther) {
    const auto bomb = gzip(std::string(10'000'000, '\0'));
    EXPECT_LT(bomb.size(), 50'000u);
    const auto unpacked = gunzip(bomb, 9'999'999);
    ASSERT_FALSE(unpacked);
    EXPECT_EQ(unpacked.error().status, Status::resource_exhausted);
    EXPECT_EQ(unpacked.error().text, "a compressed message holds more than the limit of 9999999 bytes");
    EXPECT_TRUE(gunzip(bomb, 10'000'000));
}

TEST(WireGzip, WhatIsNotGzipOrNotWholeIsRefused) {
    const auto packed = gzip(std::string(5000, 'x'));
    for (const auto& bytes : {std::string{}, std::string{"no gzip"}, packed.substr(0, packed.size() - 1), packed + "x",
                              packed.substr(0, 10)}) {
        const auto unpacked = gunzip(bytes, 10'000);
        ASSERT_FALSE(unpacked) << bytes.size();
        EXPECT_EQ(unpacked.error().status, Status::internal);
    }
}

TEST(WireGzip, AReaderUnpacksMarkedMessagesAndLeavesTheOthersAlone) {
    const std::string text(3000, 'y');
    std::string wire;
    for (auto message : {OutgoingMessage{gzip(text), true}, OutgoingMessage{"plain"}}) {
        std::string bytes(message.left(), '\0');
        message.take(bytes.data(), bytes.size());
        wire += bytes;
    }
    MessageReader reader{4000, gunzip};
    std::vector<std::string> messages;
    ASSERT_TRUE(reader.feed(wire, messages));
    EXPECT_EQ(messages, (std::vector<std::string>{text, "plain"}));

    MessageReader strict{2999, gunzip};
    const auto fed = strict.feed(wire, messages);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().status, Status::resource_exhausted);
}

// Our own client takes no compressed message: that it complains shows that one came.
TEST(WireGzip, AnAnswerIsPackedForWhoeverAcceptsItWhereItGains) {
    Loopback loop;
    loop.start();
    auto channel = loop.channel();
    const std::string long_text(10'000, 'x');
    const auto echo = [&](const std::string& body, const char* accepted) {
        return channel.unary("/test/Echo", body, {.metadata = {{"grpc-accept-encoding", accepted}}});
    };
    const auto packed = echo(long_text, "identity, deflate ,gzip");
    ASSERT_FALSE(packed);
    EXPECT_NE(packed.error().text.find("a compressed message arrived, and no encoding was agreed upon"),
              std::string::npos)
        << packed.error().text;
    EXPECT_EQ(echo("short", "gzip"), "short");
    EXPECT_EQ(echo(long_text, "identity,deflate,xgzip,gzip2"), long_text);
    EXPECT_EQ(channel.unary("/test/Echo", long_text), long_text);
}

TEST(WireGzip, AnEncodingNobodyKnowsIsRefusedWithTheNamesOfThoseThatAreKnown) {
    Loopback loop;
    loop.start();
    const auto refused = loop.channel().unary("/test/Echo", "x", {.metadata = {{"grpc-encoding", "snappy"}}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::unimplemented);
    const auto* known = refused.error().trailers.find("grpc-accept-encoding");
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(*known, "identity,gzip");
}

}  // namespace
}  // namespace spur::wire
