// What the user asked of sinfo.
#pragma once

#include "cli/common/options.hpp"
#include "core/text/hostlist.hpp"
#include "spur/v1/cluster.pb.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::sinfo {

// --states: alternatives separated by commas, each a set joined by '&' that must all hold.
class StateFilter {
public:
    static Result<StateFilter> parse(std::string_view text);
    bool accepts(const v1::Node& node) const;

private:
    std::vector<std::vector<std::string>> alternatives_;  // lower case, known words
};

struct Options {
    std::optional<std::string> clusters;     // -M
    std::optional<std::string> format;       // -o
    std::optional<std::string> long_format;  // -O
    std::optional<std::string> sort;
    std::optional<StateFilter> states;
    std::optional<HostSet> nodes;
    std::vector<std::string> partitions;
    unsigned iterate_s = 0;
    bool all_partitions = false;
    bool by_node = false;  // -N
    bool exact = false;
    bool dead = false;
    bool responding = false;
    bool long_listing = false;
    bool summarize = false;
    bool reasons = false;       // -R
    bool reservations = false;  // -T
    bool header = true;
    bool json = false;
    bool convert_units = true;
};

std::span<const OptionRow<Options>> option_table();

}  // namespace spur::cli::sinfo
