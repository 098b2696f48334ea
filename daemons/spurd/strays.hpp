// Killing what a step daemon that died left behind: by its cgroup where there is one, else by a mark that its processes
// carry in their environment.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.hpp"

namespace spur::agent {

// A random word that is drawn once and kept in `state_dir`. Nobody else's processes carry it: job 12 of another cluster
// on this machine is not our job 12.
Result<std::string> load_cookie(const std::string& state_dir);

// "SPUR_STEP_MARK=<cookie>.12.1.0": what all processes of this step begin with.
std::string step_mark(const std::string& cookie, std::uint32_t job, std::uint32_t attempt, std::uint32_t step);

// Sends SIGKILL to every process that carries the mark; how many there were.
// A program can wipe its environment: only a cgroup is certain to reach everything.
std::size_t kill_marked(const std::string& mark);

}  // namespace spur::agent
