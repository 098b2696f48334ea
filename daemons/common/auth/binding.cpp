// Parts are joined with their lengths in front, so that no two requests give the same bytes.
#include "daemons/common/auth/binding.hpp"

#include <initializer_list>

namespace spur::auth {
namespace {

Digest digest_of(std::initializer_list<std::string_view> parts) {
    std::string text;
    text.reserve(512);
    for (const auto part : parts) {
        for (unsigned shift = 0; shift < 32; shift += 8) text += static_cast<char>(part.size() >> shift & 0xff);
        text += part;
    }
    return sha256(text);
}

}  // namespace

Digest binding_of(const wire::CredentialRequest& request) {
    return digest_of(
        {"spur-request-1", request.method, as_bytes(request.body), request.audience, request.on_behalf_of});
}

Digest binding_of(std::string_view credential, const Digest& reply) {
    return digest_of({"spur-answer-1", credential, as_bytes(reply)});
}

}  // namespace spur::auth
