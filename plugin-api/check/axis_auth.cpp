// The laws of spur.auth/1.
#include "case.hpp"
#include "dice.hpp"
#include "instance.hpp"

#include <spur/plugin/auth.h>

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace spur::check {
namespace {

using plugin::str;
using plugin::StringSink;

const spur_auth_ops& ops_of(Instance& instance) { return instance.ops<spur_auth_ops>(SPUR_AUTH_IFACE); }

spur_auth_request request_for(std::string_view method, std::uint8_t body) {
    spur_auth_request request{};
    request.size = sizeof request;
    request.method = str(method);
    std::ranges::fill(request.digest, body);
    request.peer = str("127.0.0.1:1");
    request.token = str("");
    return request;
}
const spur_auth_request& usual_request() {
    static const auto request = request_for("/spur.v1.Controller/Submit", 7);
    return request;
}

std::string make(Instance& instance, const spur_auth_request& request = usual_request()) {
    StringSink credential;
    ErrorBox err;
    doing("in make()");
    expect_ok("make()", ops_of(instance).make(instance.self(), &request, credential.get(), err.get()), err);
    return credential.text;
}

struct Verified {
    bool accepted;
    spur_identity identity;
};
Verified verify(Instance& instance, const std::string& credential, const spur_auth_request& request = usual_request(),
                Shape shape = {}) {
    // On the heap and not terminated: reading past its length is found out by sanitizers and noise.
    const std::vector<char> bytes(credential.begin(), credential.end());
    const Output<spur_identity> out(shape);
    out.get()->uid = out.get()->gid = SPUR_NONE;
    ErrorBox err(shape);
    doing("in verify()");
    const auto status = ops_of(instance).verify(
        instance.self(), &request, {bytes.data(), static_cast<std::uint32_t>(bytes.size()), 0}, out.get(), err.get());
    const auto identity = out.read("verify()");
    err.sentence();
    if (status == SPUR_OK) return {true, identity};
    if (status < 0)
        fail("verify() answered {}: {}; a bad credential is the verdict SPUR_AUTH_REFUSED", status, err.sentence());
    require(status == SPUR_AUTH_REFUSED, "verify() answered {}, which is no verdict", status);
    sentence_of("verify()", status, err);
    return {false, identity};
}

std::string own_name() {
    const auto* user = getpwuid(geteuid());
    return user != nullptr ? user->pw_name : "";
}

bool has_feature(Instance& instance, std::uint32_t feature) { return (ops_of(instance).features & feature) != 0; }

void exercise(const Subject&, Instance& instance, const Shape& shape) {
    Memory memory(shape);
    const auto* request = memory.one(usual_request());
    const auto credential = make(instance, *request);
    require(verify(instance, credential, *request, shape).accepted, "verify() refuses what make() made");
    require(!verify(instance, "nonsense", *request, shape).accepted, "verify() accepts nonsense");
}

std::string accepts(const Subject& subject) {
    Bench bench(subject);
    const auto credential = make(bench.instance());
    require(!credential.empty(), "make() answered SPUR_OK and wrote nothing");
    require(std::ranges::all_of(credential, [](char c) { return c > ' ' && c < 127; }),
            "a credential travels in a header: it must be printable ASCII without spaces");
    require(credential.size() < 16384, "a credential of {} bytes does not fit in a header", credential.size());
    const auto [accepted, who] = verify(bench.instance(), credential);
    require(accepted, "verify() refuses what make() made");
    require(who.uid == geteuid(), "verify() says uid {} of a credential made by uid {}", who.uid, geteuid());
    require(who.mechanism[0] != '\0', "verify() leaves mechanism empty");
    require(make(bench.instance()) != "" && verify(bench.instance(), make(bench.instance())).accepted,
            "the second credential is refused");
    bench.finish();
    return fmt::format("{} bytes", credential.size());
}

std::string tampered(const Subject& subject) {
    Bench bench(subject);
    Dice dice(subject.seed);
    const auto good = make(bench.instance());
    const auto step = std::max<std::size_t>(1, good.size() / 400);
    for (std::size_t i = 0; i < good.size(); i += step)
        for (const int bit : {0, 1, 2, 3, 4, 5}) {
            auto bad = good;
            bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
            if (bad[i] <= ' ' || bad[i] >= 127) continue;
            require(!verify(bench.instance(), bad).accepted,
                    "a credential with bit {} of byte {} of {} changed is accepted", bit, i, good.size());
        }
    require(verify(bench.instance(), good).accepted,
            "after refusing changed copies, verify() refuses the credential itself");
    bench.finish();
    return "";
}

std::string garbage(const Subject& subject) {
    Bench bench(subject);
    Dice dice(subject.seed);
    const auto good = make(bench.instance());
    std::vector<std::string> bad = {"",
                                    " ",
                                    ".",
                                    "..",
                                    "a.b.c",
                                    "MUNGE:",
                                    "MUNGE::",
                                    std::string(1 << 20, 'A'),
                                    std::string(100, '\0'),
                                    good + good,
                                    good + "A",
                                    good.substr(1),
                                    good.substr(0, good.size() - 1),
                                    good.substr(0, good.size() / 2)};
    for (int i = 0; i < 500; ++i) {
        std::string noise(dice.below(300), ' ');
        for (auto& c : noise) c = static_cast<char>(dice.below(256));
        bad.push_back(noise);
    }
    for (const auto& text : bad)
        require(!verify(bench.instance(), text).accepted, "verify() accepts {} bytes that make() did not make",
                text.size());
    bench.finish();
    return fmt::format("{} credentials", bad.size());
}

std::string binds_request(const Subject& subject) {
    Bench bench(subject);
    if (!has_feature(bench.instance(), SPUR_AUTH_BINDS_REQUEST)) skip("it does not say SPUR_AUTH_BINDS_REQUEST");
    // A new credential for each try: looking at one may use it up.
    const auto accepted_for = [&](std::string_view method, std::uint8_t body) {
        return verify(bench.instance(), make(bench.instance()), request_for(method, body)).accepted;
    };
    require(!accepted_for("/spur.v1.Controller/Cancel", 7), "accepted for another method");
    require(!accepted_for("/spur.v1.Controller/Submit", 8), "accepted for another body");
    require(!accepted_for("", 7), "accepted for no method");
    require(accepted_for("/spur.v1.Controller/Submit", 7), "refused for its own request");
    bench.finish();
    return "";
}

std::string binds_audience(const Subject& subject) {
    Bench bench(subject);
    if (!has_feature(bench.instance(), SPUR_AUTH_BINDS_AUDIENCE)) skip("it does not say SPUR_AUTH_BINDS_AUDIENCE");
    auto here = usual_request(), there = usual_request(), nowhere = usual_request();
    here.audience = str("cluster/n1/0000000000000001");
    there.audience = str("cluster/n2/0000000000000002");
    nowhere.audience = str("");
    const auto accepted_by = [&](const spur_auth_request& server) {
        return verify(bench.instance(), make(bench.instance(), here), server).accepted;
    };
    require(!accepted_by(there), "accepted by another server than the one it was made for");
    require(!accepted_by(nowhere), "accepted by a server without a name");
    require(accepted_by(here), "refused by the server it was made for");
    bench.finish();
    return "";
}

std::string detects_replay(const Subject& subject) {
    Bench bench(subject);
    if (!has_feature(bench.instance(), SPUR_AUTH_DETECTS_REPLAY)) skip("it does not say SPUR_AUTH_DETECTS_REPLAY");
    for (int i = 0; i < 200; ++i) {
        const auto credential = make(bench.instance());
        require(verify(bench.instance(), credential).accepted, "verify() refuses what make() made, after {} others", i);
        require(!verify(bench.instance(), credential).accepted, "a credential is accepted a second time");
    }
    bench.finish();
    return "";
}

std::string answers(const Subject& subject) {
    Bench bench(subject);
    const auto& ops = ops_of(bench.instance());
    if (!has_feature(bench.instance(), SPUR_AUTH_ANSWERS)) skip("it does not say SPUR_AUTH_ANSWERS");
    require(ops.make_answer != nullptr && ops.verify_answer != nullptr,
            "it says SPUR_AUTH_ANSWERS and has no make_answer or verify_answer");
    const auto credential = make(bench.instance()), other = make(bench.instance());
    require(verify(bench.instance(), credential).accepted, "verify() refuses what make() made");
    const std::uint8_t reply[32] = {1, 2, 3}, another[32] = {1, 2, 4};
    StringSink answer;
    ErrorBox err;
    doing("in make_answer()");
    expect_ok("make_answer()", ops.make_answer(bench.self(), str(credential), reply, answer.get(), err.get()), err);
    const auto check = [&](const std::string& from, const std::uint8_t* digest, const std::string& text) {
        const Output<spur_identity> who;
        doing("in verify_answer()");
        const auto status = ops.verify_answer(bench.self(), str(from), digest, str(text), who.get(), err.get());
        who.read("verify_answer()");
        require(status == SPUR_OK || status == SPUR_AUTH_REFUSED, "verify_answer() answered {}", status);
        return status == SPUR_OK;
    };
    require(check(credential, reply, answer.text), "verify_answer() refuses what make_answer() made");
    require(!check(other, reply, answer.text), "an answer is accepted for another credential");
    require(!check(credential, another, answer.text), "an answer is accepted for another reply");
    for (std::size_t i = 0; i < answer.text.size(); ++i) {
        auto bad = answer.text;
        bad[i] = bad[i] == 'A' ? 'B' : 'A';
        require(!check(credential, reply, bad), "an answer with byte {} of {} changed is accepted", i, bad.size());
    }
    require(!check(credential, reply, ""), "an empty answer is accepted");
    bench.finish();
    return "";
}

std::string issues(const Subject& subject) {
    Bench bench(subject);
    const auto& ops = ops_of(bench.instance());
    if (!has_feature(bench.instance(), SPUR_AUTH_ISSUES)) skip("it does not say SPUR_AUTH_ISSUES");
    require(ops.issue != nullptr, "it says SPUR_AUTH_ISSUES and has no issue");
    StringSink token;
    ErrorBox err;
    doing("in issue()");
    expect_ok("issue()", ops.issue(bench.self(), geteuid(), str(own_name()), 60, token.get(), err.get()), err);
    auto request = usual_request();
    request.token = str(token.text);
    const auto [accepted, who] = verify(bench.instance(), make(bench.instance(), request));
    require(accepted, "a credential made with an issued token is refused");
    require(who.uid == geteuid(), "a token issued for uid {} turns out to be uid {}", geteuid(), who.uid);
    bench.finish();
    return "";
}

std::string crowded(const Subject& subject) {
    constexpr int threads = 6, each = 100;
    Bench bench(subject);
    make(bench.instance());
    std::atomic<int> refused = 0;
    std::atomic<bool> trouble = false;
    {
        std::vector<std::jthread> crowd;
        for (int t = 0; t < threads; ++t)
            crowd.emplace_back([&] {
                try {
                    for (int i = 0; i < each; ++i)
                        refused += !verify(bench.instance(), make(bench.instance())).accepted;
                } catch (...) {
                    trouble = true;
                }
            });
    }
    require(refused == 0 && !trouble, "{} of {} credentials were refused when several threads made and verified them",
            refused.load(), threads * each);
    bench.finish();
    return fmt::format("{} credentials on {} threads", threads * each, threads);
}

constexpr RequiredOp required[] = {{"make", offsetof(spur_auth_ops, make)},
                                   {"verify", offsetof(spur_auth_ops, verify)}};
constexpr Case laws[] = {
    {"accepts", "verify() accepts what make() made and knows whose it is", &accepts},
    {"tampered", "a credential with a changed bit is refused", &tampered, 120},
    {"garbage", "what make() did not make is refused, whatever its length", &garbage},
    {"binds-request", "a credential is worth nothing for another request", &binds_request},
    {"binds-audience", "a credential is worth nothing at another server", &binds_audience},
    {"replay", "a credential works once", &detects_replay},
    {"answers", "the server's answer is bound to the credential and the reply", &answers},
    {"issues", "an issued token stands for the user it was issued for", &issues},
    {"auth-threads", "make() and verify() may be called from several threads at once", &crowded},
};

}  // namespace

extern const Axis auth_axis;
const Axis auth_axis{"auth", "spurctld", SPUR_AUTH_IFACE, first_size<spur_auth_ops>, required, laws, &exercise};

}  // namespace spur::check
