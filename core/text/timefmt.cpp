// Parsing and printing durations, limits and moments.
#include "core/text/timefmt.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <optional>
#include <vector>

#include "core/text/lexical.hpp"

namespace spur {
namespace {

constexpr std::int64_t minute_s = 60;
constexpr std::int64_t hour_s = 60 * minute_s;
constexpr std::int64_t day_s = 24 * hour_s;
constexpr std::int64_t week_s = 7 * day_s;

// Larger than any limit anyone means, small enough that sums of four never overflow.
constexpr std::uint64_t largest_field = std::numeric_limits<std::uint32_t>::max();

std::unexpected<Error> bad_duration(std::string_view text) {
    return fail(
        ErrorCode::invalid,
        "{} is not a time; write minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, "
        "days-hours:minutes:seconds or UNLIMITED",
        quoted(text));
}

// "a:b:c" as numbers; empty if any of them is not one.
std::vector<std::int64_t> colon_fields(std::string_view text) {
    std::vector<std::int64_t> fields;
    for (const auto part : split(text, ':')) {
        const auto value = find_unsigned(part);
        if (!value || *value > largest_field) return {};
        fields.push_back(static_cast<std::int64_t>(*value));
    }
    return fields;
}

bool is_unlimited(std::string_view text) {
    return text == "-1" || equal_nocase(text, "INFINITE") || equal_nocase(text, "UNLIMITED");
}

}  // namespace

// ---- durations -----------------------------------------------------------------------------------------------------

Result<std::int64_t> parse_duration_s(std::string_view text) {
    if (is_unlimited(text)) return unlimited_s;
    std::int64_t days = 0;
    auto clock = text;
    const auto dash = text.find('-');
    if (dash != std::string_view::npos) {
        const auto value = find_unsigned(text.substr(0, dash));
        if (!value || *value > largest_field) return bad_duration(text);
        days = static_cast<std::int64_t>(*value);
        clock = text.substr(dash + 1);
        if (clock.empty()) return days * day_s;
    }
    auto fields = colon_fields(clock);
    if (fields.empty() || fields.size() > 3) return bad_duration(text);
    if (dash == std::string_view::npos && fields.size() < 3) fields.insert(fields.begin(), 0);  // minutes come first
    fields.resize(3);
    return days * day_s + fields[0] * hour_s + fields[1] * minute_s + fields[2];
}

Result<std::uint32_t> parse_limit_min(std::string_view text) {
    SPUR_TRY(const auto seconds, parse_duration_s(text));
    if (seconds == unlimited_s || seconds == 0) return unlimited;
    const auto minutes = (seconds + minute_s - 1) / minute_s;
    if (minutes >= no_value)
        return fail(ErrorCode::invalid, "{} is longer than any time limit can be; write UNLIMITED", quoted(text));
    return static_cast<std::uint32_t>(minutes);
}

Result<std::uint32_t> parse_retention_h(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = find_unsigned(text.substr(0, digits));
    constexpr std::uint32_t day_h = 24, month_h = 30 * day_h, most = 100 * 366 * day_h;
    constexpr std::pair<std::string_view, std::uint32_t> units[] = {
        {"", month_h}, {"months", month_h}, {"month", month_h}, {"days", day_h}, {"day", day_h}, {"hours", 1}, {"hour", 1}};
    for (const auto& [word, hours] : units)
        if (number && equal_nocase(text.substr(digits), word) && *number > 0 && *number <= most / hours)
            return static_cast<std::uint32_t>(*number) * hours;
    return fail(ErrorCode::invalid, "must be a time such as \"12months\", \"90days\" or \"36hours\", not {}", quoted(text));
}

std::string print_duration(std::int64_t seconds) {
    if (seconds < 0) return "INVALID";
    const auto days = seconds / day_s;
    const auto hours = seconds / hour_s % 24;
    const auto minutes = seconds / minute_s % 60;
    if (days > 0) return fmt::format("{}-{:02}:{:02}:{:02}", days, hours, minutes, seconds % 60);
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds % 60);
    return fmt::format("{}:{:02}", minutes, seconds % 60);
}

std::string print_long_duration(std::int64_t seconds) {
    if (seconds < 0) return "INVALID";
    const auto days = seconds / day_s;
    const auto clock = fmt::format("{:02}:{:02}:{:02}", seconds / hour_s % 24, seconds / minute_s % 60, seconds % 60);
    return days > 0 ? fmt::format("{}-{}", days, clock) : clock;
}

std::string print_limit(std::uint32_t minutes) {
    if (minutes == unlimited) return "UNLIMITED";
    if (minutes == no_value) return "NOT_SET";
    return print_duration(minutes * minute_s);
}

std::string print_long_limit(std::uint32_t minutes) {
    if (minutes == unlimited) return "UNLIMITED";
    if (minutes == no_value) return "NOT_SET";
    return print_long_duration(minutes * minute_s);
}

// ---- moments -------------------------------------------------------------------------------------------------------

namespace {

std::tm local(UnixSeconds time) {
    std::tm calendar{};
    const std::time_t value = time;
    localtime_r(&value, &calendar);
    return calendar;
}

int days_in_month(int year, int month) {
    constexpr std::array days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && is_leap ? 29 : days[month - 1];
}

struct Date {
    std::optional<int> year;  // absent: this one, or the next
    int month{};
    int day{};
};
struct Clock {
    int hour{};
    int minute{};
    int second{};
};

constexpr std::int64_t farthest_s = 100'000'000'000;  // about the year 5138: keeps arithmetic on users' numbers safe

// Reads dates, times of day and words in any order: "tomorrow 16:00", "12/25/26-08:00", "noon tomorrow".
class MomentParser {
public:
    MomentParser(std::string_view text, UnixSeconds now, bool prefers_past)
        : text_{text}, now_{now}, prefers_past_{prefers_past} {}

    Result<UnixSeconds> parse() {
        if (accept("uts=")) return finish_exact(number(10));
        if (accept("now")) return finish_exact(now_offset());
        skip_blanks();
        do {
            if (!read_word() && !read_clock() && !read_date()) return bad_time();
            skip_separators();
        } while (position_ < text_.size());
        return resolve();
    }

private:
    std::unexpected<Error> bad_time() const {
        return fail(ErrorCode::invalid, "Invalid time specification (pos={}): {}", position_, text_);
    }

    Result<UnixSeconds> finish_exact(std::optional<std::int64_t> moment) {
        skip_blanks();
        if (!moment || position_ != text_.size()) return bad_time();
        return *moment;
    }

    // what follows "now": nothing, or "+ 5 minutes"
    std::optional<std::int64_t> now_offset() {
        skip_blanks();
        if (position_ == text_.size()) return now_;
        const bool back = peek() == '-';
        if (!back && peek() != '+') return std::nullopt;
        ++position_;
        skip_blanks();
        const auto count = number(10);
        if (!count) return std::nullopt;
        skip_blanks();
        const auto unit = position_ == text_.size() ? 1 : unit_s();
        if (!unit || *count > farthest_s / *unit) return std::nullopt;
        return back ? now_ - *count * *unit : now_ + *count * *unit;
    }

    std::optional<std::int64_t> unit_s() {
        struct Unit {
            std::string_view name;
            std::int64_t seconds;
        };
        constexpr std::array units{Unit{"second", 1}, Unit{"minute", minute_s}, Unit{"hour", hour_s},
                                   Unit{"day", day_s}, Unit{"week", week_s}};
        for (const auto& [name, seconds] : units) {
            if (!accept(name)) continue;
            accept("s");
            return seconds;
        }
        return std::nullopt;
    }

    bool read_word() {
        struct Word {
            std::string_view name;
            std::optional<int> hour;
            std::optional<int> days_ahead;
        };
        constexpr std::array words{Word{"midnight", 0, {}}, Word{"noon", 12, {}}, Word{"fika", 15, {}},
                                   Word{"teatime", 16, {}}, Word{"today", {}, 0}, Word{"tomorrow", {}, 1}};
        for (const auto& [name, hour, days_ahead] : words) {
            const auto before = position_;
            if (!accept(name)) continue;
            if ((hour && clock_) || (days_ahead && (date_ || days_ahead_))) return position_ = before, false;
            if (hour) clock_ = Clock{.hour = *hour};
            if (days_ahead) days_ahead_ = days_ahead;
            return true;
        }
        return false;
    }

    // "16:00", "4:30PM", "23:59:59"
    bool read_clock() {
        const auto before = position_;
        const auto hour = number(2);
        if (!hour || clock_ || peek() != ':') return position_ = before, false;
        ++position_;
        const auto minute = exactly_two();
        std::optional<int> second = 0;
        if (peek() == ':') ++position_, second = exactly_two();
        if (!minute || !second) return false;
        auto clock = Clock{static_cast<int>(*hour), *minute, *second};
        skip_blanks();
        const bool is_pm = accept("pm");
        if (is_pm || accept("am")) {
            if (clock.hour > 12) return position_ = before, false;
            clock.hour = clock.hour % 12 + (is_pm ? 12 : 0);
        }
        if (clock.hour > 23 || clock.minute > 59 || clock.second > 59) return position_ = before, false;
        clock_ = clock;
        return true;
    }

    // "2026-12-25", "12/25/26", "12.25", "122526", "1225"
    bool read_date() {
        const auto before = position_;
        std::size_t digits = 0;
        while (is_digit(peek(digits))) ++digits;
        if (date_ || days_ahead_) return false;
        Date date;
        const auto after = peek(digits);
        if (digits == 4 && after == '-') {
            date.year = static_cast<int>(*number(4));
            ++position_;
            if (!read_month_and_day(date, '-')) return position_ = before, false;
        } else if (digits == 6 || digits == 4) {
            date.month = *exactly_two();
            date.day = *exactly_two();
            if (digits == 6) date.year = 2000 + *exactly_two();
        } else {
            const auto separator = after == '.' ? '.' : '/';
            if (!read_month_and_day(date, separator)) return position_ = before, false;
            if (peek() == separator) {
                ++position_;
                const auto year = exactly_two();
                if (!year) return false;
                date.year = 2000 + *year;
            }
        }
        const int year = date.year.value_or(2000);  // a leap year: 29 February may be meant
        if (date.month < 1 || date.month > 12 || date.day < 1 || date.day > days_in_month(year, date.month))
            return position_ = before, false;
        date_ = date;
        return true;
    }

    bool read_month_and_day(Date& date, char separator) {
        const auto month = number(2);
        if (!month || peek() != separator) return false;
        ++position_;
        const auto day = number(2);
        if (!day) return false;
        date.month = static_cast<int>(*month);
        date.day = static_cast<int>(*day);
        return true;
    }

    Result<UnixSeconds> resolve() const {
        auto calendar = local(now_);
        const auto clock = clock_.value_or(Clock{});
        calendar.tm_hour = clock.hour;
        calendar.tm_min = clock.minute;
        calendar.tm_sec = clock.second;
        if (days_ahead_) calendar.tm_mday += *days_ahead_;
        if (date_) {
            calendar.tm_mon = date_->month - 1;
            calendar.tm_mday = date_->day;
            if (date_->year) calendar.tm_year = *date_->year - 1900;
        }
        const auto moment = seconds_of(calendar);
        if (prefers_past_ || moment >= now_) return moment;
        if (date_ && !date_->year) ++calendar.tm_year;
        if (!date_ && !days_ahead_) ++calendar.tm_mday;
        return seconds_of(calendar);
    }

    static UnixSeconds seconds_of(std::tm calendar) {
        calendar.tm_isdst = -1;
        return std::mktime(&calendar);
    }

    char peek(std::size_t ahead = 0) const {
        return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
    }
    void skip_blanks() {
        while (is_blank(peek())) ++position_;
    }
    void skip_separators() {
        skip_blanks();
        if (!date_ || (peek() != 'T' && peek() != 't' && peek() != '-')) return;
        if (is_digit(peek(1)) || position_ + 1 == text_.size()) ++position_;
    }
    bool accept(std::string_view word) {
        if (!equal_nocase(text_.substr(position_, word.size()), word)) return false;
        position_ += word.size();
        return true;
    }
    std::optional<std::int64_t> number(std::size_t max_digits) {
        std::size_t digits = 0;
        while (digits < max_digits && is_digit(peek(digits))) ++digits;
        const auto value = find_unsigned(text_.substr(position_, digits));
        if (!value) return std::nullopt;
        position_ += digits;
        return static_cast<std::int64_t>(*value);
    }
    std::optional<int> exactly_two() {
        if (!is_digit(peek()) || !is_digit(peek(1))) return std::nullopt;
        return static_cast<int>(*number(2));
    }

    std::string_view text_;
    UnixSeconds now_;
    bool prefers_past_;
    std::size_t position_{};
    std::optional<Date> date_;
    std::optional<Clock> clock_;
    std::optional<int> days_ahead_;
};

std::string format_time(const std::tm& calendar, const char* format) {
    std::array<char, 64> buffer{};
    const auto length = std::strftime(buffer.data(), buffer.size(), format, &calendar);
    return {buffer.data(), length};
}

std::string print_relative(const std::tm& calendar, const std::tm& today) {
    if (calendar.tm_year != today.tm_year)
        return fmt::format("{} {}", calendar.tm_mday, format_time(calendar, "%b %Y"));
    switch (calendar.tm_yday - today.tm_yday) {
        case -1:
            return format_time(calendar, "Ystday %H:%M");
        case 0:
            return format_time(calendar, "%H:%M:%S");
        case 1:
            return format_time(calendar, "Tomorr %H:%M");
        case 2:
        case 3:
        case 4:
        case 5:
        case 6:
            return format_time(calendar, "%a %H:%M");
        default:
            return fmt::format("{} {}", calendar.tm_mday, format_time(calendar, "%b %H:%M"));
    }
}

}  // namespace

Result<UnixSeconds> parse_time(std::string_view text, UnixSeconds now) {
    return MomentParser{text, now, false}.parse();
}

Result<UnixSeconds> parse_past_time(std::string_view text, UnixSeconds now) {
    return MomentParser{text, now, true}.parse();
}

std::string print_time(UnixSeconds time) {
    return time == 0 ? "Unknown" : format_time(local(time), "%Y-%m-%dT%H:%M:%S");
}

bool is_time_format(const std::string& format) {
    if (format.empty() || format == "standard" || format == "relative") return true;
    return format.find('%') != std::string::npos && !format_time(local(day_s), format.c_str()).empty();
}

std::string print_time(UnixSeconds time, UnixSeconds now, const std::string& format) {
    if (time == 0 || format.empty() || format == "standard" || !is_time_format(format)) return print_time(time);
    if (format == "relative") return print_relative(local(time), local(now));
    return format_time(local(time), format.c_str());
}

}  // namespace spur
