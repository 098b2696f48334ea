// Between the core's values and the wire's messages. Nothing here decides anything.
#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/step.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/spurctld/service/users.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

// ---- from the wire: shapes are checked here, meaning by the core's validate()
Result<JobSpec> spec_from_wire(const v1::JobSpec& wire);
Result<StepSpec> step_spec_from_wire(const v1::CreateStepRequest& wire);

// ---- to the wire
struct JobDetail {
    bool environment{false};
    bool spank_environment{false};
    bool script{false};
    bool steps{false};
};
void spec_to_wire(const JobSpec& spec, const JobDetail& detail, v1::JobSpec& wire);
void job_to_wire(const planning::ReadModel& model, const Job& job, const JobDetail& detail, v1::Job& wire);
void step_to_wire(const planning::ReadModel& model, const Step& step, v1::Step& wire);
void share_to_wire(const planning::ReadModel& model, const NodeShare& share, v1::NodeShare& wire);
void node_to_wire(const planning::ReadModel& model, const Node& node, const Users& users, v1::Node& wire);
void partition_to_wire(const planning::ReadModel& model, const Partition& partition, v1::Partition& wire);
void reservation_to_wire(const planning::ReadModel& model, const Reservation& reservation, v1::Reservation& wire);

// "n[1-3]" for the nodes of these shares, in order.
std::string node_names(const planning::ReadModel& model, const std::vector<NodeShare>& shares);
// Where a node's agent serves: "host:port".
std::string agent_address(const Node& node);

}  // namespace spur::ctld
