// spurctld - the controller: owns the cluster's state and asks plugins what to do with it.
#include <signal.h>
#include <sysexits.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "daemons/common/config/config.hpp"
#include "daemons/common/daemon/precedence.hpp"
#include "daemons/common/host/crash.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/spurctld/controller.hpp"
#include "daemons/spurctld/engine/state_dir.hpp"
#include "daemons/spurctld/options.hpp"
#include "daemons/spurctld/version.hpp"

namespace {

using namespace spur;

Result<Config> read_config(const ctld::Options& options) {
    const auto path =
        options.config_path.empty() ? config::default_config_path() : std::filesystem::path{options.config_path};
    SPUR_TRY(auto config, config::load_config({.path = path}));
    if (!options.state_dir.empty()) config.controller.state_dir = options.state_dir;
    if (!options.listen.empty()) config.controller.listen_addr = options.listen;
    if (config.controller.state_dir.empty()) config.controller.state_dir = "/var/lib/spur/ctld";
    if (config.controller.listen_addr.empty()) config.controller.listen_addr = "127.0.0.1:6817";
    return config;
}

Result<void> start_log(const ctld::Options& options, const Config& config) {
    auto level = log::find_level(config.logging.level).value_or(log::Level::info);
    if (options.verbosity > 0) level = options.verbosity > 1 ? log::Level::trace : log::Level::debug;
    return log::start({.program = "spurctld",
                       .level = level,
                       .file = config.logging.file,
                       .to_stderr = options.foreground || config.logging.file.empty(),
                       .json = config.logging.json});
}

// A plugin that never returns cannot keep the daemon from ending: everything acknowledged is in the log already.
class Deadline {
public:
    Deadline()
        : thread_{[](const std::stop_token& stop) {
              std::mutex mutex;
              std::unique_lock lock{mutex};
              std::condition_variable_any ended;
              if (ended.wait_for(lock, stop, patience, [&] { return stop.stop_requested(); })) return;
              log::error("a plugin has not returned {} s after the order to stop; leaving without it",
                         patience.count());
              ::_exit(EX_SOFTWARE);
          }} {}

private:
    static constexpr std::chrono::seconds patience{10};
    std::jthread thread_;
};

// Until a signal says stop; HUP reads the configuration again.
void wait_for_stop(ctld::Controller& controller, const sigset_t& signals) {
    for (int received = 0; sigwait(&signals, &received) == 0;) {
        if (received != SIGHUP) return log::info("stopping");
        log::reopen();
        static_cast<void>(controller.reload("a signal"));
    }
}

Result<void> run(const ctld::Options& options) {
    SPUR_TRY(const auto config, read_config(options));
    if (options.test_only) {
        SPUR_CHECK(host::install_crash_handler({"spurctld", {}}));  // a trial is not held against a plugin
        SPUR_TRY(const auto warnings, ctld::Controller::check(config));
        for (const auto& warning : warnings) std::fprintf(stderr, "spurctld: warning: %s\n", warning.c_str());
        std::printf("spurctld: %s and the plugins it names %s\n", config.path.c_str(),
                    warnings.empty() ? "are fine" : "can be used; see the warnings");
        return {};
    }
    SPUR_CHECK(start_log(options, config));
    if (!options.foreground && ::daemon(0, config.logging.file.empty() ? 1 : 0) != 0)
        return fail(ErrorCode::internal, "cannot go to the background; use -D");
    daemon::protect_from_oom_killer();
    SPUR_TRY(const auto lock, ctld::StateDirLock::take(config.controller.state_dir));
    SPUR_CHECK(ctld::check_cluster_name(config.controller.state_dir, config.cluster.cluster_name.str(),
                                        options.rename_cluster));
    SPUR_CHECK(host::install_crash_handler({"spurctld", ctld::Controller::crash_journal(config)}));

    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    signal(SIGPIPE, SIG_IGN);

    ctld::Controller controller{config, [options] { return read_config(options); }, [] { ::kill(::getpid(), SIGTERM); },
                                options.rename_cluster};
    SPUR_CHECK(controller.start());
    log::info("serving on port {}", controller.port());
    if (!options.pid_file.empty()) std::ofstream{options.pid_file} << ::getpid() << "\n";
    wait_for_stop(controller, signals);
    const Deadline deadline;
    controller.stop();
    return controller.failure();
}

int complain(const Error& error, int status) {
    std::fprintf(stderr, "spurctld: error: %s\n", error.text.c_str());
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    const auto options = ctld::Options::parse(argc, argv);
    if (!options) return complain(options.error(), EX_USAGE);
    if (options->help) return std::fputs(ctld::help_text().c_str(), stdout), EXIT_SUCCESS;
    if (options->version) return std::printf("spurctld %s\n", ctld::version.data()), EXIT_SUCCESS;
    if (const auto ran = run(*options); !ran) return complain(ran.error(), EX_SOFTWARE);
    return EXIT_SUCCESS;
}
