// spurctld - the controller: owns the cluster's state and asks plugins what to do with it.
#include <fmt/format.h>

#include "daemons/common/daemon/daemon.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/spurctld/controller.hpp"
#include "daemons/spurctld/engine/cluster_name.hpp"

namespace {

using namespace spur;

void adjust(const daemon::DaemonOptions& options, Config& config) {
    auto& own = config.controller;
    if (!options.state_dir.empty()) own.state_dir = options.state_dir;
    if (!options.listen.empty()) own.listen_addr = options.listen;
    if (own.state_dir.empty()) own.state_dir = "/var/lib/spur/ctld";
    if (own.listen_addr.empty()) own.listen_addr = "127.0.0.1:6817";
}

Result<void> check(const daemon::DaemonOptions&, const Config& config) {
    SPUR_TRY(const auto warnings, ctld::Controller::check(config));
    for (const auto& warning : warnings) fmt::print(stderr, "spurctld: warning: {}\n", warning);
    fmt::print("spurctld: {} and the plugins it names {}\n", config.path,
               warnings.empty() ? "are fine" : "can be used; see the warnings");
    return {};
}

Result<void> serve(daemon::Frame& frame) {
    const auto& config = frame.config();
    const bool may_rename = frame.options().has("rename-cluster");
    SPUR_CHECK(frame.take_state_dir(config.controller.state_dir));
    SPUR_CHECK(ctld::check_cluster_name(config.controller.state_dir, config.cluster.cluster_name.str(), may_rename));
    ctld::Controller controller{config, [&] { return frame.load_config(); }, daemon::Frame::request_stop, may_rename};
    SPUR_CHECK(controller.start());
    log::info("serving on port {}", controller.port());
    SPUR_CHECK(frame.run_until_stopped([&] { static_cast<void>(controller.reload("a signal")); }));
    controller.stop();
    return controller.failure();
}

}  // namespace

int main(int argc, char** argv) {
    return daemon::run(
        {.name = "spurctld",
         .summary = "the controller: owns the cluster's state and asks plugins what to do with it",
         .options = {{"rename-cluster", 0, "",
                      "take the state of a cluster of another name for this one's; else that is refused"}},
         .notes = "Signals: TERM and INT stop it, HUP reads the configuration again as scontrol "
                  "reconfigure does, USR2 opens its log file again.",
         .adjust = adjust,
         .check = check,
         .serve = serve},
        argc, argv);
}
