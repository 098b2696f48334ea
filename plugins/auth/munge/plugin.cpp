// auth/munge, the boundary. What is asked of munged is in munge.hpp.

#include "munge.hpp"
#include "plugins/auth/auth_plugin.hpp"

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
    spur::auth::identify(out, "munge", decoded.uid, decoded.gid, 0);
    return SPUR_OK;
}

std::string bound_to(const spur_auth_request* request) {
    return bound("request", view(request->method), spur::auth::audience_of(request), request->digest);
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

constexpr spur_option options[] = {
    {.key = "socket", .kind = SPUR_OPTION_STRING, .help = "where munged listens; default: munge's own"},
    {.key = "ttl",
     .kind = SPUR_OPTION_DURATION,
     .fallback = "300s",
     .help = "how long a credential is good",
     .minimum = 1,
     .maximum = 3600},
};
constexpr auto desc = spur::auth::describe<Instance, ops>("auth/munge", "Credentials by munged", options);

}  // namespace

SPUR_PLUGIN(&desc)
