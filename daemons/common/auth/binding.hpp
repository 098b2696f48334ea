// What a credential or an answer is for, as the 32 bytes that auth plugins cover. Both sides of a call make them from
// what they see.
#pragma once

#include "daemons/common/wire/auth.hpp"

namespace spur::auth {

// Method, body, server, and on whose behalf.
Digest binding_of(const wire::CredentialRequest& request);
// The client's credential and the reply.
Digest binding_of(std::string_view credential, const Digest& reply);

}  // namespace spur::auth
