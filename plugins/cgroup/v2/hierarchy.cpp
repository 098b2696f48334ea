// Finding the mounted hierarchy, making its directories, and handing controllers down.
#include "hierarchy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "devices.hpp"

namespace spur::cgroup_v2 {

namespace {

// The fields of a mount are separated by blanks, and blanks inside them are written as \040.
std::string find_mount() {
    std::istringstream mounts{read_file("/proc/self/mounts")};
    std::string line;
    while (std::getline(mounts, line)) {
        std::istringstream fields{line};
        std::string device, place, type;
        fields >> device >> place >> type;
        if (type == "cgroup2" && place.find('\\') == std::string::npos) return place;
    }
    return {};
}

// "0::/user.slice/...": the v2 line.
std::string own_group() {
    std::istringstream lines{read_file("/proc/self/cgroup")};
    std::string line;
    while (std::getline(lines, line))
        if (line.starts_with("0::")) return line.substr(3);
    return "/";
}

bool lists(const std::string& words, const std::string& word) {
    std::istringstream stream{words};
    std::string each;
    while (stream >> each)
        if (each == word) return true;
    return false;
}

// Each directory from the mount to the last, all of them made if they are not there.
std::vector<std::string> make_path(const std::string& mount, const std::string& below, int& error) {
    std::vector<std::string> path{mount};
    std::istringstream parts{below};
    std::string part;
    error = 0;
    while (std::getline(parts, part, '/')) {
        if (part.empty()) continue;
        path.push_back(path.back() + "/" + part);
        if (mkdir(path.back().c_str(), 0755) != 0 && errno != EEXIST) {
            error = errno;
            return path;
        }
    }
    return path;
}

}  // namespace

std::string read_file(const std::string& path) {
    std::string text;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return text;
    char buffer[4096];
    for (ssize_t count; (count = read(fd, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(count));
    close(fd);
    return text;
}

int write_file(const std::string& path, std::string_view text) {
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return errno;
    const int error = write(fd, text.data(), text.size()) < 0 ? errno : 0;
    close(fd);
    return error;
}

Hierarchy::Hierarchy(const Settings& settings, const std::function<void(const std::string&)>& report)
    : settings_{settings} {
    const auto mount = find_mount();
    if (mount.empty()) {
        report("no cgroup v2 is mounted; steps run without control groups (mount -t cgroup2 none /sys/fs/cgroup)");
        return;
    }
    auto parent = settings.parent;
    if (parent.empty()) parent = geteuid() == 0 ? "spur" : own_group() + "/spur";
    int error = 0;
    const auto path = make_path(mount, parent + "/" + settings.node, error);
    path_ = path;
    node_path_ = path.back();
    if (error != 0 || access((node_path_ + "/cgroup.procs").c_str(), W_OK) != 0) {
        report("cannot make control groups in " + path.back() + ": " + std::strerror(error != 0 ? error : errno) +
               "; steps run without them (run spurd as root or delegate it a subtree)");
        return;
    }
    abilities_.contains = true;
    enable_controllers(path, report);
    if (settings.devices && geteuid() == 0) {
        abilities_.devices = can_filter_devices();
        if (!abilities_.devices)
            report("this kernel has no device control for cgroup v2; jobs can open devices they were not given");
    }
}

bool Hierarchy::enable(const std::string& controller, const std::vector<std::string>& path) {
    bool enabled = lists(read_file(path.front() + "/cgroup.controllers"), controller);
    for (const auto& group : path)
        if (enabled && !lists(read_file(group + "/cgroup.subtree_control"), controller))
            enabled = write_file(group + "/cgroup.subtree_control", "+" + controller) == 0;
    return enabled;
}

void Hierarchy::enable_controllers(const std::vector<std::string>& path,
                                   const std::function<void(const std::string&)>& report) {
    struct Wanted {
        std::string name;
        bool* limits;  // what it is for; null: it only counts
    };
    const std::vector<Wanted> wanted{{"cpuset", &abilities_.cpuset},
                                     {"memory", &abilities_.memory},
                                     {"pids", &abilities_.processes},
                                     {"io", nullptr}};
    std::string missing;
    for (const auto& controller : wanted) {
        const bool enabled = enable(controller.name, path);
        if (enabled) controllers_.push_back(controller.name);
        if (controller.limits == nullptr) continue;
        *controller.limits = enabled;
        if (!enabled) missing += (missing.empty() ? "" : ", ") + controller.name;
    }
    abilities_.io = lists(read_file(path.back() + "/cgroup.controllers"), "io");
    abilities_.swap = abilities_.memory && access((path.back() + "/memory.swap.max").c_str(), W_OK) == 0;
    // It costs every switch between processes something: it is handed down to jobs once a limit needs it.
    abilities_.cpu = lists(read_file(path.front() + "/cgroup.controllers"), "cpu");
    if (!missing.empty())
        report("controllers that " + path.front() + " does not give us: " + missing +
               "; those limits are not enforced");
}

void Hierarchy::delegate(const std::string& path) const {
    if (controllers_.empty()) return;
    std::string words;
    for (const auto& name : controllers_) words += (words.empty() ? "+" : " +") + name;
    write_file(path + "/cgroup.subtree_control", words);
}

int Hierarchy::hand_down(const std::string& controller, const std::string& job) const {
    const auto give = [&](const std::string& group) {
        const auto file = group + "/cgroup.subtree_control";
        return lists(read_file(file), controller) ? 0 : write_file(file, "+" + controller);
    };
    // From the bottom: it is nearly always there already.
    if (!job.empty() && give(job) == 0) return 0;
    for (const auto& group : path_)
        if (const int error = give(group); error != 0) return error;
    return job.empty() ? 0 : give(job);
}

}  // namespace spur::cgroup_v2
