// All processes of one step, and what can be done to them together. Uses the cgroup plugin for what it can do and the
// tree of descendants for the rest.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemons/spurstepd/cgroup_plugin.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::step {

class Containment {
public:
    Containment(const CgroupChoice& cgroup, const LaunchSpec& spec);
    ~Containment();
    Containment(const Containment&) = delete;
    Containment& operator=(const Containment&) = delete;

    // Makes the scopes, with their limits. Where a plugin is configured, no step runs without what it gives here.
    Result<void> prepare(const LaunchSpec& spec);
    // In a new child, before it becomes the user: async-signal-safe. `task` is its place in the spec; none: it is for
    // the step as a whole. 0, or what went wrong: then it must not go on.
    [[nodiscard]] int enter(std::optional<std::size_t> task) const;
    // A child could not enter: why. Empty: none has failed so far.
    [[nodiscard]] std::string entry_failure() const;

    void signal_all(int signal) const;
    // Stops or continues everything. True if it was frozen: no process can tell, and none can slip away.
    void stop_all(bool stopped) const;

    // How often the kernel killed something in the step for want of memory.
    [[nodiscard]] std::uint64_t oom_kills() const;
    // CPU time and the like as the cgroup counts them; false where it cannot.
    bool read_usage(StepUsage& usage) const;

    // False: processes that nothing can kill are still inside.
    [[nodiscard]] bool remove() const;

private:
    [[nodiscard]] bool contains() const { return made_ && plugin_->can(SPUR_CGROUP_CONTAINS); }
    Result<void> make(const spur_cgroup_scope& scope, const spur_cgroup_limits& limits) const;
    Result<void> make_task_scopes(const LaunchSpec& spec);

    const CgroupPlugin* plugin_;
    const std::string& problem_;
    spur_cgroup_scope scope_{}, job_scope_{};
    std::vector<std::optional<spur_cgroup_scope>> task_scopes_;  // of tasks with devices of their own
    std::atomic<int>* entry_error_{nullptr};                     // shared with the children
    bool made_{false};
};

}  // namespace spur::step
