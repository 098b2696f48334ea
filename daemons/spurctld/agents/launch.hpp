// What is sent to agents about a job: built from the cluster's records, idempotent, keyed by (job, attempt).
#pragma once

#include <memory>
#include <string>

#include "core/machine/cluster.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/spurctld/service/users.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

// The launch of one job: what all its nodes are told alike is converted and serialised once, and each node's own part
// is put behind it. Messages in this format add up.
class LaunchBody {
public:
    // `owner` is the job's, with his groups.
    LaunchBody(const planning::ReadModel& model, std::shared_ptr<const Job> job, Users::Record owner);

    const Job& job() const { return *job_; }
    bool is_of(const std::shared_ptr<const Job>& job, const Users::Record& owner) const {
        return job == job_ && owner == owner_;
    }
    // The ControllerMessage that starts the job's part on the node of allocation->shares[index]: the batch script on
    // the first node of a batch job, the bare allocation elsewhere.
    std::string message(const planning::ReadModel& model, std::size_t index, UnixSeconds now) const;

private:
    void add_script(const planning::ReadModel& model, v1::LaunchBatch& batch) const;

    std::shared_ptr<const Job> job_;
    Users::Record owner_;
    std::string common_;  // a ControllerMessage with the part for all but the node that runs the script
};

// The part that every node of the job gets alike; for step credentials too.
void job_launch(const planning::ReadModel& model, const Job& job, const UserRecord& owner, v1::JobLaunch& wire);

v1::ControllerMessage end_message(const Job& job);  // for the reason that its state tells
v1::ControllerMessage end_message(const Job& job, std::string why);

}  // namespace spur::ctld
