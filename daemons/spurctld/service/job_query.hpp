// Which jobs a listing or a bulk action means.
#pragma once

#include <memory>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/array_spec.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

// No request names more ids than this.
Result<void> check_id_count(int count);

// The records `ref` names in `model`: "12" of an array is all its records, "12_3" the one that holds task 3.
std::vector<std::shared_ptr<const Job>> find_jobs(const planning::ReadModel& model, const JobRef& ref);

Result<std::vector<std::shared_ptr<const Job>>> select_jobs(const planning::ReadModel& model,
                                                            const v1::ListJobsRequest& request);

// What scancel's filters select among jobs that are not done.
Result<std::vector<std::shared_ptr<const Job>>> select_jobs(const planning::ReadModel& model,
                                                            const v1::SignalJobsRequest& request);

}  // namespace spur::ctld
