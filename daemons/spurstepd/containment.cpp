// Making, entering, signalling, measuring and removing the step's cgroup scope.
#include "daemons/spurstepd/containment.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "daemons/spurstepd/process_tree.hpp"

namespace spur::step {

namespace {

constexpr std::uint64_t mebibyte = 1U << 20;

spur_error no_error() { return {sizeof(spur_error), SPUR_OK, {}}; }

spur_str borrow(const std::string& text) { return {text.data(), static_cast<std::uint32_t>(text.size()), 0}; }

std::vector<spur_str> borrow(const std::vector<std::string>& texts) {
    std::vector<spur_str> views;
    for (const auto& text : texts) views.push_back(borrow(text));
    return views;
}

spur_span span_of(const std::vector<spur_str>& views) {
    return {views.data(), static_cast<std::uint32_t>(views.size()), sizeof(spur_str)};
}

}  // namespace

Containment::Containment(const CgroupChoice& cgroup, const LaunchSpec& spec)
    : plugin_{cgroup.plugin.get()},
      problem_{cgroup.problem},
      scope_{sizeof(spur_cgroup_scope), spec.job, spec.step, SPUR_NONE, spec.uid, spec.attempt},
      job_scope_{scope_} {
    job_scope_.step = SPUR_NONE;
}

Containment::~Containment() {
    if (entry_error_ != nullptr) munmap(entry_error_, sizeof *entry_error_);
}

Result<void> Containment::make(const spur_cgroup_scope& scope, const spur_cgroup_limits& limits) const {
    auto error = no_error();
    if (plugin_->ops().make(plugin_->self(), &scope, &limits, &error) == SPUR_OK) return {};
    return fail(ErrorCode::unavailable, "{}", error.text);
}

Result<void> Containment::prepare(const LaunchSpec& spec) {
    if (!problem_.empty()) return fail(ErrorCode::unavailable, "{}", problem_);
    if (plugin_ == nullptr) return {};
    void* const shared = mmap(nullptr, sizeof *entry_error_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return fail(ErrorCode::unavailable, "mmap: {}", std::strerror(errno));
    entry_error_ = new (shared) std::atomic<int>{0};
    const auto allow = borrow(spec.device_allow), deny = borrow(spec.device_deny);
    spur_cgroup_limits limits{};
    limits.size = sizeof limits;
    limits.memory_bytes = spec.job_memory_mib * mebibyte;
    limits.swap_bytes = UINT64_MAX;
    SPUR_CHECK(make(job_scope_, limits));
    limits.memory_bytes = spec.memory_mib * mebibyte;
    limits.cpus = spec.cpus;
    limits.cpu_list = borrow(spec.cpu_list);
    limits.device_allow = span_of(allow);
    limits.device_deny = span_of(deny);
    SPUR_CHECK(make(scope_, limits));
    made_ = true;
    return make_task_scopes(spec);
}

Result<void> Containment::make_task_scopes(const LaunchSpec& spec) {
    task_scopes_.resize(spec.tasks.size());
    if (!plugin_->can(SPUR_CGROUP_DEVICES)) return {};
    for (std::size_t i = 0; i < spec.tasks.size(); ++i) {
        if (spec.tasks[i].device_deny.empty()) continue;
        auto scope = scope_;
        scope.task = spec.tasks[i].id;
        const auto deny = borrow(spec.tasks[i].device_deny);
        spur_cgroup_limits limits{};
        limits.size = sizeof limits;
        limits.swap_bytes = UINT64_MAX;
        limits.device_deny = span_of(deny);
        SPUR_CHECK(make(scope, limits));
        task_scopes_[i] = scope;
    }
    return {};
}

int Containment::enter(std::optional<std::size_t> task) const {
    if (!made_) return 0;
    const bool has_own = task && *task < task_scopes_.size() && task_scopes_[*task];
    auto error = no_error();
    errno = 0;
    if (plugin_->ops().attach(plugin_->self(), has_own ? &*task_scopes_[*task] : &scope_, 0, &error) == SPUR_OK)
        return 0;
    const int why = errno != 0 ? errno : EIO;
    *entry_error_ = why;
    return why;
}

std::string Containment::entry_failure() const {
    const int error = entry_error_ == nullptr ? 0 : entry_error_->load();
    return error == 0 ? std::string{} : std::string{"cannot enter the step's control group: "} + std::strerror(error);
}

void Containment::signal_all(int signal) const {
    auto error = no_error();
    // First the tasks that have been forked and have not entered the scope yet: one that enters it now is met below.
    if (contains() && signal != SIGKILL) signal_children_beside(getpid(), signal);
    if (contains()) plugin_->ops().signal(plugin_->self(), &scope_, signal, &error);
    // Also everything below us: where there are no scopes, and where nothing may live on.
    if (!contains() || signal == SIGKILL) signal_descendants(getpid(), signal);
}

void Containment::stop_all(bool stopped) const {
    auto error = no_error();
    const bool freezes = made_ && plugin_->can(SPUR_CGROUP_FREEZES);
    if (freezes && plugin_->ops().freeze(plugin_->self(), &scope_, stopped, &error) == SPUR_OK) return;
    signal_all(stopped ? SIGSTOP : SIGCONT);
}

std::uint64_t Containment::oom_kills() const {
    if (!made_ || !plugin_->can(SPUR_CGROUP_MEMORY)) return 0;
    spur_cgroup_usage usage{};
    usage.size = sizeof usage;
    auto error = no_error();
    return plugin_->ops().usage(plugin_->self(), &scope_, &usage, &error) == SPUR_OK ? usage.oom_kills : 0;
}

bool Containment::read_usage(StepUsage& usage) const {
    if (!made_ || !plugin_->can(SPUR_CGROUP_USAGE)) return false;
    spur_cgroup_usage found{};
    found.size = sizeof found;
    auto error = no_error();
    if (plugin_->ops().usage(plugin_->self(), &scope_, &found, &error) != SPUR_OK) return false;
    usage.user_us = found.user_us;
    usage.system_us = found.system_us;
    if (found.memory_peak_bytes != 0) usage.max_rss_kib = found.memory_peak_bytes / 1024;
    // Where the kernel does not count them by group, the children's own count is what there is.
    usage.read_bytes = std::max(usage.read_bytes, found.read_bytes);
    usage.write_bytes = std::max(usage.write_bytes, found.write_bytes);
    return true;
}

bool Containment::remove() const {
    if (!made_) return true;
    auto error = no_error();
    const auto remove_step = [&] { return plugin_->ops().remove(plugin_->self(), &scope_, &error) != SPUR_E_BUSY; };
    bool removed = remove_step();
    if (!removed) {  // a process entered after the last look
        plugin_->ops().signal(plugin_->self(), &scope_, SIGKILL, &error);
        removed = remove_step();
    }
    plugin_->ops().remove(plugin_->self(), &job_scope_, &error);  // the last step of a job succeeds
    return removed;
}

}  // namespace spur::step
