// From what the controller or srun asks to what a step daemon is told.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "daemons/spurd/environment.hpp"
#include "daemons/spurd/gpus.hpp"
#include "daemons/spurd/hardware.hpp"
#include "daemons/spurstepd/boot_clock.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::agent {

// What this node adds to every step.
struct NodeSetup {
    NodeFacts facts;
    Hardware hardware;
    Gpus gpus;
    std::function<void(GpuHeld)> release_gpus;  // whoever held them has ended; may be empty
    bool binds_cpus{true};                      // false: the node's cores are made up or shared with other nodes
    std::string unfit;                          // why nothing may run here; empty: it may
    v1::AgentPolicy policy;
    std::string cookie;  // in the mark of every step; see strays.hpp
};

// When the job is to end, by the node's own clock. Without `remaining_s` (an older controller) the wall clock has to
// do.
void set_deadline(v1::JobLaunch& job, std::int64_t end_time, std::optional<std::int64_t> remaining_s);
// What is known here of the job's end counts, whatever an order that was made earlier says.
void copy_deadline(const v1::JobLaunch& known, v1::JobLaunch& job);

// `directory` is the job's on this node, where the script already lies.
step::LaunchSpec plan_batch(const v1::LaunchBatch& batch, const NodeSetup& setup, const std::string& directory);
Result<step::LaunchSpec> plan_step(const StepView& view, const NodeSetup& setup, const std::string& directory);

// The GPUs a share holds, as this node numbers them.
std::vector<std::uint32_t> gpu_indexes(const v1::NodeShare& share);

}  // namespace spur::agent
