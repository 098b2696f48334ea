// What sacct was asked for. No I/O.
#pragma once

#include "cli/common/columns.hpp"
#include "cli/common/options.hpp"
#include "core/base/ids.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spur::cli::sacct {

struct Range {
    std::uint32_t least{}, most{};
};

enum class Show { table, json, scripts, environments };

struct Options {
    std::vector<std::string> jobs, users, groups, accounts, associations, partitions, states, names, qos, wckeys,
        reservations, clusters, constraints, reasons;
    std::string nodes;
    std::optional<Range> node_count, cpu_count;
    std::optional<std::uint32_t> limit_min, limit_max;
    std::optional<bool> whole_het;
    bool all_users = false;
    bool allocations = false;    // -X
    bool duplicates = false;     // -D
    bool expand_arrays = false;  // --array
    bool all_clusters = false;
    bool completion = false;  // -c
    bool local_uids = false;
    std::optional<std::string> start, end;
    bool truncate = false;  // -T
    std::string format;
    bool is_brief = false, is_long = false, has_format = false;
    TableStyle style = TableStyle::aligned;
    std::string delimiter = "|";
    bool header = true;
    Show show = Show::table;
    bool help_format = false;
    std::optional<char> units;  // K, M, G, T, P
    bool convert = true;        // false: as they are stored
    int verbose = 0;
    bool is_fatal = false;  // the mistake was one of those that Slurm calls fatal
};
std::span<const OptionRow<Options>> option_table();

// What options mean together: one that excludes another, or needs it.
Result<void> check(Options& options);

// The moments that -S and -E mean, and what they are without.
struct Window {
    UnixSeconds start{}, end{};  // `end` is part of it; 0: any
};
Result<Window> window_of(const Options& options, UnixSeconds now);
// What -v says of it: "Jobs Eligible in the time window from Epoch 0 to Wed Nov 18 15:00:53 2026".
std::string window_text(const Options& options, const Window& window, UnixSeconds now);

}  // namespace spur::cli::sacct
