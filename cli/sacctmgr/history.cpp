// sacctmgr's listings of what spurdbd keeps: events, transactions, reservations, wckeys, clusters, jobs that were
// forgotten, and how it fares; and its archive.
#include "cli/sacctmgr/manager.hpp"

#include "cli/common/users.hpp"
#include "core/model/gres.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/history/row_message.hpp"

#include <fmt/format.h>
#include <spur/plugin/draft/accounting.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <set>

namespace spur::cli::sacctmgr {
namespace {

using history::number_in;
using history::text_in;
using Row = v1::HistoryRow;

struct HistoryColumn {
    std::string_view name;  // of format=, or any beginning of it
    std::string_view header;
    int width;
    std::string (*text)(const Row& row);
};

std::string end_text(const Row& row) { return print_time(number_in(row, "end_time")); }
std::string user_text(const Row& row) {
    if (text_in(row, "node").empty()) return {};
    const auto uid = static_cast<Uid>(number_in(row, "reason_uid"));
    return fmt::format("{}({})", name_of_user(uid), uid);
}
#define SPUR_TEXT(field) [](const Row& row) { return text_in(row, field); }

constexpr HistoryColumn event_columns[] = {
    {"cluster", "Cluster", 10, [](const Row& row) { return row.cluster(); }},
    {"nodename", "NodeName", -15, SPUR_TEXT("node")},
    {"timestart", "TimeStart", 19, [](const Row& row) { return print_time(number_in(row, "start_time")); }},
    {"start", "TimeStart", 19, [](const Row& row) { return print_time(number_in(row, "start_time")); }},
    {"timeend", "TimeEnd", 19, end_text},
    {"end", "TimeEnd", 19, end_text},
    {"duration", "Duration", 13,
     [](const Row& row) {
         const auto end = number_in(row, "end_time");
         return print_long_duration((end == 0 ? static_cast<std::int64_t>(std::time(nullptr)) : end) -
                                    number_in(row, "start_time"));
     }},
    {"state", "State", 6, SPUR_TEXT("state")},
    {"reason", "Reason", 30, SPUR_TEXT("reason")},
    {"user", "User", 10, user_text},
    {"tres", "TRES", 20, [](const Row& row) { return history::tres_in(row, "tres").str(); }},
};
constexpr HistoryColumn transaction_columns[] = {
    {"time", "Time", 19, [](const Row& row) { return print_time(number_in(row, "time")); }},
    {"action", "Action", 20, SPUR_TEXT("action")},
    {"actor", "Actor", 10, SPUR_TEXT("actor")},
    {"where", "Where", 20, SPUR_TEXT("subject")},
    {"info", "Info", 20, SPUR_TEXT("change")},
    {"cluster", "Cluster", 10, [](const Row& row) { return row.cluster(); }},
};
constexpr HistoryColumn reservation_columns[] = {
    {"cluster", "Cluster", 10, [](const Row& row) { return row.cluster(); }},
    {"name", "Name", 15, SPUR_TEXT("name")},
    {"tres", "TRES", 30, [](const Row& row) { return history::tres_in(row, "tres").str(); }},
    {"timestart", "TimeStart", 19, [](const Row& row) { return print_time(number_in(row, "start_time")); }},
    {"start", "TimeStart", 19, [](const Row& row) { return print_time(number_in(row, "start_time")); }},
    {"timeend", "TimeEnd", 19, end_text},
    {"end", "TimeEnd", 19, end_text},
    {"nodenames", "NodeName", -15, SPUR_TEXT("nodes")},
    {"flags", "Flags", 20, SPUR_TEXT("flags")},
    {"users", "Users", 15, SPUR_TEXT("users")},
    {"accounts", "Accounts", 15, SPUR_TEXT("accounts")},
};
constexpr HistoryColumn wckey_columns[] = {
    {"wckey", "WCKey", 10, SPUR_TEXT("name")},
    {"cluster", "Cluster", 10, [](const Row& row) { return row.cluster(); }},
    {"user", "User", 10, SPUR_TEXT("user_name")},
};
#undef SPUR_TEXT

struct HistoryListing {
    std::string_view entity;
    std::uint32_t table;
    std::span<const HistoryColumn> columns;
    std::string_view format;
    const char* time;  // the field that start= and end= are about; nullptr: none
};
constexpr HistoryListing listings[] = {
    {"event", SPUR_ROW_EVENT, event_columns, "cluster,nodename,timestart,timeend,state,reason,user", "start_time"},
    {"transaction", SPUR_ROW_TRANSACTION, transaction_columns, "time,action,actor,where,info", "time"},
    {"reservation", SPUR_ROW_RESERVATION, reservation_columns, "cluster,name,tres,timestart,timeend", "start_time"},
    {"wckey", SPUR_ROW_WCKEY, wckey_columns, "wckey,cluster,user", nullptr},
};

struct HistoryQuery {
    Names clusters, nodes, states, actors, actions, names, users;
    std::optional<std::string> format;
    UnixSeconds start{}, end{};
    bool all_clusters = false, all_time = false, has_start = false;
};

std::optional<HistoryQuery> read_history_query(Manager& manager, Words words) {
    HistoryQuery query;
    const auto now = static_cast<UnixSeconds>(std::time(nullptr));
    for (const auto& spec : read_sentence(words).conditions) {
        const std::pair<std::string_view, Names*> lists[] = {{"clusters", &query.clusters}, {"nodes", &query.nodes},
                                                             {"states", &query.states},     {"actors", &query.actors},
                                                             {"actions", &query.actions},   {"names", &query.names},
                                                             {"users", &query.users}};
        const auto key = spec.key;
        const auto list =
            std::ranges::find_if(lists, [&](const auto& one) { return one.first.starts_with(key) && key.size() > 2; });
        const auto word = lower(spec.text);
        if (word == "all_clusters" || word == "all_time") {
            (word == "all_time" ? query.all_time : query.all_clusters) = true;
        } else if (key == "format") {
            query.format = spec.value;
        } else if (key == "start" || key == "end") {
            const auto time = parse_past_time(spec.value, now);
            if (!time) return manager.complain(fmt::format(" {}\n", time.error().text)), std::nullopt;
            (key == "start" ? query.start : query.end) = *time;
            query.has_start |= key == "start";
        } else if (list != std::end(lists)) {
            for (auto& name : spec.list()) list->second->push_back(std::move(name));
        } else {
            return manager.complain(fmt::format(" Unknown condition: {}\n", spec.text)), std::nullopt;
        }
    }
    return query;
}

bool has_name(const Names& list, const std::string& text) {
    return list.empty() ||
           std::ranges::any_of(list, [&](const auto& one) { return lower(text).starts_with(lower(one)); });
}

bool is_wanted_row(const HistoryQuery& query, const Row& row) {
    if (!query.nodes.empty()) {
        const auto asked = HostSet::parse(joined(query.nodes));
        if (!asked || !asked->contains(text_in(row, "node"))) return false;
    }
    return has_name(query.states, text_in(row, "state")) && has_name(query.actors, text_in(row, "actor")) &&
           has_name(query.actions, text_in(row, "action")) && has_name(query.names, text_in(row, "name")) &&
           has_name(query.users, text_in(row, "user_name"));
}

int print_rows(Manager& manager, const HistoryListing& listing, const HistoryQuery& query,
               const std::vector<Row>& rows) {
    const auto wanted = parse_columns(query.format.value_or(std::string{listing.format}));
    if (!wanted) return manager.complain(wanted.error().text + "\n");
    std::vector<TableColumn> shape;
    std::vector<const HistoryColumn*> columns;
    for (const auto& request : *wanted) {
        const auto column =
            std::ranges::find_if(listing.columns, [&](const auto& one) { return one.name.starts_with(request.name); });
        if (column == listing.columns.end()) return manager.complain(fmt::format("Unknown field '{}'\n", request.name));
        columns.push_back(&*column);
        shape.push_back({std::string{column->header}, request.width != 0 ? request.width : column->width});
    }
    const Table table{manager.options().style, manager.options().header, std::move(shape)};
    auto text = table.header();
    for (const auto& row : rows) {
        std::vector<std::string> cells;
        for (const auto* column : columns) cells.push_back(column->text(row));
        text += table.row(cells);
    }
    manager.print(text);
    return 0;
}

// Midnight of yesterday, as Slurm has it.
UnixSeconds yesterday() {
    const auto now = std::time(nullptr);
    std::tm fields{};
    ::localtime_r(&now, &fields);
    fields.tm_hour = fields.tm_min = fields.tm_sec = 0;
    --fields.tm_mday;
    fields.tm_isdst = -1;
    return std::mktime(&fields);
}

}  // namespace

bool is_history(std::string_view entity) {
    return std::ranges::any_of(listings, [&](const auto& one) { return one.entity == entity; });
}

int show_history(Manager& manager, std::string_view entity, Words words) {
    const auto& listing = *std::ranges::find(listings, entity, &HistoryListing::entity);
    auto query = read_history_query(manager, words);
    if (!query) return 1;
    v1::ListRowsRequest request;
    request.set_table(listing.table);
    if (listing.time != nullptr && !query->has_start && !query->all_time && (listing.table != SPUR_ROW_TRANSACTION))
        query->start = query->states.empty() ? yesterday() : 0;
    const bool overlaps = listing.time != nullptr && listing.table != SPUR_ROW_TRANSACTION;
    if (overlaps) {
        request.set_start(query->start);
        request.set_end(query->end);
    } else if (listing.time != nullptr) {
        auto& condition = *request.add_conditions();
        condition.set_name(listing.time);
        condition.set_at_least(query->start);
        if (query->end != 0) condition.set_below(query->end);
    }
    if (overlaps && !query->states.empty() && !query->has_start && !query->all_time) {  // what is so now
        auto& open = *request.add_conditions();
        open.set_name("end_time");
        open.set_absent(true);
    }
    std::vector<Row> rows;
    const Names clusters = query->all_clusters || (query->clusters.empty() && listing.table == SPUR_ROW_TRANSACTION)
                               ? Names{""}
                           : query->clusters.empty() ? Names{manager.cluster()}
                                                     : query->clusters;
    for (const auto& cluster : clusters) {
        request.set_cluster(cluster);
        request.clear_after();
        do {
            const auto reply = manager.ask_history<v1::ListRowsReply>("ListRows", request);
            if (!reply) return 1;
            for (const auto& row : reply->rows())
                if (is_wanted_row(*query, row)) rows.push_back(row);
            request.set_after(reply->next());
        } while (!request.after().empty());
    }
    if (listing.time != nullptr)
        std::ranges::stable_sort(rows, {}, [&](const Row& row) { return number_in(row, listing.time); });
    return print_rows(manager, listing, *query, rows);
}

std::vector<std::pair<std::string, Row>> Manager::other_clusters() {
    v1::ListRowsRequest request;
    request.set_table(SPUR_ROW_CLUSTER);
    std::vector<std::pair<std::string, Row>> found;
    if (!has_history()) return found;
    if (const auto reply = ask_history<v1::ListRowsReply>("ListRows", request))
        for (const auto& row : reply->rows())
            if (text_in(row, "name") != cluster()) found.emplace_back(text_in(row, "name"), row);
    return found;
}

int show_runaway_jobs(Manager& manager, Words) {
    v1::ListHistoryRequest request;
    request.set_cluster(manager.cluster());
    for (const auto* state : {"PENDING", "RUNNING", "SUSPENDED"}) request.add_states(state);
    std::vector<v1::HistoryJob> open;
    do {
        const auto reply = manager.ask_history<v1::ListHistoryReply>("ListHistory", request);
        if (!reply) return 1;
        for (const auto& run : reply->jobs())
            if (run.job().end_time() == 0) open.push_back(run);
        request.set_after(reply->next());
    } while (!request.after().empty());
    const auto known = manager.session().call<v1::ListJobsReply>("ListJobs", v1::ListJobsRequest{});
    if (!known) return manager.complain(fmt::format(" {}\n", known.error().text));
    std::set<std::uint32_t> here;
    for (const auto& job : known->jobs()) here.insert(job.id());
    std::erase_if(open, [&](const v1::HistoryJob& run) { return here.contains(run.job().id()); });
    if (open.empty())
        return manager.print(fmt::format("Runaway Jobs: No runaway jobs found on cluster {}\n", manager.cluster())), 0;
    const Table table{manager.options().style,
                      manager.options().header,
                      {{"ID", 12},
                       {"Name", 10},
                       {"Partition", 10},
                       {"Cluster", 10},
                       {"State", 10},
                       {"TimeSubmit", 19},
                       {"TimeStart", 19},
                       {"TimeEnd", 19}}};
    auto text =
        "NOTE: Runaway jobs are jobs that don't exist in the controller but have a start time and no end time in the "
        "database\n" +
        table.header();
    for (const auto& run : open) {
        const auto& job = run.job();
        text += table.row({std::to_string(job.id()), job.spec().name(), job.partition(), manager.cluster(),
                           job.start_time() == 0 ? "PENDING" : "RUNNING", print_time(job.submit_time()),
                           print_time(job.start_time()), print_time(0)});
    }
    manager.print(text + "Changing them from here is not built: their end is not known.\n");
    return 0;
}

int show_stats(Manager& manager, Words) {
    const auto about = manager.ask_history<v1::AboutAccountingReply>("About", v1::AboutAccountingRequest{});
    if (!about) return 1;
    manager.print(
        fmt::format("spurdbd {} with {}, schema {}\n"
                    "Data since                    {}\n"
                    "Entries stored                {}\n"
                    "Entries set aside             {}\n"
                    "Usage rolled up last          {}\n",
                    about->version(), about->plugin(), about->schema(), print_time(about->boot_time()), about->stored(),
                    about->set_aside(), print_time(about->rolled_up())));
    return 0;
}

int show_problems(Manager& manager, Words) {
    const auto& draft = manager.draft();
    const Table table{manager.options().style,
                      manager.options().header,
                      {{"Cluster", 10}, {"Account", 10}, {"User", 10}, {"Problem", 40}}};
    auto text = table.header();
    std::set<std::string> with_users, linked;
    for (const auto& entry : draft.all.associations()) {
        if (entry.user().empty()) {
            with_users.insert(entry.parent_account());
            continue;
        }
        with_users.insert(entry.account());
        linked.insert(entry.user());
    }
    for (const auto& account : draft.all.accounts())
        if (!with_users.contains(account.name()) && account.name() != "root")
            text += table.row({manager.cluster(), account.name(), "", "Account has no users"});
    for (const auto& user : draft.all.users()) {
        if (!find_user(user.name()))
            text += table.row({manager.cluster(), "", user.name(), "User does not have a uid"});
        if (!linked.contains(user.name()))
            text += table.row({manager.cluster(), "", user.name(), "User does not have a default account"});
    }
    manager.print(text);
    return 0;
}

// archive dump directory=/d purgejobafter=12months, archive load file=/d/f.
int archive(Manager& manager, Words words) {
    constexpr std::pair<std::string_view, const char*> kept[] = {
        {"purgejobafter", "job"},          {"purgestepafter", "step"},   {"purgeeventafter", "event"},
        {"purgeresvafter", "reservation"}, {"purgeusageafter", "usage"}, {"purgetxnafter", "transaction"}};
    if (words.empty()) return manager.complain(" archive dump or archive load?\n");
    v1::ArchiveRequest request;
    request.set_cluster(manager.cluster());
    const auto verb = lower(words.front());
    if (verb != "dump" && verb != "load")
        return manager.complain(fmt::format(" Unknown archive command: {}\n", words.front()));
    request.set_what(verb == "load" ? v1::ArchiveRequest::LOAD : v1::ArchiveRequest::DUMP);
    std::string file;
    for (const auto& word : words.subspan(1)) {
        const auto equals = word.find('=');
        const auto name = equals == std::string::npos ? std::string{"file"} : lower(word.substr(0, equals));
        const auto value = equals == std::string::npos ? word : word.substr(equals + 1);
        const auto* known = std::ranges::find(kept, name, &std::pair<std::string_view, const char*>::first);
        if (name == "file") {
            file = value;
        } else if (name == "directory") {
            request.set_directory(value);
        } else if (name == "cluster" || name == "clusters") {
            request.set_cluster(value);
        } else if (known != std::end(kept)) {
            const auto hours = parse_retention_h(value);
            if (!hours) return manager.complain(fmt::format(" {} {}\n", name, hours.error().text));
            (*request.mutable_keep_hours())[known->second] = *hours;
        } else {
            return manager.complain(fmt::format(" Unknown option: {}\n", word));
        }
    }
    if (verb == "load") {
        std::ifstream in{file, std::ios::binary};
        if (!in) return manager.complain(fmt::format(" {} cannot be read\n", file.empty() ? "file=" : file));
        request.set_content(std::string{std::istreambuf_iterator<char>{in}, {}});
    }
    if (manager.options().readonly) return manager.complain(" Can't run this command in readonly mode.\n");
    if (!manager.options().immediate && !manager.agree()) return 0;
    const auto reply = manager.ask_history<v1::ArchiveReply>("Archive", request);
    if (!reply) return 1;
    for (const auto& path : reply->files()) manager.print(fmt::format(" {}\n", path));
    manager.print(fmt::format(" {} rows {}\n", reply->rows(), verb == "load" ? "loaded" : "archived and purged"));
    return 0;
}

}  // namespace spur::cli::sacctmgr
