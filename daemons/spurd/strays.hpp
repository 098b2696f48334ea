// Killing what a step daemon that died left behind: by its cgroup where there is one, else by the variables that its
// processes carry.
#pragma once

#include <cstdint>
#include <string>

namespace spur::agent {

// Sends SIGKILL to every process whose environment says it belongs to this step on this node; how many there were.
// A program can wipe its environment: only a cgroup is certain to reach everything.
std::size_t kill_by_environment(std::uint32_t job, std::uint32_t step, const std::string& node);

}  // namespace spur::agent
