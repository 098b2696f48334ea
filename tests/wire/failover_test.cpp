// Several servers: which one is asked, when a call is sent again, and when it must not be.
#include <ctime>

#include "daemons/common/wire/socket.hpp"
#include "tests/wire/loopback.hpp"

namespace spur::wire {
namespace {

// A port on which nobody listens (any more).
Endpoint dead_endpoint() {
    const auto listener = listen_on({"127.0.0.1", 0});
    return {"127.0.0.1", *local_port(listener->get())};
}

// A server that counts its calls and holds them unanswered.
struct Holder : Loopback {
    Holder() {
        server().unary("/test/Hold", [this](Call call) {
            const std::lock_guard lock{mutex};
            ++calls;
            held.push_back(std::move(call));
        });
        start();
    }
    bool has_calls(int count) {
        const std::lock_guard lock{mutex};
        return calls >= count;
    }
    std::mutex mutex;
    std::vector<Call> held;
    int calls{0};
};

TEST(WireFailover, TheNextEndpointIsTriedWhenOneDoesNotAnswer) {
    Loopback loop;
    loop.start();
    Channel channel{{.endpoints = {dead_endpoint(), dead_endpoint(), loop.endpoint()}}};
    EXPECT_EQ(channel.unary("/test/Echo", "x"), "x");
    EXPECT_EQ(channel.current(), loop.endpoint());
}

TEST(WireFailover, NobodyListeningIsReportedSoonWithTheAddress) {
    const auto dead = dead_endpoint();
    Channel channel{{.endpoints = {dead}}};
    const auto begin = Clock::now();
    const auto reply = channel.unary("/test/Echo", "x", {.timeout = 30s, .unreachable_timeout = 100ms});
    EXPECT_LT(Clock::now() - begin, 5s);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::unavailable);
    EXPECT_EQ(reply.error().text, fmt::format("cannot connect to {}: Connection refused", dead.text()));
    EXPECT_FALSE(reply.error().maybe_processed);
}

TEST(WireFailover, AnUnknownHostIsReportedByName) {
    Channel channel{{.endpoints = {{"no-such-host.invalid", 6817}}}};
    const auto reply = channel.unary("/test/Echo", "x", {.unreachable_timeout = 0ms});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("host \"no-such-host.invalid\" cannot be resolved"), std::string::npos);
}

TEST(WireFailover, AServerThatComesUpLaterIsFound) {
    const auto endpoint = dead_endpoint();
    Loopback loop{{.listen = endpoint}};
    std::jthread late{[&] {
        std::this_thread::sleep_for(100ms);
        loop.start();
    }};
    Channel channel{{.endpoints = {endpoint}}};
    EXPECT_EQ(channel.unary("/test/Echo", "x"), "x");
}

TEST(WireFailover, AFollowersPointerIsFollowedAndRemembered) {
    Loopback leader, follower;
    std::atomic<int> leader_calls{0}, follower_calls{0};
    leader.server().unary("/test/Write", [&](Call call) {
        ++leader_calls;
        call.reply("done");
    });
    leader.start();
    follower.server().unary("/test/Write", [&, leader_address = leader.endpoint().text()](Call call) {
        ++follower_calls;
        call.fail({ErrorCode::unavailable, "this controller does not lead"},
                  {{std::string{leader_key}, leader_address}});
    });
    follower.start();
    Channel channel{{.endpoints = {follower.endpoint()}}};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(channel.unary("/test/Write", ""), "done");
    EXPECT_EQ(follower_calls, 1);
    EXPECT_EQ(leader_calls, 3);
    leader.stop();
    EXPECT_FALSE(channel.unary("/test/Write", "", {.timeout = 300ms}));
    EXPECT_GT(follower_calls, 1) << "a lost leader sends the channel back to the list";
}

TEST(WireFailover, WhileNobodyLeadsTheChannelKeepsAsking) {
    Loopback server;
    std::atomic<int> calls{0};
    server.server().unary("/test/Write", [&](Call call) {
        if (++calls < 4)
            return call.fail({ErrorCode::unavailable, "an election is going on"}, {{std::string{leader_key}, ""}});
        call.reply("done");
    });
    server.start();
    EXPECT_EQ(server.channel().unary("/test/Write", ""), "done");
    EXPECT_EQ(calls, 4);
}

// What a channel told whoever waits.
struct Told {
    std::vector<std::string> lines;
    ChannelOptions options(std::vector<Endpoint> endpoints) {
        return {.endpoints = std::move(endpoints),
                .tell = [this](std::string_view text) { lines.emplace_back(text); },
                .tell_after = 50ms};
    }
};

TEST(WireFailover, WhoeverWaitsForALeaderIsToldOnce) {
    Loopback server;
    server.server().unary("/test/Write", [&](Call call) {
        call.fail({ErrorCode::unavailable, "no leader is known yet"}, {{std::string{leader_key}, ""}});
    });
    server.start();
    Told told;
    auto options = told.options({server.endpoint()});
    options.tell_after = 500ms;  // by then the first answer has come, however busy the machine is
    Channel channel{options};
    EXPECT_FALSE(channel.unary("/test/Write", "", {.timeout = 1500ms}));
    EXPECT_FALSE(channel.unary("/test/Write", "", {.timeout = 600ms}));
    ASSERT_EQ(told.lines.size(), 1U);
    EXPECT_TRUE(told.lines[0].starts_with("still waiting, for up to ")) << told.lines[0];
    EXPECT_TRUE(told.lines[0].ends_with(" s more: no leader is known yet")) << told.lines[0];
}

TEST(WireFailover, WhoeverWaitsForAServerThatHangsOrIsNotThereIsTold) {
    Holder slow;
    Told told;
    Channel channel{told.options({slow.endpoint()})};
    EXPECT_FALSE(channel.unary("/test/Hold", "", {.timeout = 200ms}));
    ASSERT_EQ(told.lines.size(), 1U);
    EXPECT_NE(told.lines[0].find(slow.endpoint().text() + " has not answered yet"), std::string::npos) << told.lines[0];

    const auto listener = listen_on({"127.0.0.1", 0});  // takes connections and says nothing
    const Endpoint mute{"127.0.0.1", *local_port(listener->get())};
    Told of_mute;
    auto options = of_mute.options({mute});
    options.endpoints.push_back(mute);  // the greeting is waited for
    options.connect_timeout = 400ms;
    EXPECT_FALSE(Channel{options}.unary("/test/Echo", "", {.timeout = 300ms, .unreachable_timeout = 200ms}));
    ASSERT_EQ(of_mute.lines.size(), 1U);
    EXPECT_NE(of_mute.lines[0].find("says nothing"), std::string::npos) << of_mute.lines[0];

    Told of_dead;
    Channel dead{of_dead.options({dead_endpoint()})};
    EXPECT_FALSE(dead.unary("/test/Echo", "", {.timeout = 300ms, .unreachable_timeout = 200ms}));
    ASSERT_EQ(of_dead.lines.size(), 1U);
    EXPECT_NE(of_dead.lines[0].find("Connection refused"), std::string::npos) << of_dead.lines[0];
}

TEST(WireFailover, ALongPollAndAQuickAnswerAreNothingToTell) {
    Holder slow;
    Told told;
    Channel channel{told.options({slow.endpoint()})};
    EXPECT_EQ(channel.unary("/test/Echo", "x"), "x");
    EXPECT_FALSE(channel.unary("/test/Hold", "", {.timeout = 200ms, .metadata = {}, .long_poll = true}));
    EXPECT_TRUE(told.lines.empty()) << told.lines[0];
}

TEST(WireFailover, AnAnswerFromAStateThatNobodyConfirmedSaysHowOldItIs) {
    Loopback server;
    server.server().unary("/test/List", [](Call call) {
        call.set_as_of(std::time(nullptr) - 120);
        call.reply("jobs");
    });
    server.start();
    Told told;
    Channel channel{told.options({server.endpoint()})};
    for (int i = 0; i < 2; ++i) EXPECT_EQ(channel.unary("/test/List", ""), "jobs");
    ASSERT_EQ(told.lines.size(), 1U);
    EXPECT_EQ(told.lines[0].substr(0, told.lines[0].rfind(" 12")),
              "the answer may be out of date: " + server.endpoint().text() +
                  " has heard from no leader of the controllers for");
}

TEST(WireFailover, ServersThatPointAtEachOtherAreGivenUpAtTheDeadline) {
    Loopback a, b;
    std::atomic<int> calls{0};
    auto point_at = [&](Loopback& from, Loopback& to) {
        from.server().unary("/test/Write", [&](Call call) {
            ++calls;
            call.fail({ErrorCode::unavailable, "not me"}, {{std::string{leader_key}, to.endpoint().text()}});
        });
    };
    point_at(a, b);
    point_at(b, a);
    a.start();
    b.start();
    Channel channel{{.endpoints = {a.endpoint()}}};
    const auto reply = channel.unary("/test/Write", "", {.timeout = 500ms});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().text, "not me");
    EXPECT_LT(calls, 20) << "pauses grow";
}

TEST(WireFailover, UnavailableWithoutALeaderIsTheCallersToJudge) {
    Loopback loop;
    std::atomic<int> calls{0};
    loop.server().unary("/test/Write", [&](Call call) {
        ++calls;
        call.fail({ErrorCode::unavailable, "the accounting database is down"});
    });
    loop.start();
    const auto reply = loop.channel().unary("/test/Write", "", {.idempotent = true});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().text, "the accounting database is down");
    EXPECT_EQ(calls, 1);
}

TEST(WireFailover, AWriteIsNeverSentTwiceWhenItMayHaveBeenDone) {
    Holder first, second;
    Channel channel{{.endpoints = {first.endpoint(), second.endpoint()}}};
    std::jthread killer{[&] {
        ASSERT_TRUE(eventually([&] { return first.has_calls(1); }));
        first.stop();
    }};
    const auto reply = channel.unary("/test/Hold", "submit");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::unavailable);
    EXPECT_TRUE(reply.error().maybe_processed);
    EXPECT_EQ(second.calls, 0);
}

TEST(WireFailover, AnIdempotentCallIsSentAgainToTheNextServer) {
    Holder first;
    Loopback second;
    second.server().unary("/test/Hold", [](Call call) { call.reply("from the second"); });
    second.start();
    Channel channel{{.endpoints = {first.endpoint(), second.endpoint()}}};
    std::jthread killer{[&] {
        ASSERT_TRUE(eventually([&] { return first.has_calls(1); }));
        first.stop();
    }};
    EXPECT_EQ(channel.unary("/test/Hold", "read", {.idempotent = true}), "from the second");
}

TEST(WireFailover, ARestartBetweenCallsIsNotNoticed) {
    auto loop = std::make_unique<Loopback>();
    loop->start();
    const auto endpoint = loop->endpoint();
    Channel channel{{.endpoints = {endpoint}}};
    EXPECT_EQ(channel.unary("/test/Echo", "x"), "x");
    loop = std::make_unique<Loopback>(ServerOptions{.listen = endpoint});
    loop->start();
    EXPECT_EQ(channel.unary("/test/Echo", "y"), "y");
}

TEST(WireFailover, AnIdleConnectionIsClosedAndMadeAgain) {
    Loopback loop{{.idle_timeout = 1ms}};
    loop.start();
    auto channel = loop.channel();
    EXPECT_EQ(channel.unary("/test/Echo", "x"), "x");
    EXPECT_TRUE(eventually([&] { return loop.server().stats().connections_open == 0; }));
    EXPECT_EQ(channel.unary("/test/Echo", "y"), "y");
}

TEST(WireFailover, DrainingLetsCallsFinishAndTakesNoNewOnes) {
    Holder first;
    Loopback second;
    second.start();
    Channel busy{{.endpoints = {first.endpoint()}}}, other{{.endpoints = {first.endpoint(), second.endpoint()}}};
    EXPECT_EQ(other.unary("/test/Echo", "x"), "x");
    RpcResult<std::string> finished;
    std::jthread caller{[&] { finished = busy.unary("/test/Hold", "work"); }};
    ASSERT_TRUE(eventually([&] { return first.has_calls(1); }));
    std::jthread drainer{[&] { first.server().drain(10s); }};
    ASSERT_TRUE(eventually([&] {
        other.disconnect();
        return other.unary("/test/Echo", "y") == "y" && other.current() == second.endpoint();
    }));
    first.held.front().reply("worked");
    caller.join();
    EXPECT_EQ(finished, "worked");
    drainer.join();
}

TEST(WireFailover, DrainingClosesSessionsAtOnce) {
    Loopback loop;
    std::atomic<bool> closed{false};
    loop.server().stream("/test/Watch", [&](Session session) {
        session.on_closed([&](const std::optional<Error>&) { closed = true; });
        session.send("hello");
    });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Watch");
    EXPECT_EQ(stream->read(soon()), "hello");
    const auto begin = Clock::now();
    loop.server().drain(30s);
    EXPECT_LT(Clock::now() - begin, 10s);
    EXPECT_TRUE(closed);
    const auto end = stream->read(soon());
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().text, "/test/Watch: the daemon is stopping");
}

TEST(WireFailover, AStreamsEndShowsTheNextOneTheWay) {
    Loopback leader, follower;
    leader.server().stream("/test/Agent", [](Session session) { session.send("welcome"); });
    leader.start();
    follower.server().stream("/test/Agent", [&](Session session) {
        session.close({ErrorCode::unavailable, "not the leader"},
                      {{std::string{leader_key}, leader.endpoint().text()}});
    });
    follower.start();
    Channel channel{{.endpoints = {follower.endpoint()}}};
    {
        auto stream = channel.open("/test/Agent");
        ASSERT_FALSE(stream->read(soon()));
    }
    auto stream = channel.open("/test/Agent");
    EXPECT_EQ(stream->read(soon()), "welcome");
}

// A process that is stopped: its kernel accepts connections and takes bytes, and nobody answers.
struct Hanging {
    Result<Fd> listener = listen_on({"127.0.0.1", 0});
    [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", *local_port(listener->get())}; }
};

TEST(WireFailover, AServerThatHangsIsPassedOverEvenByAWriteThatMustNotBeDoneTwice) {
    Hanging hanging;
    Loopback living;
    living.start();
    Channel channel{{.endpoints = {hanging.endpoint(), living.endpoint()}}};
    EXPECT_EQ(channel.unary("/test/Echo", "x", {.idempotent = false}), "x");
    EXPECT_EQ(channel.current(), living.endpoint());
}

TEST(WireFailover, AStreamIsOpenedAtAServerThatDoesNotHang) {
    Hanging hanging;
    Loopback living;
    living.server().stream("/test/Agent", [](Session session) { session.send("welcome"); });
    living.start();
    Channel channel{{.endpoints = {hanging.endpoint(), living.endpoint()}}};
    auto stream = channel.open("/test/Agent");
    ASSERT_TRUE(stream);
    EXPECT_EQ(stream->read(soon()), "welcome");
}

TEST(WireFailover, AServerThatTakesItsTimeButAnswersPingsIsWaitedFor) {
    Loopback slow, other;
    slow.server().unary("/test/Slow", [](Call call) {
        std::thread{[call] {
            std::this_thread::sleep_for(300ms);
            call.reply("at last");
        }}.detach();
    });
    slow.start();
    other.start();
    Channel channel{{.endpoints = {slow.endpoint(), other.endpoint()}, .silence_timeout = 100ms}};
    EXPECT_EQ(channel.unary("/test/Slow", ""), "at last");
}

TEST(WireFailover, AServerThatFallsSilentInACallIsLeftForAnotherByCallsThatMayBeRepeated) {
    Loopback frozen, living;
    std::atomic<bool> thaw{false};
    frozen.server().unary("/test/Hold", [&](Call) {  // its I/O thread answers nobody, not even pings
        while (!thaw) std::this_thread::yield();
    });
    frozen.start();
    living.server().unary("/test/Hold", [](Call call) { call.reply("from the other"); });
    living.start();
    Channel channel{{.endpoints = {frozen.endpoint(), living.endpoint()}, .silence_timeout = 100ms}};
    EXPECT_EQ(channel.unary("/test/Hold", "", {.idempotent = true}), "from the other");
    thaw = true;
}

TEST(WireFailover, AStreamTellsASilentServerFromALivingOne) {
    Loopback loop;
    loop.server().stream("/test/Agent", [](Session session) { session.send("welcome"); });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Agent");
    ASSERT_EQ(stream->read(soon()), "welcome");
    const auto before = stream->silent_for();
    stream->ping();
    EXPECT_TRUE(eventually([&] {
        stream->pump();
        return stream->silent_for() < before || stream->silent_for() < 1ms;
    }));
    stream->give_up("enough");
    EXPECT_TRUE(stream->ended());
    EXPECT_EQ(channel.unary("/test/Echo", "x"), "x") << "another connection is made";
}

TEST(WireFailover, APortThatSpeaksSomethingElseIsNamed) {
    auto listener = listen_on({"127.0.0.1", 0});
    const Endpoint endpoint{"127.0.0.1", *local_port(listener->get())};
    std::jthread other_protocol{[&] {
        std::string peer;
        ASSERT_TRUE(wait_for(listener->get(), 1 /* POLLIN */, soon()));
        const auto fd = accept_from(listener->get(), peer);
        std::size_t count = 0;
        std::string why;
        send_bytes(fd->get(), "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", count, why);
        char buffer[1000];
        while (wait_for(fd->get(), 1, soon()) &&
               receive_bytes(fd->get(), buffer, sizeof buffer, count, why) != Moved::closed) {
        }
    }};
    Channel channel{{.endpoints = {endpoint}}};
    const auto reply = channel.unary("/test/Echo", "x", {.timeout = 2s, .unreachable_timeout = 0ms});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("is this a Spur port?"), std::string::npos) << reply.error().text;
}

}  // namespace
}  // namespace spur::wire
