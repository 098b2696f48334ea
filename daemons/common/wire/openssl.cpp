// Opens libssl by its soname and looks up what we use.
#include "daemons/common/wire/openssl.hpp"

#include <dlfcn.h>

namespace spur::wire {
namespace {

#define SPUR_TEXT_(x) #x
#define SPUR_TEXT(x) SPUR_TEXT_(x)
constexpr const char* soname = "libssl.so." SPUR_TEXT(OPENSSL_VERSION_MAJOR);

Result<OpenSsl> open_library() {
    void* library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        return fail(ErrorCode::unavailable, "TLS needs {}: {}; install OpenSSL {} or use a plain port", soname,
                    dlerror(), OPENSSL_VERSION_MAJOR);
    OpenSsl found{};
    const char* missing = nullptr;
#define SPUR_OPENSSL_FIND(name)                                                 \
    found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name)); \
    if (found.name == nullptr) missing = #name;
    SPUR_OPENSSL_FUNCTIONS(SPUR_OPENSSL_FIND)
#undef SPUR_OPENSSL_FIND
    if (missing != nullptr) return fail(ErrorCode::unavailable, "TLS: {} has no {}; it is too old", soname, missing);
    return found;
}

}  // namespace

Result<const OpenSsl*> OpenSsl::load() {
    static const Result<OpenSsl> library = open_library();
    if (!library) return std::unexpected(library.error());
    return &*library;
}

}  // namespace spur::wire
