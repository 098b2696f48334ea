// auth/local, the boundary. The credentials themselves are in local.hpp.
#include <spur/plugin/auth.h>
#include <sys/random.h>
#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <array>
#include <ctime>

#include "core/version.hpp"
#include "local.hpp"

namespace {

using namespace spur::plugin;
using spur::local_auth::Authority;
using spur::local_auth::Claim;
using spur::local_auth::Key;
using spur::local_auth::Request;

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

std::string_view digest_of(const uint8_t* digest) { return {reinterpret_cast<const char*>(digest), 32}; }

Request request_of(const spur_auth_request* request) {
    const bool has_audience = SPUR_HAS(spur_auth_request, request, audience);
    return {view(request->method), digest_of(request->digest), has_audience ? view(request->audience) : ""};
}

std::string nonce() {
    std::array<std::uint8_t, 16> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw Failure(SPUR_E_INTERNAL, "no random bytes");
    std::string text;
    for (const auto byte : bytes) text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
    return text;
}

void identify(spur_identity* out, std::uint32_t uid, std::uint32_t gid, std::int64_t time) {
    spur_identity who{};
    who.uid = uid;
    who.gid = gid;
    who.issued = time;
    std::snprintf(who.mechanism, sizeof(who.mechanism), "local");
    put(out, who);
}

spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* sink, spur_error* err) {
    return guard(err, [&] {
        const Claim claim{::geteuid(), ::getegid(), static_cast<std::int64_t>(::time(nullptr))};
        return push(sink, self_cast<Instance>(self).authority.make(request_of(request), claim, nonce()));
    });
}

spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                   spur_error* err) {
    return guard(err, [&] {
        const auto claim = self_cast<Instance>(self).authority.verify(request_of(request), view(credential),
                                                                      static_cast<std::int64_t>(::time(nullptr)));
        if (!claim) return fail(err, SPUR_AUTH_REFUSED, claim.error().text);
        identify(out, claim->uid, claim->gid, claim->time);
        return SPUR_OK;
    });
}

spur_status make_answer(spur_plugin* self, spur_str credential, const uint8_t* digest, const spur_sink* sink,
                        spur_error* err) {
    return guard(err, [&] {
        return push(sink, self_cast<Instance>(self).authority.answer(view(credential), digest_of(digest)));
    });
}

spur_status verify_answer(spur_plugin* self, spur_str credential, const uint8_t* digest, spur_str answer,
                          spur_identity* out, spur_error* err) {
    return guard(err, [&] {
        const auto& authority = self_cast<Instance>(self).authority;
        if (!authority.is_answer(view(credential), digest_of(digest), view(answer)))
            return fail(err, SPUR_AUTH_REFUSED, "whoever answered does not have this cluster's key");
        identify(out, authority.owner(), UINT32_MAX, 0);
        return SPUR_OK;
    });
}

constexpr spur_auth_ops ops{.size = sizeof(spur_auth_ops),
                            .features = SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_BINDS_AUDIENCE | SPUR_AUTH_DETECTS_REPLAY |
                                        SPUR_AUTH_ANSWERS | SPUR_AUTH_LOCAL_ONLY,
                            .make = make,
                            .verify = verify,
                            .make_answer = make_answer,
                            .verify_answer = verify_answer,
                            .issue = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_AUTH_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {.key = "key_file",
     .kind = SPUR_OPTION_PATH,
     .flags = 0,
     .fallback = nullptr,
     .help = "the shared key; default: auth.key in the state directory",
     .choices = nullptr,
     .minimum = 0,
     .maximum = 0},
    {.key = "max_age",
     .kind = SPUR_OPTION_DURATION,
     .flags = 0,
     .fallback = "300s",
     .help = "how old a credential may be",
     .choices = nullptr,
     .minimum = 1,
     .maximum = 86400},
};
constexpr const char* interfaces[] = {SPUR_AUTH_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "auth/local",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "A key file of mode 0600: one machine, one user",
                                .options = options,
                                .option_count = 2,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
