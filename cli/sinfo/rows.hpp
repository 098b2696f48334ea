// What one line of sinfo is about: some nodes of a partition that look alike in every column asked for.
#pragma once

#include "cli/common/format.hpp"
#include "daemons/common/records/node.hpp"
#include "daemons/common/records/partition.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::sinfo {

struct Group {
    const v1::Partition& partition;
    std::size_t partition_index;         // as configured
    std::vector<const v1::Node*> nodes;  // empty: a partition none of whose nodes is asked for
    const records::Context& in;
};

// What a column shows of several nodes. `total`: one value for all of them, however they are. `alike`: nodes with
// different values are on different lines. The other two are so with --exact only, else the line shows the least, with
// a plus sign if there is more, or the least and the most.
enum class Match { total, alike, least, range };

// A field of the line's partition, of its nodes, or one of the line as a whole.
struct GroupField {
    using ViewType = Group;
    records::Listing listing;
    Match match;
    const records::PartitionField* partition = nullptr;
    const records::NodeField* node = nullptr;
    records::Value (*own)(const Group& group) = nullptr;

    records::Value sort_key(const Group& group) const;
};
std::span<const GroupField> group_fields();
std::string group_text(const GroupField& field, const Group& group, bool* is_null = nullptr);

inline const records::Listing& listing_of(const GroupField& field) { return field.listing; }
inline void put_field(std::string& line, const GroupField& field, const Group& group, const Layout& layout) {
    bool is_null = false;
    const auto text = group_text(field, group, &is_null);
    put_cell(line, text, is_null, layout, field.listing.cut);
}

// The letters of "%all", in Slurm's order.
inline constexpr std::string_view all_letters = "abcdefghlmnoprstuvwzABCDEFGHILMNOPRSTUVXYZ";

}  // namespace spur::cli::sinfo
