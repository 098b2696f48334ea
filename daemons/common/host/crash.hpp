// When a plugin takes the process down: one line on stderr saying which plugin, in which op, for which job, and a line
// in a journal, so that the next start can leave a plugin out that keeps doing it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur::host {

struct CrashOptions {
    std::string program;  // begins the line: "spurctld: plugin sched/x crashed in plan (job 12): Segmentation fault"
    std::filesystem::path journal;  // empty: none is kept
};

// From here on SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and exit() inside of a plugin are reported before the process
// dies the way it would have died. Once per process; again only to change the options. [main-thread]
Result<void> install_crash_handler(const CrashOptions& options);

// Puts the handler back where a plugin has put another in its place; true if one had.
bool restore_crash_handler() noexcept;

// Give this thread a stack for signal handlers, so that a stack overflow is reported too. Cheap when it has one.
void arm_this_thread() noexcept;

// ---- the journal
// -----------------------------------------------------------------------------------------------------

struct Crash {
    std::int64_t time{};  // unix seconds
    std::string plugin, op, cause;
    bool operator==(const Crash&) const = default;
};
std::filesystem::path crash_journal_in(const std::string& state_dir);  // of a daemon; none without a directory
std::vector<Crash> load_crash_journal(
    const std::filesystem::path& journal);  // a missing or damaged one has fewer entries

inline constexpr std::size_t quarantine_crashes = 3;
inline constexpr std::int64_t quarantine_window_s = 600;
inline constexpr std::int64_t quarantine_lasts_s = 86'400;

// Three crashes of `plugin` within ten minutes of each other, all since its file was last written, the last of them
// less than a day ago: replacing the file or removing the journal gives it another chance.
bool is_quarantined(const std::vector<Crash>& crashes, std::string_view plugin, std::int64_t file_written,
                    std::int64_t now);

}  // namespace spur::host
