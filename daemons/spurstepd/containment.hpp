// All processes of one step, and what can be done to them together. Uses the cgroup plugin for what it can do and the
// tree of descendants for the rest.
#pragma once

#include <cstdint>
#include <string>

#include "daemons/spurstepd/cgroup_plugin.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::step {

class Containment {
public:
    // `plugin` may be null.
    Containment(const CgroupPlugin* plugin, const StepSpec& spec);

    // Makes the scopes. The text of an error is for the log: a step runs without what the system cannot give.
    Result<void> prepare(const StepSpec& spec);
    // In a new child, before it becomes the user: async-signal-safe.
    void enter() const;

    void signal_all(int signal) const;
    // Stops or continues everything. True if it was frozen: no process can tell, and none can slip away.
    void stop_all(bool stopped) const;

    // How often the kernel killed something in the step for want of memory.
    [[nodiscard]] std::uint64_t oom_kills() const;
    // CPU time and the like as the cgroup counts them; false where it cannot.
    bool read_usage(Usage& usage) const;

    void remove() const;

private:
    [[nodiscard]] bool contains() const { return made_ && plugin_->can(SPUR_CGROUP_CONTAINS); }

    const CgroupPlugin* plugin_;
    spur_cgroup_scope scope_{}, job_scope_{};
    bool made_{false};
};

}  // namespace spur::step
