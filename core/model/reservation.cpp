// Reservations: how their flags are written.
#include "core/model/reservation.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/model/job_spec.hpp"
#include "core/text/timefmt.hpp"

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

std::string print_reservation_flags(std::uint64_t flags, std::uint32_t purge_s) {
    std::string text;
    for (const auto& name : names) {
        if (!(flags & name.flag)) continue;
        text.append(text.empty() ? "" : ",").append(name.shown);
        if (name.flag == reservation_flag::purge_comp && purge_s != 0) text += "=" + print_long_duration(purge_s);
    }
    return text;
}

// Monday is 0. Calendar days are UTC's, so that every controller agrees.
std::int64_t Reservation::gap_after(UnixSeconds start) const {
    using namespace reservation_flag;
    constexpr std::int64_t day = 86'400;
    if (has(hourly)) return 3'600;
    if (has(daily)) return day;
    if (has(weekly)) return 7 * day;
    if (!has(weekday) && !has(weekend)) return 0;
    const auto is_weekend = [](UnixSeconds time) { return (time / day + 3) % 7 >= 5; };
    std::int64_t gap = day;
    while (is_weekend(start + gap) != has(weekend)) gap += day;
    return gap;
}

bool Reservation::holds_between(UnixSeconds from, UnixSeconds until) const {
    constexpr int most = 1'000;  // repetitions that are looked at
    auto start = start_time, end = end_time;
    for (int i = 0; i < most; ++i) {
        if (until && start >= until) return false;
        if (end > from) return true;
        const auto gap = gap_after(start);
        if (gap == 0) return false;
        start += gap;
        end += gap;
    }
    return false;
}

Result<std::uint64_t> parse_reservation_flags(std::string_view text, std::uint32_t* purge_s) {
    std::uint64_t flags = 0;
    while (!text.empty()) {
        const auto comma = std::min(text.find(','), text.size());
        auto word = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        if (word.empty()) continue;
        if (const auto equals = word.find('='); equals != std::string_view::npos) {
            const auto time = parse_duration_s(word.substr(equals + 1));
            if (purge_s == nullptr || !same_word(word.substr(0, equals), "PURGE_COMP") || !time || *time < 0)
                return fail(ErrorCode::invalid, "Error parsing flags {}", word);
            *purge_s = static_cast<std::uint32_t>(*time);
            word = word.substr(0, equals);
        }
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

bool Reservation::admits(const JobSpec& spec) const {
    if (spec.uid == 0 && users.empty() && groups.empty() && accounts.empty()) return true;
    const auto is_listed = [](const auto& list, const auto& one) { return std::ranges::find(list, one) != list.end(); };
    const bool user_listed = is_listed(users, spec.user_name);
    const bool account_listed = is_listed(accounts, spec.account);
    if (deny_users ? user_listed : !users.empty() && !user_listed) return false;
    if (!groups.empty() && !is_listed(group_members, spec.uid)) return false;
    return deny_accounts ? !account_listed : accounts.empty() || account_listed;
}

}  // namespace spur
