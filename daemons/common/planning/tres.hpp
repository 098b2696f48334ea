// TRES strings for listings ("cpu=4,mem=16G,node=2,billing=4").
#pragma once

#include <string>

#include "core/model/gres.hpp"
#include "daemons/common/planning/read_model.hpp"

namespace spur::planning {

TresList requested_tres(const Directory& directory, const JobSpec& spec);
TresList allocated_tres(const Directory& directory, const Allocation& allocation);
TresList step_tres(const Step& step);
TresList configured_tres(const Node& node);
TresList used_tres(const Node& node);
TresList partition_tres(const ReadModel& model, const Partition& partition);

}  // namespace spur::planning
