// How auth crosses.
#include "daemons/common/isolate/axis_table.hpp"

namespace spur::isolate {

template <>
struct Flat<spur_identity> : std::true_type {};
template <>
struct Pushes<spur_claims> : Functions<&spur_claims::claim> {};
template <>
struct Fields<spur_auth_request>
    : Members<&spur_auth_request::size, &spur_auth_request::reserved, &spur_auth_request::binding,
              &spur_auth_request::method, &spur_auth_request::audience, &spur_auth_request::server,
              &spur_auth_request::on_behalf_of, &spur_auth_request::peer, &spur_auth_request::peer_name,
              &spur_auth_request::token> {};
template <>
struct Fields<spur_auth_reply> : Members<&spur_auth_reply::size, &spur_auth_reply::reserved, &spur_auth_reply::binding,
                                         &spur_auth_reply::credential> {};
template <>
struct Fields<spur_token_request>
    : Members<&spur_token_request::size, &spur_token_request::uid, &spur_token_request::user,
              &spur_token_request::expires, &spur_token_request::scopes, &spur_token_request::audience> {};

const AxisCrossing& auth_crossing() {
    using O = spur_auth_ops;
    static const auto all = make_crossing<host::AuthAxis, Of<&O::make>, Of<&O::verify>, Of<&O::make_answer>,
                                          Of<&O::verify_answer>, Of<&O::issue>, Of<&O::challenge>, Of<&O::respond>>();
    return all;
}

}  // namespace spur::isolate
