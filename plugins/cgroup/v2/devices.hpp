// Which devices the processes of a group may open: a small BPF program, since cgroup v2 has no file for it.
#pragma once

#include <string>
#include <vector>

namespace spur::cgroup_v2 {

bool can_filter_devices();

// Refuses these device files to the group at `path`. Files that are not devices are left out. 0, or an errno.
int deny_devices(const std::string& path, const std::vector<std::string>& files);

}  // namespace spur::cgroup_v2
