// Times as Slurm reads and writes them: limits (1-02:03:04), moments (now+1hour, 2026-11-16T21:17:00).
// Calendar arithmetic uses the process's time zone (TZ); the present is always an argument.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace spur {

inline constexpr std::int64_t unlimited_s = -1;

// ---- durations -----------------------------------------------------------------------------------------------------

// "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours", "days-hours:minutes",
// "days-hours:minutes:seconds", and INFINITE, UNLIMITED or -1, which give unlimited_s.
Result<std::int64_t> parse_duration_s(std::string_view text);

// The same in whole minutes, seconds rounded up as for --time. No time at all and the unlimited forms give
// `unlimited`.
Result<std::uint32_t> parse_limit_min(std::string_view text);

// How long something is kept, in hours: "12months" (of 30 days), "90days", "36hours"; a bare number is of months.
Result<std::uint32_t> parse_retention_h(std::string_view text);

std::string print_duration(std::int64_t seconds);       // squeue's %M: "5:00", "1-02:03:04"; negative: "INVALID"
std::string print_long_duration(std::int64_t seconds);  // scontrol's RunTime: always "00:05:00" or "1-02:03:04"
std::string print_limit(std::uint32_t minutes);         // squeue's %l: "5:00", "UNLIMITED", "NOT_SET"
std::string print_long_limit(std::uint32_t minutes);    // scontrol's TimeLimit: "00:05:00", "UNLIMITED"

// ---- moments -------------------------------------------------------------------------------------------------------

// What --begin, --deadline, -S and -E take: "now", "now+1hour", "16:00", "noon", "tomorrow", "010234",
// "12/25/26-08:00", "2026-11-16T21:17:00", "uts=1794864000". A time of day already past means tomorrow.
Result<UnixSeconds> parse_time(std::string_view text, UnixSeconds now);

// What -S and -E of sacct take: a time of day already past stays today's.
Result<UnixSeconds> parse_past_time(std::string_view text, UnixSeconds now);

std::string print_time(UnixSeconds time);  // "2026-11-16T21:17:00"; 0: "Unknown"

// As SLURM_TIME_FORMAT asks: "" or "standard", "relative" ("Tomorr 16:05"), or a strftime pattern. What is none of
// these prints as "standard", after the caller has complained about it.
bool is_time_format(const std::string& format);
std::string print_time(UnixSeconds time, UnixSeconds now, const std::string& format);

}  // namespace spur
