// What an earlier spurd left running here that nobody remembers: its spool was lost, or a part of it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "daemons/common/host/axes.hpp"
#include "daemons/common/host/bound.hpp"

namespace spur::agent {

// Who is known here; asked before anything is killed.
struct Known {
    std::function<bool(std::uint32_t job, std::uint32_t attempt, std::uint32_t step)> step;  // by a living step daemon
    std::function<bool(std::uint32_t job, std::uint32_t attempt)> job;
};

struct Cleared {
    bool forgotten{false};   // something was there that nobody knew of
    std::string unkillable;  // what would not die; empty: all did
};

// Kills and removes the scopes that no known step lives in; those that are empty go without a word.
inline constexpr std::chrono::seconds kill_patience{10};  // for what is killed to be gone
Cleared clear_scopes(const host::Bound<host::CgroupAxis>& cgroup, const Known& known);

// Step daemons of ours that work in directories below `jobs_dir` which are gone or which nobody knows, with everything
// below them. They are known by what they run and where: nobody but spurd starts them there.
Cleared clear_step_daemons(const std::string& jobs_dir, const Known& known);

}  // namespace spur::agent
