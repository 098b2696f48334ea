// squeue --json: every job in the shape of Slurm's REST schema v0.0.38, which 22.05 prints.
#pragma once

#include "spur/v1/controller.pb.h"

#include <string>

namespace spur::cli::squeue {

std::string jobs_json(const v1::ListJobsReply& reply);

}  // namespace spur::cli::squeue
