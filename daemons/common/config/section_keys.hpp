// The keys of every section but [[nodes]] and [[partitions]].
#pragma once

#include <span>
#include <string_view>

#include "daemons/common/config/sections.hpp"

namespace spur::config {

struct Draft {
    Config& config;
    Drafts& drafts;
    Policies& policies;
};

struct Section {
    std::string_view name;  // "": the top level
    std::span<const Key<Draft>> keys;
};
std::span<const Section> sections();  // the top level first

std::span<const std::string_view> axis_names();
bool is_type_of(std::string_view axis, std::string_view type);  // "sched/backfill" is one of "sched"

}  // namespace spur::config
