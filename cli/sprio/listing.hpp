// sprio's options and its output as text. No I/O.
#pragma once

#include "cli/common/options.hpp"
#include "spur/v1/accounts.pb.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spur::cli::sprio {

struct Options {
    std::optional<std::vector<std::uint32_t>> jobs;
    std::optional<std::vector<std::uint32_t>> users;  // uids
    std::vector<std::string> unknown_users;
    std::vector<std::string> partitions;
    std::optional<std::string> format;
    std::optional<std::string> sort;
    bool header = true;
    bool long_listing = false;
    bool normalised = false;
    bool weights = false;
    int verbose = 0;
};
std::span<const OptionRow<Options>> option_table();

// "12,13" of -j, which was given.
Result<void> add_jobs(Options& options, const char* value);

struct Printed {
    std::string text;
    std::vector<std::string> complaints;
};
Printed print_listing(const Options& options, const v1::ListPrioritiesReply& reply);

}  // namespace spur::cli::sprio
