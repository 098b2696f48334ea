// Starts step daemons. The usual way is to ask the zygote to fork; where there is none, a fresh spurstepd is started.
#pragma once

#include <string>
#include <utility>

#include "core/base/result.hpp"
#include "daemons/spurd/loop.hpp"
#include "daemons/spurstepd/descriptor.hpp"
#include "daemons/spurstepd/frame.hpp"
#include "daemons/spurstepd/setup.hpp"

namespace spur::agent {

struct LauncherOptions {
    std::string program;  // spurstepd
    step::Setup setup;    // what all steps have in common
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
    Result<pid_t> spawn(const char* role, int fd);
    Result<int> setup_file();
    bool ask_zygote(int fd);
    void zygote_gone();

    Loop& loop_;
    LauncherOptions options_;
    step::Descriptor setup_;  // the file it is in
    int zygote_{-1};
    pid_t zygote_pid_{-1};
    Loop::TimerId retry_{0};
};

}  // namespace spur::agent
