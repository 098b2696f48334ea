// Calls of spurdbd.
#include "cli/sreport/ask.hpp"

#include "cli/common/users.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/history/row_message.hpp"

#include <pwd.h>
#include <spur/plugin/draft/accounting.h>

#include <algorithm>

namespace spur::cli::sreport {
namespace {

using history::number_in;
using history::text_in;

template <class Reply, class Request>
Answer<Reply> call(wire::Channel& channel, const char* method, const Request& request) {
    auto options = Session::read_options();
    options.timeout = std::chrono::seconds(300);
    auto reply = wire::call<Reply>(channel, std::string{"/spur.v1.Accounting/"} + method, request, options);
    if (!reply) return std::unexpected(to_failure(static_cast<const Error&>(reply.error())));
    return std::move(*reply);
}

std::string proper_name(const std::string& login) {
    const auto* const entry = ::getpwnam(login.c_str());
    if (entry == nullptr || entry->pw_gecos == nullptr) return {};
    const std::string gecos = entry->pw_gecos;
    return gecos.substr(0, gecos.find(','));
}

template <class List>
void add_condition(List& list, const char* name, const Names& texts) {
    if (texts.empty()) return;
    auto& condition = *list.Add();
    condition.set_name(name);
    for (const auto& text : texts) condition.add_texts(text);
}

Answer<Tree> ask_tree(wire::Channel& history) {
    v1::ListRowsRequest request;
    request.set_table(SPUR_ROW_ASSOCIATION);
    request.set_with_removed(true);
    auto rows = ask_rows(history, std::move(request));
    if (!rows) return std::unexpected(rows.error());
    Tree tree;
    for (const auto& row : *rows)
        if (text_in(row, "user_name").empty())
            tree.parents[{row.cluster(), text_in(row, "account")}] = text_in(row, "parent");
    return tree;
}

// Empty: of every cluster.
Names clusters_of(Session& session, const Options& options, const Conditions& conditions) {
    if (options.all_clusters || conditions.all_clusters) return Names{std::string{}};
    if (!conditions.clusters.empty()) return conditions.clusters;
    if (!options.clusters.empty()) return options.clusters;
    const auto about = session.call<v1::PingReply>("Ping", v1::PingRequest{});
    return {about ? about->cluster() : std::string{}};
}

Answer<void> add_usage(wire::Channel& history, const std::string& cluster, const Options& options,
                       const Conditions& conditions, Data& data) {
    v1::SumUsageRequest request;
    request.set_cluster(cluster);
    request.set_start(conditions.start);
    request.set_end(conditions.end);
    if (options.tres.empty())
        for (const auto* name : {"cpu", "energy"}) request.add_tres(name);
    else if (options.tres != Names{"all"})
        for (const auto& name : options.tres) request.add_tres(name);
    auto reply = call<v1::SumUsageReply>(history, "SumUsage", request);
    if (!reply) return std::unexpected(reply.error());
    for (const auto& row : reply->rows()) data.usage.push_back(line_of(row));
    for (const auto& line : data.usage)
        if (!line.user.empty() && !data.proper_names.contains(line.user))
            data.proper_names[line.user] = proper_name(line.user);
    return {};
}

Answer<void> add_jobs(wire::Channel& history, const std::string& cluster, const Conditions& conditions, Data& data) {
    v1::SumJobsRequest request;
    request.set_cluster(cluster);
    request.set_start(conditions.start);
    request.set_end(conditions.end);
    for (const auto* name : {"account", "wckey", "cpus"}) request.add_by(name);
    auto& list = *request.mutable_conditions();
    add_condition(list, "user_name", conditions.users);
    add_condition(list, "wckey", conditions.wckeys);
    add_condition(list, "partition", conditions.partitions);
    const auto add_numbers = [&](const char* name, const Names& texts, const auto& find) -> Answer<void> {
        if (texts.empty()) return {};
        auto& condition = *list.Add();
        condition.set_name(name);
        for (const auto& text : texts) {
            const auto number = find(text);
            if (!number) return std::unexpected(Failure{fmt::format("{} is not known", text), {}, ErrorCode::invalid});
            condition.add_numbers(static_cast<std::int64_t>(*number));
        }
        return {};
    };
    if (auto added = add_numbers("gid", conditions.groups, [](const std::string& text) { return find_group(text); });
        !added)
        return added;
    const auto is_number = [](const std::string& text) { return find_unsigned(text); };
    if (auto added = add_numbers("job_id", conditions.jobs, is_number); !added) return added;
    if (!conditions.nodes.empty()) {
        auto& condition = *list.Add();
        condition.set_name("nodes");
        std::string hosts;
        for (const auto& node : conditions.nodes) hosts += (hosts.empty() ? "" : ",") + node;
        condition.set_hosts(hosts);
    }
    auto reply = call<v1::SumJobsReply>(history, "SumJobs", request);
    if (!reply) return std::unexpected(reply.error());
    for (auto& sum : *reply->mutable_sums()) data.jobs.push_back(std::move(sum));
    return {};
}

Answer<void> add_reservations(wire::Channel& history, const std::string& cluster, const Conditions& conditions,
                              Data& data) {
    v1::ListRowsRequest request;
    request.set_table(SPUR_ROW_RESERVATION);
    request.set_cluster(cluster);
    request.set_start(conditions.start);
    request.set_end(conditions.end);
    add_condition(*request.mutable_conditions(), "name", conditions.names);
    auto rows = ask_rows(history, std::move(request));
    if (!rows) return std::unexpected(rows.error());
    for (auto& row : *rows) {
        v1::SumJobsRequest jobs;
        jobs.set_cluster(row.cluster());
        jobs.set_start(number_in(row, "start_time"));
        jobs.set_end(number_in(row, "end_time"));
        add_condition(*jobs.mutable_conditions(), "reservation", {text_in(row, "name")});
        auto sums = call<v1::SumJobsReply>(history, "SumJobs", jobs);
        if (!sums) return std::unexpected(sums.error());
        auto& reserved = data.reservations.emplace_back(Data::Reserved{std::move(row), {}});
        for (const auto& sum : sums->sums())
            for (const auto& one : sum.tres()) reserved.used[one.name()] += one.seconds();
    }
    return {};
}

}  // namespace

UsageLine line_of(const v1::HistoryRow& row) {
    const auto seconds = [&](const char* name) { return static_cast<double>(number_in(row, name)); };
    return {row.cluster(),
            text_in(row, "account"),
            text_in(row, "user_name"),
            text_in(row, "wckey"),
            text_in(row, "tres"),
            {seconds("allocated_s"), seconds("planned_s"), seconds("idle_s"), seconds("down_s"),
             seconds("planned_down_s"), seconds("over_s"), static_cast<std::uint64_t>(number_in(row, "count"))}};
}

Answer<std::vector<v1::HistoryRow>> ask_rows(wire::Channel& history, v1::ListRowsRequest request) {
    std::vector<v1::HistoryRow> rows;
    do {
        auto reply = call<v1::ListRowsReply>(history, "ListRows", request);
        if (!reply) return std::unexpected(reply.error());
        for (auto& row : *reply->mutable_rows()) rows.push_back(std::move(row));
        request.set_after(reply->next());
    } while (!request.after().empty());
    return rows;
}

Answer<std::vector<v1::HistoryRow>> ask_series(wire::Channel& history, const std::string& cluster, UnixSeconds start,
                                               UnixSeconds end, const std::string& step, const Names& tres) {
    v1::SumUsageRequest request;
    request.set_cluster(cluster);
    request.set_start(start);
    request.set_end(end);
    request.set_step(step);
    for (const auto& name : tres) request.add_tres(name);
    auto reply = call<v1::SumUsageReply>(history, "SumUsage", request);
    if (!reply) return std::unexpected(reply.error());
    return std::vector<v1::HistoryRow>{reply->rows().begin(), reply->rows().end()};
}

Answer<Data> ask(Session& session, wire::Channel& history, const Options& options, const Conditions& conditions,
                 Source source) {
    Data data;
    auto tree = ask_tree(history);
    if (!tree) return std::unexpected(tree.error());
    data.tree = std::move(*tree);
    for (const auto& cluster : clusters_of(session, options, conditions)) {
        const auto added = source == Source::usage  ? add_usage(history, cluster, options, conditions, data)
                           : source == Source::jobs ? add_jobs(history, cluster, conditions, data)
                                                    : add_reservations(history, cluster, conditions, data);
        if (!added) return std::unexpected(added.error());
    }
    return data;
}

}  // namespace spur::cli::sreport
