// Going into the background, saying when one is ready, and saying why one is not.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace spur::daemon {

// Prints "spurctld: error: <sentence>", one line per sentence, and gives `code` back for main to return.
int complain(std::string_view program, const Error& error, int code);

// Goes on in a child without a terminal; the calling process waits until the child is ready() and ends with 0, or ends
// with the child's status. What is written to stderr before ready() still reaches the terminal. Call it before threads
// are started.
Result<void> go_into_background();

// The daemon answers from now on: tells systemd (NOTIFY_SOCKET), writes the pid file if there is one, and lets the
// starting process end. In the background a daemon with a log file has no stderr from here on.
Result<void> ready(const std::string& pid_file = {}, bool has_log_file = true);

// It stops: tells systemd, removes the pid file if it is still ours.
void stopping(const std::string& pid_file = {});

}  // namespace spur::daemon
