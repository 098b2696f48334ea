// From a job's record, as the controller lists it, to a line of a trace.
#pragma once

#include <optional>

#include "cli/sim/trace.hpp"
#include "spur/v1/job.pb.h"

namespace spur::cli::sim {

// Nothing for a job that is not over, or never ran. A task of an array becomes a job of its own, and a dependency the
// time at which it was met.
std::optional<TraceJob> recorded_job(const v1::Job& job, UnixSeconds begins);

}  // namespace spur::cli::sim
