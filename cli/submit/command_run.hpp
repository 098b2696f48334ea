// The command or shell that salloc runs in its allocation, watched together with the allocation itself.
#pragma once

#include "cli/common/session.hpp"

#include <optional>
#include <string>
#include <vector>

namespace spur::cli::submit {

struct CommandEnd {
    int status = 0;        // as wait() gives it
    bool revoked = false;  // the allocation went first, and the user was told
    bool hung_up = false;  // SIGHUP: we do not wait any longer
};

// Runs `command` in the foreground of our terminal, if there is one, until it ends. Should the allocation end before,
// the command gets `kill_signal` (-K), a shell on a terminal SIGHUP, others nothing. SIGINT and SIGTERM to us give the
// allocation back.
CommandEnd run_command(Session& session, const Console& console, std::uint32_t job,
                       const std::vector<std::string>& command, std::optional<int> kill_signal);

}  // namespace spur::cli::submit
