// A job step: tasks launched together inside a job's allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"
#include "core/model/job.hpp"
#include "core/model/resources.hpp"
#include "core/model/step_usage.hpp"

namespace spur {

// What srun asks of a job's allocation; the controller lays it out into shares (core/machine/step_layout.hpp).
struct StepSpec {
    Text name;
    std::optional<std::uint32_t> min_nodes;
    std::optional<std::uint32_t> max_nodes;
    std::optional<std::uint32_t> tasks;
    std::optional<std::uint32_t> cpus_per_task;
    std::optional<std::uint32_t> tasks_per_node;
    std::optional<std::uint32_t> tasks_per_gpu;
    std::optional<std::uint64_t> mem_per_node_mib;
    std::optional<std::uint64_t> mem_per_cpu_mib;
    Text gres_per_node;
    Text gres_per_step;
    Text gres_per_task;
    Text node_list;
    Text exclude_nodes;
    std::optional<std::uint32_t> relative;
    Text distribution;
    bool overlap{false};  // may use what other steps use
    bool exact{false};    // only what was asked, not all of the nodes
    bool exclusive{false};
    bool overcommit{false};
    bool interactive{false};
    std::optional<std::uint32_t> number;  // of a step over several components: what it has in the first
    std::uint32_t first_task{};           // tasks in the components before this one
    std::optional<std::uint32_t> time_limit_min;
    Text submit_host;
    std::uint32_t srun_pid{};
    Text cpu_bind;
    Text gpu_bind;
    bool operator==(const StepSpec&) const = default;
};

enum class EndCause : std::uint8_t {
    exited,     // the batch script, or srun's or salloc's command, ended with exit_status
    timed_out,  // the node enforced the limit first
    out_of_memory,
    launch_failed,  // could not be started; the node is to blame
    prolog_failed,  // as above; the node is drained and the job requeued
    node_failed,
    boot_failed,
    released,  // salloc gave the allocation back
};

struct Step {
    StepKey key;
    std::uint32_t attempt{};
    JobState state{JobState::running};
    bool overlap{false};
    Text name;
    std::uint32_t tasks{};
    std::uint32_t cpus_per_task{1};
    std::uint32_t time_limit_min{unlimited};
    std::uint32_t exit_status{};
    UnixSeconds start_time{};
    UnixSeconds end_time{};
    std::vector<NodeShare> shares;                     // with the tasks of each node
    std::vector<std::vector<std::uint32_t>> task_ids;  // per share, in order
    Text submit_host;
    std::uint32_t srun_pid{};  // 0: no srun asked for it
    Text distribution;         // how tasks were dealt, in Slurm's words
    std::uint64_t version{};
    // Indexes of the shares whose nodes have not reported the end. A step that its job has ended is over before they
    // do.
    std::vector<std::uint32_t> open_shares;
    EndCause cause{EndCause::exited};  // the first that was not an exit
    StepUsage usage;                   // of the nodes that have reported
    bool is_over() const { return state > JobState::suspended; }
    bool operator==(const Step&) const = default;
};

}  // namespace spur
