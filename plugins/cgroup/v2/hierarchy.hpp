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
    bool devices{true};
};

// What works here. Each is false where the system said no.
struct Abilities {
    bool contains{false}, cpu{false}, cpuset{false}, memory{false}, swap{false}, devices{false}, processes{false}, io{false};
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
    // The same for one controller that is not always in use, down to the jobs and, if it is not empty, to `job`'s steps. 0, or
    // an errno.
    int hand_down(const std::string& controller, const std::string& job) const;

private:
    void enable_controllers(const std::vector<std::string>& path,
                            const std::function<void(const std::string&)>& report);
    static bool enable(const std::string& controller, const std::vector<std::string>& path);

    Settings settings_;
    Abilities abilities_;
    std::vector<std::string> path_;  // from the mount to the node's group
    std::string node_path_;
    std::vector<std::string> controllers_;
};

// Small files of the kernel's. The answer of write_file is 0 or an errno.
std::string read_file(const std::string& path);
int write_file(const std::string& path, std::string_view text);

}  // namespace spur::cgroup_v2
