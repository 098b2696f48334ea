// What each task of a step uses: looked up in /proc now and then, and in the kernel's own account when it ends. A task
// is its process and all below it; what it leaves behind when it forks away stays its own.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/step_usage.hpp"
#include "daemons/spurstepd/process_tree.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::step {

class UsageMeter {
public:
    explicit UsageMeter(std::string proc = "/proc") : proc_{std::move(proc)} {}

    void add(std::uint32_t task, pid_t pid);  // it has been started
    // One look at everything below `root`. The cost is that of reading two small files a process.
    void sample(pid_t root);
    // The task's process has ended and has not been waited for: the last moment to read what is left of it.
    void read_last(pid_t pid);
    void end(pid_t pid, const rusage& whole);  // as wait4() has it
    // The only task there is has had all CPU time of the step.
    void set_cpu_if_single(std::uint64_t cpu_us);

    [[nodiscard]] std::vector<TaskUse> tasks() const;
    // At the last look: what all tasks had together, and their processes.
    [[nodiscard]] std::uint64_t resident_bytes() const { return resident_bytes_; }
    [[nodiscard]] const std::vector<pid_t>& pids() const { return pids_; }

private:
    using Values = std::array<std::uint64_t, measured_everywhere>;
    struct Metered {
        std::uint32_t task{};
        pid_t pid{};
        Values values{};
        bool is_over{false};
    };
    struct Owner {
        std::uint64_t start_ticks{};  // tells a process from a later one with its number
        std::size_t task{};
    };
    Metered* find(pid_t pid);
    [[nodiscard]] std::optional<std::size_t> owner_of(const ProcessStat& process) const;
    void add_io(pid_t pid, Values& values) const;
    static void raise(Values& values, const Values& now);

    std::string proc_;
    std::vector<Metered> tasks_;
    std::unordered_map<pid_t, Owner> owners_;  // of what lived at the last look
    std::uint64_t resident_bytes_{};
    std::vector<pid_t> pids_;
};

}  // namespace spur::step
