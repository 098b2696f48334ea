// All processes of one step, and what can be done to them together. Uses the cgroup plugin for what it can do and the
// tree of descendants for the rest.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemons/spurstepd/cgroup_plugin.hpp"
#include "daemons/spurstepd/descriptor.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::step {

class Containment {
public:
    Containment(const CgroupChoice& cgroup, const LaunchSpec& spec);
    ~Containment();
    Containment(const Containment&) = delete;
    Containment& operator=(const Containment&) = delete;

    // Where the plugin's log lines go from now on.
    void set_log(std::function<void(char level, const std::string& line)> log) const;
    // Makes the scopes, with their limits. Where a plugin is configured, no step runs without what it gives here.
    Result<void> prepare(const LaunchSpec& spec);

    // fork(), into the scope of the task at this place in the spec, or of the step as a whole, where that can be had.
    struct Birth {
        pid_t pid;  // as fork() answers
        bool is_inside;
    };
    [[nodiscard]] Birth fork_for(std::optional<std::size_t> task) const;
    // In a new child that is not inside, before it becomes the user: async-signal-safe. False: it must not go on.
    [[nodiscard]] bool enter(std::optional<std::size_t> task) const;
    // A task that has ended could not enter, or ended by its own doing while it did: why. Empty: it was inside.
    [[nodiscard]] std::string entry_failure(std::size_t task, int wait_status) const;

    void signal_all(int signal) const;
    // Stops or continues everything. True if it was frozen: no process can tell, and none can slip away.
    void stop_all(bool stopped) const;

    // Readable once take_events() has something to tell; -1: nobody tells.
    [[nodiscard]] int events_fd() const { return events_.get(); }
    // How often something was killed for want of memory; also learns whether anything is left inside.
    std::uint64_t take_events();
    // How often the kernel killed something in the step for want of memory.
    [[nodiscard]] std::uint64_t oom_kills() const;
    [[nodiscard]] bool counts_usage() const { return works() && plugin_->can(SPUR_CGROUP_USAGE); }
    void read_usage(StepUsage& usage) const;  // CPU time and disk as the cgroup counts them, where it does

    // False: processes that nothing can kill are still inside.
    [[nodiscard]] bool remove() const;
    // The plugin crashed or hung under this step: what it did. Empty: it did not.
    [[nodiscard]] std::string breakdown() const { return plugin_ == nullptr ? std::string{} : plugin_->broken(); }

private:
    struct Entry;  // what a child tells of its way in

    [[nodiscard]] bool works() const { return made_ && plugin_->broken().empty(); }
    [[nodiscard]] bool contains() const { return works() && plugin_->can(SPUR_CGROUP_CONTAINS); }
    Result<void> share_entries(std::size_t tasks);
    Result<void> make(const spur_cgroup_scope& scope, const spur_cgroup_limits& limits) const;
    Result<void> make_task_scopes(const LaunchSpec& spec);
    void open_descriptors();
    [[nodiscard]] const spur_cgroup_scope& scope_of(std::optional<std::size_t> task) const;
    [[nodiscard]] Entry& entry_of(std::optional<std::size_t> task) const;
    bool signal_scope(int signal) const;

    const CgroupPlugin* plugin_;
    const std::string& problem_;
    spur_cgroup_scope scope_{}, job_scope_{};
    struct TaskScope {
        spur_cgroup_scope scope;
        Descriptor door;
    };
    std::vector<std::optional<TaskScope>> task_scopes_;  // of tasks with devices of their own
    Descriptor door_, events_;                           // the step's scope: to be born into, to be told of
    Entry* entries_{nullptr};                            // shared with the children: one a task, one for all others
    std::size_t entry_count_{0};
    int idle_wakes_{0};
    bool made_{false};
    mutable bool is_empty_{false};  // the kernel says that nothing is left inside
};

}  // namespace spur::step
