// What a job asks for, brought into one shape: every way to ask becomes an amount by node, by task or for the job.
#pragma once

#include <spur/plugin/view.h>

#include <array>
#include <cstdint>

#include "picture.hpp"

namespace spur::select_gpu {

inline constexpr std::uint32_t most_kinds = 8;  // generic resources of one job; one with more never fits

// One generic resource. Forms for the same thing (--gpus=8 --gpus-per-node=4) are conditions on one amount, no sum.
struct GresNeed {
    std::uint32_t name{}, type{};
    std::uint64_t per_node{}, per_task{}, per_socket{};
    std::uint64_t per_job{};
    std::uint32_t tasks_each{};  // --ntasks-per-gpu: one unit for so many tasks
};

struct Need {
    std::uint32_t min_nodes{1}, max_nodes{SPUR_UNLIMITED};
    std::uint32_t tasks{};  // of the job; 0: each node has `tasks_each_node`
    std::uint32_t tasks_each_node{1};
    std::uint32_t most_tasks{SPUR_UNLIMITED};  // on one node
    std::uint32_t cpus_per_task{1};
    std::uint32_t tasks_per_core{}, tasks_per_socket{}, min_cpus{}, cpus_per_gpu{}, sockets{1};
    std::uint32_t threads{SPUR_UNLIMITED};    // used of each core at most
    std::uint32_t most_cpus{SPUR_UNLIMITED};  // on one node
    std::uint32_t jobs_per_core{1};
    bool whole{}, all_memory{}, overcommit{}, own_user{}, cyclic_cores{};
    bool spread{}, least_loaded{};
    std::uint32_t uid{}, partition{};
    std::uint64_t mem_per_node{}, mem_per_cpu{}, mem_per_gpu{};
    std::array<GresNeed, most_kinds> gres{};
    std::uint32_t gres_count{};
    std::int32_t gpu{-1};     // which of them are gpus
    std::int32_t pooled{-1};  // which of them is asked for the whole job
    bool possible{true};      // false: asks for something that cannot be had anywhere

    // What any node of the job must have at least, for looking in the index.
    std::uint32_t least_cores(std::uint32_t threads_per_core) const;
    std::uint64_t least_gpus() const;
    std::uint64_t least_memory() const;
    std::uint32_t least_tasks() const { return tasks != 0 ? 1 : tasks_each_node; }
};

struct NeedRules {
    bool memory_unsaid_is_all{};
};

Need need_of(const Picture& picture, const spur_job_view& job, std::uint32_t partition, const NeedRules& rules);

}  // namespace spur::select_gpu
