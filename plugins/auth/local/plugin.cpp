// auth/local, the boundary. The credentials themselves are in local.hpp.
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "local.hpp"
#include "plugins/auth/auth_plugin.hpp"

namespace {

using namespace spur::plugin;
using spur::auth::binding_of;
using spur::local_auth::Authority;
using spur::local_auth::Claim;
using spur::local_auth::Key;

std::string key_path(const spur_host* host, const spur_config* config) {
    if (const std::string given = option(config, "key_file").text; !given.empty()) return given;
    const auto state_dir = host_fact(host, "controller.state_dir", host_fact(host, "state_dir"));
    if (state_dir.empty())
        throw Failure(
            SPUR_E_INVALID,
            "auth/local needs key_file: this program has no state directory to look in. Set SPUR_CONF to the cluster's "
            "spur.conf, or key_file in [plugin.\"auth/local\"] there");
    return state_dir + "/auth.key";
}

Key load_key(const spur_host* host, const spur_config* config) {
    const bool makes = std::string_view{host->program} == "spurctld";
    auto key = Key::load(key_path(host, config), makes);
    if (!key) throw Failure(SPUR_E_DENIED, key.error().text);
    return *std::move(key);
}

struct Instance {
    Instance(const spur_host* host, const spur_config* config)
        : authority{load_key(host, config), option(config, "max_age").integer} {}
    Authority authority;
};

std::string nonce() {
    std::array<std::uint8_t, 16> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw Failure(SPUR_E_INTERNAL, "no random bytes");
    std::string text;
    for (const auto byte : bytes) text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
    return text;
}

spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* sink, const spur_stop*,
                 spur_error* err) {
    return guard(err, [&] {
        const Claim claim{::geteuid(), ::getegid(), static_cast<std::int64_t>(::time(nullptr))};
        return push(sink, self_cast<Instance>(self).authority.make(binding_of(request), claim, nonce()));
    });
}

spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                   const spur_claims*, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        const auto claim = self_cast<Instance>(self).authority.verify(binding_of(request), view(credential),
                                                                      static_cast<std::int64_t>(::time(nullptr)));
        if (!claim) return fail(err, SPUR_AUTH_REFUSED, claim.error().text);
        spur::auth::identify(out, {.mechanism = "local", .uid = claim->uid, .gid = claim->gid, .issued = claim->time});
        return SPUR_OK;
    });
}

spur_status make_answer(spur_plugin* self, const spur_auth_reply* reply, const spur_sink* sink, const spur_stop*,
                        spur_error* err) {
    return guard(err, [&] { return push(sink, self_cast<Instance>(self).authority.answer(binding_of(reply))); });
}

spur_status verify_answer(spur_plugin* self, const spur_auth_reply* reply, spur_str answer, spur_identity* out,
                          const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        const auto& authority = self_cast<Instance>(self).authority;
        if (!authority.is_answer(binding_of(reply), view(answer)))
            return fail(err, SPUR_AUTH_REFUSED, "whoever answered does not have this cluster's key");
        spur::auth::identify(out, {.mechanism = "local", .uid = authority.owner()});
        return SPUR_OK;
    });
}

constexpr spur_auth_ops ops{.size = sizeof(spur_auth_ops),
                            .features = SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_DETECTS_REPLAY | SPUR_AUTH_ANSWERS |
                                        SPUR_AUTH_LOCAL_ONLY,
                            .make = make,
                            .verify = verify,
                            .make_answer = make_answer,
                            .verify_answer = verify_answer,
                            .issue = nullptr,
                            .challenge = nullptr,
                            .respond = nullptr};

constexpr spur_option options[] = {
    {.key = "key_file", .kind = SPUR_OPTION_PATH, .help = "the shared key; default: auth.key in the state directory"},
    {.key = "max_age",
     .kind = SPUR_OPTION_DURATION,
     .fallback = "300s",
     .help = "how old a credential may be",
     .minimum = 1,
     .maximum = 86400},
};
constexpr auto desc =
    spur::auth::describe<Instance, ops>("auth/local", "A key file of mode 0600: one machine, one user", options);

}  // namespace

SPUR_PLUGIN(&desc)
