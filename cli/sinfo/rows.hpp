// What one line of sinfo is about: some nodes of a partition that look alike in every column asked for.
#pragma once

#include "cli/common/format.hpp"
#include "spur/v1/cluster.pb.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::sinfo {

struct Listing {
    std::int64_t now = 0;
    bool convert_units = true;
};

struct Group {
    const v1::Partition* partition = nullptr;
    std::size_t partition_index = 0;     // as configured
    std::vector<const v1::Node*> nodes;  // empty: a partition none of whose nodes is asked for
    const Listing* listing = nullptr;
};

// How a column divides nodes into lines. `total`: not at all, the line shows a sum or a list. `alike`: nodes with
// different values are on different lines. `alike_if_exact`: only with --exact, else the line shows the least, with a
// plus sign if there is more.
enum class Match { total, alike, alike_if_exact };

struct NodeField {
    Field<Group> field;
    Match match;
};
std::span<const NodeField> node_fields();
std::vector<Field<Group>> plain_fields();  // the same without their matches, in the same order

// The letters of "%all", in Slurm's order.
inline constexpr std::string_view all_letters = "abcdefghlmnoprstuvwzABCDEFGHILMNOPRSTUVXYZ";

}  // namespace spur::cli::sinfo
