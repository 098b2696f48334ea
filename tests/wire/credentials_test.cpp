// Credentials on every call, proofs on every reply, and what happens when either is wrong. The plugin here is a toy.
#include "daemons/common/wire/socket.hpp"
#include "tests/wire/loopback.hpp"

#include <atomic>
#include <tuple>

namespace spur::wire {
namespace {

std::string seal(std::string_view key, std::string_view what, std::string_view method, const Digest& digest) {
    return to_hex(hmac_sha256(key, fmt::format("{}|{}|{}", what, method, to_hex(digest))));
}
std::string seal(std::string_view key, const CredentialRequest& request) {
    return seal(key, request.audience, request.method, request.body);
}

class ToySource : public CredentialSource {
public:
    explicit ToySource(std::string key, bool demanding = true) : key_(std::move(key)), demanding_(demanding) {}
    Result<std::string> make(const CredentialRequest& request) override {
        ++made;
        if (key_.empty()) return fail(ErrorCode::denied, "the key file cannot be read");
        last = seal(key_, request);
        audience = request.audience;
        return last;
    }
    [[nodiscard]] bool demands_proof() const override { return demanding_; }
    Result<void> verify_reply(std::string_view method, std::string_view credential, const Digest& reply,
                              std::string_view proof) override {
        if (proof != seal(key_, credential, method, reply)) return fail(ErrorCode::denied, "the proof is wrong");
        return {};
    }
    int made{0};
    std::string last, audience;

private:
    std::string key_;
    bool demanding_;
};

class ToyAuthenticator : public Authenticator {
public:
    explicit ToyAuthenticator(std::string key, bool proves = true) : key_(std::move(key)), proves_(proves) {}
    Result<Verdict> verify(const CredentialRequest& request, std::string_view credential, const Peer&) override {
        ++asked;
        if (credential.empty()) return fail(ErrorCode::denied, "no credential was sent");
        if (credential != seal(key_, request)) return fail(ErrorCode::denied, "the credential is wrong");
        return Caller{1000, 100, "alice"};
    }
    [[nodiscard]] bool gives_proof() const override { return proves_; }
    Result<std::string> prove(std::string_view method, std::string_view credential, const Digest& reply) override {
        return seal(key_, credential, method, reply);
    }
    std::atomic<int> asked{0};

private:
    std::string key_;
    bool proves_;
};

struct Guarded : Loopback {
    explicit Guarded(std::string key = "secret", bool proves = true)
        : Loopback({.authenticator = std::make_shared<ToyAuthenticator>(std::move(key), proves),
                    .cluster = "main",
                    .name = "n1"}) {
        server().unary("/test/Who", [this](Call call) {
            ++handled;
            call.reply(fmt::format("{} {} {}", call.caller().name, call.caller().uid, call.caller().gid));
        });
        server().unary("/test/Fail", [](Call call) { call.fail({ErrorCode::conflict, "not now"}); });
        server().stream("/test/Watch", [this](Session session) {
            ++handled;
            session.send(session.caller().name);
        });
        start();
    }
    Channel channel_as(std::shared_ptr<CredentialSource> source) {
        auto options = channel_options();
        options.credentials = std::move(source);
        return Channel{options};
    }
    std::atomic<int> handled{0};
};

TEST(WireCredentials, TheCallerIsWhoTheCredentialSays) {
    Guarded server;
    auto channel = server.channel_as(std::make_shared<ToySource>("secret"));
    EXPECT_EQ(channel.unary("/test/Who", "anything"), "alice 1000 100");
    auto stream = channel.open("/test/Watch");
    EXPECT_EQ(stream->read(soon()), "alice");
}

TEST(WireCredentials, AWrongCredentialReachesNoHandler) {
    Guarded server;
    auto channel = server.channel_as(std::make_shared<ToySource>("guess"));
    const auto reply = channel.unary("/test/Who", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::unauthenticated);
    EXPECT_EQ(static_cast<const Error&>(reply.error()), (Error{ErrorCode::denied, "the credential is wrong"}));
    auto stream = channel.open("/test/Watch");
    const auto end = stream->read(soon());
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().status, Status::unauthenticated);
    EXPECT_EQ(server.handled, 0);
    EXPECT_EQ(server.server().stats().refused_credentials, 2u);
    EXPECT_TRUE(server.warned_of("/test/Who from 127.0.0.1:"));
}

// Two legs: "hello" is met with a question, whose answer counts.
struct AskingBack : ToyAuthenticator {
    explicit AskingBack(unsigned questions) : ToyAuthenticator{"secret"}, questions_{questions} {}
    Result<Verdict> verify(const CredentialRequest& request, std::string_view credential, const Peer&) override {
        behalf = request.on_behalf_of;
        ++asked;
        if (credential.size() < questions_) return Verdict::ask_back("and-" + std::string{credential});
        return Caller{1000, 100, "alice"};
    }
    std::string behalf;

private:
    unsigned questions_;
};
struct Answering : ToySource {
    Answering() : ToySource{"secret"} {}
    Result<std::string> make(const CredentialRequest&) override { return "x"; }
    [[nodiscard]] bool expects_challenges() const override { return true; }
    Result<std::string> respond(const CredentialRequest&, std::string_view credential,
                                std::string_view challenge) override {
        EXPECT_EQ(challenge, "and-" + std::string{credential});
        return std::string{credential} + "x";
    }
};
struct Conversation : Loopback {
    explicit Conversation(const std::shared_ptr<AskingBack>& authenticator) : Loopback({.authenticator = authenticator}) {
        server().unary("/test/Who", [](Call call) { call.reply(call.caller().name); });
        server().stream("/test/Watch", [](Session session) { session.send(session.caller().name); });
        start();
    }
    Channel channel_as(std::shared_ptr<CredentialSource> source) {
        auto options = channel_options();
        options.credentials = std::move(source);
        return Channel{options};
    }
};

TEST(WireCredentials, AServerMayAskBackBeforeItTakesACallOrAStream) {
    const auto asking = std::make_shared<AskingBack>(3);
    Conversation server{asking};
    auto channel = server.channel_as(std::make_shared<Answering>());
    EXPECT_EQ(channel.unary("/test/Who", "anything", {.on_behalf_of = "77"}), "alice");
    EXPECT_EQ(asking->asked, 3);
    EXPECT_EQ(asking->behalf, "77");
    auto stream = channel.open("/test/Watch");
    ASSERT_TRUE(stream) << stream.error().text;
    EXPECT_EQ(stream->read(soon()), "alice");
    EXPECT_EQ(asking->asked, 6);
}

TEST(WireCredentials, AServerThatNeverStopsAskingIsNotAnsweredForEver) {
    const auto asking = std::make_shared<AskingBack>(1000);
    Conversation server{asking};
    auto channel = server.channel_as(std::make_shared<Answering>());
    const auto reply = channel.unary("/test/Who", "anything");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::unauthenticated);
    EXPECT_EQ(asking->asked, 4);
    auto stream = channel.open("/test/Watch");
    ASSERT_TRUE(stream) << stream.error().text;
    EXPECT_FALSE(stream->read(soon()));
    EXPECT_EQ(asking->asked, 8);
}

TEST(WireCredentials, WhoHasNoAnswerToAQuestionSaysSo) {
    struct Silent : Answering {
        Result<std::string> respond(const CredentialRequest& request, std::string_view credential,
                                    std::string_view challenge) override {
            return CredentialSource::respond(request, credential, challenge);
        }
    };
    Conversation server{std::make_shared<AskingBack>(3)};
    const auto reply = server.channel_as(std::make_shared<Silent>()).unary("/test/Who", "anything");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().text, "the server asks back, and this side's auth plugin has no answer to that");
}

TEST(WireCredentials, NoCredentialReachesNoHandler) {
    Guarded server;
    const auto reply = server.channel().unary("/test/Who", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().text, "no credential was sent");
    EXPECT_EQ(server.handled, 0);
}

TEST(WireCredentials, ACredentialThatCannotBeMadeSendsNothing) {
    Guarded server;
    const auto reply = server.channel_as(std::make_shared<ToySource>("")).unary("/test/Who", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().text, "the key file cannot be read");
    EXPECT_EQ(server.server().stats().calls, 0u);
}

TEST(WireCredentials, AnImpostorsReplyIsNotBelieved) {
    Loopback impostor;
    impostor.server().unary("/test/Who", [](Call call) { call.reply("I am the controller"); });
    std::atomic<int> heard{0};
    impostor.server().stream("/test/Watch", [&](Session session) {
        session.on_message([&](const std::string&) { ++heard; });
        session.send("launch this");
    });
    impostor.start();
    auto options = impostor.channel_options();
    options.credentials = std::make_shared<ToySource>("secret");
    Channel channel{options};
    const auto reply = channel.unary("/test/Who", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::unauthenticated);
    EXPECT_NE(reply.error().text.find("did not prove itself"), std::string::npos);
    auto stream = channel.open("/test/Watch");
    std::ignore = stream->write("a secret");  // refused if the impostor was found out by then
    const auto message = stream->read(soon());
    ASSERT_FALSE(message);
    EXPECT_NE(message.error().text.find("did not prove itself"), std::string::npos);
    EXPECT_TRUE(eventually([&] { return impostor.server().stats().sessions_open == 0; }));
    EXPECT_EQ(heard, 0) << "what is written waits until the server has proved itself";
}

TEST(WireCredentials, WhatIsWrittenToAStreamArrivesOnceTheServerHasProvedItself) {
    Guarded server;
    server.server().stream("/test/Late", [](Session session) {
        session.on_message([session](const std::string& message) { session.send(message); });
        session.on_half_closed([session] { session.close(); });
    });
    auto channel = server.channel_as(std::make_shared<ToySource>("secret"));
    auto stream = channel.open("/test/Late");
    for (const auto* message : {"one", "two"}) ASSERT_TRUE(stream->write(message));
    ASSERT_TRUE(stream->half_close());
    EXPECT_EQ(stream->read(soon()), "one");
    EXPECT_EQ(stream->read(soon()), "two");
    EXPECT_EQ(stream->read(soon()), std::nullopt);
}

// A credential as somebody who saw it on its way would send it again: its headers, and a body.
RpcResult<std::string> replay(const Guarded& server, const ToySource& seen, std::string_view body,
                              std::string_view method = "/test/Who") {
    auto channel = server.channel();
    return channel.unary(method, body,
                         {.metadata = {{std::string{auth_key}, seen.last},
                                       {std::string{audience_key}, seen.audience},
                                       {std::string{digest_key}, to_hex(sha256("mine"))}}});
}

TEST(WireCredentials, ACredentialIsWorthNothingAtAnotherServer) {
    Guarded here, there;
    auto source = std::make_shared<ToySource>("secret");
    auto channel = here.channel_as(source);
    ASSERT_TRUE(channel.unary("/test/Who", "mine"));
    EXPECT_TRUE(replay(here, *source, "mine")) << "the toy does not remember what it has seen";
    const auto reply = replay(there, *source, "mine");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::unauthenticated);
    EXPECT_EQ(reply.error().text, "the credential was made for another process than this n1");
    EXPECT_EQ(there.handled, 0);
}

TEST(WireCredentials, ACredentialIsWorthNothingForAnotherBodyOrMethod) {
    Guarded server;
    auto source = std::make_shared<ToySource>("secret");
    auto channel = server.channel_as(source);
    ASSERT_TRUE(channel.unary("/test/Who", "mine"));
    const auto other_body = replay(server, *source, "yours");
    ASSERT_FALSE(other_body);
    EXPECT_EQ(other_body.error().text, "the body is not the one its credential was made for");
    const auto other_method = replay(server, *source, "mine", "/test/Fail");
    ASSERT_FALSE(other_method);
    EXPECT_EQ(other_method.error().text, "the credential is wrong");
    EXPECT_EQ(server.handled, 1);
}

TEST(WireCredentials, WhoeverMeansAnotherServerIsTold) {
    Guarded server;
    const auto ask = [&](const std::string& cluster, const std::string& name) {
        auto options = server.channel_options();
        options.credentials = std::make_shared<ToySource>("secret");
        options.cluster = cluster;
        options.server = name;
        const auto reply = Channel{options}.unary("/test/Who", "");
        return reply ? "served" : reply.error().text;
    };
    EXPECT_EQ(ask("main", "n1"), "served");
    EXPECT_EQ(ask("", "n1"), "served") << "a client without a configuration does not know the cluster's name";
    EXPECT_EQ(ask("main", "n2"), "the credential is for n2, and this is n1");
    EXPECT_EQ(ask("other", "n1"),
              "the credential is for cluster other, and this is n1 of cluster main; do both have the same "
              "cluster_name in spur.conf?");
    EXPECT_EQ(server.handled, 2);
}

TEST(WireCredentials, WhoAsksIsKnownBeforeAnyOfTheBodyIsTaken) {
    Guarded server;
    auto stranger = server.channel_as(std::make_shared<ToySource>("guess", false));
    auto request = stranger.open("/test/Who");  // as a stream: headers and no body
    ASSERT_TRUE(request);
    const auto end = request->read(soon());
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().status, Status::unauthenticated);
}

TEST(WireCredentials, AServerThatDoesNotSayWhichItIsGetsNoCredential) {
    // An HTTP/2 server of somebody else's: its SETTINGS are all it says.
    const auto listener = listen_on({"127.0.0.1", 0});
    ASSERT_TRUE(listener);
    std::jthread other{[&] {
        std::string address, why;
        std::size_t count = 0;
        auto peer = accept_from(listener->get(), address);
        while (!peer) peer = accept_from(listener->get(), address);
        send_bytes(peer->get(), {"\0\0\0\4\0\0\0\0\0", 9}, count, why);
        char buffer[4096];
        while (receive_bytes(peer->get(), buffer, sizeof buffer, count, why) != Moved::closed)
            std::this_thread::yield();
    }};
    auto source = std::make_shared<ToySource>("secret");
    Channel channel{{.endpoints = {{"127.0.0.1", *local_port(listener->get())}}, .credentials = source}};
    const auto reply = channel.unary("/test/Who", "", {.timeout = 5s, .unreachable_timeout = 0ms});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("does not say which server it is"), std::string::npos) << reply.error().text;
    EXPECT_EQ(source->made, 0);
}

TEST(WireCredentials, AProofWithAnotherKeyIsRefused) {
    class Lenient : public ToyAuthenticator {
    public:
        using ToyAuthenticator::ToyAuthenticator;
        Result<Verdict> verify(const CredentialRequest&, std::string_view, const Peer&) override { return Caller{}; }
    };
    Loopback server{{.authenticator = std::make_shared<Lenient>("another key")}};
    server.server().stream("/test/Watch", [](Session session) { session.send("launch this"); });
    server.start();
    auto options = server.channel_options();
    options.credentials = std::make_shared<ToySource>("secret");
    Channel channel{options};
    const auto reply = channel.unary("/test/Echo", "");
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("could not prove itself: the proof is wrong"), std::string::npos);
    auto stream = channel.open("/test/Watch");
    EXPECT_FALSE(stream->read(soon()));
}

TEST(WireCredentials, FailuresAreProvenToo) {
    Guarded server;
    const auto reply = server.channel_as(std::make_shared<ToySource>("secret")).unary("/test/Fail", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().text, "not now");
    EXPECT_NE(reply.error().trailers.find(auth_reply_key), nullptr);
}

TEST(WireCredentials, AnUnprovenPointerToALeaderIsNotFollowed) {
    Loopback elsewhere, stranger;
    std::atomic<int> lured{0};
    elsewhere.server().unary("/test/Write", [&](Call call) {
        ++lured;
        call.reply("");
    });
    elsewhere.start();
    stranger.server().unary("/test/Write", [&](Call call) {
        call.fail({ErrorCode::unavailable, "go there"}, {{std::string{leader_key}, elsewhere.endpoint().text()}});
    });
    stranger.start();
    auto options = stranger.channel_options();
    options.credentials = std::make_shared<ToySource>("secret");
    EXPECT_FALSE(Channel{options}.unary("/test/Write", ""));
    EXPECT_EQ(lured, 0);
}

TEST(WireCredentials, EveryAttemptHasAFreshCredential) {
    Guarded server;
    server.server();
    auto source = std::make_shared<ToySource>("secret");
    auto channel = server.channel_as(source);
    EXPECT_TRUE(channel.unary("/test/Who", "a"));
    EXPECT_TRUE(channel.unary("/test/Who", "a"));
    EXPECT_EQ(source->made, 2);
}

TEST(WireCredentials, AThrowingAuthenticatorEndsTheCallOnly) {
    class Broken : public Authenticator {
        Result<Verdict> verify(const CredentialRequest&, std::string_view, const Peer&) override {
            throw std::runtime_error{"plugin bug"};
        }
    };
    Loopback server{{.authenticator = std::make_shared<Broken>()}};
    server.start();
    auto channel = server.channel();
    for (int i = 0; i < 2; ++i) {
        const auto reply = channel.unary("/test/Echo", "");
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().status, Status::internal);
    }
}

}  // namespace
}  // namespace spur::wire
