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

namespace {

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
void add_children(const std::string& proc, pid_t parent, std::vector<pid_t>& found) {
    const auto tasks = proc + "/" + std::to_string(parent) + "/task";
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

std::optional<ProcessStat> stat_of(const std::string& proc, pid_t pid) {
    return parse_stat(read_proc(proc + "/" + std::to_string(pid) + "/stat"));
}

pid_t parent_of(pid_t pid) {
    const auto found = stat_of("/proc", pid);
    return found ? found->parent : -1;
}

bool kernel_lists_children(const std::string& proc, pid_t root) {
    const auto number = std::to_string(root);
    return access((proc + "/" + number + "/task/" + number + "/children").c_str(), R_OK) == 0;
}

std::vector<pid_t> listed_descendants(const std::string& proc, pid_t root) {
    std::vector<pid_t> found;
    add_children(proc, root, found);
    for (std::size_t i = 0; i < found.size(); ++i) add_children(proc, found[i], found);
    return found;
}

// For kernels built without CONFIG_PROC_CHILDREN: look at every process there is.
std::vector<ProcessStat> search_tree(const std::string& proc, pid_t root) {
    std::vector<ProcessStat> all;
    each_number_in(proc.c_str(), [&](pid_t pid) {
        if (const auto found = stat_of(proc, pid)) all.push_back(*found);
    });
    std::ranges::sort(all, {}, &ProcessStat::parent);
    std::vector<ProcessStat> found;
    const auto add_below = [&](pid_t parent) {
        const auto children = std::ranges::equal_range(all, parent, {}, &ProcessStat::parent);
        found.insert(found.end(), children.begin(), children.end());
    };
    add_below(root);
    for (std::size_t i = 0; i < found.size(); ++i) add_below(found[i].pid);
    return found;
}

}  // namespace

// "12 (a name) with) S 7 ...": what counts begins after the last parenthesis, with the state, which is no number.
std::optional<ProcessStat> parse_stat(std::string_view line) {
    enum Place : std::size_t {
        parent = 1,
        group,
        session,
        faults = 9,
        child_faults,
        user,
        system,
        child_user,
        child_system,
        start = 19,
        vm,
        rss,
        places
    };
    std::uint64_t words[places]{};
    ProcessStat found;
    if (std::from_chars(line.data(), line.data() + line.size(), found.pid).ec != std::errc{}) return std::nullopt;
    const auto close_at = line.rfind(')');
    if (close_at == std::string_view::npos || close_at + 4 > line.size()) return std::nullopt;
    const char* at = line.data() + close_at + 4;  // after ") S "
    const char* const end = line.data() + line.size();
    for (std::size_t place = parent; place < places; ++place) {
        std::int64_t word{};  // some are signed, and vm may be larger than any: that is no process of ours
        const auto [next, error] = std::from_chars(at, end, word);
        if (error == std::errc::invalid_argument) return std::nullopt;
        words[place] = word < 0 || error != std::errc{} ? 0 : static_cast<std::uint64_t>(word);
        at = next < end ? next + 1 : end;
    }
    found.parent = static_cast<pid_t>(words[parent]);
    found.group = static_cast<pid_t>(words[group]);
    found.session = static_cast<pid_t>(words[session]);
    found.cpu_ticks = words[user] + words[system] + words[child_user] + words[child_system];
    found.major_faults = words[faults] + words[child_faults];
    found.start_ticks = words[start];
    found.vm_bytes = words[vm];
    found.rss_pages = words[rss];
    return found;
}

std::vector<ProcessStat> read_tree(const std::string& proc, pid_t root) {
    if (!kernel_lists_children(proc, root)) return search_tree(proc, root);
    std::vector<ProcessStat> found;
    for (const auto pid : listed_descendants(proc, root))
        if (const auto process = stat_of(proc, pid)) found.push_back(*process);
    return found;
}

std::vector<pid_t> descendants(pid_t root) {
    if (kernel_lists_children("/proc", root)) return listed_descendants("/proc", root);
    std::vector<pid_t> found;
    for (const auto& process : search_tree("/proc", root)) found.push_back(process.pid);
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
