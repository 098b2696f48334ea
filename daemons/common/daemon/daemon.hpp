// The frame of every daemon's main: options, configuration, log, background, state directory, signals, and an end in
// time. A daemon says what it is in a Program and has nothing else in its main.cpp.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"
#include "daemons/common/daemon/options.hpp"
#include "daemons/common/daemon/signals.hpp"
#include "daemons/common/daemon/state_dir.hpp"

namespace spur::daemon {

class Frame;

struct Program {
    std::string_view name;           // "spurctld"
    std::string_view summary;        // what --help says it is
    std::vector<OwnOption> options;  // besides the common ones
    std::string_view notes{"Signals: TERM and INT stop it, HUP and USR2 open its log file again."};  // ends --help
    bool needs_config{true};  // false: without a file in the usual place it runs on defaults
    // What the command line changes in the configuration besides the log, and the defaults that only this daemon has.
    std::function<void(const DaemonOptions&, Config&)> adjust;
    // -t: what it prints goes to stdout.
    std::function<Result<void>(const DaemonOptions&, const Config&)> check;
    // The daemon's life: it makes its parts, calls ready() or run_until_stopped(), and takes its parts down again.
    std::function<Result<void>(Frame&)> serve;
};

// main() of a daemon. EX_USAGE for a mistake on the command line, EX_SOFTWARE for everything that goes wrong later.
int run(const Program& program, int argc, const char* const* argv);

// What `serve` may ask for. [main thread, except where it says otherwise]
class Frame {
public:
    const DaemonOptions& options() const { return options_; }
    const Config& config() const { return config_; }  // as it was at the start
    Result<Config> load_config() const;               // the same file now, with what the command line changes

    // The directory is this daemon's as long as it lives. From here on a plugin that takes the process down is named in
    // the journal there: call it before plugins are opened.
    Result<void> take_state_dir(const std::string& path, mode_t mode = 0700);

    Result<void> ready();  // it serves: systemd is told, the pid file written, and the starting process ends
    // ready(), then signals until one of them asks to stop. SIGHUP calls `reload`.
    Result<void> run_until_stopped(const std::function<void()>& reload);
    // For a daemon with a loop of its own: watch the descriptor; once it is readable, has_to_stop() serves what came
    // and answers whether one of the signals asks to stop. From then on there are ten seconds left.
    int signal_fd() const { return signals_->fd(); }
    bool has_to_stop(const std::function<void()>& reload = {});
    static void request_stop();  // [any thread] as a SIGTERM does

private:
    friend int run(const Program& program, int argc, const char* const* argv);
    Frame(const Program& program, DaemonOptions options) : program_{program}, options_{std::move(options)} {}
    Result<void> run();

    const Program& program_;
    DaemonOptions options_;
    Config config_;
    std::optional<Signals> signals_;
    std::optional<StateDir> state_dir_;
    std::jthread deadline_;
};

}  // namespace spur::daemon
