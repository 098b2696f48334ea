// The process of a plugin that is kept apart from its daemon: docs/operations.md, "A plugin in a process of its own".
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdio>
#include <initializer_list>

#include "daemons/common/isolate/serve.hpp"

int main() {
    constexpr int to_daemon = 3;
    struct stat about {};
    if (::fstat(to_daemon, &about) != 0 || !S_ISSOCK(about.st_mode)) {
        std::fputs("spur-plugin-child is started by Spur's daemons for plugins with isolate = true\n", stderr);
        return 2;
    }
    ::fcntl(to_daemon, F_SETFD, FD_CLOEXEC);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);  // the daemon ends it
    return spur::isolate::serve(to_daemon);
}
