// What a line of squeue is about, and the letters of "%all", in Slurm's order.
#pragma once

#include "cli/common/format.hpp"
#include "daemons/common/records/job.hpp"
#include "daemons/common/records/step.hpp"

namespace spur::cli::squeue {

inline constexpr std::string_view all_job_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
inline constexpr std::string_view all_step_letters = "bijluAMNPSU";

}  // namespace spur::cli::squeue
