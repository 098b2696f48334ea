// A job step: tasks launched together inside a job's allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"
#include "core/model/job.hpp"
#include "core/model/resources.hpp"

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
    Text cpu_bind;
    Text gpu_bind;
    bool operator==(const StepSpec&) const = default;
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
    std::uint64_t version{};
    bool is_over() const { return state > JobState::suspended; }
    bool operator==(const Step&) const = default;
};

}  // namespace spur
