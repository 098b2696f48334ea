// munged's credentials: libmunge's few functions, looked up at run time so that the plugin loads where it is missing.
#pragma once

#include <munge.h>

#include <ctime>
#include <memory>
#include <string>
#include <string_view>

namespace spur::munge_auth {

// What we use of libmunge. Throws plugin::Failure where it cannot be had.
struct Library {
    Library();

    void* handle;
    decltype(&munge_encode) encode;
    decltype(&munge_decode) decode;
    decltype(&munge_strerror) strerror;
    decltype(&munge_ctx_create) ctx_create;
    decltype(&munge_ctx_destroy) ctx_destroy;
    decltype(&munge_ctx_get) ctx_get;
    decltype(&munge_ctx_set) ctx_set;
    decltype(&munge_ctx_strerror) ctx_strerror;
};

struct Decoded {
    std::string payload;
    uid_t uid{};
    gid_t gid{};
    std::time_t issued{};
    std::string origin;  // the address of the host it was made on
};

class Munged {
public:
    // `socket` empty: munge's own. A munged that does not answer is found now, not at the first job.
    Munged(std::string socket, int ttl_s);

    std::string encode(std::string_view payload) const;
    munge_err_t decode(const std::string& credential, Decoded& out) const;
    const char* text_of(munge_err_t status) const { return library_.strerror(status); }

private:
    using Context = std::unique_ptr<munge_ctx, decltype(&munge_ctx_destroy)>;
    Context context() const;

    Library library_;
    std::string socket_;
    int ttl_s_;
};

// The payload that ties a credential to one request, or an answer to what it answers.
std::string bound(std::string_view purpose, std::string_view binding);

// munged ignores what follows its closing colon and the bits of base64 that carry nothing: several texts would be the
// same credential. Only the one that munged itself writes is taken.
bool is_canonical(std::string_view text);

}  // namespace spur::munge_auth
