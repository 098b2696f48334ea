// The names of what is counted: Slurm's own, then the generic resources and licences of this cluster.
#pragma once

#include <string>
#include <vector>

#include "daemons/common/planning/read_model.hpp"

namespace spur::ctld {

std::vector<std::string> tracked_tres(const planning::ReadModel& model);

}  // namespace spur::ctld
