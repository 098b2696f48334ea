// Making, entering, signalling, watching, measuring and removing the step's cgroup scope.
#include "daemons/spurstepd/containment.hpp"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <spur/plugin/log.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "daemons/spurstepd/process_tree.hpp"

namespace spur::step {

namespace {

constexpr std::uint64_t mebibyte = 1U << 20;
constexpr std::uint64_t heaviest = 10'000;
constexpr std::uint64_t thousandths = 1000;
constexpr unsigned entry_patience_s = 20;
constexpr int most_idle_wakes = 16;
constexpr int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGALRM};

template <class T>
spur_span span_of(const std::vector<T>& records) {
    return {records.data(), static_cast<std::uint32_t>(records.size()), sizeof(T)};
}

spur_cgroup_limits no_limits() {
    spur_cgroup_limits limits{};
    limits.size = sizeof limits;
    return limits;
}

spur_cgroup_limit swap_for(std::uint64_t memory_mib, std::int64_t percent) {
    if (percent == 0) return limit_at(0);
    if (percent < 0 || memory_mib == 0) return {};
    return limit_at(memory_mib * static_cast<std::uint64_t>(percent) * mebibyte / 100);
}

std::vector<spur_cgroup_device> find_all(const std::vector<std::string>& names) {
    std::vector<spur_cgroup_device> found;
    for (const auto& name : names)
        if (const auto device = find_device(name)) found.push_back(*device);
    return found;
}

// As glibc's fork() makes a child, but born in another control group. Only where there is one thread: nobody else's
// locks are taken into the child. -1 where the kernel does not do it.
pid_t clone_into(int door) {
    int* own_id = nullptr;  // where the C library keeps it, so that it is right in the child too
    if (prctl(PR_GET_TID_ADDRESS, &own_id) != 0) return -1;
    clone_args arguments{};
    arguments.flags = CLONE_INTO_CGROUP | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    arguments.child_tid = reinterpret_cast<std::uintptr_t>(own_id);
    arguments.exit_signal = SIGCHLD;
    arguments.cgroup = static_cast<std::uint64_t>(door);
    return static_cast<pid_t>(syscall(SYS_clone3, &arguments, sizeof arguments));
}

}  // namespace

struct Containment::Entry {
    enum State : int { outside, entering, inside, failed };
    std::atomic<int> state{outside};
    char text[sizeof(spur_error::text)]{};
};

Containment::Containment(const CgroupChoice& cgroup, const LaunchSpec& spec)
    : plugin_{cgroup.plugin.get()},
      problem_{cgroup.problem},
      scope_{sizeof(spur_cgroup_scope), spec.job, spec.attempt, spec.step, SPUR_NONE, 0},
      job_scope_{scope_} {
    job_scope_.step = SPUR_NONE;
}

Containment::~Containment() {
    if (entries_ != nullptr) munmap(entries_, entry_count_ * sizeof *entries_);
}

void Containment::set_log(std::function<void(char level, const std::string& line)> log) const {
    if (plugin_ == nullptr) return;
    plugin_->set_log([log = std::move(log)](std::uint32_t level, const std::string& line) {
        log(level <= SPUR_LOG_ERROR ? '3' : '2', line);
    });
}

Result<void> Containment::make(const spur_cgroup_scope& scope, const spur_cgroup_limits& limits) const {
    const auto made = plugin_->call(&spur_cgroup_ops::make, &scope, &limits);
    if (made.is_ok()) return {};
    return fail(ErrorCode::unavailable, "{}", made.text);
}

Result<void> Containment::share_entries(std::size_t tasks) {
    entry_count_ = tasks + 1;
    void* const shared =
        mmap(nullptr, entry_count_ * sizeof *entries_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return fail(ErrorCode::unavailable, "mmap: {}", std::strerror(errno));
    entries_ = new (shared) Entry[entry_count_];
    return {};
}

Result<void> Containment::prepare(const LaunchSpec& spec) {
    if (!problem_.empty()) return fail(ErrorCode::unavailable, "{}", problem_);
    if (plugin_ == nullptr) return {};
    SPUR_CHECK(share_entries(spec.tasks.size()));
    const auto& site = plugin_->site();
    const auto threads = count_threads();

    auto limits = no_limits();
    limits.memory = limit_if(spec.job_memory_mib * mebibyte);
    limits.swap = swap_for(spec.job_memory_mib, site.swap_percent);
    limits.processes = site.processes.job;
    if (site.weights) limits.cpu_weight = limits.io_weight = limit_if(std::min<std::uint64_t>(spec.job_cpus, heaviest));
    limits.io = span_of(site.io);
    SPUR_CHECK(make(job_scope_, limits));

    limits = no_limits();
    limits.memory = limit_if(spec.memory_mib * mebibyte);
    limits.swap = swap_for(spec.memory_mib, site.swap_percent);
    if (site.cpu_quota) limits.cpu_quota = limit_if(spec.cpus * thousandths);
    limits.cpu_list = {spec.cpu_list.data(), static_cast<std::uint32_t>(spec.cpu_list.size()), 0};
    std::vector<spur_cgroup_device> devices;
    if (!site.allowed_devices.empty()) {
        limits.device_rule = SPUR_CGROUP_DEVICES_ALLOW;
        devices = usual_devices();
        for (const auto* const names : {&site.allowed_devices, &spec.device_allow})
            std::ranges::copy(find_all(*names), std::back_inserter(devices));
        for (auto device : find_all(spec.device_deny)) {  // also where a line of the site names its whole kind
            device.access = 0;
            devices.push_back(device);
        }
    } else if (!spec.device_deny.empty()) {
        limits.device_rule = SPUR_CGROUP_DEVICES_DENY;
        devices = find_all(spec.device_deny);
    }
    limits.devices = span_of(devices);
    SPUR_CHECK(make(scope_, limits));
    made_ = true;
    SPUR_CHECK(make_task_scopes(spec));
    if (count_threads() > threads)
        return fail(ErrorCode::unavailable, "its cgroup plugin has started a thread in make(), which it must not");
    open_descriptors();
    return {};
}

Result<void> Containment::make_task_scopes(const LaunchSpec& spec) {
    task_scopes_.resize(spec.tasks.size());
    if (!plugin_->can(SPUR_CGROUP_DEVICES)) return {};
    for (std::size_t i = 0; i < spec.tasks.size(); ++i) {
        if (spec.tasks[i].device_deny.empty()) continue;
        auto scope = scope_;
        scope.task = spec.tasks[i].id;
        const auto devices = find_all(spec.tasks[i].device_deny);
        auto limits = no_limits();
        limits.device_rule = SPUR_CGROUP_DEVICES_DENY;
        limits.devices = span_of(devices);
        SPUR_CHECK(make(scope, limits));
        task_scopes_[i].emplace(TaskScope{scope, {}});
    }
    return {};
}

// What cannot be had is done without: children attach themselves, and events are asked for at the end.
void Containment::open_descriptors() {
    const auto open = [&](auto op, const spur_cgroup_scope& scope) {
        std::int32_t fd = -1;
        if (!plugin_->has(op) || !plugin_->call(op, &scope, &fd).is_ok() || fd < 0) return Descriptor{};
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        return Descriptor{fd};
    };
    door_ = open(&spur_cgroup_ops::open, scope_);
    for (auto& task : task_scopes_)
        if (task) task->door = open(&spur_cgroup_ops::open, task->scope);
    if (plugin_->has(&spur_cgroup_ops::events)) events_ = open(&spur_cgroup_ops::watch, scope_);
}

const spur_cgroup_scope& Containment::scope_of(std::optional<std::size_t> task) const {
    const bool has_own = task && *task < task_scopes_.size() && task_scopes_[*task];
    return has_own ? task_scopes_[*task]->scope : scope_;
}

Containment::Entry& Containment::entry_of(std::optional<std::size_t> task) const {
    return entries_[std::min(task.value_or(entry_count_ - 1), entry_count_ - 1)];
}

Containment::Birth Containment::fork_for(std::optional<std::size_t> task) const {
    if (made_) {
        is_empty_ = false;
        entry_of(task).state = Entry::outside;
        const bool has_own = task && *task < task_scopes_.size() && task_scopes_[*task];
        const int door = has_own ? task_scopes_[*task]->door.get() : door_.get();
        if (door >= 0 && count_threads() == 1)
            if (const auto pid = clone_into(door); pid >= 0) {
                entry_of(task).state = Entry::inside;
                return {pid, true};
            }
    }
    return {fork(), false};
}

// A call that crashes ends this child; one that hangs is ended by the alarm. Either way the entry tells.
bool Containment::enter(std::optional<std::size_t> task) const {
    if (!made_) return true;
    auto& entry = entry_of(task);
    entry.state = Entry::entering;
    ::signal(SIGALRM, SIG_DFL);
    alarm(entry_patience_s);
    spur_error error{sizeof(spur_error), SPUR_OK, {}};
    const auto status = plugin_->attach(scope_of(task), error);
    alarm(0);
    if (status != SPUR_OK) std::memcpy(entry.text, error.text, sizeof entry.text);
    entry.state = status == SPUR_OK ? Entry::inside : Entry::failed;
    return status == SPUR_OK;
}

std::string Containment::entry_failure(std::size_t task, int wait_status) const {
    if (!made_) return {};
    const auto& entry = entry_of(task);
    const int state = entry.state.load();
    const bool was_killed = WIFSIGNALED(wait_status) && std::ranges::count(own_faults, WTERMSIG(wait_status)) == 0;
    if (state == Entry::inside || (state != Entry::failed && was_killed)) return {};  // somebody has ended it
    if (state != Entry::failed)
        return fmt::format("a task ended in attach() of the cgroup plugin ({})",
                           WIFSIGNALED(wait_status) ? strsignal(WTERMSIG(wait_status)) : "it exited");
    const std::string text{entry.text, strnlen(entry.text, sizeof entry.text)};
    return "cannot enter the step's control group" + (text.empty() ? "" : ": " + text);
}

bool Containment::signal_scope(int signal) const {
    const auto stop = plugin_->stop();
    return plugin_->call(&spur_cgroup_ops::signal, &scope_, signal, &stop).is_ok();
}

void Containment::signal_all(int signal) const {
    // First the tasks that have been forked and have not entered the scope yet: one that enters it now is met below.
    if (contains() && signal != SIGKILL) signal_children_beside(getpid(), signal);
    const bool reached = contains() && (is_empty_ || signal_scope(signal));
    // Also everything below us: where there are no scopes, and where nothing may live on.
    if (!reached || signal == SIGKILL) signal_descendants(getpid(), signal);
}

void Containment::stop_all(bool stopped) const {
    if (works() && plugin_->can(SPUR_CGROUP_FREEZES)) {
        const auto stop = plugin_->stop();
        if (plugin_->call(&spur_cgroup_ops::freeze, &scope_, stopped, &stop).is_ok()) return;
    }
    signal_all(stopped ? SIGSTOP : SIGCONT);
}

std::uint64_t Containment::take_events() {
    spur_cgroup_events events{};
    events.size = sizeof events;
    const auto told = plugin_->call(&spur_cgroup_ops::events, &scope_, events_.get(), &events);
    pollfd again{events_.get(), POLLIN, 0};
    idle_wakes_ = told.is_ok() && poll(&again, 1, 0) == 0 ? 0 : idle_wakes_ + 1;
    if (!told.is_ok() || idle_wakes_ > most_idle_wakes) events_.reset();  // it would keep us busy for nothing
    if (!told.is_ok()) return 0;
    is_empty_ = events.populated == 0;
    return events.oom_kills;
}

std::uint64_t Containment::oom_kills() const {
    if (!works() || !plugin_->can(SPUR_CGROUP_MEMORY)) return 0;
    spur_cgroup_usage usage{};
    usage.size = sizeof usage;
    return plugin_->call(&spur_cgroup_ops::usage, &scope_, &usage).is_ok() ? usage.oom_kills : 0;
}

void Containment::read_usage(StepUsage& usage) const {
    if (!counts_usage()) return;
    spur_cgroup_usage found{};
    found.size = sizeof found;
    if (!plugin_->call(&spur_cgroup_ops::usage, &scope_, &found).is_ok()) return;
    usage.user_us = found.user_us;
    usage.system_us = found.system_us;
    // Where the kernel does not count them by group, the children's own count is what there is.
    usage.read_bytes = std::max(usage.read_bytes, found.read_bytes);
    usage.write_bytes = std::max(usage.write_bytes, found.write_bytes);
}

bool Containment::remove() const {
    if (!made_) return true;
    const auto remove_step = [&] { return plugin_->call(&spur_cgroup_ops::remove, &scope_).status != SPUR_E_BUSY; };
    bool removed = remove_step();
    if (!removed) {  // a process entered after the last look
        signal_scope(SIGKILL);
        removed = remove_step();
    }
    plugin_->call(&spur_cgroup_ops::remove, &job_scope_);  // the last step of a job succeeds
    return removed;
}

}  // namespace spur::step
