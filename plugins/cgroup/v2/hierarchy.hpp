// Where the groups of this node live, and what the system lets us do there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cgroup_v2 {

struct Settings {
    std::string parent;  // below the mount; empty: chosen by who we are
    std::string node;
    bool cpu_quota{false}, devices{true}, swap{true};
    std::int64_t job_processes{0};  // 0: half of what the machine can have; -1: no limit
};

// What works here. Each is false where the system said no.
struct Abilities {
    bool contains{false}, cpu{false}, cpuset{false}, memory{false}, devices{false}, processes{false};
};

class Hierarchy {
public:
    // Finds the mount, makes the node's group and turns on what controllers it can. `report` gets a sentence for each
    // thing that cannot be had.
    Hierarchy(const Settings& settings, const std::function<void(const std::string&)>& report);

    [[nodiscard]] const Abilities& abilities() const { return abilities_; }
    [[nodiscard]] const std::string& node_path() const { return node_path_; }
    // Lets the children of `path` have the controllers that are in use.
    void delegate(const std::string& path) const;

private:
    void enable_controllers(const std::vector<std::string>& path,
                            const std::function<void(const std::string&)>& report);
    static bool enable(const std::string& controller, const std::vector<std::string>& path);

    Settings settings_;
    Abilities abilities_;
    std::string node_path_;
    std::vector<std::string> controllers_;
};

// How many processes and threads this machine can have altogether, what all jobs may have of them, and what one may.
struct ProcessLimits {
    std::uint64_t node{}, job{};  // 0: none
};
ProcessLimits process_limits(std::uint64_t machine, std::int64_t job_processes);
std::uint64_t machine_processes();

// Small files of the kernel's. The answer of write_file is 0 or an errno.
std::string read_file(const std::string& path);
int write_file(const std::string& path, std::string_view text);

}  // namespace spur::cgroup_v2
