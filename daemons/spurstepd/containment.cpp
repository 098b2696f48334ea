#include "daemons/spurstepd/containment.hpp"

#include <signal.h>
#include <unistd.h>

#include <vector>

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

Containment::Containment(const CgroupPlugin* plugin, const StepSpec& spec)
    : plugin_{plugin},
      scope_{sizeof(spur_cgroup_scope), spec.job, spec.step, SPUR_NONE, spec.uid, spec.attempt},
      job_scope_{scope_} {
    job_scope_.step = SPUR_NONE;
}

Result<void> Containment::prepare(const StepSpec& spec) {
    if (plugin_ == nullptr) return {};
    const auto allow = borrow(spec.device_allow), deny = borrow(spec.device_deny);
    spur_cgroup_limits limits{};
    limits.size = sizeof limits;
    limits.memory_bytes = spec.job_memory_mib * mebibyte;
    limits.swap_bytes = UINT64_MAX;
    auto error = no_error();
    if (plugin_->ops().make(plugin_->self(), &job_scope_, &limits, &error) != SPUR_OK)
        return fail(ErrorCode::unavailable, "{}", error.text);
    limits.memory_bytes = spec.memory_mib * mebibyte;
    limits.cpus = spec.cpus;
    limits.cpu_list = borrow(spec.cpu_list);
    limits.device_allow = span_of(allow);
    limits.device_deny = span_of(deny);
    if (plugin_->ops().make(plugin_->self(), &scope_, &limits, &error) != SPUR_OK)
        return fail(ErrorCode::unavailable, "{}", error.text);
    made_ = true;
    return {};
}

void Containment::enter() const {
    if (!made_) return;
    auto error = no_error();
    plugin_->ops().attach(plugin_->self(), &scope_, 0, &error);
}

void Containment::signal_all(int signal) const {
    auto error = no_error();
    // A task between its fork and its scope first: had it entered meanwhile, the scope's turn would come later.
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

bool Containment::read_usage(Usage& usage) const {
    if (!made_ || !plugin_->can(SPUR_CGROUP_USAGE)) return false;
    spur_cgroup_usage found{};
    found.size = sizeof found;
    auto error = no_error();
    if (plugin_->ops().usage(plugin_->self(), &scope_, &found, &error) != SPUR_OK) return false;
    usage.user_us = found.user_us;
    usage.system_us = found.system_us;
    if (found.memory_peak_bytes != 0) usage.max_rss_kib = found.memory_peak_bytes / 1024;
    usage.read_bytes = found.read_bytes;
    usage.write_bytes = found.write_bytes;
    return true;
}

void Containment::remove() const {
    if (!made_) return;
    auto error = no_error();
    plugin_->ops().remove(plugin_->self(), &scope_, &error);
    plugin_->ops().remove(plugin_->self(), &job_scope_, &error);  // the last step of a job succeeds
}

}  // namespace spur::step
