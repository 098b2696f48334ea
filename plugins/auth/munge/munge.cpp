// Calls of libmunge, and binding a credential to one request.
#include "munge.hpp"

#include <dlfcn.h>
#include <netinet/in.h>
#include <spur/plugin/plugin.hpp>
#include <arpa/inet.h>

#include <cstdlib>
#include <utility>

namespace spur::munge_auth {

using plugin::Failure;

Library::Library() : handle{dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL)} {
    if (handle == nullptr)
        throw Failure(SPUR_E_UNAVAILABLE, "libmunge.so.2 cannot be opened; install the package libmunge2");
    const auto find = [this]<class Fn>(Fn& function, const char* name) {
        function = reinterpret_cast<Fn>(dlsym(handle, name));
        if (function == nullptr) throw Failure(SPUR_E_UNAVAILABLE, std::string("libmunge.so.2 has no ") + name);
    };
    find(encode, "munge_encode");
    find(decode, "munge_decode");
    find(strerror, "munge_strerror");
    find(ctx_create, "munge_ctx_create");
    find(ctx_destroy, "munge_ctx_destroy");
    find(ctx_get, "munge_ctx_get");
    find(ctx_set, "munge_ctx_set");
    find(ctx_strerror, "munge_ctx_strerror");
}

Munged::Munged(std::string socket, int ttl_s) : socket_{std::move(socket)}, ttl_s_{ttl_s} {
    Decoded none;
    const auto credential = encode("spur");
    if (const auto status = decode(credential, none); status != EMUNGE_SUCCESS)
        throw Failure(SPUR_E_UNAVAILABLE, std::string("munged does not accept its own credential: ") + text_of(status));
}

Munged::Context Munged::context() const {
    Context made{library_.ctx_create(), library_.ctx_destroy};
    if (!made) throw Failure(SPUR_E_INTERNAL, "out of memory");
    if (!socket_.empty()) library_.ctx_set(made.get(), MUNGE_OPT_SOCKET, socket_.c_str());
    library_.ctx_set(made.get(), MUNGE_OPT_TTL, ttl_s_);
    return made;
}

std::string Munged::encode(std::string_view payload) const {
    const auto made = context();
    char* credential = nullptr;
    const auto status = library_.encode(&credential, made.get(), payload.data(), static_cast<int>(payload.size()));
    if (status != EMUNGE_SUCCESS) {
        const char* detail = library_.ctx_strerror(made.get());
        throw Failure(SPUR_E_UNAVAILABLE, std::string("munged gave no credential: ") +
                                              (detail != nullptr ? detail : text_of(status)) + "; is munged running?");
    }
    std::string text{credential};
    std::free(credential);
    return text;
}

munge_err_t Munged::decode(const std::string& credential, Decoded& out) const {
    const auto made = context();
    void* payload = nullptr;
    int length = 0;
    const auto status = library_.decode(credential.c_str(), made.get(), &payload, &length, &out.uid, &out.gid);
    if (payload != nullptr) out.payload.assign(static_cast<const char*>(payload), static_cast<std::size_t>(length));
    std::free(payload);
    in_addr made_at{};
    char text[INET_ADDRSTRLEN] = "";
    if (library_.ctx_get(made.get(), MUNGE_OPT_ADDR4, &made_at) == EMUNGE_SUCCESS &&
        inet_ntop(AF_INET, &made_at, text, sizeof(text)) != nullptr)
        out.origin = text;
    library_.ctx_get(made.get(), MUNGE_OPT_ENCODE_TIME, &out.issued);
    return status;
}

std::string bound(std::string_view purpose, std::string_view binding) {
    return std::string{purpose} + std::string{binding};
}

bool is_canonical(std::string_view text) {
    constexpr std::string_view opening = "MUNGE:",
                               alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (!text.starts_with(opening) || text.find(':', opening.size()) != text.size() - 1) return false;
    auto body = text.substr(opening.size(), text.size() - opening.size() - 1);
    std::size_t padding = 0;
    for (; body.ends_with('='); body.remove_suffix(1)) ++padding;
    if (body.empty() || padding > 2) return false;
    const auto last = alphabet.find(body.back());
    const std::size_t unused = padding == 2 ? 0xF : padding == 1 ? 0x3 : 0;
    return last != std::string_view::npos && (last & unused) == 0;
}

}  // namespace spur::munge_auth
