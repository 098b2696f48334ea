// TLS: both sides checked, mutual when asked, and a sentence for everything that does not fit.
#include "daemons/common/wire/socket.hpp"
#include "tests/wire/certificates.hpp"
#include "tests/wire/loopback.hpp"

#include <poll.h>

#include <cstdlib>
#include <filesystem>

namespace spur::wire {
namespace {

class WireTls : public testing::Test {
protected:
    WireTls() {
        std::string pattern = std::filesystem::temp_directory_path() / "spur-tls-XXXXXX";
        directory_ = mkdtemp(pattern.data());
        ca_ = std::make_unique<CertificateAuthority>(directory_);
        server_files_ = ca_->issue("ctrl1", "DNS:ctrl1,DNS:localhost,IP:127.0.0.1");
    }
    ~WireTls() override { std::filesystem::remove_all(directory_); }

    TlsOptions server_tls(bool mutual = false) {
        return {.ca_file = mutual ? ca_->certificate_file() : "",
                .certificate_file = server_files_.certificate,
                .key_file = server_files_.key,
                .require_client_certificate = mutual};
    }
    static Channel channel_to(Loopback& loop, const TlsOptions& tls) {
        auto options = loop.channel_options();
        options.tls = tls;
        return Channel{options};
    }
    static RpcResult<std::string> try_once(Loopback& loop, const TlsOptions& tls) {
        return channel_to(loop, tls).unary("/test/Echo", "x", {.timeout = 5s, .unreachable_timeout = 0ms});
    }

    std::string directory_;
    std::unique_ptr<CertificateAuthority> ca_;
    CertificateAuthority::Files server_files_;
};

TEST_F(WireTls, CallsAndStreamsWork) {
    Loopback loop{{.tls = server_tls()}};
    loop.server().stream("/test/Echoes", [](Session session) {
        session.on_message([session](std::string message) { session.send(std::move(message)); });
    });
    loop.start();
    auto channel = channel_to(loop, {.ca_file = ca_->certificate_file()});
    for (const std::size_t size : {0, 1, 16384, 100'000, 8'000'000}) {
        const std::string body(size, 'x');
        const auto reply = channel.unary("/test/Echo", body);
        ASSERT_TRUE(reply) << reply.error().text;
        EXPECT_EQ(*reply, body);
    }
    auto stream = channel.open("/test/Echoes");
    ASSERT_TRUE(stream);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(stream->write(std::to_string(i)));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(stream->read(soon()), std::to_string(i));
}

TEST_F(WireTls, APlainClientIsToldAtOnceThatThePortSpeaksTls) {
    Loopback loop{{.tls = server_tls()}}, other{{.tls = server_tls()}};
    loop.start();
    other.start();
    for (const auto& endpoints : {std::vector{loop.endpoint()}, std::vector{loop.endpoint(), other.endpoint()}}) {
        Channel channel{{.endpoints = endpoints}};
        const auto reply = channel.unary("/test/Echo", "x", {.timeout = 3600s, .idempotent = true});
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().status, Status::failed_precondition);
        EXPECT_NE(reply.error().text.find("the port speaks TLS"), std::string::npos) << reply.error().text;
    }
}

TEST_F(WireTls, AnUnknownAuthorityIsRefused) {
    Loopback loop{{.tls = server_tls()}};
    loop.start();
    const CertificateAuthority other{directory_, "other"};
    const auto reply = try_once(loop, {.ca_file = other.certificate_file()});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("the peer's certificate is not accepted"), std::string::npos)
        << reply.error().text;
    EXPECT_FALSE(reply.error().maybe_processed);
}

TEST_F(WireTls, ACertificateForAnotherHostIsRefused) {
    Loopback loop{{.tls = server_tls()}};
    loop.start();
    const auto reply = try_once(loop, {.ca_file = ca_->certificate_file(), .server_name = "ctrl2"});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("hostname mismatch"), std::string::npos) << reply.error().text;
    EXPECT_TRUE(try_once(loop, {.ca_file = ca_->certificate_file(), .server_name = "ctrl1"}));
}

TEST_F(WireTls, AnExpiredCertificateIsRefused) {
    server_files_ = ca_->issue("old", "IP:127.0.0.1", -1);
    Loopback loop{{.tls = server_tls()}};
    loop.start();
    const auto reply = try_once(loop, {.ca_file = ca_->certificate_file()});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("expired"), std::string::npos) << reply.error().text;
}

TEST_F(WireTls, MutualTlsNamesTheClient) {
    Loopback loop{{.tls = server_tls(true)}};
    loop.server().unary("/test/Who", [](Call call) { call.reply(call.peer().certificate); });
    loop.start();
    const auto client = ca_->issue("node17", "");
    auto channel = channel_to(
        loop, {.ca_file = ca_->certificate_file(), .certificate_file = client.certificate, .key_file = client.key});
    EXPECT_EQ(channel.unary("/test/Who", ""), "node17");
}

TEST_F(WireTls, MutualTlsRefusesAClientWithoutACertificate) {
    Loopback loop{{.tls = server_tls(true)}};
    loop.start();
    const auto reply = try_once(loop, {.ca_file = ca_->certificate_file()});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("certificate required"), std::string::npos) << reply.error().text;
    EXPECT_TRUE(loop.warned_of("peer did not return a certificate"));
    EXPECT_EQ(loop.server().stats().calls, 0u);
}

TEST_F(WireTls, MutualTlsRefusesAStrangersCertificate) {
    Loopback loop{{.tls = server_tls(true)}};
    loop.start();
    CertificateAuthority other{directory_, "other"};
    const auto stranger = other.issue("stranger", "");
    EXPECT_FALSE(try_once(
        loop,
        {.ca_file = ca_->certificate_file(), .certificate_file = stranger.certificate, .key_file = stranger.key}));
    EXPECT_EQ(loop.server().stats().calls, 0u);
}

TEST_F(WireTls, APlainClientAtATlsPortIsTurnedAwayAndTheOtherWayRound) {
    Loopback secure{{.tls = server_tls()}}, plain;
    secure.start();
    plain.start();
    EXPECT_FALSE(secure.channel().unary("/test/Echo", "x", {.timeout = 1s, .unreachable_timeout = 0ms}));
    EXPECT_FALSE(try_once(plain, {.ca_file = ca_->certificate_file()}));
    auto explicit_plain = plain.channel_options();
    explicit_plain.tls = TlsOptions{.ca_file = ca_->certificate_file()};
    explicit_plain.endpoints.front().scheme = Endpoint::Scheme::plain;
    EXPECT_TRUE(Channel{explicit_plain}.unary("/test/Echo", "x"));
}

TEST_F(WireTls, BadFilesAreNamedBeforeAnythingStarts) {
    auto start_with = [](TlsOptions tls) { return RpcServer{{.tls = std::move(tls)}}.start(); };
    auto expect_part = [](const Result<void>& result, std::string_view part) {
        ASSERT_FALSE(result);
        EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
    };
    expect_part(start_with({}), "a server needs a certificate and its key");
    expect_part(start_with({.certificate_file = "/no/such.pem", .key_file = server_files_.key}),
                "certificate /no/such.pem");
    expect_part(start_with({.certificate_file = server_files_.certificate, .key_file = "/no/such.key"}),
                "key /no/such.key");
    expect_part(start_with({.certificate_file = server_files_.certificate}), "give both or neither");
    const auto other = ca_->issue("other", "");
    expect_part(start_with({.certificate_file = server_files_.certificate, .key_file = other.key}), "cannot be used");
    auto mutual = server_tls(true);
    mutual.ca_file.clear();
    expect_part(start_with(mutual), "no CA is named");

    Loopback loop{{.tls = server_tls()}};
    loop.start();
    const auto reply = try_once(loop, {});
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().text.find("no CA file is configured"), std::string::npos);
}

TEST_F(WireTls, AHandshakeThatStallsIsDropped) {
    Loopback loop{{.tls = server_tls(), .request_timeout = 100ms}};
    loop.start();
    const auto peer = connect_to(loop.endpoint(), soon());
    ASSERT_TRUE(peer);
    ASSERT_TRUE(wait_for(peer->get(), POLLIN, soon()));
    char buffer[100];
    std::size_t count = 0;
    std::string why;
    EXPECT_EQ(receive_bytes(peer->get(), buffer, sizeof buffer, count, why), Moved::closed);
    EXPECT_TRUE(loop.warned_of("the TLS handshake took longer"));
}

}  // namespace
}  // namespace spur::wire
