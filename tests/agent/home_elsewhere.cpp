// Preloaded into spurd and its step daemons: every user's home is $SPUR_TEST_HOME, and the shell is sh.
#include <pwd.h>

#include <cstdlib>

extern "C" __attribute__((visibility("default"))) passwd* getpwuid(uid_t uid) {
    static char name[] = "tester", shell[] = "/bin/sh", empty[] = "";
    static passwd entry{};
    entry.pw_name = name;
    entry.pw_passwd = entry.pw_gecos = empty;
    entry.pw_uid = uid;
    entry.pw_dir = std::getenv("SPUR_TEST_HOME");
    entry.pw_shell = shell;
    return &entry;
}
