// The variables by which srun tells what was asked of it: to the tasks, and to --prolog and --epilog beside it. No I/O.
#pragma once

#include "cli/submit/options.hpp"
#include "cli/submit/request.hpp"
#include "daemons/common/environment/environment.hpp"
#include "spur/v1/controller.pb.h"

#include <string>
#include <vector>

namespace spur::cli::srun {

// For the tasks, beside what was exported and what each agent adds. `own_allocation`: srun got the job for this step.
std::vector<std::string> option_variables(const submit::SubmitOptions& options, const v1::CreateStepReply& made,
                                          bool own_allocation);

// For programs that run where srun runs; `context` is SLURM_SCRIPT_CONTEXT.
environment::Variables script_variables(const submit::SubmitOptions& options, const v1::CreateStepReply& made,
                                        const submit::Submitter& submitter, const std::string& cluster,
                                        const std::string& context);

}  // namespace spur::cli::srun
