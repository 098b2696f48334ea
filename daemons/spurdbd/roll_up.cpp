// From rows to sums, and back.
#include "daemons/spurdbd/roll_up.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "core/text/lexical.hpp"
#include "daemons/common/history/row_buffer.hpp"
#include "daemons/common/history/row_message.hpp"

namespace spur::dbd {
namespace {

using history::number_in;
using history::RowMessage;
using history::text_in;
using history::tres_in;

constexpr UnixSeconds oldest_mark = 0;  // the "hour" under which it is stored before when hours are left alone
constexpr UnixSeconds longest_step = 24 * hour_s;        // summed up at once
constexpr UnixSeconds longest_back = 400 * 24 * hour_s;  // what a controller has held for longer is of a wrong clock

std::tm local(UnixSeconds time) {
    std::tm fields{};
    const auto seconds = static_cast<std::time_t>(time);
    ::localtime_r(&seconds, &fields);
    fields.tm_hour = fields.tm_min = fields.tm_sec = 0;
    return fields;
}
UnixSeconds moment(std::tm fields) {
    fields.tm_isdst = -1;
    return std::mktime(&fields);
}

UsageKey key_of(const v1::HistoryRow& row) {
    return {text_in(row, "account"), text_in(row, "user_name"), text_in(row, "qos"), text_in(row, "wckey"),
            text_in(row, "tres")};
}
Usage usage_of(const v1::HistoryRow& row) {
    return {number_in(row, "allocated_s"), number_in(row, "planned_s"),      number_in(row, "idle_s"),
            number_in(row, "down_s"),      number_in(row, "planned_down_s"), number_in(row, "over_s"),
            number_in(row, "count")};
}
RunRecord run_of(const v1::HistoryRow& row) {
    RunRecord run{text_in(row, "account"),        text_in(row, "user_name"),     text_in(row, "qos"),
                  text_in(row, "wckey"),          text_in(row, "reservation"),   number_in(row, "eligible_time"),
                  number_in(row, "start_time"),   number_in(row, "end_time"),    number_in(row, "suspended_s"),
                  tres_in(row, "tres_allocated"), tres_in(row, "tres_requested")};
    if (run.user.empty()) run.user = std::to_string(number_in(row, "uid"));
    return run;
}

// From when on the sums may be different: of a job that was suspended from its start on, since that counts at its end.
UnixSeconds changed_since(const v1::HistoryEntry& entry) {
    const auto at = entry.since() != 0 ? entry.since() : entry.at();
    const auto& job = entry.job().job();
    return job.suspended_s() != 0 && job.start_time() != 0 ? std::min(at, job.start_time()) : at;
}

// Open ended as well; what has no start never was.
Query overlapping(std::uint32_t table, const std::string& cluster, UnixSeconds from, UnixSeconds until) {
    Query query;
    query.table = table;
    query.cluster = cluster;
    query.conditions.push_back({.name = "start_time", .test = SPUR_TEST_OVERLAPS, .numbers = {from, until}});
    return query;
}

}  // namespace

v1::HistoryRow usage_row(std::string_view period, UnixSeconds start, const UsageKey& key, const Usage& usage) {
    v1::HistoryRow row;
    RowMessage{row, SPUR_ROW_USAGE}
        .text("period", period)
        .number("start_time", start)
        .text("account", key.account)
        .text("user_name", key.user)
        .text("qos", key.qos)
        .text("wckey", key.wckey)
        .text("tres", key.tres)
        .number("allocated_s", usage.allocated)
        .number("planned_s", usage.planned)
        .number("idle_s", usage.idle)
        .number("down_s", usage.down)
        .number("planned_down_s", usage.planned_down)
        .number("over_s", usage.over)
        .number("count", usage.count);
    return row;
}

UnixSeconds day_of(UnixSeconds time) { return moment(local(time)); }
UnixSeconds next_day(UnixSeconds day) {
    auto fields = local(day);
    ++fields.tm_mday;
    return moment(fields);
}
UnixSeconds month_of(UnixSeconds time) {
    auto fields = local(time);
    fields.tm_mday = 1;
    return moment(fields);
}
UnixSeconds next_month(UnixSeconds month) {
    auto fields = local(month);
    fields.tm_mday = 1;
    ++fields.tm_mon;
    return moment(fields);
}

Result<void> RollUp::load() {
    const std::lock_guard lock{mutex_};
    stamp_ = std::chrono::system_clock::now().time_since_epoch().count();
    Query query;
    query.table = SPUR_ROW_ROLLUP;
    SPUR_CHECK(database_.query(query, [&](const spur_row& row) {
        const auto mark = history::read_row(row);
        auto& hours = clusters_[mark.cluster()];
        const auto hour = number_in(mark, "start_time"), stamp = number_in(mark, "stamp"),
                   done = number_in(mark, "done");
        if (hour == oldest_mark) {
            hours.oldest = stamp;
            return;
        }
        if (done != 0) hours.last = std::max(hours.last, hour);
        if (stamp > done) hours.open[hour] = stamp;
    }));
    return {};
}

Result<std::uint32_t> RollUp::store(const v1::StoreHistoryRequest& request, UnixSeconds now) {
    const std::shared_lock lock{storing_};
    auto since = now;
    for (const auto& entry : request.entries()) since = std::min(since, changed_since(entry));
    since = std::max(since, now - longest_back);
    SPUR_TRY(const auto set_aside, database_.store(request, marks(request.cluster(), since, now)));
    stored(request.cluster(), since, now);
    return set_aside;
}

Result<void> RollUp::store_rows(const std::string& cluster, std::vector<v1::HistoryRow> rows, UnixSeconds since,
                                UnixSeconds now) {
    const std::shared_lock lock{storing_};
    for (auto& mark : marks(cluster, since, now)) rows.push_back(std::move(mark));
    SPUR_CHECK(database_.store_rows(cluster, rows));
    stored(cluster, since, now);
    return {};
}

std::vector<v1::HistoryRow> RollUp::marks(const std::string& cluster, UnixSeconds since, UnixSeconds now) {
    const std::lock_guard lock{mutex_};
    const auto& [open, last, oldest] = clusters_[cluster];
    std::vector<v1::HistoryRow> rows;
    for (auto hour = hour_of(std::max(since, oldest)); hour <= now; hour += hour_s)
        if (!open.contains(hour))
            RowMessage{rows.emplace_back(), SPUR_ROW_ROLLUP}.number("start_time", hour).number("stamp", stamp_ + 1);
    return rows;
}

void RollUp::stored(const std::string& cluster, UnixSeconds since, UnixSeconds now) {
    const std::lock_guard lock{mutex_};
    auto& hours = clusters_[cluster];
    for (auto hour = hour_of(std::max(since, hours.oldest)); hour <= now; hour += hour_s)
        hours.open.try_emplace(hour, stamp_ + 1);
}

Result<void> RollUp::leave_alone_before(const std::string& cluster, UnixSeconds before) {
    const auto first = hour_of(before + hour_s - 1);  // the hour that it is within is not whole either
    v1::HistoryRow row;
    RowMessage{row, SPUR_ROW_ROLLUP}.number("start_time", oldest_mark).number("stamp", first);
    {
        const std::unique_lock no_store{storing_};
        const std::lock_guard lock{mutex_};
        auto& hours = clusters_[cluster];
        if (first <= hours.oldest) return {};
        hours.oldest = first;
        std::erase_if(hours.open, [&](const auto& one) { return one.first < first; });
    }
    return database_.store_rows(cluster, {&row, 1});
}

std::vector<std::string> RollUp::clusters() const {
    const std::lock_guard lock{mutex_};
    std::vector<std::string> names;
    for (const auto& [name, hours] : clusters_) names.push_back(name);
    return names;
}

UnixSeconds RollUp::last_run() const {
    const std::lock_guard lock{mutex_};
    return last_run_;
}

Result<void> RollUp::run(UnixSeconds now) {
    const std::lock_guard only_one{running_};
    for (const auto& name : clusters()) SPUR_CHECK(run_cluster(name, now));
    const std::lock_guard lock{mutex_};
    last_run_ = now;
    return {};
}

// Hours that are marked, and those that have passed since the last time. What is stored meanwhile is marked anew, with
// a later stamp than what is read here.
Result<void> RollUp::run_cluster(const std::string& cluster, UnixSeconds now) {
    std::map<UnixSeconds, std::int64_t> open;
    UnixSeconds last = 0;
    {
        const std::unique_lock no_store{storing_};
        const std::lock_guard lock{mutex_};
        auto& hours = clusters_[cluster];
        open.swap(hours.open);
        last = hours.last;
        ++stamp_;
    }
    const auto current = hour_of(now);
    const auto put_back = [&] {
        const std::lock_guard lock{mutex_};
        for (const auto& [hour, stamp] : open) clusters_[cluster].open.try_emplace(hour, stamp);
    };
    std::set<UnixSeconds> todo;
    for (const auto& [hour, stamp] : open) todo.insert(std::min(hour, current));
    if (last != 0)
        for (auto hour = last + hour_s; hour <= current; hour += hour_s) todo.insert(hour);
    std::vector<v1::HistoryRow> done;
    for (auto at = todo.begin(); at != todo.end();) {
        const auto from = *at;
        auto until = from;
        for (; at != todo.end() && *at == until && until - from < longest_step; ++at) {
            until += hour_s;
            if (*at == current) continue;  // goes on
            const auto mark = open.find(*at);
            const auto stamp = mark == open.end() ? std::int64_t{1} : mark->second;
            RowMessage{done.emplace_back(), SPUR_ROW_ROLLUP}.number("start_time", *at).number("done", stamp);
            last = std::max(last, *at);
        }
        if (const auto summed = sum_hours(cluster, from, until, now); !summed) return put_back(), summed;
    }
    if (const auto summed = sum_days(cluster, todo); !summed) return put_back(), summed;
    if (const auto noted = database_.store_rows(cluster, done); !noted) return put_back(), noted;
    const std::lock_guard lock{mutex_};
    auto& hours = clusters_[cluster];
    hours.last = std::max(hours.last, last);
    if (const auto going_on = open.find(current); going_on != open.end()) hours.open.insert(*going_on);
    return {};
}

Result<void> RollUp::sum_hours(const std::string& cluster, UnixSeconds from, UnixSeconds until, UnixSeconds now) {
    HourlyUsage usage{from, until, now};
    SPUR_CHECK(gather(cluster, usage, from, until));
    SPUR_TRY(const auto before, read(cluster, "hour", from, until));
    return write(cluster, "hour", before, usage.sums());
}

Result<void> RollUp::gather(const std::string& cluster, HourlyUsage& usage, UnixSeconds from, UnixSeconds until) {
    constexpr std::uint32_t of_end = 1;
    Query runs;
    runs.cluster = cluster;
    runs.conditions = {{.name = "submit_time", .test = SPUR_TEST_BELOW, .numbers = {until}},
                       {.name = "end_time", .test = SPUR_TEST_AT_LEAST, .numbers = {from}, .group = of_end},
                       {.name = "end_time", .test = SPUR_TEST_NULL, .group = of_end}};
    runs.wanted = {"account",       "user_name",  "uid",      "qos",         "wckey",          "reservation",
                   "eligible_time", "start_time", "end_time", "suspended_s", "tres_allocated", "tres_requested"};
    SPUR_CHECK(database_.query(runs, [&](const spur_row& row) { usage.add(run_of(history::read_row(row))); }));
    SPUR_CHECK(database_.query(overlapping(SPUR_ROW_EVENT, cluster, from, until), [&](const spur_row& stored) {
        const auto row = history::read_row(stored);
        usage.add(OutageRecord{text_in(row, "node"), number_in(row, "start_time"), number_in(row, "end_time"),
                               tres_in(row, "tres")});
    }));
    std::vector<ReservedRecord> reserved;
    struct ForWhom {
        std::vector<std::string> users, accounts, associations;
    };
    std::vector<ForWhom> for_whom;
    const auto names = [](const std::string& list) {
        std::vector<std::string> all;
        for (const auto name : split(list, ','))
            if (!name.empty() && !name.starts_with('-')) all.emplace_back(name);
        return all;
    };
    SPUR_CHECK(database_.query(overlapping(SPUR_ROW_RESERVATION, cluster, from, until), [&](const spur_row& stored) {
        const auto row = history::read_row(stored);
        const auto flags = names(text_in(row, "flags"));
        const auto has = [&](std::string_view flag) { return std::ranges::find(flags, flag) != flags.end(); };
        reserved.push_back({text_in(row, "name"),
                            text_in(row, "nodes"),
                            number_in(row, "start_time"),
                            number_in(row, "end_time"),
                            has("MAINT"),
                            has("IGNORE_JOBS"),
                            tres_in(row, "tres"),
                            {}});
        for_whom.push_back(
            {names(text_in(row, "users")), names(text_in(row, "accounts")), names(text_in(row, "associations"))});
    }));
    if (reserved.empty()) return {};
    Query links;
    links.table = SPUR_ROW_ASSOCIATION;
    links.cluster = cluster;
    SPUR_CHECK(database_.query(links, [&](const spur_row& stored) {
        const auto row = history::read_row(stored);
        const auto account = text_in(row, "account"), user = text_in(row, "user_name");
        const auto has = [](const auto& list, const std::string& name) {
            return std::ranges::find(list, name) != list.end();
        };
        for (std::size_t i = 0; i < reserved.size(); ++i)
            if (has(for_whom[i].associations, std::to_string(number_in(row, "id"))) ||
                (user.empty() ? has(for_whom[i].accounts, account) : has(for_whom[i].users, user)))
                reserved[i].payers.emplace_back(account, user);
    }));
    for (auto& one : reserved) usage.add(std::move(one));
    return {};
}

Result<std::map<UnixSeconds, UsageSums>> RollUp::read(const std::string& cluster, const char* period, UnixSeconds from,
                                                      UnixSeconds until) {
    Query query;
    query.table = SPUR_ROW_USAGE;
    query.cluster = cluster;
    query.conditions = {{.name = "period", .test = SPUR_TEST_EQUAL, .texts = {period}},
                        {.name = "start_time", .test = SPUR_TEST_AT_LEAST, .numbers = {from}},
                        {.name = "start_time", .test = SPUR_TEST_BELOW, .numbers = {until}}};
    std::map<UnixSeconds, UsageSums> found;
    SPUR_CHECK(database_.query(query, [&](const spur_row& stored) {
        const auto row = history::read_row(stored);
        found[number_in(row, "start_time")][key_of(row)] = usage_of(row);
    }));
    return found;
}

// As few rows as there can be: whole months, whole days, and hours at both ends.
Result<std::map<UnixSeconds, UsageSums>> RollUp::sums(const std::string& cluster, UnixSeconds from, UnixSeconds until,
                                                      std::string_view step) {
    from = hour_of(from);
    std::map<UnixSeconds, UsageSums> found;
    for (auto at = from; at < until;) {
        const auto day = day_of(at), month = month_of(at);
        const bool is_month = at == month && next_month(month) <= until && (step.empty() || step == "month");
        const bool is_day = at == day && next_day(day) <= until && step != "hour";
        const char* period = is_month ? "month" : is_day ? "day" : "hour";
        auto end = is_month ? next_month(month) : is_day ? next_day(day) : std::min(next_day(day), until);
        // Days in a row are one question.
        while (is_day && !is_month && end < until && next_day(end) <= until && end != month_of(end))
            end = next_day(end);
        SPUR_TRY(const auto rows, read(cluster, period, at, end));
        for (const auto& [start, sums] : rows) {
            const auto place = step.empty()     ? from
                               : step == "hour" ? start
                               : step == "day"  ? std::max(from, day_of(start))
                                                : std::max(from, month_of(start));
            for (const auto& [key, usage] : sums) found[place][key] += usage;
        }
        at = end;
    }
    return found;
}

// Only what is different.
Result<void> RollUp::write(const std::string& cluster, const char* period,
                           const std::map<UnixSeconds, UsageSums>& before,
                           const std::map<UnixSeconds, UsageSums>& now) {
    static const UsageSums none;
    std::vector<v1::HistoryRow> rows;
    const auto at = [](const auto& map, UnixSeconds start) -> const UsageSums& {
        const auto found = map.find(start);
        return found == map.end() ? none : found->second;
    };
    for (const auto& [start, sums] : now) {
        const auto& old = at(before, start);
        for (const auto& [key, usage] : sums)
            if (const auto known = old.find(key); known == old.end() || !(known->second == usage))
                rows.push_back(usage_row(period, start, key, usage));
    }
    for (const auto& [start, sums] : before)
        for (const auto& [key, usage] : sums)
            if (!at(now, start).contains(key)) rows.emplace_back(usage_row(period, start, key, {})).set_removed(true);
    return database_.store_rows(cluster, rows);
}

// Days from their hours, months from their days.
Result<void> RollUp::sum_days(const std::string& cluster, const std::set<UnixSeconds>& hours) {
    std::set<UnixSeconds> days, months;
    for (const auto hour : hours) days.insert(day_of(hour));
    for (const auto day : days) months.insert(month_of(day));
    const auto sum = [&](const char* parts, const char* period, UnixSeconds from, UnixSeconds until) -> Result<void> {
        SPUR_TRY(const auto all, read(cluster, parts, from, until));
        std::map<UnixSeconds, UsageSums> whole{{from, {}}};
        for (const auto& [start, sums] : all)
            for (const auto& [key, usage] : sums) whole[from][key] += usage;
        SPUR_TRY(const auto before, read(cluster, period, from, from + 1));
        return write(cluster, period, before, whole);
    };
    for (const auto day : days) SPUR_CHECK(sum("hour", "day", day, next_day(day)));
    for (const auto month : months) SPUR_CHECK(sum("day", "month", month, next_month(month)));
    return {};
}

}  // namespace spur::dbd
