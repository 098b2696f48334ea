// What sreport was asked for: options, the report, and its conditions. No I/O.
#pragma once

#include "cli/common/columns.hpp"
#include "cli/common/options.hpp"
#include "core/base/ids.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spur::cli::sreport {

using Names = std::vector<std::string>;

enum class TimeFormat { seconds, minutes, hours, percent, seconds_percent, minutes_percent, hours_percent };

struct Options {
    bool all_clusters = false;
    bool federation = false;
    Names clusters;
    TableStyle style = TableStyle::aligned;
    bool header = true;
    bool quiet = false;
    TimeFormat time = TimeFormat::minutes;
    Names tres;  // empty: cpu
};
std::span<const OptionRow<Options>> option_table();
Result<TimeFormat> parse_time_format(std::string_view text);

// "start=2026-11-16 accounts=physics tree".
struct Conditions {
    UnixSeconds start{}, end{};  // full hours; the end is not included
    Names clusters, accounts, users, wckeys, names, partitions, groups, jobs, nodes;
    std::optional<std::string> format;
    Names grouping;
    bool all_clusters = false, tree = false, group = false, flat = false, as_parent = false, count_jobs = false;
    std::uint32_t top = 10;
};
Result<Conditions> read_conditions(std::span<const std::string> words, UnixSeconds now);

// A number of seconds as the time format has it; `total` is what percentages are of.
std::string print_seconds(double seconds, double total, TimeFormat format);
std::string unit_of(TimeFormat format);  // "Minutes", "Hours/Percentage of Total"
bool has_percent(TimeFormat format);

}  // namespace spur::cli::sreport
