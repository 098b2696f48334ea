// Writing limits, moving processes in, freezing, killing, reading usage, removing.
#include "scope.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "devices.hpp"

namespace spur::cgroup_v2 {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t quota_period_us = 100'000;
constexpr std::uint64_t thousandths = 1000;
constexpr auto patience = 5s;  // for the kernel to freeze or to bury

constexpr std::pair<std::uint32_t, std::string_view> named_steps[] = {  // Slurm's numbers for steps with names
    {0xfffffffb, "batch"},
    {0xfffffffc, "extern"},
    {0xfffffffa, "interactive"}};

std::string step_name(std::uint32_t step) {
    for (const auto& [number, name] : named_steps)
        if (number == step) return std::string{name};
    return std::to_string(step);
}

// Takes a number off the front of `text`.
bool take_number(std::string_view& text, std::uint32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool parse_step(std::string_view text, std::uint32_t& step) {
    for (const auto& [number, name] : named_steps)
        if (name == text) return step = number, true;
    return take_number(text, step) && text.empty();
}

// "job_12.1"
bool parse_job(std::string_view text, ScopeName& name) {
    if (!text.starts_with("job_")) return false;
    text.remove_prefix(4);
    if (!take_number(text, name.job) || !text.starts_with('.')) return false;
    text.remove_prefix(1);
    return take_number(text, name.attempt) && text.empty();
}

template <class Each>
void each_child(const std::string& path, Each each) {
    DIR* const directory = opendir(path.c_str());
    if (directory == nullptr) return;
    while (const auto* entry = readdir(directory))
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') each(path + "/" + entry->d_name);
    closedir(directory);
}

// The number behind `key` in lines of "key number".
std::uint64_t number_of(const std::string& text, const std::string& key) {
    std::istringstream lines{text};
    std::string name;
    std::uint64_t value{};
    while (lines >> name >> value)
        if (name == key) return value;
    return 0;
}

template <class Condition>
bool wait_until(Condition condition, const Stopped& has_to_stop) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (auto pause = 100us; !condition(); pause = std::min(pause * 2, 20'000us)) {
        if (std::chrono::steady_clock::now() > deadline || has_to_stop()) return false;
        std::this_thread::sleep_for(pause);
    }
    return true;
}

bool is_populated(const std::string& path) { return number_of(read_file(path + "/cgroup.events"), "populated") != 0; }

int make_directory(const std::string& path) { return mkdir(path.c_str(), 0755) == 0 || errno == EEXIST ? 0 : errno; }

// Writes limits until one is refused.
struct Limiter {
    const std::string& path;
    std::string& what;
    int error{0};

    void set(const char* file, const std::string& value) {
        if (error != 0) return;
        error = write_file(path + "/" + file, value);
        if (error != 0) what = std::string{"cannot set "} + file + " of " + path + " to " + value;
    }
    // `none` is what the file says where there is no limit.
    void set(const char* file, const spur_cgroup_limit& limit, const char* none_word) {
        if (limit.rule == SPUR_LIMIT_AT) set(file, std::to_string(limit.value));
        if (limit.rule == SPUR_LIMIT_NONE) set(file, none_word);
    }
    // "max 100000": of each period, so much; thousandths of a CPU are what is asked for.
    void set_quota(const spur_cgroup_limit& quota) {
        const auto period = std::to_string(quota_period_us);
        if (quota.rule == SPUR_LIMIT_AT)
            set("cpu.max", std::to_string(quota.value * quota_period_us / thousandths) + " " + period);
        if (quota.rule == SPUR_LIMIT_NONE) set("cpu.max", "max " + period);
    }
    void set_io(const spur_cgroup_io& io) {
        std::string words;
        const std::pair<const char*, const spur_cgroup_limit*> keys[] = {
            {" rbps=", &io.read_bytes}, {" wbps=", &io.write_bytes}, {" riops=", &io.read_ops}, {" wiops=", &io.write_ops}};
        for (const auto& [key, limit] : keys)
            if (limit->rule != SPUR_LIMIT_LEAVE)
                words += key + (limit->rule == SPUR_LIMIT_AT ? std::to_string(limit->value) : std::string{"max"});
        if (words.empty()) return;
        set("io.max", std::to_string(io.major_number) + ":" + std::to_string(io.minor_number) + words);
    }
    void set_devices(std::uint32_t rule, const spur_span& devices) {
        if (error != 0 || rule == SPUR_CGROUP_DEVICES_LEAVE) return;
        error = rule_devices(path, rule, devices);
        if (error != 0) what = "cannot restrict the devices of " + path;
    }
};

// A controller that is only needed now is handed down to this group first.
int hand_down(const Hierarchy& hierarchy, const ScopeName& name, const spur_cgroup_limits& limits, std::string& what) {
    const bool wants_cpu = limits.cpu_quota.rule != SPUR_LIMIT_LEAVE || limits.cpu_weight.rule != SPUR_LIMIT_LEAVE;
    if (!wants_cpu || !hierarchy.abilities().cpu) return 0;
    auto job = name;
    job.step = SPUR_NONE;
    const int error = hierarchy.hand_down("cpu", name.step == SPUR_NONE ? std::string{} : scope_path(hierarchy, job));
    if (error != 0) what = "cannot use the cpu controller in " + hierarchy.node_path();
    return error;
}

int set_limits(const Hierarchy& hierarchy, const ScopeName& name, const spur_cgroup_limits& limits, std::string& what) {
    const auto path = scope_path(hierarchy, name);
    const auto& can = hierarchy.abilities();
    Limiter limit{path, what};
    if (can.devices) limit.set_devices(limits.device_rule, limits.devices);
    if (name.task != SPUR_NONE) return limit.error;
    if (limit.error == 0) limit.error = hand_down(hierarchy, name, limits, what);
    if (can.memory) limit.set("memory.max", limits.memory, "max");
    if (can.swap) limit.set("memory.swap.max", limits.swap, "max");
    if (can.processes) limit.set("pids.max", limits.processes, "max");
    if (can.cpu) limit.set_quota(limits.cpu_quota);
    if (can.cpu) limit.set("cpu.weight", limits.cpu_weight, "100");
    const std::string_view cpus{limits.cpu_list.data, limits.cpu_list.length};
    if (can.cpuset && !cpus.empty()) limit.set("cpuset.cpus", cpus == "all" ? "\n" : std::string{cpus});
    if (!can.io) return limit.error;
    for (std::uint32_t i = 0; i < limits.io.count; ++i) limit.set_io(*SPUR_AT(spur_cgroup_io, limits.io, i));
    // Only where the scheduler of some disk knows weights does the file exist.
    if (limits.io_weight.rule != SPUR_LIMIT_LEAVE && access((path + "/io.weight").c_str(), W_OK) == 0)
        limit.set("io.weight", limits.io_weight, "default 100");
    return limit.error;
}

}  // namespace

std::string scope_path(const Hierarchy& hierarchy, const ScopeName& name) {
    if (name.job == SPUR_NONE) return hierarchy.node_path();
    auto path = hierarchy.node_path() + "/job_" + std::to_string(name.job) + "." + std::to_string(name.attempt);
    if (name.step != SPUR_NONE) path += "/step_" + step_name(name.step);
    if (name.task != SPUR_NONE) path += "/task_" + std::to_string(name.task);
    return path;
}

int make_scope(const Hierarchy& hierarchy, const ScopeName& name, const spur_cgroup_limits& limits, std::string& what) {
    if (name.job == SPUR_NONE) return set_limits(hierarchy, name, limits, what);
    const auto path = scope_path(hierarchy, name);
    what = "cannot make " + path;
    // Parents first. A step that ends may take its job's group away between our two calls: then again from the top.
    for (int round = 0;; ++round) {
        int error = 0;
        for (auto at = hierarchy.node_path().size() + 1; error == 0 && at != std::string::npos;) {
            const bool is_job = at == hierarchy.node_path().size() + 1;
            at = path.find('/', at);
            const auto part = path.substr(0, at);
            error = make_directory(part);
            // Not a step's: its processes may be in it as well as in its tasks' groups only while those have no limits.
            if (error == 0 && is_job) hierarchy.delegate(part);
            if (at != std::string::npos) ++at;
        }
        if (error == 0) break;
        if (error != ENOENT || round == 5) return error;
    }
    return set_limits(hierarchy, name, limits, what);
}

int freeze_scope(const std::string& path, bool frozen, const Stopped& has_to_stop) {
    if (const int error = write_file(path + "/cgroup.freeze", frozen ? "1" : "0"); error != 0) return error;
    const auto done = [&] { return (number_of(read_file(path + "/cgroup.events"), "frozen") != 0) == frozen; };
    return wait_until(done, has_to_stop) ? 0 : ETIMEDOUT;
}

int signal_scope(const std::string& path, int signal, const Stopped& has_to_stop) {
    if (access(path.c_str(), F_OK) != 0) return 0;  // nobody there
    if (signal != SIGKILL) {
        for (const auto pid : processes_of(path)) kill(pid, signal);
        return 0;
    }
    if (!is_populated(path)) return 0;
    const bool has_kill = write_file(path + "/cgroup.kill", "1") == 0;
    const auto gone = [&] {
        if (!has_kill)
            for (const auto pid : processes_of(path)) kill(pid, SIGKILL);
        return !is_populated(path);
    };
    return wait_until(gone, has_to_stop) ? 0 : EBUSY;
}

int remove_scope(const std::string& path) {
    if (rmdir(path.c_str()) == 0 || errno == ENOENT) return 0;
    int error = errno;
    each_child(path, [&](const std::string& child) {
        if (const int below = remove_scope(child); below != 0) error = below;
    });
    return rmdir(path.c_str()) == 0 || errno == ENOENT ? 0 : error;
}

std::vector<pid_t> processes_of(const std::string& path) {
    std::vector<pid_t> all;
    std::istringstream lines{read_file(path + "/cgroup.procs")};
    pid_t pid{};
    while (lines >> pid)
        if (pid > 0) all.push_back(pid);
    each_child(path, [&](const std::string& child) {
        const auto below = processes_of(child);
        all.insert(all.end(), below.begin(), below.end());
    });
    return all;
}

std::vector<ScopeName> list_scopes(const std::string& node_path) {
    std::vector<ScopeName> found;
    each_child(node_path, [&](const std::string& job) {
        ScopeName name{0, 0, SPUR_NONE, SPUR_NONE};
        if (!parse_job(std::string_view{job}.substr(node_path.size() + 1), name)) return;
        each_child(job, [&](const std::string& step) {
            auto own = name;
            const auto word = std::string_view{step}.substr(job.size() + 1);
            if (word.starts_with("step_") && parse_step(word.substr(5), own.step)) found.push_back(own);
        });
        found.push_back(name);
    });
    return found;
}

bool read_usage(const std::string& path, Usage& usage) {
    const auto cpu = read_file(path + "/cpu.stat");
    if (cpu.empty()) return false;
    usage.user_us = number_of(cpu, "user_usec");
    usage.system_us = number_of(cpu, "system_usec");
    usage.memory_peak_bytes = std::strtoull(read_file(path + "/memory.peak").c_str(), nullptr, 10);
    usage.oom_kills = number_of(read_file(path + "/memory.events"), "oom_kill");
    std::istringstream io{read_file(path + "/io.stat")};
    std::string word;
    while (io >> word) {
        if (word.starts_with("rbytes=")) usage.read_bytes += std::strtoull(word.c_str() + 7, nullptr, 10);
        if (word.starts_with("wbytes=")) usage.write_bytes += std::strtoull(word.c_str() + 7, nullptr, 10);
    }
    usage.processes = static_cast<std::uint32_t>(processes_of(path).size());
    return true;
}

// The kernel tells of a change in these files as of one that somebody wrote.
int watch_events(const std::string& path) {
    const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch < 0) return -1;
    const bool watched = inotify_add_watch(watch, (path + "/cgroup.events").c_str(), IN_MODIFY) >= 0;
    if (!watched) {
        const int error = errno;
        close(watch);
        errno = error;
        return -1;
    }
    inotify_add_watch(watch, (path + "/memory.events").c_str(), IN_MODIFY);  // where there is that controller
    return watch;
}

bool read_events(const std::string& path, int watch, Events& events) {
    char buffer[4096];
    while (watch >= 0 && read(watch, buffer, sizeof buffer) > 0) {
    }
    const auto own = read_file(path + "/cgroup.events");
    if (own.empty()) return false;
    events.populated = number_of(own, "populated") != 0;
    events.oom_kills = number_of(read_file(path + "/memory.events"), "oom_kill");
    return true;
}

}  // namespace spur::cgroup_v2
