// auth/munge: credentials by munged. libmunge's few functions are looked up at run time.
#include <dlfcn.h>
#include <munge.h>
#include <spur/plugin/auth.h>
#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <cstdlib>
#include <memory>

#include "core/sha256.hpp"

namespace {

using namespace spur::plugin;

// What we use of libmunge.
struct Library {
    void* handle;
    decltype(&munge_encode) encode;
    decltype(&munge_decode) decode;
    decltype(&munge_strerror) strerror;
    decltype(&munge_ctx_create) ctx_create;
    decltype(&munge_ctx_destroy) ctx_destroy;
    decltype(&munge_ctx_set) ctx_set;
    decltype(&munge_ctx_strerror) ctx_strerror;

    template <class Fn>
    void find(Fn& function, const char* name) {
        function = reinterpret_cast<Fn>(dlsym(handle, name));
        if (function == nullptr) throw Failure(SPUR_E_UNAVAILABLE, std::string("libmunge.so.2 has no ") + name);
    }
    Library() : handle(dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL)) {
        if (handle == nullptr)
            throw Failure(SPUR_E_UNAVAILABLE, "libmunge.so.2 cannot be opened; install the package libmunge2");
        find(encode, "munge_encode");
        find(decode, "munge_decode");
        find(strerror, "munge_strerror");
        find(ctx_create, "munge_ctx_create");
        find(ctx_destroy, "munge_ctx_destroy");
        find(ctx_set, "munge_ctx_set");
        find(ctx_strerror, "munge_ctx_strerror");
    }
};

struct Instance {
    Instance(const spur_host*, const spur_config* config)
        : socket(option(config, "socket").text), ttl(static_cast<int>(option(config, "ttl").integer)) {
        // A munged that does not answer is found now, not at the first job.
        Decoded none;
        const auto credential = encode("spur");
        if (const auto status = decode(credential, none); status != EMUNGE_SUCCESS)
            throw Failure(SPUR_E_UNAVAILABLE,
                          std::string("munged does not accept its own credential: ") + munge.strerror(status));
    }

    struct Decoded {
        std::string payload;
        uid_t uid{};
        gid_t gid{};
    };

    using Context = std::unique_ptr<munge_ctx, decltype(&munge_ctx_destroy)>;
    Context context() const {
        Context made{munge.ctx_create(), munge.ctx_destroy};
        if (!made) throw Failure(SPUR_E_INTERNAL, "out of memory");
        if (!socket.empty()) munge.ctx_set(made.get(), MUNGE_OPT_SOCKET, socket.c_str());
        munge.ctx_set(made.get(), MUNGE_OPT_TTL, ttl);
        return made;
    }

    std::string encode(std::string_view payload) const {
        const auto made = context();
        char* credential = nullptr;
        const auto status = munge.encode(&credential, made.get(), payload.data(), static_cast<int>(payload.size()));
        if (status != EMUNGE_SUCCESS) {
            const char* detail = munge.ctx_strerror(made.get());
            throw Failure(SPUR_E_UNAVAILABLE, std::string("munged gave no credential: ") +
                                                  (detail != nullptr ? detail : munge.strerror(status)) +
                                                  "; is munged running?");
        }
        std::string text{credential};
        std::free(credential);
        return text;
    }

    munge_err_t decode(const std::string& credential, Decoded& out) const {
        const auto made = context();
        void* payload = nullptr;
        int length = 0;
        const auto status = munge.decode(credential.c_str(), made.get(), &payload, &length, &out.uid, &out.gid);
        if (payload != nullptr) out.payload.assign(static_cast<const char*>(payload), static_cast<std::size_t>(length));
        std::free(payload);
        return status;
    }

    Library munge;
    std::string socket;
    int ttl;
};

std::string bound(std::string_view purpose, std::string_view what, const std::uint8_t* digest) {
    const auto sum = spur::Sha256{}
                         .update(purpose)
                         .update({"\0", 1})
                         .update(what)
                         .update({"\0", 1})
                         .update({reinterpret_cast<const char*>(digest), 32})
                         .finish();
    return std::string{spur::as_bytes(sum)};
}

// munged ignores what follows its closing colon and the bits of base64 that carry nothing: several texts would be the
// same credential. Only the one that munged itself writes is taken.
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

spur_status check(const Instance& self, spur_str credential, const std::string& expected, spur_identity* out,
                  spur_error* err) {
    Instance::Decoded decoded;
    const std::string text{view(credential)};
    if (text.find('\0') != std::string::npos || text.size() > 32768)
        return fail(err, SPUR_AUTH_REFUSED, "the credential is malformed");
    if (!is_canonical(text)) return fail(err, SPUR_AUTH_REFUSED, "the credential is malformed");
    const auto status = self.decode(text, decoded);
    if (status == EMUNGE_SOCKET) return fail(err, SPUR_E_UNAVAILABLE, "munged does not answer; is it running?");
    if (status != EMUNGE_SUCCESS)
        return fail(err, SPUR_AUTH_REFUSED, std::string("munge: ") + self.munge.strerror(status));
    if (decoded.payload != expected) return fail(err, SPUR_AUTH_REFUSED, "the credential was made for another request");
    out->uid = decoded.uid;
    out->gid = decoded.gid;
    out->flags = 0;
    out->issued = out->expires = 0;
    out->user[0] = '\0';
    std::snprintf(out->mechanism, sizeof(out->mechanism), "munge");
    return SPUR_OK;
}

spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* sink, spur_error* err) {
    return guard(err, [&] {
        return push(sink, self_cast<Instance>(self).encode(bound("request", view(request->method), request->digest)));
    });
}
spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                   spur_error* err) {
    return guard(err, [&] {
        return check(self_cast<Instance>(self), credential, bound("request", view(request->method), request->digest),
                     out, err);
    });
}
spur_status make_answer(spur_plugin* self, spur_str credential, const uint8_t* digest, const spur_sink* sink,
                        spur_error* err) {
    return guard(
        err, [&] { return push(sink, self_cast<Instance>(self).encode(bound("answer", view(credential), digest))); });
}
spur_status verify_answer(spur_plugin* self, spur_str credential, const uint8_t* digest, spur_str answer,
                          spur_identity* out, spur_error* err) {
    return guard(err, [&] {
        return check(self_cast<Instance>(self), answer, bound("answer", view(credential), digest), out, err);
    });
}

constexpr spur_auth_ops ops{.size = sizeof(spur_auth_ops),
                            .features = SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_DETECTS_REPLAY | SPUR_AUTH_ANSWERS,
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
                                .version = "1.0.0",
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
