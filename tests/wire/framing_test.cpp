// gRPC's way of putting messages, texts and deadlines into HTTP/2.
#include "daemons/common/wire/framing.hpp"

#include <gtest/gtest.h>

namespace spur::wire {
namespace {

std::string framed(std::string message) {
    OutgoingMessage outgoing{std::move(message)};
    std::string bytes(outgoing.left(), '\0');
    EXPECT_EQ(outgoing.take(bytes.data(), bytes.size()), bytes.size());
    EXPECT_EQ(outgoing.left(), 0u);
    return bytes;
}

TEST(WireFraming, MessagesComeOutWholeHoweverTheyWereCut) {
    const std::string wire = framed("first") + framed("") + framed(std::string(70000, 'x'));
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{4096}, wire.size()}) {
        MessageReader reader{1u << 20};
        std::vector<std::string> messages;
        for (std::size_t at = 0; at < wire.size(); at += step)
            ASSERT_TRUE(reader.feed(std::string_view{wire}.substr(at, step), messages));
        ASSERT_EQ(messages.size(), 3u);
        EXPECT_EQ(messages[0], "first");
        EXPECT_EQ(messages[1], "");
        EXPECT_EQ(messages[2].size(), 70000u);
        EXPECT_TRUE(reader.is_between_messages());
    }
}

TEST(WireFraming, AMessageMayLeaveInSmallPieces) {
    OutgoingMessage outgoing{"hello"};
    std::string bytes;
    char piece[3];
    while (outgoing.left() > 0) bytes.append(piece, outgoing.take(piece, sizeof piece));
    EXPECT_EQ(bytes, framed("hello"));
}

TEST(WireFraming, AMessageOverTheLimitIsRefusedByItsPrefixAlone) {
    MessageReader reader{1000};
    std::vector<std::string> messages;
    const auto prefix = message_prefix(1001);
    const auto fed = reader.feed({prefix.data(), prefix.size()}, messages);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().status, Status::resource_exhausted);
    EXPECT_EQ(fed.error().text, "a message of 1001 bytes is over the limit of 1000 bytes");
}

TEST(WireFraming, AClaimedLengthReservesNoMemory) {
    MessageReader reader{1u << 30};
    std::vector<std::string> messages;
    const auto prefix = message_prefix(1u << 30);
    ASSERT_TRUE(reader.feed({prefix.data(), prefix.size()}, messages));
    EXPECT_EQ(reader.held_bytes(), 0u);
    EXPECT_FALSE(reader.is_between_messages());
}

TEST(WireFraming, ACompressedMessageIsRefusedWhereNoEncodingWasAgreedUpon) {
    MessageReader reader{1000};
    std::vector<std::string> messages;
    const auto fed = reader.feed(std::string_view{"\1\0\0\0\0", 5}, messages);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().status, Status::internal);
}

TEST(WireFraming, TextsSurviveAsHeaders) {
    const std::string text = "Zeile 1\nna\u00efve 100% \u2713\t";
    const std::string encoded = percent_encode(text);
    for (const char c : encoded) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
    EXPECT_EQ(percent_decode(encoded), text);
    EXPECT_EQ(percent_decode("100%"), "100%");
    EXPECT_EQ(percent_decode("%zz%4"), "%zz%4");
}

TEST(WireFraming, ALongTextIsCutAtAWholeCharacter) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "\u00fc";
    const std::string encoded = percent_encode(text, 100);
    EXPECT_LE(encoded.size(), 100u);
    const std::string decoded = percent_decode(encoded);
    EXPECT_EQ(decoded.size() % 2, 0u);
    EXPECT_TRUE(text.starts_with(decoded));
}

TEST(WireFraming, TimeoutsAreReadInEveryUnit) {
    using namespace std::chrono_literals;
    EXPECT_EQ(parse_timeout("2H"), 2h);
    EXPECT_EQ(parse_timeout("3M"), 3min);
    EXPECT_EQ(parse_timeout("15S"), 15s);
    EXPECT_EQ(parse_timeout("250m"), 250ms);
    EXPECT_EQ(parse_timeout("2000u"), 2ms);
    EXPECT_EQ(parse_timeout("99999999n"), 99ms);
    for (const auto* bad : {"", "S", "5", "-5S", "123456789S", "5x", "5.5S"}) EXPECT_FALSE(parse_timeout(bad)) << bad;
    for (const auto timeout : {1ms, 30000ms, 86'400'000ms}) EXPECT_EQ(parse_timeout(timeout_text(timeout)), timeout);
}

TEST(WireStatus, EveryErrorCodeSurvivesTheJourney) {
    for (const auto code : {ErrorCode::invalid, ErrorCode::not_found, ErrorCode::conflict, ErrorCode::denied,
                            ErrorCode::unavailable, ErrorCode::limit, ErrorCode::corrupt, ErrorCode::internal}) {
        EXPECT_EQ(error_code_of(status_of(code)), code);
        EXPECT_EQ(find_error_code(name_of(code)), code);
    }
    EXPECT_FALSE(find_error_code("no such code"));
    EXPECT_EQ(name_of(Status::unavailable), "UNAVAILABLE");
}

}  // namespace
}  // namespace spur::wire
