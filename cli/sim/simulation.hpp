// The virtual controller: the state machine, the planning cycle and the plugins of the real one, and a clock that jumps
// from event to event. Same trace and same configuration, same outcome.
#pragma once

#include <cstdint>

#include "cli/sim/outcome.hpp"
#include "cli/sim/trace.hpp"
#include "core/base/result.hpp"
#include "core/model/config.hpp"

namespace spur::cli::sim {

struct SimulationOptions {
    std::int64_t interval_s{1};    // cycles are at least so far apart; events between them are taken together
    std::int64_t rescore_s{30};    // how often priorities of all waiting jobs are asked for, as in the controller
    std::int64_t decay_s{300};     // how often usage is charged and fades
    std::uint32_t shown_nodes{0};  // nodes whose occupation is kept for a Gantt view
};

// Opens the plugins that `config` names, runs the trace to its end and closes them.
Result<Outcome> simulate(const Trace& trace, const Config& config, const SimulationOptions& options);

}  // namespace spur::cli::sim
