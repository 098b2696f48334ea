// auth/actor, an auth plugin for tests: believes everybody, and does what a file tells it to while it is asked who is
// calling.
//
// A credential is "UID:binding in hex", with `legs` only after a question: "hello:UID", the challenge "q",
// "q:UID:binding". The file `trouble` holds: hang (for ever, whatever the host asks), wait (until it is stopped), crash,
// exit, leak, silent, or nothing.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <spur/plugin/auth.h>
#include <spur/plugin/plugin.hpp>

namespace {

using namespace spur::plugin;

struct Actor {
    Actor(const spur_host*, const spur_config* config)
        : trouble{option(config, "trouble").text},
          scopes{option(config, "scopes").text},
          groups{option(config, "groups").text},
          uid{option(config, "uid").integer < 0 ? ::geteuid()
                                                : static_cast<std::uint32_t>(option(config, "uid").integer)},
          legs{option(config, "legs").integer != 0} {}

    std::string todo() const {
        std::string word;
        std::ifstream{trouble} >> word;
        return word;
    }
    std::string trouble, scopes, groups;
    std::uint32_t uid;
    bool legs;
};

template <class Asked>
std::string hex_of(const Asked* asked) {
    std::string text;
    for (const auto byte : asked->binding) text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
    return text;
}

[[noreturn]] void hang() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
}

void push_words(const spur_claims* claims, const char* name, const std::string& words) {
    std::istringstream in{words};
    for (std::string word; in >> word;) claims->claim(claims, str(name), str(word));
}

spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* sink, const spur_stop*,
                 spur_error* err) {
    return guard(err, [&] {
        const auto& actor = self_cast<Actor>(self);
        const auto uid = std::to_string(actor.uid);
        return push(sink, actor.legs ? "hello:" + uid : uid + ":" + hex_of(request));
    });
}

spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                   const spur_claims* claims, const spur_stop* stop, spur_error* err) {
    return guard(err, [&] {
        const auto& actor = self_cast<Actor>(self);
        const auto todo = actor.todo();
        if (todo == "hang") hang();
        if (todo == "wait") Stop{stop}.sleep(-1);
        if (todo == "crash") std::abort();
        if (todo == "exit") ::_exit(3);
        if (todo == "leak") static_cast<void>(new std::string(1U << 20, 'x'));
        if (todo == "silent") return SPUR_OK;
        std::string text{view(credential)};
        if (text.starts_with("hello:") && actor.legs) return SPUR_AUTH_CHALLENGE;
        if (actor.legs && !text.starts_with("q:")) return fail(err, SPUR_AUTH_REFUSED, "that answers no question");
        if (actor.legs) text.erase(0, 2);
        const auto colon = text.find(':');
        if (colon == 0 || colon == std::string::npos || text.substr(colon + 1) != hex_of(request))
            return fail(err, SPUR_AUTH_REFUSED, "the credential is for another request");
        spur_identity who{};
        who.uid = static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
        who.gid = SPUR_NONE;
        who.flags = (actor.scopes.empty() ? 0 : SPUR_IDENTITY_IS_SCOPED) |
                    (actor.groups.empty() ? 0 : SPUR_IDENTITY_HAS_GROUPS);
        std::snprintf(who.mechanism, sizeof(who.mechanism), "actor");
        put(out, who);
        push_words(claims, "scope", actor.scopes);
        push_words(claims, "group", actor.groups);
        return SPUR_OK;
    });
}

spur_status make_answer(spur_plugin*, const spur_auth_reply* reply, const spur_sink* sink, const spur_stop*,
                        spur_error* err) {
    return guard(err, [&] { return push(sink, hex_of(reply)); });
}

spur_status verify_answer(spur_plugin*, const spur_auth_reply* reply, spur_str answer, spur_identity* out,
                          const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        if (view(answer) != hex_of(reply)) return fail(err, SPUR_AUTH_REFUSED, "the answer is for another reply");
        spur_identity who{};
        who.uid = ::geteuid();
        put(out, who);
        return SPUR_OK;
    });
}

spur_status challenge(spur_plugin*, const spur_auth_request*, spur_str, const spur_sink* sink, const spur_stop*,
                      spur_error* err) {
    return guard(err, [&] { return push(sink, "q"); });
}

spur_status respond(spur_plugin* self, const spur_auth_request* request, spur_str, spur_str question,
                    const spur_sink* sink, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        return push(sink, std::string{view(question)} + ":" + std::to_string(self_cast<Actor>(self).uid) + ":" +
                              hex_of(request));
    });
}

constexpr spur_auth_ops ops{.size = sizeof(spur_auth_ops),
                            .features = SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_ANSWERS | SPUR_AUTH_CHALLENGES,
                            .make = make,
                            .verify = verify,
                            .make_answer = make_answer,
                            .verify_answer = verify_answer,
                            .issue = nullptr,
                            .challenge = challenge,
                            .respond = respond};

constexpr spur_option options[] = {
    {"trouble", SPUR_OPTION_STRING, 0, "", "a file that says what to do to whoever asks", nullptr, 0, 0},
    {"scopes", SPUR_OPTION_STRING, 0, "", "that every caller has", nullptr, 0, 0},
    {"groups", SPUR_OPTION_STRING, 0, "", "that every caller has", nullptr, 0, 0},
    {"uid", SPUR_OPTION_INT, 0, "-1", "that make() says; -1: its own", nullptr, 0, 0},
    {"legs", SPUR_OPTION_BOOL, 0, "false", "ask back", nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_AUTH_IFACE, nullptr};
constexpr spur_plugin_desc desc{
    .size = sizeof(spur_plugin_desc),
    .reserved = 0,
    .type = "auth/actor",
    .version = "1.0",
    .vendor = "tests",
    .summary = "does what it is told",
    .options = options,
    .option_count = std::size(options),
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create<Actor>,
    .destroy = destroy<Actor>,
    .query = [](spur_plugin*, const char* id) -> const void* {
        return std::string_view{id} == SPUR_AUTH_IFACE ? &ops : nullptr;
    }};

}  // namespace

SPUR_PLUGIN(&desc)
