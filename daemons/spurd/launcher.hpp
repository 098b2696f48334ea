// Starts step daemons. The usual way is to ask the zygote to fork; where there is none, a fresh spurstepd is started.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/spurd/loop.hpp"
#include "daemons/spurstepd/frame.hpp"

namespace spur::agent {

struct LauncherOptions {
    std::string program;                 // spurstepd
    std::vector<std::string> arguments;  // about the cgroup plugin; see spurstepd's main.cpp
};

class Launcher {
public:
    Launcher(Loop& loop, LauncherOptions options);
    ~Launcher();
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    Result<void> start();  // the zygote
    // A connection to a new step daemon, which waits for its spec.
    Result<step::FrameSocket> new_step(bool without_zygote = false);

private:
    Result<pid_t> spawn(const char* role, int fd) const;
    bool ask_zygote(int fd);
    void zygote_gone();

    Loop& loop_;
    LauncherOptions options_;
    int zygote_{-1};
    pid_t zygote_pid_{-1};
    Loop::TimerId retry_{0};
};

}  // namespace spur::agent
