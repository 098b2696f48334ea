// Streams in both directions: order, half-closing, backpressure, cancelling, and use from a poll loop.
#include "tests/wire/loopback.hpp"

#include <poll.h>

#include <stdexcept>

namespace spur::wire {
namespace {

void echo_session(Session session) {
    session.on_message([session](std::string message) { session.send("echo " + message); });
    session.on_half_closed([session] { session.close(); });
}

TEST(WireStream, MessagesGoBothWaysInOrder) {
    Loopback loop;
    loop.server().stream("/test/Echoes", echo_session);
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Echoes");
    ASSERT_TRUE(stream) << stream.error().text;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(stream->write(std::to_string(i)));
    for (int i = 0; i < 100; ++i) {
        const auto message = stream->read(soon());
        ASSERT_TRUE(message) << message.error().text;
        EXPECT_EQ(*message, fmt::format("echo {}", i));
    }
    ASSERT_TRUE(stream->half_close());
    const auto end = stream->read(soon());
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(*end, std::nullopt);
    EXPECT_TRUE(stream->ended());
    EXPECT_EQ(stream->error(), nullptr);
}

TEST(WireStream, SeveralStreamsAndCallsShareAConnection) {
    Loopback loop;
    loop.server().stream("/test/Echoes", echo_session);
    loop.start();
    auto channel = loop.channel();
    auto a = channel.open("/test/Echoes"), b = channel.open("/test/Echoes");
    ASSERT_TRUE(a && b);
    ASSERT_TRUE(a->write("a") && b->write("b"));
    EXPECT_EQ(channel.unary("/test/Echo", "c"), "c");
    EXPECT_EQ(b->read(soon()), "echo b");
    EXPECT_EQ(a->read(soon()), "echo a");
    EXPECT_EQ(loop.server().stats().connections_open, 1u);
    EXPECT_EQ(loop.server().stats().sessions_open, 2u);
}

TEST(WireStream, ALargeMessagePassesThroughSmallWindows) {
    Loopback loop;
    loop.server().stream("/test/Echoes", echo_session);
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Echoes");
    const std::string large(10'000'000, 'x');
    ASSERT_TRUE(stream->write(large));
    const auto back = stream->read(soon());
    ASSERT_TRUE(back && *back);
    EXPECT_EQ((*back)->size(), large.size() + 5);
}

TEST(WireStream, TheServerEndsAStreamWithAnError) {
    Loopback loop;
    loop.server().stream("/test/Refuse", [](Session session) {
        session.on_message([session](const std::string&) {
            session.send("last words");
            session.close({ErrorCode::denied, "no such agent"}, {{"x-why", "because"}});
        });
    });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Refuse");
    ASSERT_TRUE(stream->write("hello"));
    EXPECT_EQ(stream->read(soon()), "last words");
    const auto end = stream->read(soon());
    ASSERT_FALSE(end);
    EXPECT_EQ(static_cast<const Error&>(end.error()), (Error{ErrorCode::denied, "no such agent"}));
    EXPECT_EQ(*end.error().trailers.find("x-why"), "because");
    EXPECT_FALSE(stream->write("more"));
}

TEST(WireStream, ClosingInTheOpenHandlerIsSeenByTheClient) {
    Loopback loop;
    loop.server().stream("/test/Shut", [](Session session) { session.close({ErrorCode::conflict, "not today"}); });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Shut");
    const auto end = stream->read(soon());
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().text, "not today");
}

TEST(WireStream, AnUnknownStreamIsRefusedWithASentence) {
    Loopback loop;
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/NoSuch");
    const auto end = stream->read(soon());
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().status, Status::unimplemented);
}

TEST(WireStream, ReadingWithADeadlineLeavesTheStreamUsable) {
    Loopback loop;
    loop.server().stream("/test/Echoes", echo_session);
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Echoes");
    const auto nothing = stream->read(Clock::now() + 20ms);
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().status, Status::deadline_exceeded);
    ASSERT_TRUE(stream->write("x"));
    EXPECT_EQ(stream->read(soon()), "echo x");
}

TEST(WireStream, TheServerLearnsOfACancelledStreamExactlyOnce) {
    Loopback loop;
    std::atomic<int> closed{0};
    std::atomic<bool> with_error{false};
    loop.server().stream("/test/Watch", [&](Session session) {
        session.on_closed([&](const std::optional<Error>& error) {
            with_error = error.has_value();
            ++closed;
        });
        session.send("here");
    });
    loop.start();
    auto channel = loop.channel();
    {
        auto stream = channel.open("/test/Watch");
        EXPECT_EQ(stream->read(soon()), "here");
    }  // dropping the handle cancels
    EXPECT_TRUE(eventually([&] { return closed == 1; }));
    EXPECT_TRUE(with_error);
    EXPECT_EQ(channel.unary("/test/Echo", "x"), "x");
    EXPECT_EQ(loop.server().stats().sessions_open, 0u);
    EXPECT_EQ(closed, 1);
}

TEST(WireStream, TheServerLearnsOfALostConnection) {
    Loopback loop;
    std::atomic<int> closed{0};
    std::mutex mutex;
    std::optional<Session> kept;
    loop.server().stream("/test/Watch", [&](Session session) {
        session.on_closed([&](const std::optional<Error>&) { ++closed; });
        const std::lock_guard lock{mutex};
        kept = session;
    });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Watch");
    ASSERT_TRUE(eventually([&] {
        const std::lock_guard lock{mutex};
        return kept.has_value();
    }));
    channel.disconnect();
    EXPECT_TRUE(stream->ended());
    EXPECT_EQ(stream->error()->status, Status::unavailable);
    stream = rpc_fail(Status::cancelled, "dropped");  // the last share of the connection
    EXPECT_TRUE(eventually([&] { return closed == 1; }));
    EXPECT_FALSE(kept->is_open());
    EXPECT_FALSE(kept->send("anyone?"));
}

TEST(WireStream, AnyThreadMaySend) {
    Loopback loop;
    std::mutex mutex;
    std::optional<Session> kept;
    loop.server().stream("/test/Watch", [&](Session session) {
        const std::lock_guard lock{mutex};
        kept = session;
    });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Watch");
    ASSERT_TRUE(eventually([&] {
        const std::lock_guard lock{mutex};
        return kept.has_value();
    }));
    constexpr int senders = 4, each = 500;
    std::vector<std::jthread> threads;
    for (int sender = 0; sender < senders; ++sender)
        threads.emplace_back([&, sender] {
            for (int i = 0; i < each; ++i) kept->send(fmt::format("{} {}", sender, i));
        });
    std::vector<int> next(senders, 0);
    for (int i = 0; i < senders * each; ++i) {
        const auto message = stream->read(soon());
        ASSERT_TRUE(message && *message);
        const int sender = (**message)[0] - '0';
        EXPECT_EQ(**message, fmt::format("{} {}", sender, next[static_cast<std::size_t>(sender)]++));
    }
}

TEST(WireStream, ASessionWhosePeerDoesNotReadIsClosedAtItsLimit) {
    Loopback loop{{.max_session_queue_bytes = 1u << 20}};
    std::atomic<bool> refused{false}, closed{false};
    loop.server().stream("/test/Flood", [&](Session session) {
        session.on_closed(
            [&](const std::optional<Error>& error) { closed = error && error->code == ErrorCode::limit; });
        session.on_message([&, session](const std::string&) {
            const std::string chunk(100'000, 'x');
            while (session.send(chunk)) {
            }
            refused = true;
        });
    });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Flood");
    ASSERT_TRUE(stream->write("go"));
    EXPECT_TRUE(eventually([&] { return refused && closed; }));
    EXPECT_TRUE(loop.warned_of("does not read"));
    const auto deadline = soon();
    while (true) {
        const auto message = stream->read(deadline);
        if (message && *message) continue;
        ASSERT_FALSE(message);
        EXPECT_EQ(message.error().status, Status::resource_exhausted);
        break;
    }
}

TEST(WireStream, ASenderThatWaitsForDrainedSendsAnyAmount) {
    Loopback loop{{.max_session_queue_bytes = 1u << 20}};
    constexpr std::size_t total = 40u << 20;
    struct Source {
        std::size_t sent{0};
        void top_up(const Session& session) {
            const std::string chunk(64 * 1024, 'x');
            while (sent < total && session.queued_bytes() < 512 * 1024) {
                session.send(chunk);
                sent += chunk.size();
            }
            if (sent >= total) session.close();
        }
    };
    loop.server().stream("/test/Pour", [](Session session) {
        auto source = std::make_shared<Source>();
        session.on_drained([source, session] { source->top_up(session); });
        source->top_up(session);
    });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Pour");
    std::size_t received = 0;
    for (;;) {
        const auto message = stream->read(soon());
        ASSERT_TRUE(message) << message.error().text;
        if (!*message) break;
        received += (*message)->size();
    }
    EXPECT_EQ(received, total);
}

TEST(WireStream, APausedSessionHoldsTheClientBack) {
    Loopback loop;
    std::atomic<std::size_t> received{0};
    std::mutex mutex;
    std::optional<Session> kept;
    loop.server().stream("/test/Sink", [&](Session session) {
        session.on_message([&](const std::string& message) { received += message.size(); });
        session.on_half_closed([session] { session.close(); });
        session.pause();
        const std::lock_guard lock{mutex};
        kept = session;
    });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Sink");
    const std::string chunk(100'000, 'x');
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(stream->write(chunk));
    ASSERT_FALSE(stream->flush(Clock::now() + 100ms));
    EXPECT_GT(stream->unsent(), 3'000'000u);
    EXPECT_EQ(received, 0u);
    EXPECT_EQ(channel.unary("/test/Echo", "others go on"), "others go on");
    kept->resume();
    ASSERT_TRUE(stream->flush(soon()));
    ASSERT_TRUE(stream->half_close());
    const auto end = stream->read(soon());
    ASSERT_TRUE(end) << end.error().text;
    EXPECT_EQ(*end, std::nullopt);
    EXPECT_EQ(received, 5'000'000u);
}

TEST(WireStream, APollLoopNeverBlocks) {
    Loopback loop;
    loop.server().stream("/test/Echoes", echo_session);
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Echoes");
    ASSERT_TRUE(stream);
    int sent = 0, got = 0;
    while (!stream->ended()) {
        while (sent < 1000 && stream->unsent() < 10'000) ASSERT_TRUE(stream->write(std::to_string(sent++)));
        if (sent == 1000) {
            ASSERT_TRUE(stream->half_close());
        }
        while (const auto message = stream->next()) EXPECT_EQ(*message, fmt::format("echo {}", got++));
        if (stream->ended()) break;  // writing reads too: all may have come by now
        pollfd entry{stream->fd(), stream->events(), 0};
        ASSERT_GE(entry.fd, 0);
        ASSERT_GT(poll(&entry, 1, 10'000), 0);
        stream->pump();
    }
    while (const auto message = stream->next()) EXPECT_EQ(*message, fmt::format("echo {}", got++));
    EXPECT_EQ(stream->error(), nullptr);
    EXPECT_EQ(got, 1000);
}

TEST(WireStream, AnExceptionInACallbackEndsThatStreamOnly) {
    Loopback loop;
    loop.server().stream("/test/Echoes", echo_session);
    loop.server().stream("/test/Throw", [](Session session) {
        session.on_message([](const std::string&) { throw std::runtime_error{"bad message"}; });
    });
    loop.start();
    auto channel = loop.channel();
    auto good = channel.open("/test/Echoes"), bad = channel.open("/test/Throw");
    ASSERT_TRUE(bad->write("x"));
    const auto end = bad->read(soon());
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().text, "/test/Throw failed inside the daemon: bad message");
    ASSERT_TRUE(good->write("y"));
    EXPECT_EQ(good->read(soon()), "echo y");
}

}  // namespace
}  // namespace spur::wire
