// What a peer can make the server hold: connections without a credential, bodies that arrive, answers nobody reads.
#include "daemons/common/wire/socket.hpp"
#include "tests/wire/loopback.hpp"

#include <poll.h>
#include <atomic>
#include <set>

namespace spur::wire {
namespace {

// Believes whoever says "uid 4242".
class Gullible : public Authenticator {
public:
    Result<Verdict> verify(const CredentialRequest&, std::string_view credential, const Peer& peer) override {
        const std::lock_guard lock{mutex_};
        peers_.insert(peer.address);
        if (!credential.starts_with("uid ")) return fail(ErrorCode::denied, "no");
        return Caller{static_cast<std::uint32_t>(std::stoul(std::string{credential.substr(4)})), 100, "somebody"};
    }
    std::size_t peers() {
        const std::lock_guard lock{mutex_};
        return peers_.size();
    }

private:
    std::mutex mutex_;
    std::set<std::string> peers_;
};

class Says : public CredentialSource {
public:
    explicit Says(std::string what) : what_(std::move(what)) {}
    Result<std::string> make(const CredentialRequest&) override { return what_; }

private:
    std::string what_;
};

struct Guarded : Loopback {
    explicit Guarded(ServerOptions options) : Loopback(with(std::move(options), authenticator)) {}
    static ServerOptions with(ServerOptions options, const std::shared_ptr<Gullible>& authenticator) {
        options.authenticator = authenticator;
        return options;
    }
    Channel channel_as(const std::string& who) {
        auto options = channel_options();
        options.credentials = std::make_shared<Says>(who);
        return Channel{options};
    }
    static inline std::shared_ptr<Gullible> authenticator = std::make_shared<Gullible>();
};

bool is_closed(const Fd& fd) {
    char byte = 0;
    std::size_t count = 0;
    std::string why;
    while (true) {
        const auto moved = receive_bytes(fd.get(), &byte, 1, count, why);
        if (moved != Moved::some) return moved == Moved::closed;
    }
}

TEST(WireBudget, AHostWithManyConnectionsAndNoCredentialLosesItsOldestAndKeepsNobodyOut) {
    Guarded server{{.max_strangers_per_host = 4}};
    server.start();
    auto known = server.channel_as("uid 4242");
    ASSERT_EQ(known.unary("/test/Echo", "first"), "first");
    std::vector<Fd> idle;
    for (int i = 0; i < 12; ++i) {
        auto fd = connect_to(server.endpoint(), soon());
        ASSERT_TRUE(fd);
        idle.push_back(*std::move(fd));
    }
    for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(eventually([&] { return is_closed(idle[i]); })) << i;
    for (std::size_t i = 8; i < 12; ++i) EXPECT_FALSE(is_closed(idle[i])) << i;
    EXPECT_EQ(server.server().stats().connections_open, 5U);
    EXPECT_EQ(known.unary("/test/Echo", "again"), "again") << "whoever has shown a credential stays";
    EXPECT_EQ(server.channel_as("uid 4243").unary("/test/Echo", "new"), "new");
    EXPECT_TRUE(server.warned_of("its host has opened too many like it"));
}

TEST(WireBudget, AfterSomeWrongCredentialsTheConnectionGoes) {
    Guarded server{{.max_refusals = 3}};
    server.start();
    const auto before = Guarded::authenticator->peers();
    auto stranger = server.channel_as("let me in");
    for (int i = 0; i < 6; ++i) EXPECT_FALSE(stranger.unary("/test/Echo", ""));
    EXPECT_EQ(Guarded::authenticator->peers() - before, 2U) << "three on each connection";
}

TEST(WireBudget, OneUsersBodiesDoNotFillTheServer) {
    Guarded server{{.max_caller_bytes = 1U << 20}};
    server.start();
    const std::string large(2U << 20, 'x');
    auto user = server.channel_as("uid 4242");
    const auto reply = user.unary("/test/Echo", large);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().status, Status::resource_exhausted);
    EXPECT_NE(reply.error().text.find("your unfinished requests hold more than"), std::string::npos);
    EXPECT_EQ(user.unary("/test/Echo", "small"), "small") << "what was refused is given back";
    const auto root = server.channel_as("uid 0").unary("/test/Echo", large);
    EXPECT_TRUE(root) << "daemons may";
}

TEST(WireBudget, AnswersThatNobodyReadsAreNotHeapedUp) {
    constexpr int asked = 20;
    Loopback loop{{.max_unread_bytes = 1U << 20}};
    std::vector<Call> calls;
    loop.server().unary("/test/Large", [&](Call call) {
        calls.push_back(call);
        if (calls.size() < asked) return;
        for (const auto& waiting : std::exchange(calls, {})) waiting.reply(std::string(400'000, 'x'));
    });
    loop.start();
    auto channel = loop.channel();
    std::vector<Stream> streams;
    for (int i = 0; i < asked; ++i) {
        auto stream = channel.open("/test/Large");
        ASSERT_TRUE(stream);
        ASSERT_TRUE(stream->write("please"));
        ASSERT_TRUE(stream->half_close());
        streams.push_back(*std::move(stream));
    }
    int answered = 0, refused = 0;
    for (auto& stream : streams) {
        const auto reply = stream.read(soon());
        if (reply)
            ++answered;
        else if (reply.error().status == Status::resource_exhausted &&
                 reply.error().text.find("read them before you ask for more") != std::string::npos)
            ++refused;
    }
    EXPECT_EQ(answered, 2);
    EXPECT_EQ(refused, asked - 2);
    EXPECT_EQ(channel.unary("/test/Echo", "after"), "after") << "once they are read there is room again";
}

TEST(WireBudget, ASessionOnAConnectionThatIsNotReadIsCutOff) {
    Loopback loop{{.max_unread_bytes = 1U << 20}};
    loop.server().stream("/test/Talk", [](Session session) {
        for (int i = 0; i < 8; ++i) session.send(std::string(400'000, 'x'));
    });
    loop.start();
    auto channel = loop.channel();
    auto stream = channel.open("/test/Talk");
    ASSERT_TRUE(stream);
    RpcResult<std::optional<std::string>> message;
    do message = stream->read(soon());
    while (message && *message);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().code, ErrorCode::limit);
    EXPECT_TRUE(loop.warned_of("does not read"));
}

}  // namespace
}  // namespace spur::wire
