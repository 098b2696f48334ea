// Getting nodes and giving them back: what salloc always does, and srun when it is not inside a job.
#pragma once

#include "cli/common/session.hpp"
#include "cli/submit/options.hpp"
#include "daemons/common/environment/environment.hpp"

#include <expected>
#include <string>
#include <vector>

namespace spur::cli::submit {

struct AllocationRequest {
    v1::SubmitRequest submit;
    Tool tool;
    bool quiet = false;
    std::optional<std::uint32_t> immediate_s;  // give up after so long
    std::string failure_prefix;                // "Unable to allocate resources"
};

// Submits, waits until the job runs, and says so as Slurm does. A signal meanwhile gives the request back and ends the
// program. The error is the exit code; everything has been said.
std::expected<v1::Job, int> allocate(Session& session, const Console& console, const AllocationRequest& request);

void release(Session& session, std::uint32_t job, std::uint32_t wait_status);

// The variables that tell a program about its allocation, as salloc sets them.
environment::Variables allocation_variables(const v1::Job& job, const SubmitOptions& options,
                                            const std::string& cluster, const std::string& submit_dir,
                                            const std::string& submit_host);
// The same for a heterogeneous job: what each component has goes by names of its own, SLURM_JOB_NODELIST_HET_GROUP_1.
environment::Variables component_variables(const std::vector<v1::Job>& jobs,
                                           const std::vector<SubmitOptions>& components, const std::string& cluster,
                                           const std::string& submit_dir, const std::string& submit_host);

}  // namespace spur::cli::submit
