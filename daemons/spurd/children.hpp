// Programs that spurd itself starts: prolog, epilog, and step daemons where there is no zygote.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/spurd/loop.hpp"
#include "daemons/spurstepd/descriptor.hpp"

namespace spur::agent {

// Reaps `pid` when it ends and passes on its wait status.
void watch_child(Loop& loop, pid_t pid, std::function<void(int status)> ended);

// Starts `program` as the daemon's own user, in a session of its own, stdin and stdout closed to /dev/null. stderr is
// spurd's.
Result<pid_t> start_script(const std::string& program, const std::vector<std::string>& environment);

// "exited with 3", "was killed by signal 9"
std::string describe_status(int status);

// A descriptor of another's process, which never means a later one with the same number; none if it has gone, or the
// kernel has no such thing (before 5.3).
step::Descriptor open_process(pid_t pid);
void send_signal(const step::Descriptor& process, int number);

}  // namespace spur::agent
