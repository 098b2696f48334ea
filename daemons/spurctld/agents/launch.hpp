// What is sent to agents about a job: built from the cluster's records, idempotent, keyed by (job, attempt).
#pragma once

#include <string>

#include "core/machine/cluster.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/spurctld/service/users.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

// The message that starts this job's part on the node of allocation->shares[index]: the batch script on the first node
// of a batch job, the bare allocation elsewhere. `owner` is the job's, with his groups.
v1::ControllerMessage launch_message(const planning::ReadModel& model, const Job& job, const UserRecord& owner,
                                     std::size_t index, UnixSeconds now);

// The part that every node of the job gets alike; for step credentials too.
void job_launch(const planning::ReadModel& model, const Job& job, const UserRecord& owner, v1::JobLaunch& wire);

v1::ControllerMessage end_message(const Job& job);  // for the reason that its state tells
v1::ControllerMessage end_message(const Job& job, std::string why);

}  // namespace spur::ctld
