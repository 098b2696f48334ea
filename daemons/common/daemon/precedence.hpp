// Who goes first when memory or CPU time runs out: a daemon that others depend on, or what it starts.
#pragma once

#include <sys/types.h>

namespace spur::daemon {

// The kernel ends other processes before this one. Root only; without the right to it nothing changes.
void protect_from_oom_killer();

// A program that was just started is treated like any other, whatever it inherited.
void make_ordinary(pid_t pid);

}  // namespace spur::daemon
