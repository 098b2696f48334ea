// Which devices the processes of a group may open: a small BPF program, since cgroup v2 has no file for it.
#pragma once

#include <spur/plugin/cgroup.h>

#include <cstdint>
#include <string>

namespace spur::cgroup_v2 {

bool can_filter_devices();

// What the group at `path` may do with which devices (of spur_cgroup_device), by SPUR_CGROUP_DEVICES_*; instead of what was
// said before. 0, or an errno.
int rule_devices(const std::string& path, std::uint32_t rule, const spur_span& devices);

}  // namespace spur::cgroup_v2
