// Which jobs a listing or a bulk action means.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/array_spec.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

// The states a filter names; Slurm's long and short forms, base states and flags alike.
class StateFilter {
public:
    // Empty: the states of jobs that are not done. "all": every job.
    static Result<StateFilter> parse(const google::protobuf::RepeatedPtrField<std::string>& names);
    bool matches(const Job& job) const;

private:
    bool all_{false};
    bool active_only_{false};
    std::uint32_t states_{};  // by JobState
    std::uint32_t flags_{};
};

// No request names more ids than this.
Result<void> check_id_count(int count);

// Finds the records of many ids; a walk over all jobs is made once at most.
class JobFinder {
public:
    explicit JobFinder(const planning::ReadModel& model) : model_{model} {}
    std::vector<std::shared_ptr<const Job>> find(const JobRef& ref);

private:
    const planning::ReadModel& model_;
    std::unordered_map<std::uint32_t, std::vector<std::shared_ptr<const Job>>> families_;  // arrays and het jobs
};

// The records `ref` names in `model`: "12" of an array is all its records, "12_3" the one that holds task 3.
std::vector<std::shared_ptr<const Job>> find_jobs(const planning::ReadModel& model, const JobRef& ref);

Result<std::vector<std::shared_ptr<const Job>>> select_jobs(const planning::ReadModel& model,
                                                            const v1::ListJobsRequest& request);

// What scancel's filters select among jobs that are not done.
Result<std::vector<std::shared_ptr<const Job>>> select_jobs(const planning::ReadModel& model,
                                                            const v1::SignalJobsRequest& request);

}  // namespace spur::ctld
