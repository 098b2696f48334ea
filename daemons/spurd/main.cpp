// spurd - the agent of one node: registers with the controller, runs jobs, reports what became of them.
#include <fmt/format.h>

#include "daemons/common/daemon/daemon.hpp"
#include "daemons/spurd/agent.hpp"

namespace {

using namespace spur;

Result<agent::Settings> find_settings(const daemon::DaemonOptions& options, const Config& config) {
    SPUR_TRY(auto hardware, agent::find_hardware());
    return agent::make_settings(options, config, std::move(hardware));
}

Result<void> check(const daemon::DaemonOptions& options, const Config& config) {
    SPUR_TRY(auto settings, find_settings(options, config));
    fmt::print("{}", agent::Agent{std::move(settings), config}.describe());
    return {};
}

Result<void> serve(daemon::Frame& frame) {
    SPUR_TRY(auto settings, find_settings(frame.options(), frame.config()));
    SPUR_CHECK(frame.take_state_dir(settings.state_dir, 0755));  // users read their scripts below it
    agent::Agent agent{std::move(settings), frame.config()};
    SPUR_CHECK(agent.open(frame.config()));
    return agent.run(frame);
}

}  // namespace

int main(int argc, char** argv) {
    return daemon::run(
        {.name = "spurd",
         .summary = "the agent of one node: registers with the controller, runs jobs, reports what became of them",
         .options = agent::own_options(),
         .needs_config = false,  // the controller tells it what matters
         .check = check,
         .serve = serve},
        argc, argv);
}
