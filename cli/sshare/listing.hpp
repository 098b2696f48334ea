// sshare's options and its output as text. No I/O.
#pragma once

#include "cli/common/columns.hpp"
#include "cli/common/options.hpp"
#include "spur/v1/accounts.pb.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spur::cli::sshare {

struct Options {
    std::vector<std::string> accounts;
    std::vector<std::string> users;
    std::optional<std::string> format;
    bool all = false;
    bool long_listing = false;
    bool partitions = false;
    bool only_users = false;
    bool header = true;
    bool help_format = false;
    TableStyle style = TableStyle::aligned;
    int verbose = 0;
};
std::span<const OptionRow<Options>> option_table();

// The names --helpformat lists.
std::string field_names();
// `self` is whose lines are shown where nobody else is asked for.
Result<std::string> print_listing(const Options& options, const v1::ListSharesReply& reply, const std::string& self);

}  // namespace spur::cli::sshare
