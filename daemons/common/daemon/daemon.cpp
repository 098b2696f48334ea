// The order in which a daemon starts and ends.
#include "daemons/common/daemon/daemon.hpp"

#include <poll.h>
#include <sysexits.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "core/version.hpp"
#include "daemons/common/config/config.hpp"
#include "daemons/common/daemon/background.hpp"
#include "daemons/common/daemon/precedence.hpp"
#include "daemons/common/daemon/update.hpp"
#include "daemons/common/host/crash.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::daemon {
namespace {

constexpr std::chrono::seconds patience{10};

// A plugin that never returns cannot keep the daemon from ending: whatever was acknowledged is on the disk already.
void end_in_time(const std::stop_token& ended) {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any waiting;
    if (waiting.wait_for(lock, ended, patience, [&] { return ended.stop_requested(); })) return;
    log::error("a plugin has not returned {} s after the order to stop; leaving without it", patience.count());
    log::flush();
    ::_exit(EX_SOFTWARE);
}

}  // namespace

Result<Config> Frame::load_config() const {
    const auto path =
        options_.config_path.empty() ? config::default_config_path() : std::filesystem::path{options_.config_path};
    Config config;
    std::error_code error;
    if (program_.needs_config || !options_.config_path.empty() || std::filesystem::exists(path, error)) {
        SPUR_TRY(config, config::load_config({.path = path}));
    }
    if (!options_.log_file.empty()) config.logging.file = options_.log_file;
    if (program_.adjust) program_.adjust(options_, config);
    return config;
}

Result<void> Frame::run() {
    SPUR_TRY(config_, load_config());
    const auto& logging = config_.logging;
    if (options_.test_only) {
        log::set_level(options_.level(logging.level));
        SPUR_CHECK(host::install_crash_handler({std::string{program_.name}, {}}));  // no plugin is blamed for a trial
        return program_.check(options_, config_);
    }
    if (!options_.foreground) SPUR_CHECK(go_into_background());
    SPUR_CHECK(log::start({.program = std::string{program_.name},
                           .level = options_.level(logging.level),
                           .file = logging.file,
                           .to_stderr = options_.foreground || logging.file.empty(),
                           .json = logging.json}));
    SPUR_TRY(auto signals, Signals::take());
    signals_.emplace(std::move(signals));
    protect_from_oom_killer();
    log_update(config_.update);
    const auto served = program_.serve(*this);
    stopping(options_.pid_file);
    // A daemon in the background has no terminal left: the log must know why it ends.
    if (!served && !options_.foreground && !logging.file.empty()) log::error("{}", served.error().text);
    return served;
}

Result<void> Frame::take_state_dir(const std::string& path, mode_t mode) {
    SPUR_TRY(auto dir, StateDir::open(path, mode));
    state_dir_.emplace(std::move(dir));
    return host::install_crash_handler({std::string{program_.name}, host::crash_journal_in(path)});
}

Result<void> Frame::ready() { return daemon::ready(options_.pid_file, !config_.logging.file.empty()); }

Result<void> Frame::run_until_stopped(const std::function<void()>& reload) {
    SPUR_CHECK(ready());
    do {
        pollfd waiting{signal_fd(), POLLIN, 0};
        ::poll(&waiting, 1, -1);
    } while (!has_to_stop(reload));
    log::info("stopping");
    return {};
}

bool Frame::has_to_stop(const std::function<void()>& reload) {
    while (const int number = signals_->read()) {
        if (number == SIGTERM || number == SIGINT) {
            deadline_ = std::jthread{end_in_time};
            return true;
        }
        log::reopen();
        if (number == SIGHUP && reload) reload();
    }
    return false;
}

void Frame::request_stop() { ::kill(::getpid(), SIGTERM); }

int run(const Program& program, int argc, const char* const* argv) {
    auto options = DaemonOptions::parse(program.name, argc, argv, program.options);
    if (!options) return complain(program.name, options.error(), EX_USAGE);
    if (options->wants_help)
        return fmt::print("{}", usage(program.name, program.summary, program.options, program.notes)), 0;
    if (options->wants_version) return fmt::print("{} {}\n", program.name, program_version), 0;
    if (const auto ran = Frame{program, std::move(*options)}.run(); !ran)
        return complain(program.name, ran.error(), EX_SOFTWARE);
    return EXIT_SUCCESS;
}

}  // namespace spur::daemon
