// What a site holds its jobs to, beyond what they were given: the options of the cgroup plugin that the host reads. Their names are in
// spur/plugin/cgroup.h.
#pragma once

#include <spur/plugin/cgroup.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/common/host/option_value.hpp"

namespace spur::step {

// How many processes and threads all jobs together may have, and how many one may; the system keeps an eighth, enough for an
// administrator to log in and look.
struct ProcessLimits {
    spur_cgroup_limit node, job;
};
ProcessLimits process_limits(std::uint64_t machine, std::int64_t job_processes);
std::uint64_t machine_processes();  // that this machine can have altogether

struct SiteLimits {
    bool cpu_quota{false}, weights{false};
    std::int64_t swap_percent{-1};  // of the memory; -1: not limited
    ProcessLimits processes{};
    std::vector<spur_cgroup_io> io;
    std::vector<std::string> allowed_devices;  // empty: all but those of other jobs

    static Result<SiteLimits> make(const std::vector<host::OptionValue>& options);
};

spur_cgroup_limit limit_at(std::uint64_t value);
// What to set where 0 stands for "none was asked for": then the scope has its parent's.
spur_cgroup_limit limit_if(std::uint64_t value);

// "/dev/fuse", "c 195:*", "b 8:0". Nothing: there is no such device here.
std::optional<spur_cgroup_device> find_device(const std::string& name);
// What every program needs: null, zero, full, random, terminals.
std::vector<spur_cgroup_device> usual_devices();

}  // namespace spur::step
