// Preloaded into a daemon: the C library's users and groups, which hang while the file $SPUR_TEST_DIRECTORY_HANGS exists,
// as they do when an LDAP server behind them does not answer.
#include <dlfcn.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace {

template <class Function>
Function* real(const char* name) {
    const char* file = std::getenv("SPUR_TEST_DIRECTORY_HANGS");
    while (file != nullptr && ::access(file, F_OK) == 0) ::usleep(10'000);
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int getpwuid_r(uid_t uid, passwd* entry, char* buffer, size_t size, passwd** found) {
    return real<decltype(::getpwuid_r)>("getpwuid_r")(uid, entry, buffer, size, found);
}
EXPORT int getpwnam_r(const char* name, passwd* entry, char* buffer, size_t size, passwd** found) {
    return real<decltype(::getpwnam_r)>("getpwnam_r")(name, entry, buffer, size, found);
}
EXPORT int getgrgid_r(gid_t gid, group* entry, char* buffer, size_t size, group** found) {
    return real<decltype(::getgrgid_r)>("getgrgid_r")(gid, entry, buffer, size, found);
}
EXPORT int getgrouplist(const char* user, gid_t group, gid_t* groups, int* count) {
    return real<decltype(::getgrouplist)>("getgrouplist")(user, group, groups, count);
}
