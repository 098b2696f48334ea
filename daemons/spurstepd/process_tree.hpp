// The processes below one process. A step daemon is the reaper of its descendants (PR_SET_CHILD_SUBREAPER), so whatever
// its tasks left behind is still below it: the tree is all there is to find, even without cgroups.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::step {

// Every process below `root`, parents before children. Processes come and go while this looks: one that was just born
// may be missed, so whoever wants them all dead asks again until there are none.
std::vector<pid_t> descendants(pid_t root);

// One line of /proc/<pid>/stat.
struct ProcessStat {
    pid_t pid{}, parent{}, group{}, session{};
    std::uint64_t cpu_ticks{};  // with those of children that have ended and were waited for; likewise
    std::uint64_t major_faults{};
    std::uint64_t start_ticks{}, vm_bytes{}, rss_pages{};
};
std::optional<ProcessStat> parse_stat(std::string_view line);
std::string read_proc(const std::string& path);  // empty: it could not be read
// Every process below `root`, parents before children, each file read once.
std::vector<ProcessStat> read_tree(const std::string& proc, pid_t root);

// Sends `signal` to the children of `parent` that are in its own cgroups still: on their way into another.
void signal_children_beside(pid_t parent, int signal);

// Sends `signal` to all of them; how many there were.
std::size_t signal_descendants(pid_t root, int signal);

}  // namespace spur::step
