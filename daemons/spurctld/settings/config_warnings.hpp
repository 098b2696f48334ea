// What a new configuration does to jobs that run now, in sentences for whoever asked for it.
#pragma once

#include <string>
#include <vector>

#include "core/model/config.hpp"
#include "daemons/common/planning/read_model.hpp"

namespace spur::ctld {

// One sentence for each node and partition that `fresh` no longer has while jobs run there.
std::vector<std::string> warn_of_removals(const planning::ReadModel& model, const ClusterConfig& fresh);

}  // namespace spur::ctld
