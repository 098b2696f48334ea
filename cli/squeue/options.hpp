// What the user asked of squeue.
#pragma once

#include "cli/common/options.hpp"
#include "cli/squeue/query.hpp"

#include <optional>
#include <string>
#include <vector>

namespace spur::cli::squeue {

struct Options {
    Query query;
    std::optional<std::string> clusters;     // -M
    std::optional<std::string> format;       // -o
    std::optional<std::string> long_format;  // -O
    bool format_typed = false;               // on the command line, not from the environment
    std::optional<std::string> sort;
    std::string node_list;  // -w, checked against the cluster's nodes later
    std::vector<std::string> unknown_users;
    unsigned iterate_s = 0;
    bool steps = false;
    bool long_listing = false;
    bool start = false;
    bool header = true;
    bool convert_units = true;
    bool per_partition = false;  // -P
    bool json = false;
    int verbose = 0;
};

std::span<const OptionRow<Options>> option_table();

// `-j 12` and `-s 12.0` mean `-j12`: their argument may be left out, which getopt reads differently.
void join_optional_arguments(std::vector<std::string>& words);

// What the options together mean; refuses combinations Slurm refuses.
Result<void> combine(Options& options);

}  // namespace spur::cli::squeue
