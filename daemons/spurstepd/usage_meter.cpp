// Sorting processes to tasks, and adding up.
#include "daemons/spurstepd/usage_meter.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace spur::step {

namespace {

std::uint64_t& at(auto& values, Measured what) { return values[static_cast<std::size_t>(what)]; }

std::uint64_t micros(const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

// "rchar: 4711"
std::uint64_t number_after(std::string_view text, std::string_view label) {
    const auto found = text.find(label);
    std::uint64_t number = 0;
    if (found != std::string_view::npos)
        std::from_chars(text.data() + found + label.size(), text.data() + text.size(), number);
    return number;
}

}  // namespace

void UsageMeter::add(std::uint32_t task, pid_t pid) { tasks_.push_back({.task = task, .pid = pid}); }

UsageMeter::Metered* UsageMeter::find(pid_t pid) {
    const auto found = std::ranges::find_if(tasks_, [&](const Metered& one) { return one.pid == pid && !one.is_over; });
    return found == tasks_.end() ? nullptr : &*found;
}

// Parents come before their children, so whatever is below a task finds its parent here. What was left by a parent that
// has ended was seen below the task before, or is in its process group or session still.
std::optional<std::size_t> UsageMeter::owner_of(const ProcessStat& process) const {
    if (const auto parent = owners_.find(process.parent); parent != owners_.end()) return parent->second.task;
    if (const auto known = owners_.find(process.pid);
        known != owners_.end() && known->second.start_ticks == process.start_ticks)
        return known->second.task;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
        if (const auto pid = tasks_[i].pid; pid == process.pid || pid == process.group || pid == process.session)
            return i;
    return std::nullopt;
}

// What is read and written by system calls, as Slurm counts it.
void UsageMeter::add_io(pid_t pid, Values& values) const {
    const auto text = read_proc(proc_ + "/" + std::to_string(pid) + "/io");
    at(values, Measured::read_bytes) += number_after(text, "rchar: ");
    at(values, Measured::write_bytes) += number_after(text, "wchar: ");
}

// Counts only grow, and of what falls again the most is wanted.
void UsageMeter::raise(Values& values, const Values& now) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], now[i]);
}

void UsageMeter::sample(pid_t root) {
    static const auto tick_us = 1'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    static const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::vector<Values> now(tasks_.size());
    std::unordered_map<pid_t, Owner> owners;
    resident_bytes_ = 0;
    pids_.clear();
    for (const auto& process : read_tree(proc_, root)) {
        const auto task = owner_of(process);
        if (!task) continue;  // not a task's: what prepares the step
        owners[process.pid] = owners_[process.pid] = {process.start_ticks, *task};
        auto& values = now[*task];
        at(values, Measured::cpu_us) += process.cpu_ticks * tick_us;
        at(values, Measured::rss_bytes) += process.rss_pages * page_bytes;
        at(values, Measured::vm_bytes) += process.vm_bytes;
        at(values, Measured::pages) += process.major_faults;
        add_io(process.pid, values);
        resident_bytes_ += process.rss_pages * page_bytes;
        pids_.push_back(process.pid);
    }
    owners_ = std::move(owners);
    for (std::size_t i = 0; i < tasks_.size(); ++i) raise(tasks_[i].values, now[i]);
}

void UsageMeter::read_last(pid_t pid) {
    auto* const task = find(pid);
    if (task == nullptr) return;
    Values now{};
    add_io(pid, now);
    raise(task->values, now);
}

// A task that nobody looked at has its numbers from here. How large its memory was is not told; what was resident is a
// part of it.
void UsageMeter::end(pid_t pid, const rusage& whole) {
    auto* const task = find(pid);
    if (task == nullptr) return;
    task->is_over = true;
    Values now{};
    at(now, Measured::cpu_us) = micros(whole.ru_utime) + micros(whole.ru_stime);
    at(now, Measured::rss_bytes) = at(now, Measured::vm_bytes) = static_cast<std::uint64_t>(whole.ru_maxrss) * 1024;
    at(now, Measured::pages) = static_cast<std::uint64_t>(whole.ru_majflt);
    raise(task->values, now);
}

void UsageMeter::set_cpu_if_single(std::uint64_t cpu_us) {
    if (tasks_.size() == 1) at(tasks_.front().values, Measured::cpu_us) = cpu_us;
}

std::vector<TaskUse> UsageMeter::tasks() const {
    std::vector<TaskUse> uses;
    for (const auto& task : tasks_) uses.push_back({task.task, {task.values.begin(), task.values.end()}});
    return uses;
}

}  // namespace spur::step
