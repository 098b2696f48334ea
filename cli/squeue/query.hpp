// Which jobs and steps squeue shows, and in what order.
#pragma once

#include "core/base/result.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/job.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/common/records/record.hpp"
#include "spur/v1/controller.pb.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::squeue {

struct Query {
    std::optional<std::vector<JobRef>> jobs;  // also for steps: "12.0" names one step of job 12
    std::vector<std::string> users;
    std::vector<std::string> partitions;
    std::vector<std::string> names;
    std::vector<std::string> accounts;
    std::vector<std::string> qos;
    std::vector<std::string> reservations;
    std::vector<std::string> licenses;
    std::vector<std::string> wckeys;
    std::optional<HostSet> nodes;
    std::optional<JobStateFilter> states;
    bool split_arrays = false;  // -r
    bool all_partitions = false;

    bool names_tasks() const;  // -j 7_3
    bool accepts(const v1::Job& job) const;
    bool accepts_step(const v1::Job& job, const v1::Step& step) const;
};

// -r: one job a task, where the controller still keeps an array as one record.
std::vector<v1::Job> split_arrays(const std::vector<const v1::Job*>& jobs, const Query& query);

// Waiting tasks that left their array's record are shown in its line: "7_[1,4-6]", with the reasons of all of them.
// Empty where there is nothing to merge.
std::vector<v1::Job> merge_waiting_tasks(const std::vector<const v1::Job*>& jobs);

// -S: "P,t,-p". Letters are those of the format.
struct SortKey {
    char letter;
    bool descending;
};
Result<std::vector<SortKey>> parse_sort(std::string_view text, std::string_view accepted);
std::string job_sort_letters();

void sort_jobs(std::vector<const v1::Job*>& jobs, const std::vector<SortKey>& keys, const records::Context& context);

struct StepOf {
    const v1::Job* job;
    const v1::Step* step;
};
void sort_steps(std::vector<StepOf>& steps, const std::vector<SortKey>& keys, const records::Context& context);

}  // namespace spur::cli::squeue
