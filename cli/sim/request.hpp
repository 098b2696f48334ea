// From a line of a trace to what sbatch would have asked for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/sim/trace.hpp"
#include "core/base/result.hpp"
#include "core/model/job_spec.hpp"

namespace spur::cli::sim {

// The number a job of the trace has in the simulated cluster.
using FindJob = std::function<std::optional<std::uint32_t>(std::string_view id)>;

// "afterok:a:b,afterany:c" with the numbers of the simulated jobs. Fails on one that has not been submitted.
Result<std::string> translate_dependency(std::string_view text, const FindJob& find);

// Not validated yet. `begins` is the trace's second 0.
Result<JobSpec> make_spec(const TraceJob& job, UnixSeconds begins, const FindJob& find);

}  // namespace spur::cli::sim
