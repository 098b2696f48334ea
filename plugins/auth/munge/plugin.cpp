// auth/munge, the boundary. What is asked of munged is in munge.hpp.
#include <spur/plugin/auth.h>
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"
#include "munge.hpp"

namespace {

using namespace spur::plugin;
using spur::munge_auth::bound;
using spur::munge_auth::Decoded;
using spur::munge_auth::Munged;

struct Instance {
    Instance(const spur_host*, const spur_config* config)
        : munged{option(config, "socket").text, static_cast<int>(option(config, "ttl").integer)} {}
    Munged munged;
};

spur_status check(const Instance& self, spur_str credential, const std::string& expected, spur_identity* out,
                  spur_error* err) {
    Decoded decoded;
    const std::string text{view(credential)};
    if (text.find('\0') != std::string::npos || text.size() > 32768 || !spur::munge_auth::is_canonical(text))
        return fail(err, SPUR_AUTH_REFUSED, "the credential is malformed");
    const auto status = self.munged.decode(text, decoded);
    if (status == EMUNGE_SOCKET) return fail(err, SPUR_E_UNAVAILABLE, "munged does not answer; is it running?");
    if (status != EMUNGE_SUCCESS)
        return fail(err, SPUR_AUTH_REFUSED, std::string("munge: ") + self.munged.text_of(status));
    if (decoded.payload != expected) return fail(err, SPUR_AUTH_REFUSED, "the credential was made for another request");
    spur_identity who{};
    who.uid = decoded.uid;
    who.gid = decoded.gid;
    std::snprintf(who.mechanism, sizeof(who.mechanism), "munge");
    put(out, who);
    return SPUR_OK;
}

std::string bound_to(const spur_auth_request* request) {
    const bool has_audience = SPUR_HAS(spur_auth_request, request, audience);
    return bound("request", view(request->method), has_audience ? view(request->audience) : "", request->digest);
}

spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* sink, spur_error* err) {
    return guard(err, [&] { return push(sink, self_cast<Instance>(self).munged.encode(bound_to(request))); });
}
spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                   spur_error* err) {
    return guard(err, [&] { return check(self_cast<Instance>(self), credential, bound_to(request), out, err); });
}
spur_status make_answer(spur_plugin* self, spur_str credential, const uint8_t* digest, const spur_sink* sink,
                        spur_error* err) {
    return guard(err, [&] {
        return push(sink, self_cast<Instance>(self).munged.encode(bound("answer", view(credential), {}, digest)));
    });
}
spur_status verify_answer(spur_plugin* self, spur_str credential, const uint8_t* digest, spur_str answer,
                          spur_identity* out, spur_error* err) {
    return guard(err, [&] {
        return check(self_cast<Instance>(self), answer, bound("answer", view(credential), {}, digest), out, err);
    });
}

constexpr spur_auth_ops ops{
    .size = sizeof(spur_auth_ops),
    .features = SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_BINDS_AUDIENCE | SPUR_AUTH_DETECTS_REPLAY | SPUR_AUTH_ANSWERS,
    .make = make,
    .verify = verify,
    .make_answer = make_answer,
    .verify_answer = verify_answer,
    .issue = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_AUTH_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {.key = "socket",
     .kind = SPUR_OPTION_STRING,
     .flags = 0,
     .fallback = nullptr,
     .help = "where munged listens; default: munge's own",
     .choices = nullptr,
     .minimum = 0,
     .maximum = 0},
    {.key = "ttl",
     .kind = SPUR_OPTION_DURATION,
     .flags = 0,
     .fallback = "300s",
     .help = "how long a credential is good",
     .choices = nullptr,
     .minimum = 1,
     .maximum = 3600},
};
constexpr const char* interfaces[] = {SPUR_AUTH_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "auth/munge",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "Credentials by munged",
                                .options = options,
                                .option_count = 2,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
