// Credentials on every call, proofs on every reply, and what happens when either is wrong. The plugin here is a toy.
#include "tests/wire/loopback.hpp"

#include <atomic>

namespace spur::wire {
namespace {

std::string seal(std::string_view key, std::string_view what, std::string_view method, const Digest& digest) {
    return to_hex(hmac_sha256(key, fmt::format("{}|{}|{}", what, method, to_hex(digest))));
}

class ToySource : public CredentialSource {
public:
    explicit ToySource(std::string key, bool demanding = true) : key_(std::move(key)), demanding_(demanding) {}
    Result<std::string> make(std::string_view method, const Digest& body) override {
        ++made;
        if (key_.empty()) return fail(ErrorCode::denied, "the key file cannot be read");
        return seal(key_, "call", method, body);
    }
    [[nodiscard]] bool demands_proof() const override { return demanding_; }
    Result<void> verify_reply(std::string_view method, std::string_view credential, const Digest& reply,
                              std::string_view proof) override {
        if (proof != seal(key_, credential, method, reply)) return fail(ErrorCode::denied, "the proof is wrong");
        return {};
    }
    int made{0};

private:
    std::string key_;
    bool demanding_;
};

class ToyAuthenticator : public Authenticator {
public:
    explicit ToyAuthenticator(std::string key, bool proves = true) : key_(std::move(key)), proves_(proves) {}
    Result<Caller> verify(std::string_view method, const Digest& body, std::string_view credential,
                          const Peer&) override {
        if (credential.empty()) return fail(ErrorCode::denied, "no credential was sent");
        if (credential != seal(key_, "call", method, body)) return fail(ErrorCode::denied, "the credential is wrong");
        return Caller{1000, 100, "alice"};
    }
    [[nodiscard]] bool gives_proof() const override { return proves_; }
    Result<std::string> prove(std::string_view method, std::string_view credential, const Digest& reply) override {
        return seal(key_, credential, method, reply);
    }

private:
    std::string key_;
    bool proves_;
};

struct Guarded : Loopback {
    explicit Guarded(std::string key = "secret", bool proves = true)
        : Loopback({.authenticator = std::make_shared<ToyAuthenticator>(std::move(key), proves)}) {
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
    impostor.server().stream("/test/Watch", [](Session session) { session.send("launch this"); });
    impostor.start();
    auto options = impostor.channel_options();
    options.credentials = std::make_shared<ToySource>("secret");
    Channel channel{options};
    const auto reply = channel.unary("/test/Who", "");
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::unauthenticated);
    EXPECT_NE(reply.error().text.find("did not prove itself"), std::string::npos);
    auto stream = channel.open("/test/Watch");
    const auto message = stream->read(soon());
    ASSERT_FALSE(message);
    EXPECT_NE(message.error().text.find("did not prove itself"), std::string::npos);
}

TEST(WireCredentials, AProofWithAnotherKeyIsRefused) {
    class Lenient : public ToyAuthenticator {
    public:
        using ToyAuthenticator::ToyAuthenticator;
        Result<Caller> verify(std::string_view, const Digest&, std::string_view, const Peer&) override {
            return Caller{};
        }
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
        Result<Caller> verify(std::string_view, const Digest&, std::string_view, const Peer&) override {
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
