// Starting a program as the step's user: identity, limits, directory, affinity, signals, and then exec.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/spurstepd/containment.hpp"
#include "daemons/spurstepd/environment.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::step {

struct Program {
    std::vector<std::string> argv;  // the first is looked up in the environment's PATH if it has no slash
    Environment environment;
    int in{-1}, out{-1}, err{-1};
    bool login{false};                // run by the user's login shell, at home: argv is what follows the shell
    bool terminal{false};             // `in` is one: the program leads a session on it
    std::optional<std::size_t> task;  // its place in the spec; none: it is no task
    std::string cpu_list;             // empty: leave
    std::string bind_label;           // "n1, task  0  0": tell on stderr what it was bound to; empty: do not
    std::string prolog, user_prolog;  // run first, as the user; they may change the environment, and end it all
};

// Forks. The child reports what keeps it from running the program on its stderr, in Slurm's words, and exits with the
// error number as Slurm's tasks do.
Result<pid_t> start(const Program& program, const LaunchSpec& spec, const Containment& containment);

}  // namespace spur::step
