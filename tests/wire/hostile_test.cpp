// Peers that mean no good or know no better: the server survives, answers what can be answered, and lets go of the
// rest.
#include "daemons/common/wire/socket.hpp"
#include "tests/wire/loopback.hpp"

#include <poll.h>
#include <sys/resource.h>

#include <random>

namespace spur::wire {
namespace {

// A TCP client without any protocol.
class RawPeer {
public:
    explicit RawPeer(const Endpoint& endpoint) : fd_(*connect_to(endpoint, soon())) {}
    bool send(std::string_view bytes) {
        std::size_t count = 0;
        std::string why;
        while (!bytes.empty()) {
            if (!wait_for(fd_.get(), POLLOUT, soon())) return false;
            if (send_bytes(fd_.get(), bytes, count, why) == Moved::closed) return false;
            bytes.remove_prefix(count);
        }
        return true;
    }
    // Reads until the server closes, or `part` has come; false if neither happens.
    bool wait_for_close_or(std::string_view part) {
        char buffer[65536];
        std::size_t count = 0;
        std::string why;
        while (wait_for(fd_.get(), POLLIN, soon())) {
            if (receive_bytes(fd_.get(), buffer, sizeof buffer, count, why) == Moved::closed) return true;
            received_.append(buffer, count);
            if (!part.empty() && received_.find(part) != std::string::npos) return true;
        }
        return false;
    }
    bool wait_for_close() { return wait_for_close_or({}); }
    [[nodiscard]] const std::string& received() const { return received_; }

private:
    Fd fd_;
    std::string received_;
};

std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
    std::string bytes;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(payload.size() >> shift);
    bytes += static_cast<char>(type);
    bytes += static_cast<char>(flags);
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(stream >> shift);
    return bytes.append(payload);
}

constexpr std::uint8_t data = 0, headers = 1, reset = 3, settings = 4, ping = 6, continuation = 9;
constexpr std::uint8_t end_stream = 1, end_headers = 4;

std::string preface() { return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(settings, 0, 0, ""); }

std::string literal(std::string_view name, std::string_view value) {
    std::string bytes{'\0'};
    bytes += static_cast<char>(name.size());
    bytes.append(name);
    bytes += static_cast<char>(value.size());
    return bytes.append(value);
}

std::string request_headers(std::string_view path, std::string_view type = "application/grpc",
                            std::string_view method = "POST") {
    return literal(":method", method) + literal(":scheme", "http") + literal(":path", path) +
           literal(":authority", "x") + literal("te", "trailers") + literal("content-type", type);
}

void expect_alive(Loopback& loop) { EXPECT_EQ(loop.channel().unary("/test/Echo", "alive"), "alive"); }

TEST(WireHostile, WhatIsNotHttp2IsClosed) {
    Loopback loop;
    loop.start();
    for (const auto* words : {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-OpenSSH_9\r\n",
                              "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 padded"}) {
        RawPeer peer{loop.endpoint()};
        ASSERT_TRUE(peer.send(std::string{words} + std::string(100, '\n')));
        EXPECT_TRUE(peer.wait_for_close());
    }
    expect_alive(loop);
}

TEST(WireHostile, RandomBytesAfterAGoodStartAreClosed) {
    Loopback loop;
    loop.start();
    std::mt19937 dice{7};
    for (int round = 0; round < 50; ++round) {
        RawPeer peer{loop.endpoint()};
        std::string noise(2000, '\0');
        for (auto& byte : noise) byte = static_cast<char>(dice());
        peer.send(preface() + noise);
    }
    expect_alive(loop);
}

TEST(WireHostile, FramesThatBreakTheRulesEndTheConnection) {
    Loopback loop;
    loop.start();
    const std::string good = frame(headers, end_headers, 1, request_headers("/test/Echo"));
    const std::vector<std::string> openings{
        frame(data, 0, 1, "data before headers"),
        frame(data, 0, 0, "data on stream 0"),
        frame(headers, end_headers, 2, request_headers("/test/Echo")),  // even id
        frame(headers, end_headers, 1, "\xff\xff\xff\xff\xff\xff"),     // bad HPACK
        good + frame(headers, end_headers, 3, "\xbe\xbf\x82"),          // unknown index
        frame(settings, 0, 0, "odd"),
        frame(ping, 0, 0, "short"),
        frame(continuation, end_headers, 1, ""),
        frame(headers, 0, 1, request_headers("/test/Echo")) + frame(data, 0, 1, ""),  // interrupted header block
    };
    for (const auto& opening : openings) {
        RawPeer peer{loop.endpoint()};
        ASSERT_TRUE(peer.send(preface() + opening));
        EXPECT_TRUE(peer.wait_for_close());
    }
    expect_alive(loop);
}

TEST(WireHostile, OtherHttpRequestsGetHttpAnswers) {
    Loopback loop;
    loop.start();
    RawPeer peer{loop.endpoint()};
    ASSERT_TRUE(
        peer.send(preface() + frame(headers, end_headers | end_stream, 1, request_headers("/", "text/html")) +
                  frame(headers, end_headers | end_stream, 3, request_headers("/", "application/grpc", "GET"))));
    EXPECT_TRUE(peer.wait_for_close_or("405"));
    EXPECT_NE(peer.received().find("415"), std::string::npos);
    EXPECT_EQ(loop.server().stats().calls, 0u);
}

TEST(WireHostile, ARequestThatNeverCompletesIsDropped) {
    Loopback loop{{.request_timeout = 100ms}};
    loop.start();
    RawPeer unfinished_headers{loop.endpoint()}, silent{loop.endpoint()}, unfinished_body{loop.endpoint()};
    ASSERT_TRUE(unfinished_headers.send(preface() + frame(headers, 0, 1, literal(":method", "POST"))));
    ASSERT_TRUE(unfinished_body.send(preface() + frame(headers, end_headers, 1, request_headers("/test/Echo")) +
                                     frame(data, 0, 1, std::string{"\0\0\0\1\0 part", 10})));
    EXPECT_TRUE(unfinished_headers.wait_for_close());
    EXPECT_TRUE(silent.wait_for_close());
    EXPECT_TRUE(loop.warned_of("its request headers did not arrive"));
    expect_alive(loop);
    EXPECT_TRUE(eventually([&] { return loop.server().stats().failed_calls == 1; }));
}

TEST(WireHostile, ABodyThatEndsInsideAMessageIsRefused) {
    Loopback loop;
    loop.start();
    RawPeer peer{loop.endpoint()};
    ASSERT_TRUE(peer.send(preface() + frame(headers, end_headers, 1, request_headers("/test/Echo")) +
                          frame(data, end_stream, 1, std::string{"\0\0\0\1\0 part", 10}) + frame(ping, 0, 0, "short")));
    EXPECT_TRUE(peer.wait_for_close());
    EXPECT_EQ(loop.server().stats().failed_calls, 1u);
    expect_alive(loop);
}

TEST(WireHostile, EndlessHeadersAreCutOff) {
    Loopback loop;
    loop.start();
    RawPeer peer{loop.endpoint()};
    std::string opening = preface() + frame(headers, 0, 1, request_headers("/test/Echo"));
    for (int i = 0; i < 2000; ++i) opening += frame(continuation, 0, 1, literal("x-filler", std::string(100, 'x')));
    peer.send(opening);
    EXPECT_TRUE(peer.wait_for_close());
    expect_alive(loop);
}

TEST(WireHostile, RapidResetsDoNotPileUp) {
    Loopback loop;
    loop.start();
    RawPeer peer{loop.endpoint()};
    peer.send(preface());
    for (std::uint32_t id = 1; id < 40000; id += 2)
        if (!peer.send(frame(headers, end_headers, id, request_headers("/test/Echo")) +
                       frame(reset, 0, id, std::string{"\0\0\0\x8", 4})))
            break;
    expect_alive(loop);
}

TEST(WireHostile, AFloodOfPingsDoesNotFillMemory) {
    Loopback loop;
    loop.start();
    RawPeer peer{loop.endpoint()};
    std::string pings;
    for (int i = 0; i < 10000; ++i) pings += frame(ping, 0, 0, "12345678");
    peer.send(preface());
    for (int i = 0; i < 50 && peer.send(pings); ++i) {
    }
    expect_alive(loop);
}

TEST(WireHostile, APeerThatReadsNothingIsDropped) {
    Loopback loop{{.stall_timeout = 100ms}};
    loop.server().unary("/test/Large", [](Call call) { call.reply(std::string(20u << 20, 'x')); });
    loop.start();
    RawPeer peer{loop.endpoint()};
    const std::string window{"\x7f\xff\x00\x00", 4};
    ASSERT_TRUE(peer.send(preface() + frame(settings, 0, 0, std::string{"\0\4\x7f\xff\xff\xff", 6}) +
                          frame(8, 0, 0, window) + frame(headers, end_headers, 1, request_headers("/test/Large")) +
                          frame(data, end_stream, 1, std::string{"\0\0\0\0\0", 5})));
    EXPECT_TRUE(eventually([&] { return loop.warned_of("it took no bytes"); }));
    EXPECT_TRUE(eventually([&] { return loop.server().stats().connections_open == 0; }));
    expect_alive(loop);
}

TEST(WireHostile, AReplyThePeerLeavesNoWindowForIsGivenUp) {
    Loopback loop{{.stall_timeout = 100ms}};
    loop.server().unary("/test/Large", [](Call call) { call.reply(std::string(1u << 20, 'x')); });
    loop.start();
    RawPeer peer{loop.endpoint()};
    ASSERT_TRUE(peer.send(preface() + frame(headers, end_headers, 1, request_headers("/test/Large")) +
                          frame(data, end_stream, 1, std::string{"\0\0\0\0\0", 5})));
    const std::string cancelled = frame(reset, 0, 1, std::string{"\0\0\0\x8", 4});
    EXPECT_TRUE(peer.wait_for_close_or(cancelled));
    EXPECT_NE(peer.received().find(cancelled), std::string::npos);
}

TEST(WireHostile, ASilentPeerWithAnOpenSessionIsPingedAndDropped) {
    Loopback loop{{.keepalive_interval = 50ms, .keepalive_timeout = 50ms}};
    std::atomic<bool> closed{false};
    loop.server().stream("/test/Watch", [&](Session session) {
        session.on_closed([&](const std::optional<Error>&) { closed = true; });
    });
    loop.start();
    RawPeer dead{loop.endpoint()};  // it reads, and never answers
    ASSERT_TRUE(dead.send(preface() + frame(headers, end_headers, 1, request_headers("/test/Watch"))));
    EXPECT_TRUE(dead.wait_for_close());
    EXPECT_TRUE(closed);
    EXPECT_TRUE(loop.warned_of("left a ping unanswered"));
}

TEST(WireHostile, MoreConnectionsThanAllowedAreRefused) {
    Loopback loop{{.max_connections = 3}};
    loop.start();
    std::vector<Channel> channels;
    for (int i = 0; i < 3; ++i) {
        channels.push_back(loop.channel());
        ASSERT_TRUE(channels.back().unary("/test/Echo", ""));
    }
    EXPECT_FALSE(loop.channel().unary("/test/Echo", "", {.timeout = 300ms}));
    EXPECT_TRUE(loop.warned_of("3 are open, the limit"));
    channels.pop_back();
    EXPECT_TRUE(eventually([&] { return loop.channel().unary("/test/Echo", "", {.timeout = 1s}).has_value(); }));
}

TEST(WireHostile, RunningOutOfDescriptorsStopsNobodyForGood) {
    Loopback loop;
    loop.start();
    auto channel = loop.channel();
    ASSERT_TRUE(channel.unary("/test/Echo", ""));
    std::vector<Fd> waiting;
    waiting.push_back(*connect_to(loop.endpoint(), soon()));
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const int highest = waiting.back().get();
    waiting.push_back(*connect_to(loop.endpoint(), soon()));
    rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(highest + 1);
    ASSERT_TRUE(eventually([&] { return loop.server().stats().connections_open == 3; }));
    setrlimit(RLIMIT_NOFILE, &few);
    EXPECT_EQ(channel.unary("/test/Echo", "those inside go on"), "those inside go on");
    setrlimit(RLIMIT_NOFILE, &before);
    expect_alive(loop);
}

}  // namespace
}  // namespace spur::wire
