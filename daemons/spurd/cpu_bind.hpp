// Which CPUs each task of a step may use: srun's --cpu-bind, carried out. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur::agent {

struct BindRequest {
    std::string mode;  // --cpu-bind as typed: "verbose,cores", "map_cpu:0,2"; empty: automatic
    std::vector<std::vector<std::uint32_t>> cores;  // the step's cores on this node, each with its CPUs
    std::uint32_t tasks{};
    std::uint32_t cpus_per_task{1};
    std::uint32_t cpu_count{8192};  // Linux CPU numbers of this node are below it
};

struct Binding {
    std::vector<std::string> cpu_lists;  // "0-1,4", one for each task; empty: no binding
    std::vector<std::string> variables;  // SLURM_CPU_BIND and its parts
    bool verbose{false};                 // each task tells its mask on stderr
};

// Without cores (a made-up node) there is no binding. A mode that cannot be carried out binds to all of the step's
// CPUs; one that names CPUs that the node does not have is refused.
Result<Binding> bind_tasks(const BindRequest& request);

std::string cpu_mask(const std::vector<std::uint32_t>& cpus);  // "0x5"

}  // namespace spur::agent
