// The kernel's OOM score and the nice value of a process.
#include "daemons/common/daemon/precedence.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace spur::daemon {

namespace {

constexpr int never = -1000;  // what slurmd asks for

void set_oom_score(const std::string& process, int score) {
    std::ofstream{"/proc/" + process + "/oom_score_adj"} << score;
}

}  // namespace

void protect_from_oom_killer() {
    if (geteuid() == 0) set_oom_score("self", never);
}

void make_ordinary(pid_t pid) {
    const auto who = static_cast<id_t>(pid);
    if (getpriority(PRIO_PROCESS, who) != 0) setpriority(PRIO_PROCESS, who, 0);
    set_oom_score(std::to_string(pid), 0);
}

}  // namespace spur::daemon
