// Conditions, pages and groups.
#include "daemons/spurdbd/report_query.hpp"

#include <algorithm>
#include <ctime>
#include <map>

#include "core/text/lexical.hpp"
#include "daemons/common/history/row_buffer.hpp"
#include "daemons/common/history/row_message.hpp"

namespace spur::dbd {
namespace {

constexpr std::uint32_t most_rows = 5000;  // of one page

void add_conditions(Query& query, const google::protobuf::RepeatedPtrField<v1::RowCondition>& conditions) {
    for (const auto& wanted : conditions) {
        const auto add = [&](std::uint32_t test, std::vector<std::int64_t> numbers, std::vector<std::string> texts) {
            query.conditions.push_back({wanted.name(), test, std::move(numbers), std::move(texts)});
        };
        if (wanted.texts_size() != 0) add(SPUR_TEST_IN, {}, {wanted.texts().begin(), wanted.texts().end()});
        if (wanted.numbers_size() != 0) add(SPUR_TEST_IN, {wanted.numbers().begin(), wanted.numbers().end()}, {});
        if (wanted.has_at_least()) add(SPUR_TEST_AT_LEAST, {wanted.at_least()}, {});
        if (wanted.has_below()) add(SPUR_TEST_BELOW, {wanted.below()}, {});
        if (wanted.absent()) add(SPUR_TEST_NULL, {}, {});
        if (!wanted.hosts().empty()) add(SPUR_TEST_HOSTS, {}, {wanted.hosts()});
    }
}

std::string text_of(const v1::HistoryRow& row, const std::string& name) {
    const auto* const field = history::find_field(row, name);
    if (field == nullptr) return {};
    return field->value_case() == v1::HistoryField::kNumber ? std::to_string(field->number()) : field->text();
}

}  // namespace

Result<v1::ListRowsReply> list_rows(Database& database, const v1::ListRowsRequest& request) {
    Query query;
    query.table = request.table();
    query.cluster = request.cluster();
    query.after = request.after();
    query.limit = request.limit() == 0 ? most_rows : std::min(request.limit(), most_rows);
    query.with_removed = request.with_removed();
    add_conditions(query, request.conditions());
    if (request.start() != 0 || request.end() != 0)
        query.conditions.push_back({.name = "start_time",
                                    .test = SPUR_TEST_OVERLAPS,
                                    .numbers = {request.start(), request.end() == 0 ? INT64_MAX : request.end()}});
    v1::ListRowsReply reply;
    reply.set_now(std::time(nullptr));
    SPUR_TRY(auto next,
             database.query(query, [&](const spur_row& row) { *reply.add_rows() = history::read_row(row); }));
    reply.set_next(std::move(next));
    return reply;
}

Result<v1::SumUsageReply> sum_usage(RollUp& roll_up, const v1::SumUsageRequest& request,
                                    const std::optional<std::string>& only_of) {
    constexpr std::int64_t longest = std::int64_t{100} * 366 * 24 * hour_s;
    if (request.end() <= request.start() || request.end() - request.start() > longest)
        return fail(ErrorCode::invalid, "a time that ends before it begins, or lasts a century, has no report");
    if (const auto& step = request.step(); !step.empty() && step != "hour" && step != "day" && step != "month")
        return fail(ErrorCode::invalid, "usage is known by hour, day and month, not by {}", spur::quoted(step));
    const auto clusters = request.cluster().empty() ? roll_up.clusters() : std::vector<std::string>{request.cluster()};
    v1::SumUsageReply reply;
    for (const auto& cluster : clusters) {
        SPUR_TRY(const auto sums, roll_up.sums(cluster, request.start(), request.end(), request.step()));
        for (const auto& [start, all] : sums)
            for (const auto& [key, usage] : all) {
                const auto& names = request.tres();
                if (!names.empty() && std::find(names.begin(), names.end(), key.tres) == names.end()) continue;
                if (only_of && !key.is_cluster() && key.user != *only_of) continue;
                auto& row = *reply.add_rows();
                row = usage_row(request.step(), start, key, usage);
                row.set_cluster(cluster);
            }
    }
    return reply;
}

Result<v1::SumJobsReply> sum_jobs(Database& database, const v1::SumJobsRequest& request, std::int64_t now,
                                  std::optional<Uid> only_of) {
    if (request.end() <= request.start())
        return fail(ErrorCode::invalid, "a time that ends before it begins has no jobs");
    Query query;
    query.cluster = request.cluster();
    query.conditions.push_back(
        {.name = "start_time", .test = SPUR_TEST_OVERLAPS, .numbers = {request.start(), request.end()}});
    add_conditions(query, request.conditions());
    if (only_of) query.conditions.push_back({.name = "uid", .test = SPUR_TEST_EQUAL, .numbers = {*only_of}});
    query.wanted = {"start_time", "end_time", "tres_allocated", "suspended_s"};
    for (const auto& name : request.by()) query.wanted.push_back(name);
    struct Sum {
        std::uint64_t jobs{}, seconds{};
        std::map<std::string, double> tres;
    };
    std::map<std::pair<std::string, std::vector<std::string>>, Sum> sums;
    SPUR_CHECK(database.query(query, [&](const spur_row& stored) {
        const auto row = history::read_row(stored);
        const auto start = std::max(history::number_in(row, "start_time"), request.start());
        const auto end = history::number_in(row, "end_time");
        const auto seconds =
            std::min(end == 0 ? now : end - history::number_in(row, "suspended_s"), request.end()) - start;
        if (seconds < 0) return;
        std::vector<std::string> group;
        for (const auto& name : request.by()) group.push_back(text_of(row, name));
        auto& sum = sums[{row.cluster(), std::move(group)}];
        ++sum.jobs;
        sum.seconds += static_cast<std::uint64_t>(seconds);
        const auto tres = history::tres_in(row, "tres_allocated");
        for (const auto& one : tres.entries())
            sum.tres[std::string{one.name}] += static_cast<double>(one.count) * static_cast<double>(seconds);
    }));
    v1::SumJobsReply reply;
    reply.set_now(now);
    for (const auto& [key, sum] : sums) {
        auto& out = *reply.add_sums();
        out.set_cluster(key.first);
        for (const auto& name : key.second) out.add_group(name);
        out.set_jobs(sum.jobs);
        out.set_seconds(sum.seconds);
        for (const auto& [name, seconds] : sum.tres) {
            auto& one = *out.add_tres();
            one.set_name(name);
            one.set_seconds(seconds);
        }
    }
    return reply;
}

}  // namespace spur::dbd
