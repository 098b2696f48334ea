// Everything a step daemon needs to run one step's tasks on one node. spurd works it out, spurstepd carries it out.
#pragma once

#include "core/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::step {

struct ProcessLimit {
    std::uint32_t resource{};  // RLIMIT_*
    std::uint64_t soft{};      // UINT64_MAX: infinite
    std::uint64_t hard{};
    bool operator==(const ProcessLimit&) const = default;
};

struct TaskSpec {
    std::uint32_t id{};                    // in the step
    std::vector<std::string> argv;         // empty: the step's
    std::vector<std::string> environment;  // beside the step's
    std::string std_in, std_out, std_err;  // files; empty: a stream to whoever started the step
    std::string cpu_list;                  // Linux CPU numbers to bind to; empty: leave
    std::vector<std::string> device_deny;  // of the step's devices; empty: it may use them all
    bool operator==(const TaskSpec&) const = default;
};

struct LaunchSpec {
    std::uint32_t job{}, attempt{}, step{};
    std::string node;
    std::string directory;  // the job's, on this node: socket and result of the step live there
    std::string label;      // "12.batch", "12_3.0": what operators call it

    std::uint32_t uid{}, gid{};
    std::vector<std::uint32_t> groups;
    std::string work_dir;
    std::uint32_t umask{022};
    std::vector<ProcessLimit> rlimits;
    std::vector<std::string> argv;
    std::vector<std::string> environment;  // KEY=VALUE; the last of a key counts
    bool load_user_environment{false};     // from a login shell, under `environment`
    std::string task_prolog, task_epilog;  // the site's, then the user's
    std::string user_task_prolog, user_task_epilog;

    std::vector<TaskSpec> tasks;
    bool append{false};  // to files, instead of truncating them
    bool pty{false};     // task 0 of the step gets a terminal
    std::uint32_t rows{}, columns{};
    bool unbuffered{false};        // lines are not held back until they are whole
    std::uint32_t label_width{0};  // lines in files begin with the task's number, so wide; 0: they do not

    // When it is to end: by CLOCK_BOOTTIME, which nobody sets, in seconds; 0: none. An older spurd says it by the wall
    // clock alone (`end_time`, unix seconds), and an older spurstepd knows only that.
    std::int64_t end_boot_s{};
    std::int64_t end_time{};
    std::uint32_t kill_wait_s{30};
    std::uint32_t warn_signal{}, warn_before_s{};  // sent so long before the end; 0: none
    bool warn_batch_only{false};                   // to the batch shell alone
    std::int64_t own_end_boot_s{};                 // srun --time: the end is not beyond it; 0: none
    std::int64_t own_end_time{};                   // the same by the wall clock
    bool tells{true};                              // of its end, on stderr: one node does so for the step

    std::uint32_t cpus{};
    std::uint64_t memory_mib{};      // the step's; 0: no limit
    std::uint64_t job_memory_mib{};  // the job's on this node
    std::uint32_t job_cpus{};        // likewise
    std::string cpu_list;            // all the step may use; empty: any
    std::vector<std::string> device_allow, device_deny;
    bool bind_verbose{false};  // each task tells on stderr what it was bound to

    std::uint32_t sample_s{30};    // how often the tasks are measured; 0: only when they end
    bool kill_over_memory{false};  // a step that is found to have more than memory_mib is killed

    [[nodiscard]] bool is_batch() const { return step == step_batch; }
    bool operator==(const LaunchSpec&) const = default;
};

std::string encode(const LaunchSpec& spec);
// Nothing if the bytes are not what encode() makes.
std::optional<LaunchSpec> decode_spec(std::string_view bytes);

struct StepUsage {
    std::uint64_t user_us{}, system_us{};
    std::uint64_t max_rss_kib{};
    std::uint64_t read_bytes{}, write_bytes{};
    bool operator==(const StepUsage&) const = default;
};

// What one task used, by the numbers of Measured (core/model/step_usage.hpp).
struct TaskUse {
    std::uint32_t task{};
    std::vector<std::uint64_t> values;
    bool operator==(const TaskUse&) const = default;
};

// What a step that runs has used so far: the answer to FrameType::measure.
struct Readings {
    std::uint64_t number{};  // of the question
    StepUsage usage;
    std::vector<TaskUse> tasks;
    std::vector<std::uint32_t> pids;
    bool operator==(const Readings&) const = default;
};
std::string encode(const Readings& readings);
std::optional<Readings> decode_readings(std::string_view bytes);

// How a step ended on this node; also what stays in the job's directory until the controller has heard of it.
struct StepResult {
    std::uint32_t job{}, attempt{}, step{};
    std::uint32_t status{};     // wait status: the highest of its tasks
    bool launch_failed{false};  // nothing was run; `error` says why
    bool user_error{false};     // ... and it is the job's doing: a file of its own that cannot be opened
    bool oom{false};
    bool timed_out{false};
    bool lost{false};  // its daemon died: nobody knows
    std::int64_t time{};
    std::string error;
    std::string drain;  // the node must not go on like this, for this reason; empty: it may
    StepUsage usage;
    std::vector<TaskUse> tasks;
    bool operator==(const StepResult&) const = default;
};

std::string encode(const StepResult& result);
std::optional<StepResult> decode_result(std::string_view bytes);

// File names in the job's directory.
std::string step_name(std::uint32_t step);                       // "batch", "0"
std::string socket_name(std::uint32_t step);                     // "batch.sock"
std::string result_name(std::uint32_t step);                     // "batch.result"
inline constexpr std::string_view script_name = "slurm_script";  // what $0 of a batch script ends in

}  // namespace spur::step
