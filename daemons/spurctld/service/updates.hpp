// What "scontrol update" says, as typed changes. Keys come in lower case, values as typed; an unknown key or a value
// that makes no sense is an error that names it.
#pragma once

#include <google/protobuf/map.h>

#include <string>

#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/spurctld/service/users.hpp"

namespace spur::ctld {

using Settings = google::protobuf::Map<std::string, std::string>;

Result<JobChanges> job_changes(const Settings& settings, const Job& job, const planning::ReadModel& model,
                               UnixSeconds now);
Result<UpdateNode> node_update(std::string_view names, const Settings& settings, const Actor& actor,
                               const planning::ReadModel& model);
Result<Partition> changed_partition(Partition partition, const Settings& settings);
Result<Reservation> changed_reservation(Reservation reservation, const Settings& settings,
                                        const planning::ReadModel& model, UserDirectory& directory, UnixSeconds now,
                                        bool create);

}  // namespace spur::ctld
