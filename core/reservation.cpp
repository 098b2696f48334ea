// Reservations: how their flags are written.
#include "core/reservation.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace spur {

namespace {

struct FlagName {
    std::uint64_t flag;
    std::string_view shown;
    std::string_view typed;  // another spelling users may type
};
// In the order in which scontrol prints them.
constexpr std::array names{
    FlagName{reservation_flag::maint, "MAINT", "MAINTENANCE"},
    FlagName{reservation_flag::flex, "FLEX", ""},
    FlagName{reservation_flag::overlap, "OVERLAP", ""},
    FlagName{reservation_flag::ignore_jobs, "IGNORE_JOBS", "IGNORE_RUNNING_JOBS"},
    FlagName{reservation_flag::hourly, "HOURLY", ""},
    FlagName{reservation_flag::daily, "DAILY", ""},
    FlagName{reservation_flag::weekday, "WEEKDAY", ""},
    FlagName{reservation_flag::weekend, "WEEKEND", ""},
    FlagName{reservation_flag::weekly, "WEEKLY", ""},
    FlagName{reservation_flag::spec_nodes, "SPEC_NODES", ""},
    FlagName{reservation_flag::all_nodes, "ALL_NODES", ""},
    FlagName{reservation_flag::any_nodes, "ANY_NODES", "LICENSE_ONLY"},
    FlagName{reservation_flag::static_alloc, "STATIC", "STATIC_ALLOC"},
    FlagName{reservation_flag::part_nodes, "PART_NODES", ""},
    FlagName{reservation_flag::first_cores, "FIRST_CORES", ""},
    FlagName{reservation_flag::time_float, "TIME_FLOAT", ""},
    FlagName{reservation_flag::replace, "REPLACE", ""},
    FlagName{reservation_flag::replace_down, "REPLACE_DOWN", ""},
    FlagName{reservation_flag::purge_comp, "PURGE_COMP", ""},
    FlagName{reservation_flag::no_hold_jobs_after, "NO_HOLD_JOBS_AFTER_END", "NO_HOLD_JOBS_AFTER"},
    FlagName{reservation_flag::magnetic, "MAGNETIC", ""},
};

bool same_word(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b,
                              [](unsigned char x, unsigned char y) { return std::toupper(x) == std::toupper(y); });
}

}  // namespace

std::string print_reservation_flags(std::uint64_t flags) {
    std::string text;
    for (const auto& name : names)
        if (flags & name.flag) text.append(text.empty() ? "" : ",").append(name.shown);
    return text;
}

Result<std::uint64_t> parse_reservation_flags(std::string_view text) {
    std::uint64_t flags = 0;
    while (!text.empty()) {
        const auto comma = std::min(text.find(','), text.size());
        const auto word = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        if (word.empty()) continue;
        const auto place = std::ranges::find_if(names, [&](const FlagName& name) {
            return same_word(word, name.shown) || (!name.typed.empty() && same_word(word, name.typed));
        });
        const bool settable = place != names.end() && place->flag != reservation_flag::spec_nodes &&
                              place->flag != reservation_flag::all_nodes;
        if (!settable) return fail(ErrorCode::invalid, "Error parsing flags {}", word);
        flags |= place->flag;
    }
    return flags;
}

}  // namespace spur
