// What sstat was asked for. No I/O.
#pragma once

#include "cli/common/columns.hpp"
#include "cli/common/options.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::sstat {

struct Wanted {
    std::string job;                    // "12", "12_3", "12+1"
    std::optional<std::uint32_t> step;  // none: the first with a number, or all of them
    bool operator==(const Wanted&) const = default;
};

struct Options {
    std::vector<std::string> jobs;  // as typed
    bool all_steps = false;
    std::string format;
    bool pids = false;  // -i: a line a node
    TableStyle style = TableStyle::aligned;
    bool header = true;
    bool convert = true;
    bool help = false, help_format = false;
    int verbose = 0;
};
std::span<const OptionRow<Options>> option_table();

// "12,13.0,14.batch". Fails with the sentence Slurm's users know.
Result<std::vector<Wanted>> wanted_steps(const std::vector<std::string>& words);

}  // namespace spur::cli::sstat
