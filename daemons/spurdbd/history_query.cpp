// Conditions and pages.
#include "daemons/spurdbd/history_query.hpp"

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>
#include <tuple>

#include "core/model/array_spec.hpp"
#include "core/model/job.hpp"
#include "daemons/common/history/row_buffer.hpp"
#include "daemons/spurdbd/history_filter.hpp"

namespace spur::dbd {
namespace {

constexpr std::uint32_t page = 1000;

template <class List>
std::vector<std::string> texts(const List& list) {
    return {list.begin(), list.end()};
}

template <class List>
void add_list(Query& query, const char* name, const List& list) {
    if (list.empty()) return;
    query.conditions.push_back({.name = name, .test = SPUR_TEST_IN, .texts = texts(list)});
}

template <class List>
void add_numbers(Query& query, const char* name, const List& list) {
    if (list.empty()) return;
    query.conditions.push_back({.name = name, .test = SPUR_TEST_IN, .numbers = {list.begin(), list.end()}});
}

enum Group : std::uint32_t { by_itself, of_ids, of_users, of_end, of_states, of_caller };

void add_window(Query& query, const v1::ListHistoryRequest& request) {
    if (request.end() != 0)
        query.conditions.push_back({.name = "submit_time", .test = SPUR_TEST_BELOW, .numbers = {request.end()}});
    if (request.start() == 0) return;
    query.conditions.push_back(
        {.name = "end_time", .test = SPUR_TEST_AT_LEAST, .numbers = {request.start()}, .group = of_end});
    query.conditions.push_back({.name = "end_time", .test = SPUR_TEST_NULL, .group = of_end});
}

// Finished states are told apart by the store; when a job waited or ran is worked out from its times.
void add_states(Query& query, const v1::ListHistoryRequest& request) {
    if (request.states().empty()) return;
    std::vector<std::string> finished;
    for (const auto& name : request.states()) {
        const auto state = find_job_state(name);
        if (name != "REQUEUED" && state && *state <= JobState::suspended) return;
        if (state) finished.push_back(name);
    }
    query.conditions.push_back({.name = "state", .test = SPUR_TEST_IN, .texts = finished, .group = of_states});
    if (finished.size() != static_cast<std::size_t>(request.states_size()))
        query.conditions.push_back(
            {.name = "flags", .test = SPUR_TEST_BITS_ANY, .numbers = {job_flag::requeued}, .group = of_states});
}

Query query_for(const v1::ListHistoryRequest& request, const std::vector<JobRef>& ids, const Caller& caller) {
    Query query;
    query.cluster = request.cluster();
    query.after = request.after();
    query.limit = request.limit() == 0 ? page : std::min(request.limit(), page);
    if (!ids.empty()) {
        std::vector<std::int64_t> numbers;
        for (const auto& id : ids) numbers.push_back(id.job);
        for (const auto* name : {"job_id", "array_job_id", "het_job_id"})
            query.conditions.push_back({.name = name, .test = SPUR_TEST_IN, .numbers = numbers, .group = of_ids});
    }
    if (!request.users().empty() || !request.uids().empty()) {
        query.conditions.push_back(
            {.name = "user_name", .test = SPUR_TEST_IN, .texts = texts(request.users()), .group = of_users});
        query.conditions.push_back({.name = "uid",
                                    .test = SPUR_TEST_IN,
                                    .numbers = {request.uids().begin(), request.uids().end()},
                                    .group = of_users});
    }
    if (!caller.sees_others) {
        query.conditions.push_back(
            {.name = "uid", .test = SPUR_TEST_EQUAL, .numbers = {std::int64_t{caller.uid}}, .group = of_caller});
        if (!caller.accounts.empty())
            query.conditions.push_back(
                {.name = "account", .test = SPUR_TEST_IN, .texts = caller.accounts, .group = of_caller});
    }
    add_list(query, "account", request.accounts());
    add_list(query, "partition", request.partitions());
    add_list(query, "name", request.names());
    add_list(query, "qos", request.qos());
    add_list(query, "wckey", request.wckeys());
    add_list(query, "reservation", request.reservations());
    if (!request.node_list().empty())
        query.conditions.push_back({.name = "nodes", .test = SPUR_TEST_HOSTS, .texts = {request.node_list()}});
    add_numbers(query, "gid", request.gids());
    add_numbers(query, "association_id", request.associations());
    add_window(query, request);
    add_states(query, request);
    return query;
}

using RunKey = std::tuple<std::string, std::uint32_t, std::int64_t, std::uint32_t>;
RunKey key_of(const v1::HistoryJob& run) { return {run.cluster(), run.job().id(), run.job().submit_time(), run.run()}; }

// Steps of all jobs on the page, in one question.
Result<void> add_steps(Database& database, const std::string& cluster, v1::ListHistoryReply& reply) {
    std::map<RunKey, v1::HistoryJob*> runs;
    Query query;
    query.table = SPUR_ROW_STEP;
    query.cluster = cluster;
    Condition ids{.name = "job_id", .test = SPUR_TEST_IN};
    std::int64_t first = INT64_MAX;
    for (auto& run : *reply.mutable_jobs()) {
        runs[key_of(run)] = &run;
        ids.numbers.push_back(run.job().id());
        first = std::min(first, run.job().submit_time());
    }
    if (runs.empty()) return {};
    std::ranges::sort(ids.numbers);
    ids.numbers.erase(std::ranges::unique(ids.numbers).begin(), ids.numbers.end());
    query.conditions = {std::move(ids), {.name = "submit_time", .test = SPUR_TEST_AT_LEAST, .numbers = {first}}};
    SPUR_CHECK(database.query(query, [&](const spur_row& row) {
        auto step = history::read_step(row);
        const auto run =
            runs.find({history::cluster_of(row), step.step().job_id(), step.job_submit_time(), step.run()});
        if (run != runs.end()) *run->second->mutable_job()->add_steps() = std::move(*step.mutable_step());
    }));
    return {};
}

// -j 12.0 asks for that step alone.
void keep_wanted_steps(const std::vector<JobRef>& ids, const v1::ListHistoryRequest& request, v1::HistoryJob& run) {
    std::vector<std::uint32_t> steps;
    for (const auto& id : ids) {
        if (!matches(id, run.job(), request)) continue;
        if (!id.step) return;
        steps.push_back(*id.step);
    }
    if (steps.empty()) return;
    run.set_steps_only(true);
    auto& all = *run.mutable_job()->mutable_steps();
    for (int i = all.size(); i-- > 0;)
        if (std::ranges::find(steps, all[i].step_id()) == steps.end()) all.DeleteSubrange(i, 1);
}

// Every component is wanted of a job that one of is: their first one is asked for in their place.
Result<void> add_het_jobs(Database& database, const v1::ListHistoryRequest& request, std::vector<JobRef>& ids) {
    Query query;
    query.cluster = request.cluster();
    Condition wanted{.name = "job_id", .test = SPUR_TEST_IN};
    for (const auto& id : ids) wanted.numbers.push_back(id.job);
    query.conditions = {std::move(wanted)};
    SPUR_CHECK(database.query(query, [&](const spur_row& row) {
        const auto run = history::read_job(row);
        if (run.job().het_job_id() != 0) ids.push_back({.job = run.job().het_job_id()});
    }));
    return {};
}

// The tasks of an array have the script of the record they were split from.
Result<void> add_scripts_of_arrays(Database& database, const v1::ListHistoryRequest& request,
                                   v1::ListHistoryReply& reply) {
    std::map<std::pair<std::string, std::uint32_t>, std::vector<v1::JobSpec*>> tasks;
    for (auto& run : *reply.mutable_jobs())
        if (run.job().array_job_id() != 0 && run.job().spec().script().empty())
            tasks[{run.cluster(), run.job().array_job_id()}].push_back(run.mutable_job()->mutable_spec());
    if (tasks.empty()) return {};
    Query query;
    query.cluster = request.cluster();
    Condition wanted{.name = "job_id", .test = SPUR_TEST_IN};
    for (const auto& [key, specs] : tasks) wanted.numbers.push_back(key.second);
    query.conditions = {std::move(wanted)};
    SPUR_CHECK(database.query(query, [&](const spur_row& row) {
        const auto run = history::read_job(row);
        const auto found = tasks.find({run.cluster(), run.job().id()});
        if (found == tasks.end()) return;
        for (auto* spec : found->second) {
            spec->set_script(run.job().spec().script());
            *spec->mutable_environment() = run.job().spec().environment();
        }
    }));
    return {};
}

}  // namespace

Result<v1::ListHistoryReply> list_history(Database& database, const v1::ListHistoryRequest& request, Caller caller) {
    const bool looks_inside = request.with_script() || request.with_environment();
    if (!caller.is_operator && !request.without_jobs_of_others() && (!caller.sees_others || looks_inside)) {
        SPUR_CHECK(add_levels(database, request.cluster(), caller));
    }
    std::vector<JobRef> ids;
    for (const auto& text : request.ids()) {
        SPUR_TRY(auto id, JobRef::parse(text));
        ids.push_back(std::move(id));
    }
    if (request.whole_het() && !ids.empty()) {
        SPUR_CHECK(add_het_jobs(database, request, ids));
    }
    const auto is_of_cluster = [&](const std::string& name) {
        return request.clusters().empty() || std::ranges::find(request.clusters(), name) != request.clusters().end();
    };
    v1::ListHistoryReply reply;
    reply.set_now(std::time(nullptr));
    SPUR_TRY(auto next, database.query(query_for(request, ids, caller), [&](const spur_row& row) {
        auto run = history::read_job(row);
        const auto is_wanted = [&](const JobRef& id) { return matches(id, run.job(), request); };
        if (!ids.empty() && std::ranges::none_of(ids, is_wanted)) return;
        if (is_of_cluster(run.cluster()) && lies_in_window(run.job(), request) &&
            has_asked_properties(run.job(), request))
            *reply.add_jobs() = std::move(run);
    }));
    reply.set_next(std::move(next));
    if (looks_inside) {
        SPUR_CHECK(add_scripts_of_arrays(database, request, reply));
    }
    for (auto& run : *reply.mutable_jobs()) {
        auto& spec = *run.mutable_job()->mutable_spec();
        const bool is_own = caller.uid == spec.uid() || caller.is_operator;
        if (!is_own || !request.with_script()) spec.clear_script();
        if (!is_own || !request.with_environment()) spec.clear_environment();
    }
    if (!request.with_steps()) return reply;
    SPUR_CHECK(add_steps(database, request.cluster(), reply));
    for (auto& run : *reply.mutable_jobs()) keep_wanted_steps(ids, request, run);
    return reply;
}

}  // namespace spur::dbd
