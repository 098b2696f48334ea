// Where a step's tasks go inside its job's allocation: which nodes, cores, memory and devices, and which task where.
#pragma once

#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "core/model/distribution.hpp"
#include "core/model/picture.hpp"
#include "core/model/step.hpp"

namespace spur {

// A CreateStep ready to be proposed. ErrorCode::conflict: busy with other steps now, may work later
// ("Job step creation temporarily disabled, retrying (Requested nodes are busy)"); anything else: never.
Result<CreateStep> lay_out_step(const Picture& picture, JobId job, const StepSpec& spec, const Actor& actor);

// Task ids per node, with counts[i] tasks on node i; arbitrary is by the list of nodes.
std::vector<std::vector<std::uint32_t>> distribute_tasks(const std::vector<std::uint32_t>& counts,
                                                         const Distribution& distribution);

}  // namespace spur
