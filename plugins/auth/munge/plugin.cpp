// auth/munge, the boundary. What is asked of munged is in munge.hpp.

#include "munge.hpp"
#include "plugins/auth/auth_plugin.hpp"

namespace {

using namespace spur::plugin;
using spur::auth::binding_of;
using spur::munge_auth::bound;
using spur::munge_auth::Decoded;
using spur::munge_auth::Munged;

struct Instance {
    Instance(const spur_host*, const spur_config* config)
        : munged{option(config, "socket").text, static_cast<int>(option(config, "ttl").integer)},
          checks_origin{option(config, "check_origin").integer != 0} {}
    Munged munged;
    bool checks_origin;
};

// "10.0.0.7:41822" or "[::ffff:10.0.0.7]:41822" came from where the credential was made, or from this very machine.
bool is_from(std::string_view peer, std::string_view origin) {
    auto address = peer.substr(0, peer.rfind(':'));
    if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
    if (address.starts_with("::ffff:")) address.remove_prefix(7);
    return address == origin || address.starts_with("127.") || address == "::1";
}

spur_status check(const Instance& self, spur_str credential, const std::string& expected, std::string_view peer,
                  spur_identity* out, spur_error* err) {
    Decoded decoded;
    const std::string text{view(credential)};
    if (text.find('\0') != std::string::npos || text.size() > 32768 || !spur::munge_auth::is_canonical(text))
        return fail(err, SPUR_AUTH_REFUSED, "the credential is malformed");
    const auto status = self.munged.decode(text, decoded);
    if (status == EMUNGE_SOCKET) return fail(err, SPUR_E_UNAVAILABLE, "munged does not answer; is it running?");
    if (status != EMUNGE_SUCCESS)
        return fail(err, SPUR_AUTH_REFUSED, std::string("munge: ") + self.munged.text_of(status));
    if (decoded.payload != expected) return fail(err, SPUR_AUTH_REFUSED, "the credential was made for another request");
    if (self.checks_origin && !peer.empty() && !is_from(peer, decoded.origin))
        return fail(err, SPUR_AUTH_REFUSED,
                    "the credential was made on " + decoded.origin + " and comes from " + std::string{peer});
    spur::auth::identify(out, {.mechanism = "munge",
                               .uid = decoded.uid,
                               .gid = decoded.gid,
                               .issued = decoded.issued,
                               .origin = decoded.origin.c_str()});
    return SPUR_OK;
}

std::string bound_to(const spur_auth_request* request) { return bound("request", binding_of(request)); }
std::string bound_to(const spur_auth_reply* reply) { return bound("answer", binding_of(reply)); }

spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* sink, const spur_stop*,
                 spur_error* err) {
    return guard(err, [&] { return push(sink, self_cast<Instance>(self).munged.encode(bound_to(request))); });
}
spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                   const spur_claims*, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        return check(self_cast<Instance>(self), credential, bound_to(request), view(request->peer), out, err);
    });
}
spur_status make_answer(spur_plugin* self, const spur_auth_reply* reply, const spur_sink* sink, const spur_stop*,
                        spur_error* err) {
    return guard(err, [&] { return push(sink, self_cast<Instance>(self).munged.encode(bound_to(reply))); });
}
spur_status verify_answer(spur_plugin* self, const spur_auth_reply* reply, spur_str answer, spur_identity* out,
                          const spur_stop*, spur_error* err) {
    return guard(err, [&] { return check(self_cast<Instance>(self), answer, bound_to(reply), {}, out, err); });
}

constexpr spur_auth_ops ops{
    .size = sizeof(spur_auth_ops),
    .features = SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_DETECTS_REPLAY | SPUR_AUTH_ANSWERS,
    .make = make,
    .verify = verify,
    .make_answer = make_answer,
    .verify_answer = verify_answer,
    .issue = nullptr,
    .challenge = nullptr,
    .respond = nullptr};

constexpr spur_option options[] = {
    {.key = "socket", .kind = SPUR_OPTION_STRING, .help = "where munged listens; default: munge's own"},
    {.key = "ttl",
     .kind = SPUR_OPTION_DURATION,
     .fallback = "300s",
     .help = "how long a credential is good",
     .minimum = 1,
     .maximum = 3600},
    {.key = "check_origin",
     .kind = SPUR_OPTION_BOOL,
     .fallback = "false",
     .help = "refuse what was made on another host than the one it comes from; not behind address translation"},
};
constexpr auto desc = spur::auth::describe<Instance, ops>("auth/munge", "Credentials by munged", options);

}  // namespace

SPUR_PLUGIN(&desc)
