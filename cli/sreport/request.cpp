// Tables of options and conditions.
#include "cli/sreport/request.hpp"

#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace spur::cli::sreport {
namespace {

using Set = Result<void>;

void add_list(Names& names, std::string_view text) {
    for (const auto part : split(text, ','))
        if (const auto name = trim(part); !name.empty()) names.emplace_back(name);
}

constexpr OptionRow<Options> table[] = {
    {"all_clusters", 'a', Argument::none, nullptr, "every cluster that spurdbd knows, not only this one",
     [](Options& o, const char*) -> Set { return o.all_clusters = true, Set{}; }},
    {"cluster", 'M', Argument::required, "name[,...]", "clusters to report on",
     [](Options& o, const char* value) -> Set { return add_list(o.clusters, value), Set{}; }, "SREPORT_CLUSTER"},
    {"federation", 0, Argument::none, nullptr, nullptr,
     [](Options&, const char*) -> Set {
         return fail(ErrorCode::invalid, "there are no federations here; name clusters with -M");
     }},
    {"local", 0, Argument::none, nullptr, "this cluster; there are no federations here",
     [](Options&, const char*) -> Set { return {}; }},
    {"noheader", 'n', Argument::none, nullptr, "no header in the output",
     [](Options& o, const char*) -> Set { return o.header = false, Set{}; }},
    {"parsable", 'p', Argument::none, nullptr, "output is '|' delimited with a '|' at the end",
     [](Options& o, const char*) -> Set { return o.style = TableStyle::bars, Set{}; }},
    {"parsable2", 'P', Argument::none, nullptr, "output is '|' delimited without a '|' at the end",
     [](Options& o, const char*) -> Set { return o.style = TableStyle::bars_between, Set{}; }},
    {"quiet", 'Q', Argument::none, nullptr, "print nothing but errors",
     [](Options& o, const char*) -> Set { return o.quiet = true, Set{}; }},
    {"time", 't', Argument::required, "format", "SecPer, MinPer, HourPer, Seconds, Minutes, Hours or Percent",
     [](Options& o, const char* value) -> Set {
         SPUR_TRY(o.time, parse_time_format(value));
         return {};
     }},
    {"tres", 'T', Argument::required, "name[,...]", "resources to report on, or ALL; cpu by default",
     [](Options& o, const char* value) -> Set { return o.tres.clear(), add_list(o.tres, lower(value)), Set{}; },
     "SREPORT_TRES"},
    {"verbose", 'v', Argument::none, nullptr, nullptr, [](Options&, const char*) -> Set { return {}; }},
};

constexpr std::pair<std::string_view, TimeFormat> time_formats[] = {
    {"secper", TimeFormat::seconds_percent}, {"minper", TimeFormat::minutes_percent},
    {"hourper", TimeFormat::hours_percent},  {"seconds", TimeFormat::seconds},
    {"minutes", TimeFormat::minutes},        {"hours", TimeFormat::hours},
    {"percent", TimeFormat::percent}};

struct ListCondition {
    std::string_view word;
    std::size_t least;  // letters that are enough
    Names Conditions::*list;
};
constexpr ListCondition lists[] = {{"clusters", 1, &Conditions::clusters},
                                   {"accounts", 2, &Conditions::accounts},
                                   {"users", 1, &Conditions::users},
                                   {"wckeys", 1, &Conditions::wckeys},
                                   {"names", 2, &Conditions::names},
                                   {"nodes", 2, &Conditions::nodes},
                                   {"partitions", 2, &Conditions::partitions},
                                   {"gid", 2, &Conditions::groups},
                                   {"jobs", 1, &Conditions::jobs},
                                   {"grouping", 2, &Conditions::grouping}};

struct FlagCondition {
    std::string_view word;
    std::size_t least;
    bool Conditions::*flag;
};
constexpr FlagCondition flags[] = {{"all_clusters", 3, &Conditions::all_clusters},
                                   {"tree", 2, &Conditions::tree},
                                   {"group", 5, &Conditions::group},
                                   {"flatview", 2, &Conditions::flat},
                                   {"acctasparent", 5, &Conditions::as_parent},
                                   {"printjobcount", 2, &Conditions::count_jobs}};

bool means(std::string_view typed, std::string_view word, std::size_t least) {
    return typed.size() >= std::min(least, word.size()) && word.starts_with(typed);
}

UnixSeconds midnight(UnixSeconds now, int days) {
    const auto seconds = static_cast<std::time_t>(now);
    std::tm fields{};
    ::localtime_r(&seconds, &fields);
    fields.tm_hour = fields.tm_min = fields.tm_sec = 0;
    fields.tm_mday += days;
    fields.tm_isdst = -1;
    return std::mktime(&fields);
}

}  // namespace

std::span<const OptionRow<Options>> option_table() { return table; }

Result<TimeFormat> parse_time_format(std::string_view text) {
    const auto typed = lower(text);
    for (const auto& [word, format] : time_formats)
        if (!typed.empty() && word.starts_with(typed)) return format;
    return fail(ErrorCode::invalid, "unknown time format {}", text);
}

Result<Conditions> read_conditions(std::span<const std::string> words, UnixSeconds now) {
    Conditions conditions;
    conditions.start = midnight(now, -1);
    conditions.end = midnight(now, 0);
    for (const auto& word : words) {
        const auto equals = word.find('=');
        const auto name = lower(word.substr(0, equals));
        const auto value = equals == std::string::npos ? std::string_view{} : std::string_view{word}.substr(equals + 1);
        if (equals == std::string::npos) {
            const auto* flag =
                std::ranges::find_if(flags, [&](const auto& one) { return means(name, one.word, one.least); });
            if (flag == std::end(flags)) return fail(ErrorCode::invalid, "Unknown condition: {}", word);
            conditions.*flag->flag = true;
            continue;
        }
        if (means(name, "start", 1) || means(name, "end", 1)) {
            SPUR_TRY(auto time, parse_past_time(value, now));
            (name.front() == 's' ? conditions.start : conditions.end) = time;
        } else if (means(name, "format", 1)) {
            conditions.format = value;
        } else if (means(name, "topcount", 2)) {
            const auto count = find_unsigned(value);
            if (!count || *count == 0 || *count > 1'000'000)
                return fail(ErrorCode::invalid, "topcount={} is not a count", value);
            conditions.top = static_cast<std::uint32_t>(*count);
        } else {
            const auto* list =
                std::ranges::find_if(lists, [&](const auto& one) { return means(name, one.word, one.least); });
            if (list == std::end(lists)) return fail(ErrorCode::invalid, "Unknown condition: {}", word);
            add_list(conditions.*list->list, value);
        }
    }
    constexpr UnixSeconds hour_s = 3600;
    conditions.start -= conditions.start % hour_s;
    conditions.end -= conditions.end % hour_s;
    if (conditions.end <= conditions.start) conditions.end = conditions.start + hour_s;
    return conditions;
}

bool has_percent(TimeFormat format) { return format >= TimeFormat::percent; }

std::string unit_of(TimeFormat format) {
    switch (format) {
        case TimeFormat::seconds:
            return "Seconds";
        case TimeFormat::minutes:
            return "Minutes";
        case TimeFormat::hours:
            return "Hours";
        case TimeFormat::percent:
            return "Percentage of Total";
        case TimeFormat::seconds_percent:
            return "Seconds/Percentage of Total";
        case TimeFormat::minutes_percent:
            return "Minutes/Percentage of Total";
        case TimeFormat::hours_percent:
            return "Hours/Percentage of Total";
    }
    return {};
}

std::string print_seconds(double seconds, double total, TimeFormat format) {
    const auto percent = fmt::format("{:.2f}%", total > 0 ? seconds / total * 100 : 0.0);
    switch (format) {
        case TimeFormat::seconds:
            return fmt::format("{:.0f}", seconds);
        case TimeFormat::minutes:
            return fmt::format("{:.0f}", seconds / 60);
        case TimeFormat::hours:
            return fmt::format("{:.0f}", seconds / 3600);
        case TimeFormat::percent:
            return percent;
        case TimeFormat::seconds_percent:
            return fmt::format("{:.0f}({})", seconds, percent);
        case TimeFormat::minutes_percent:
            return fmt::format("{:.0f}({})", seconds / 60, percent);
        case TimeFormat::hours_percent:
            return fmt::format("{:.0f}({})", seconds / 3600, percent);
    }
    return {};
}

}  // namespace spur::cli::sreport
