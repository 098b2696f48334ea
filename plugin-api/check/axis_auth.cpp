// The laws of spur.auth/1.
#include "case.hpp"
#include "dice.hpp"
#include "instance.hpp"
#include "stop.hpp"

#include <spur/plugin/auth.h>

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>

namespace spur::check {
namespace {

using plugin::str;
using plugin::StringSink;

const spur_auth_ops& ops_of(Instance& instance) { return instance.ops<spur_auth_ops>(SPUR_AUTH_IFACE); }

// What is bound is the host's to put together: here it is a byte, thirty-two times.
spur_auth_request request_for(std::uint8_t binding) {
    spur_auth_request request{};
    request.size = sizeof request;
    std::ranges::fill(request.binding, binding);
    request.method = str("/spur.v1.Controller/Submit");
    request.audience = str("cluster/spurctld/0000000000000001");
    request.peer = str("127.0.0.1:1");
    request.peer_name = str("localhost");
    return request;
}
const spur_auth_request& usual_request() {
    static const auto request = request_for(7);
    return request;
}

// What verify() claims of a caller; who pushes something that is not text is found out.
struct Claims {
    Claims() : table{sizeof table, 0, this, take} {}
    spur_claims table;
    std::vector<std::string> groups, scopes;
    static spur_status take(const spur_claims* claims, spur_str name, spur_str value) {
        auto& self = *static_cast<Claims*>(claims->context);
        const auto key = plugin::view(name);
        if (key == "group") self.groups.emplace_back(plugin::view(value));
        if (key == "scope") self.scopes.emplace_back(plugin::view(value));
        return SPUR_OK;
    }
};

struct Verified {
    spur_status verdict;
    spur_identity identity;
    Claims claims{};
    bool accepted() const { return verdict == SPUR_OK; }
};

Verified verify_once(Instance& instance, const std::string& credential, const spur_auth_request& request, Shape shape) {
    // On the heap and not terminated: reading past its length is found out by sanitizers and noise.
    const std::vector<char> bytes(credential.begin(), credential.end());
    const Output<spur_identity> out(shape);
    out.get()->uid = out.get()->gid = SPUR_NONE;
    ErrorBox err(shape);
    Claims claims;
    const Never stop;
    doing("in verify()");
    spur_auth_request here{};
    std::memcpy(&here, &request, std::min<std::size_t>(sizeof here, request.size));
    here.server = str("cluster/spurctld/0000000000000001");
    Memory memory(shape);
    const auto status = ops_of(instance).verify(instance.self(), memory.one(here),
                                                {bytes.data(), static_cast<std::uint32_t>(bytes.size()), 0}, out.get(),
                                                &claims.table, stop.get(), err.get());
    const auto identity = out.read("verify()");
    err.sentence();
    if (status < 0)
        fail("verify() answered {}: {}; a bad credential is the verdict SPUR_AUTH_REFUSED", status, err.sentence());
    const bool asks_back = status == SPUR_AUTH_CHALLENGE;
    require(status <= SPUR_AUTH_CHALLENGE, "verify() answered {}, which is no verdict", status);
    require(!asks_back || (ops_of(instance).features & SPUR_AUTH_CHALLENGES) != 0,
            "verify() asks back, and the plugin does not say SPUR_AUTH_CHALLENGES");
    if (status == SPUR_AUTH_REFUSED) sentence_of("verify()", status, err);
    if (status == SPUR_OK)
        require(identity.uid != SPUR_NONE, "verify() accepts a credential and does not say whose it is");
    return {status, identity, std::move(claims)};
}

template <class Call>
std::string text_from(const char* name, const Call& call) {
    StringSink text;
    ErrorBox err;
    const Never stop;
    doing(fmt::format("in {}", name));
    expect_ok(name, call(text.get(), stop.get(), err.get()), err);
    require(!text.text.empty(), "{} answered SPUR_OK and wrote nothing", name);
    require(std::ranges::all_of(text.text, [](char c) { return c > ' ' && c < 127; }),
            "what {} makes travels in a header: it must be printable ASCII without spaces", name);
    require(text.text.size() <= 16384, "{} made {} bytes, which do not fit in a header", name, text.text.size());
    return text.text;
}

// The answer to what verify() asks back about `credential`.
std::string next_leg(Instance& instance, const std::string& credential, const spur_auth_request& request) {
    const auto& ops = ops_of(instance);
    const auto challenge = text_from("challenge()", [&](auto* sink, auto* stop, auto* err) {
        return ops.challenge(instance.self(), &request, str(credential), sink, stop, err);
    });
    return text_from("respond()", [&](auto* sink, auto* stop, auto* err) {
        return ops.respond(instance.self(), &request, str(credential), str(challenge), sink, stop, err);
    });
}

// The credential that decides: the first, or the second where the mechanism asks back.
std::string make(Instance& instance, const spur_auth_request& request = usual_request()) {
    auto credential = text_from("make()", [&](auto* sink, auto* stop, auto* err) {
        return ops_of(instance).make(instance.self(), &request, sink, stop, err);
    });
    if ((ops_of(instance).features & SPUR_AUTH_CHALLENGES) == 0) return credential;
    // Whether the last leg is asked about is the caller's to see: looking at a credential may use it up.
    require(verify_once(instance, credential, request, {}).verdict == SPUR_AUTH_CHALLENGE,
            "it says SPUR_AUTH_CHALLENGES and verify() does not ask back about what make() made");
    return next_leg(instance, credential, request);
}

Verified verify(Instance& instance, const std::string& credential, const spur_auth_request& request = usual_request(),
                Shape shape = {}) {
    return verify_once(instance, credential, request, shape);
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
    require(verify(instance, credential, *request, shape).accepted(), "verify() refuses what make() made");
    require(!verify(instance, "nonsense", *request, shape).accepted(), "verify() accepts nonsense");
}

std::string accepts(const Subject& subject) {
    Bench bench(subject);
    const auto credential = make(bench.instance());
    const auto seen = verify(bench.instance(), credential);
    const auto& who = seen.identity;
    require(seen.accepted(), "verify() refuses what make() made");
    require(who.uid == geteuid(), "verify() says uid {} of a credential made by uid {}", who.uid, geteuid());
    require(who.mechanism[0] != '\0', "verify() leaves mechanism empty");
    require(seen.claims.scopes.empty() || (who.flags & SPUR_IDENTITY_IS_SCOPED) != 0,
            "verify() claims scopes without SPUR_IDENTITY_IS_SCOPED: nobody would look at them");
    require(seen.claims.groups.empty() || (who.flags & SPUR_IDENTITY_HAS_GROUPS) != 0,
            "verify() claims groups without SPUR_IDENTITY_HAS_GROUPS: nobody would look at them");
    require(verify(bench.instance(), make(bench.instance())).accepted(), "the second credential is refused");
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
            require(!verify(bench.instance(), bad).accepted(),
                    "a credential with bit {} of byte {} of {} changed is accepted", bit, i, good.size());
        }
    require(verify(bench.instance(), good).accepted(),
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
        require(!verify(bench.instance(), text).accepted(), "verify() accepts {} bytes that make() did not make",
                text.size());
    bench.finish();
    return fmt::format("{} credentials", bad.size());
}

std::string binds_request(const Subject& subject) {
    Bench bench(subject);
    if (!has_feature(bench.instance(), SPUR_AUTH_BINDS_REQUEST)) skip("it does not say SPUR_AUTH_BINDS_REQUEST");
    // A new credential for each try: looking at one may use it up.
    for (const unsigned bit : {0u, 100u, 255u}) {
        auto other = usual_request();
        other.binding[bit / 8] = static_cast<std::uint8_t>(other.binding[bit / 8] ^ (1u << bit % 8));
        require(!verify(bench.instance(), make(bench.instance()), other).accepted(),
                "accepted for a request whose binding differs in bit {}", bit);
    }
    require(verify(bench.instance(), make(bench.instance())).accepted(), "refused for its own request");
    bench.finish();
    return "";
}

// The second leg belongs to the first, and to nothing else.
std::string challenges(const Subject& subject) {
    Bench bench(subject);
    const auto& ops = ops_of(bench.instance());
    if (!has_feature(bench.instance(), SPUR_AUTH_CHALLENGES)) skip("it does not say SPUR_AUTH_CHALLENGES");
    require(ops.challenge != nullptr && ops.respond != nullptr,
            "it says SPUR_AUTH_CHALLENGES and has no challenge or respond");
    require(verify(bench.instance(), make(bench.instance())).accepted(), "verify() refuses what respond() made");
    auto other = usual_request();
    other.binding[5] ^= 1;
    require(!verify(bench.instance(), make(bench.instance()), other).accepted(),
            "the answer to a challenge is accepted for another request");
    bench.finish();
    return "";
}

std::string detects_replay(const Subject& subject) {
    Bench bench(subject);
    if (!has_feature(bench.instance(), SPUR_AUTH_DETECTS_REPLAY)) skip("it does not say SPUR_AUTH_DETECTS_REPLAY");
    for (int i = 0; i < 200; ++i) {
        const auto credential = make(bench.instance());
        require(verify(bench.instance(), credential).accepted(), "verify() refuses what make() made, after {} others",
                i);
        require(!verify(bench.instance(), credential).accepted(), "a credential is accepted a second time");
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
    require(verify(bench.instance(), credential).accepted(), "verify() refuses what make() made");
    const auto reply_to = [](const std::string& to, std::uint8_t binding) {
        spur_auth_reply reply{};
        reply.size = sizeof reply;
        std::ranges::fill(reply.binding, binding);
        reply.credential = str(to);
        return reply;
    };
    const auto reply = reply_to(credential, 1), another = reply_to(credential, 2), elsewhere = reply_to(other, 3);
    const auto answer = text_from("make_answer()", [&](auto* sink, auto* stop, auto* err) {
        return ops.make_answer(bench.self(), &reply, sink, stop, err);
    });
    const auto check = [&](const spur_auth_reply& to, const std::string& text) {
        const Output<spur_identity> who;
        ErrorBox err;
        const Never stop;
        doing("in verify_answer()");
        const auto status = ops.verify_answer(bench.self(), &to, str(text), who.get(), stop.get(), err.get());
        who.read("verify_answer()");
        require(status == SPUR_OK || status == SPUR_AUTH_REFUSED, "verify_answer() answered {}", status);
        return status == SPUR_OK;
    };
    require(check(reply, answer), "verify_answer() refuses what make_answer() made");
    require(!check(elsewhere, answer), "an answer is accepted for another credential");
    require(!check(another, answer), "an answer is accepted for another reply");
    for (std::size_t i = 0; i < answer.size(); ++i) {
        auto bad = answer;
        bad[i] = bad[i] == 'A' ? 'B' : 'A';
        require(!check(reply, bad), "an answer with byte {} of {} changed is accepted", i, bad.size());
    }
    require(!check(reply, ""), "an empty answer is accepted");
    bench.finish();
    return "";
}

std::string issues(const Subject& subject) {
    Bench bench(subject);
    const auto& ops = ops_of(bench.instance());
    if (!has_feature(bench.instance(), SPUR_AUTH_ISSUES)) skip("it does not say SPUR_AUTH_ISSUES");
    require(ops.issue != nullptr, "it says SPUR_AUTH_ISSUES and has no issue");
    const auto name = own_name();
    spur_token_request wanted{};
    wanted.size = sizeof wanted;
    wanted.uid = geteuid();
    wanted.user = str(name);
    wanted.expires = std::time(nullptr) + 60;
    const auto issue = [&] {
        return text_from("issue()", [&](auto* sink, auto* stop, auto* err) {
            return ops.issue(bench.self(), &wanted, sink, stop, err);
        });
    };
    const auto shown = [&](const std::string& token, const char* audience = "cluster/spurctld/0000000000000001") {
        auto request = usual_request();
        request.token = str(token);
        request.audience = str(audience);
        return verify(bench.instance(), make(bench.instance(), request), request);
    };
    const auto seen = shown(issue());
    require(seen.accepted(), "a credential made with an issued token is refused");
    require(seen.identity.uid == geteuid(), "a token issued for uid {} turns out to be uid {}", geteuid(),
            seen.identity.uid);
    wanted.audience = str("elsewhere");
    require(!shown(issue()).accepted(), "a token for another cluster is accepted");
    for (const char* audience : {"", "/spurctld/0000000000000001", "elsewhere/spurctld/0000000000000001"})
        require(!shown(issue(), audience).accepted(),
                "a token for another cluster is accepted from a client who names \"{}\"", audience);
    wanted.audience = str("cluster");
    require(shown(issue()).accepted(), "a token for this cluster is refused");
    wanted.scopes = str("read jobs");
    const auto scoped = shown(issue());
    require(scoped.accepted() && (scoped.identity.flags & SPUR_IDENTITY_IS_SCOPED) != 0 &&
                scoped.claims.scopes == std::vector<std::string>{"read", "jobs"},
            "a token issued for the scopes read and jobs does not say so");
    bench.finish();
    return "";
}

// Whoever is stopped before he begins comes back at once, with what he came to or without.
std::string stops(const Subject& subject) {
    Bench bench(subject);
    const auto& ops = ops_of(bench.instance());
    const auto credential = make(bench.instance());
    const FixedStop stop{true};
    const auto begun = std::chrono::steady_clock::now();
    ErrorBox err;
    StringSink made;
    doing("in make() that was stopped");
    const auto of_make = ops.make(bench.self(), &usual_request(), made.get(), stop.get(), err.get());
    require(of_make >= 0 || of_make == SPUR_E_STOPPED, "make() that was stopped answered {}", of_make);
    const Output<spur_identity> who;
    Claims claims;
    doing("in verify() that was stopped");
    const auto of_verify =
        ops.verify(bench.self(), &usual_request(), str(credential), who.get(), &claims.table, stop.get(), err.get());
    require(of_verify >= 0 || of_verify == SPUR_E_STOPPED, "verify() that was stopped answered {}", of_verify);
    require(std::chrono::steady_clock::now() - begun < std::chrono::seconds{2},
            "make() and verify() that were stopped took longer than a second each");
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
                        refused += !verify(bench.instance(), make(bench.instance())).accepted();
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
    {"challenges", "the answer to a challenge is worth nothing for another request", &challenges},
    {"replay", "a credential works once", &detects_replay},
    {"answers", "the server's answer is bound to the credential and the reply", &answers},
    {"issues", "an issued token stands for the user it was issued for", &issues},
    {"auth-stops", "make() and verify() come back when they are stopped", &stops},
    {"auth-threads", "make() and verify() may be called from several threads at once", &crowded},
};

}  // namespace

extern const Axis auth_axis;
const Axis auth_axis{"auth", "spurctld", SPUR_AUTH_IFACE, first_size<spur_auth_ops>, required, laws, &exercise};

}  // namespace spur::check
