// What sbatch, srun and salloc share beside their options: leaving, exit codes, request ids.
#pragma once

#include "cli/common/session.hpp"
#include "cli/submit/options.hpp"

#include <string>

namespace spur::cli::submit {

// Prints what `outcome` calls for (help, version, an error) and gives the exit code.
int leave(const Console& console, Tool tool, const ParseOutcome& outcome);

// `usual`, unless SLURM_EXIT_ERROR says otherwise.
int error_exit_code(int usual);
int immediate_exit_code(int usual);  // SLURM_EXIT_IMMEDIATE

// What --test-only says: "Job 7 to start at ... using 1 processors on nodes n1 in partition main".
std::string test_report(const v1::SubmitReply& reply);

// What else there is to say of a refused request, before its refusal.
void explain_refusal(const Console& console, const Failure& failure, const v1::JobSpec& spec);

// Different for every request ever made: a repeated one is recognised by it.
std::string new_request_id();

}  // namespace spur::cli::submit
