// One control group: a job, a step or a task. Knows files, not the ABI.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <spur/plugin/cgroup.h>

#include "hierarchy.hpp"

namespace spur::cgroup_v2 {

struct ScopeName {
    std::uint32_t job{}, attempt{}, step{}, task{};  // SPUR_NONE: not part of the name; without a job it is the node's
    bool operator==(const ScopeName&) const = default;
};

struct Usage {
    std::uint32_t processes{};
    std::uint64_t user_us{}, system_us{}, memory_peak_bytes{}, oom_kills{}, read_bytes{}, write_bytes{};
};

std::string scope_path(const Hierarchy& hierarchy, const ScopeName& name);

struct Events {
    bool populated{false};
    std::uint64_t oom_kills{};
};

// All answer 0 or an errno. A scope that cannot have its limits is an error, `what` says which one; limits that the
// hierarchy has no controller for are left out.
int make_scope(const Hierarchy& hierarchy, const ScopeName& name, const spur_cgroup_limits& limits, std::string& what);
// These wait for the kernel, until it is done, `has_to_stop` says so, or it has taken too long.
using Stopped = std::function<bool()>;
int freeze_scope(const std::string& path, bool frozen, const Stopped& has_to_stop);
int signal_scope(const std::string& path, int signal, const Stopped& has_to_stop);
int remove_scope(const std::string& path);  // EBUSY while processes live; one that is not there is fine
bool read_usage(const std::string& path, Usage& usage);
// A descriptor that is readable once events have changed; -1 with errno set. read_events() makes it unreadable again.
int watch_events(const std::string& path);
bool read_events(const std::string& path, int watch, Events& events);
std::vector<pid_t> processes_of(const std::string& path);  // and below
// Jobs and steps that have a directory below `node_path`: steps, then the job they are of.
std::vector<ScopeName> list_scopes(const std::string& node_path);

}  // namespace spur::cgroup_v2
