// Unary calls: replies, errors, limits and deadlines.
#include "spur/v1/controller.pb.h"
#include "tests/wire/loopback.hpp"

#include <stdexcept>
#include <thread>

namespace spur::wire {
namespace {

TEST(WireUnary, AReplyComesBack) {
    Loopback loop;
    loop.start();
    auto channel = loop.channel();
    for (const std::size_t size : {0, 1, 300, 16384, 100'000, 5'000'000}) {
        const std::string body(size, 'x');
        const auto reply = channel.unary("/test/Echo", body);
        ASSERT_TRUE(reply) << reply.error().text;
        EXPECT_EQ(*reply, body);
    }
    EXPECT_EQ(loop.server().stats().connections_open, 1u);
}

TEST(WireUnary, ProtobufMessagesGoThroughCall) {
    Loopback loop;
    loop.server().unary("/spur.v1.Controller/Ping", [](Call call) {
        const auto request = call.parse<v1::PingRequest>();
        if (!request) return call.fail(request.error());
        v1::PingReply reply;
        reply.set_hostname("ctrl1");
        call.reply_with(reply);
    });
    loop.start();
    auto channel = loop.channel();
    const auto reply = call<v1::PingReply>(channel, "/spur.v1.Controller/Ping", v1::PingRequest{});
    ASSERT_TRUE(reply) << reply.error().text;
    EXPECT_EQ(reply->hostname(), "ctrl1");
}

TEST(WireUnary, AMalformedBodyIsRefusedNamingTheMessage) {
    Loopback loop;
    loop.server().unary("/spur.v1.Controller/Submit", [](Call call) {
        const auto request = call.parse<v1::SubmitRequest>();
        if (!request) return call.fail(request.error());
        call.reply({});
    });
    loop.start();
    const auto reply = loop.channel().unary("/spur.v1.Controller/Submit", "\xff\xff\xff garbage");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::invalid_argument);
    EXPECT_EQ(reply.error().text, "/spur.v1.Controller/Submit: the request is not a well-formed spur.v1.SubmitRequest");
}

TEST(WireUnary, AReplyThatIsNotTheMessageIsAnErrorAtTheClient) {
    Loopback loop;
    loop.server().unary("/test/Garbage", [](Call call) { call.reply("\xff\xff\xff"); });
    loop.start();
    auto channel = loop.channel();
    const auto reply = call<v1::PingReply>(channel, "/test/Garbage", v1::PingRequest{});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::data_loss);
    EXPECT_NE(reply.error().text.find("the reply is not a spur.v1.PingReply"), std::string::npos);
}

TEST(WireUnary, EveryErrorArrivesAsItWasMade) {
    Loopback loop;
    loop.server().unary("/test/Fail", [](Call call) {
        call.fail({ErrorCode{static_cast<std::uint8_t>(call.request().at(0))}, "node \"n\u00fc1\" is gone:\n100 % sure",
                   2018});
    });
    loop.start();
    auto channel = loop.channel();
    for (const auto code : {ErrorCode::invalid, ErrorCode::not_found, ErrorCode::conflict, ErrorCode::denied,
                            ErrorCode::unavailable, ErrorCode::limit, ErrorCode::corrupt, ErrorCode::internal}) {
        const auto reply = channel.unary("/test/Fail", std::string(1, static_cast<char>(code)));
        ASSERT_FALSE(reply);
        EXPECT_EQ(static_cast<const Error&>(reply.error()),
                  (Error{code, "node \"n\u00fc1\" is gone:\n100 % sure", 2018}));
        EXPECT_EQ(reply.error().status, status_of(code));
    }
}

TEST(WireUnary, AnRpcErrorIsAnErrorToItsCaller) {
    Loopback loop;
    loop.server().unary("/test/Fail", [](Call call) { call.fail({ErrorCode::conflict, "not now"}); });
    loop.start();
    auto channel = loop.channel();
    const auto passed_up = [&]() -> Result<std::size_t> {
        SPUR_TRY(const auto reply, channel.unary("/test/Fail", ""));
        return reply.size();
    }();
    EXPECT_EQ(passed_up, fail(ErrorCode::conflict, "not now"));
}

TEST(WireUnary, AnUnknownMethodIsRefusedWithASentence) {
    Loopback loop;
    loop.start();
    const auto reply = loop.channel().unary("/test/NoSuch", "x");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::unimplemented);
    EXPECT_NE(reply.error().text.find("/test/NoSuch is not served here"), std::string::npos);
}

TEST(WireUnary, AnExceptionEndsTheCallAndNothingElse) {
    Loopback loop;
    loop.server().unary("/test/Throw", [](Call) { throw std::runtime_error{"out of cheese"}; });
    loop.server().unary("/test/ThrowOddly", [](Call) { throw 42; });
    loop.start();
    auto channel = loop.channel();
    const auto reply = channel.unary("/test/Throw", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::internal);
    EXPECT_EQ(reply.error().text, "/test/Throw failed inside the daemon: out of cheese");
    EXPECT_FALSE(channel.unary("/test/ThrowOddly", ""));
    EXPECT_TRUE(loop.warned_of("out of cheese"));
    EXPECT_TRUE(channel.unary("/test/Echo", "still here"));
}

TEST(WireUnary, AForgottenCallIsAnsweredAllTheSame) {
    Loopback loop;
    loop.server().unary("/test/Forget", [](Call) {});
    loop.start();
    const auto reply = loop.channel().unary("/test/Forget", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().text, "/test/Forget: the daemon dropped the request without an answer");
}

TEST(WireUnary, OnlyTheFirstAnswerCounts) {
    Loopback loop;
    loop.server().unary("/test/Twice", [](Call call) {
        call.reply("first");
        call.reply("second");
        call.fail({ErrorCode::internal, "third"});
    });
    loop.start();
    EXPECT_EQ(loop.channel().unary("/test/Twice", ""), "first");
}

TEST(WireUnary, AnAnswerMayComeFromAnyThreadInAnyOrder) {
    Loopback loop{{.io_threads = 2}};
    std::mutex mutex;
    std::vector<Call> waiting;
    loop.server().unary("/test/Later", [&](Call call) {
        const std::lock_guard lock{mutex};
        waiting.push_back(std::move(call));
    });
    loop.start();
    constexpr int clients = 8, calls = 200;
    std::atomic<int> right{0};
    std::vector<std::jthread> threads;
    for (int client = 0; client < clients; ++client)
        threads.emplace_back([&, client] {
            auto channel = loop.channel();
            for (int i = 0; i < calls; ++i)
                if (const auto body = fmt::format("{}/{}", client, i); channel.unary("/test/Later", body) == body)
                    ++right;
        });
    std::jthread engine{[&] {
        while (right < clients * calls) {
            std::vector<Call> batch;
            {
                const std::lock_guard lock{mutex};
                batch.swap(waiting);
            }
            for (auto call = batch.rbegin(); call != batch.rend(); ++call) call->reply(std::string{call->request()});
        }
    }};
    EXPECT_TRUE(eventually([&] { return right == clients * calls; }, 60s));
}

TEST(WireUnary, ADeadlineEndsTheWaitAndTellsTheServer) {
    Loopback loop;
    std::mutex mutex;
    std::optional<Call> held;
    loop.server().unary("/test/Hold", [&](Call call) {
        const std::lock_guard lock{mutex};
        held = std::move(call);
    });
    loop.start();
    auto channel = loop.channel();
    const auto reply = channel.unary("/test/Hold", "", {.timeout = 50ms});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::deadline_exceeded);
    EXPECT_TRUE(reply.error().maybe_processed);
    EXPECT_TRUE(eventually([&] {
        const std::lock_guard lock{mutex};
        return held && held->abandoned();
    }));
    held->reply("too late");
    EXPECT_EQ(channel.unary("/test/Echo", "and on"), "and on");
}

TEST(WireUnary, ATooLargeRequestIsRefusedAndTheConnectionGoesOn) {
    Loopback loop{{.max_message_bytes = 1000}};
    loop.start();
    auto channel = loop.channel();
    const auto reply = channel.unary("/test/Echo", std::string(5'000'000, 'x'));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::resource_exhausted);
    EXPECT_EQ(reply.error().text, "/test/Echo: a message of 5000000 bytes is over the limit of 1000 bytes");
    EXPECT_TRUE(channel.unary("/test/Echo", "small"));
}

TEST(WireUnary, ATooLargeReplyIsRefusedByTheClient) {
    Loopback loop;
    loop.server().unary("/test/Large", [](Call call) { call.reply(std::string(2'000'000, 'x')); });
    loop.start();
    auto options = loop.channel_options();
    options.max_message_bytes = 1'000'000;
    Channel channel{options};
    const auto reply = channel.unary("/test/Large", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::resource_exhausted);
    EXPECT_TRUE(channel.unary("/test/Echo", "small"));
}

TEST(WireUnary, RequestsTogetherStayWithinTheServersMemory) {
    Loopback loop{{.max_buffered_bytes = 1u << 20}};
    loop.start();
    auto channel = loop.channel();
    const auto reply = channel.unary("/test/Echo", std::string(3u << 20, 'x'));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::resource_exhausted);
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(channel.unary("/test/Echo", std::string(500'000, 'x')));
}

TEST(WireUnary, MetadataReachesTheHandler) {
    Loopback loop;
    loop.server().unary("/test/Meta", [](Call call) {
        const auto* value = call.metadata().find("x-trace");
        call.reply(value != nullptr ? *value : "none");
    });
    loop.start();
    EXPECT_EQ(loop.channel().unary("/test/Meta", "", {.metadata = {{"x-trace", "abc"}}}), "abc");
}

TEST(WireUnary, ThePeersAddressIsKnown) {
    Loopback loop;
    loop.server().unary("/test/Who", [](Call call) { call.reply(call.peer().address); });
    loop.start();
    const auto reply = loop.channel().unary("/test/Who", "");
    ASSERT_TRUE(reply);
    EXPECT_TRUE(reply->starts_with("127.0.0.1:"));
}

}  // namespace
}  // namespace spur::wire
