// Walking /proc for descendants and signalling them.
#include "daemons/spurstepd/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "daemons/spurstepd/descriptor.hpp"

namespace spur::step {

namespace {

std::string read_proc(const std::string& path) {
    std::string text;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return text;
    char buffer[4096];
    for (ssize_t count; (count = read(fd, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<std::size_t>(count));
    close(fd);
    return text;
}

template <class Each>
void each_number_in(const char* directory, Each each) {
    DIR* const dir = opendir(directory);
    if (dir == nullptr) return;
    while (const auto* entry = readdir(dir)) {
        pid_t number{};
        const auto* const end = entry->d_name + std::strlen(entry->d_name);
        if (std::from_chars(entry->d_name, end, number).ptr == end) each(number);
    }
    closedir(dir);
}

// The kernel keeps a list of children for each thread.
void add_children(pid_t parent, std::vector<pid_t>& found) {
    const auto tasks = "/proc/" + std::to_string(parent) + "/task";
    each_number_in(tasks.c_str(), [&](pid_t thread) {
        const auto text = read_proc(tasks + "/" + std::to_string(thread) + "/children");
        const char* at = text.data();
        const char* const end = at + text.size();
        while (at < end) {
            pid_t child{};
            const auto [next, error] = std::from_chars(at, end, child);
            if (error != std::errc{}) break;
            found.push_back(child);
            at = next + 1;
        }
    });
}

// "12 (a name) with) S 7 ...": the parent is the second word after the last parenthesis.
pid_t parent_of(pid_t pid) {
    const auto text = read_proc("/proc/" + std::to_string(pid) + "/stat");
    const auto close_at = text.rfind(')');
    if (close_at == std::string::npos || close_at + 4 > text.size()) return -1;
    return static_cast<pid_t>(std::strtol(text.c_str() + close_at + 4, nullptr, 10));
}

// For kernels built without CONFIG_PROC_CHILDREN: look at every process there is.
std::vector<pid_t> descendants_by_parent(pid_t root) {
    std::vector<std::pair<pid_t, pid_t>> all;  // process, parent
    each_number_in("/proc", [&](pid_t pid) { all.emplace_back(pid, parent_of(pid)); });
    std::vector<pid_t> found{root};
    for (std::size_t i = 0; i < found.size(); ++i)
        for (const auto& [pid, parent] : all)
            if (parent == found[i]) found.push_back(pid);
    found.erase(found.begin());
    return found;
}

bool kernel_lists_children() {
    static const bool answer = access(("/proc/self/task/" + std::to_string(getpid()) + "/children").c_str(), R_OK) == 0;
    return answer;
}

}  // namespace

std::vector<pid_t> descendants(pid_t root) {
    if (!kernel_lists_children()) return descendants_by_parent(root);
    std::vector<pid_t> found;
    add_children(root, found);
    for (std::size_t i = 0; i < found.size(); ++i) add_children(found[i], found);
    return found;
}

namespace {

// A number may go to another process at any moment. The descriptor stays with the one that had it when it was opened:
// if that one is still a child of ours, or of one of ours, it is the one that is meant.
// `parents` are in order.
void signal_child(pid_t pid, int signal, const std::vector<pid_t>& parents) {
    const Descriptor process{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
    if (!process && errno != ENOSYS) return;  // it has gone
    if (!std::ranges::binary_search(parents, parent_of(pid))) return;
    if (process)
        syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
    else
        kill(pid, signal);  // before Linux 5.3
}

}  // namespace

void signal_children_beside(pid_t parent, int signal) {
    const auto cgroup = [](pid_t pid) { return read_proc("/proc/" + std::to_string(pid) + "/cgroup"); };
    const auto ours = cgroup(parent);
    for (const auto pid : descendants(parent))
        if (parent_of(pid) == parent && cgroup(pid) == ours) signal_child(pid, signal, {parent});
}

std::size_t signal_descendants(pid_t root, int signal) {
    const auto all = descendants(root);
    auto parents = all;
    parents.push_back(root);  // the orphans among them are its children now
    std::ranges::sort(parents);
    for (const auto pid : all) signal_child(pid, signal, parents);
    return all.size();
}

}  // namespace spur::step
