// Methods that answer anyone: what they take from a caller who shows no credential is little.
#include "tests/wire/loopback.hpp"

namespace spur::wire {
namespace {

struct NobodyIsGoodEnough : Authenticator {
    Result<Verdict> verify(const CredentialRequest&, std::string_view, const Peer&) override {
        return fail(ErrorCode::denied, "no good credential");
    }
};

struct OpenMethods : testing::Test {
    OpenMethods() : loop{{.authenticator = std::make_shared<NobodyIsGoodEnough>()}} {
        loop.server().unary(
            "/test/Open", [](Call call) { call.reply(std::string{call.request()}); }, Access::anyone);
        loop.server().stream(
            "/test/OpenStream",
            [](Session session) {
                session.on_message([session](std::string message) { session.send(std::move(message)); });
            },
            Access::anyone);
        loop.start();
    }
    Loopback loop;
};

TEST_F(OpenMethods, AnswerWithoutACredentialAndNoOthersDo) {
    auto channel = loop.channel();
    EXPECT_EQ(channel.unary("/test/Open", "hello"), "hello");
    const auto refused = channel.unary("/test/Echo", "hello");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::unauthenticated);
}

TEST_F(OpenMethods, TakeShortRequestsOnly) {
    auto channel = loop.channel();
    EXPECT_TRUE(channel.unary("/test/Open", std::string(1024, 'x')));
    const auto refused = channel.unary("/test/Open", std::string(1025, 'x'));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status, Status::resource_exhausted);
}

TEST_F(OpenMethods, AnswerSoManyMessagesOfAConnectionInASecondAndThenRefuse) {
    auto channel = loop.channel();
    const auto started = Clock::now();
    std::size_t answered = 0;
    auto last = channel.unary("/test/Open", "x");
    for (; last; last = channel.unary("/test/Open", "x")) ++answered;
    const auto seconds = static_cast<std::size_t>((Clock::now() - started) / 1s) + 1;
    EXPECT_EQ(last.error().status, Status::resource_exhausted);
    EXPECT_GE(answered, 100u);
    EXPECT_LE(answered, 100 * seconds);
    EXPECT_TRUE(loop.channel().unary("/test/Open", "x")) << "others are not held up by it";
}

}  // namespace
}  // namespace spur::wire
