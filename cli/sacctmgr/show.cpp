// sacctmgr show: listings, column by column as Slurm has them.
#include "cli/sacctmgr/manager.hpp"

#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace spur::cli::sacctmgr {
namespace {

// What one line is about; what it is not about is null.
struct Row {
    const AccountsDraft* draft = nullptr;
    const v1::Account* account = nullptr;
    const v1::AccountUser* user = nullptr;
    const v1::Association* association = nullptr;
    const v1::Qos* qos = nullptr;
    std::string tres;
    std::size_t tres_id = 0;
    std::size_t depth = 0;
};

struct Column {
    const char* key;  // what format= calls it, in lower case; abbreviations will do
    const char* header;
    int width;
    std::string (*get)(const Row&);
};

template <class T>
std::string number_if(bool given, T value) {
    return given ? fmt::format("{}", value) : std::string{};
}
v1::AccountLimits limits_of(const Row& row) {
    if (row.qos) return row.qos->limits();
    return row.association ? row.draft->limits_of(*row.association) : v1::AccountLimits{};
}
std::string count_in(const google::protobuf::RepeatedPtrField<v1::TresCount>& list, std::string_view name) {
    const auto found = tres_of(list).find(name);
    return found ? std::to_string(*found) : std::string{};
}
#define SPUR_LIMIT(name)                            \
    [](const Row& r) {                              \
        const auto l = limits_of(r);                \
        return number_if(l.has_##name(), l.name()); \
    }
#define SPUR_WALL(name)                                              \
    [](const Row& r) {                                               \
        const auto l = limits_of(r);                                 \
        return l.has_##name() ? wall_text(l.name()) : std::string{}; \
    }
#define SPUR_TRES(name) [](const Row& r) { return tres_text(limits_of(r).name()); }
#define SPUR_ONE(name, tres) [](const Row& r) { return count_in(limits_of(r).name(), tres); }

// Limits that associations and QOS have in common.
constexpr Column limit_columns[] = {
    {"grpjobs", "GrpJobs", 7, SPUR_LIMIT(grp_jobs)},
    {"grpjobsaccrue", "GrpJobsAccrue", 13, SPUR_LIMIT(grp_jobs_accrue)},
    {"grptres", "GrpTRES", 13, SPUR_TRES(grp_tres)},
    {"grptresmins", "GrpTRESMins", 13, SPUR_TRES(grp_tres_mins)},
    {"grptresrunmins", "GrpTRESRunMins", 13, SPUR_TRES(grp_tres_run_mins)},
    {"grpsubmitjobs", "GrpSubmit", 9, SPUR_LIMIT(grp_submit_jobs)},
    {"grpwall", "GrpWall", 11, SPUR_WALL(grp_wall_min)},
    {"grpcpus", "GrpCPUs", 8, SPUR_ONE(grp_tres, "cpu")},
    {"grpcpumins", "GrpCPUMins", 11, SPUR_ONE(grp_tres_mins, "cpu")},
    {"grpnodes", "GrpNodes", 8, SPUR_ONE(grp_tres, "node")},
    {"grpmemory", "GrpMem", 7, SPUR_ONE(grp_tres, "mem")},
    {"maxtresperjob", "MaxTRES", 13, SPUR_TRES(max_tres_per_job)},
    {"maxtrespernode", "MaxTRESPerNode", 14, SPUR_TRES(max_tres_per_node)},
    {"maxtresminsperjob", "MaxTRESMins", 13, SPUR_TRES(max_tres_mins_per_job)},
    {"maxwall", "MaxWall", 11, SPUR_WALL(max_wall_min)},
    {"maxcpus", "MaxCPUs", 8, SPUR_ONE(max_tres_per_job, "cpu")},
    {"maxcpumins", "MaxCPUMins", 11, SPUR_ONE(max_tres_mins_per_job, "cpu")},
    {"maxnodes", "MaxNodes", 8, SPUR_ONE(max_tres_per_job, "node")},
};

constexpr Column association_columns[] = {
    {"cluster", "Cluster", 10, [](const Row& r) { return r.association ? r.draft->all.cluster() : std::string{}; }},
    {"account", "Account", 10,
     [](const Row& r) {
         const auto name = r.association ? r.association->account() : r.account ? r.account->name() : std::string{};
         return std::string(r.depth, ' ') + name;
     }},
    {"user", "User", 10,
     [](const Row& r) { return r.association ? r.association->user()
                               : r.user      ? r.user->name()
                                             : std::string{}; }},
    {"partition", "Partition", 10, [](const Row& r) { return r.association ? r.association->partition() : ""; }},
    {"share", "Share", 9,
     [](const Row& r) {
         if (!r.association) return std::string{};
         return r.association->shares_parent() ? "parent" : std::to_string(r.association->shares());
     }},
    {"fairshare", "Share", 9,
     [](const Row& r) {
         if (!r.association) return std::string{};
         return r.association->shares_parent() ? "parent" : std::to_string(r.association->shares());
     }},
    {"priority", "Priority", 10,
     [](const Row& r) {
         return r.association ? number_if(r.association->priority() != 0, r.association->priority()) : std::string{};
     }},
    {"maxjobs", "MaxJobs", 7, SPUR_LIMIT(max_jobs)},
    {"maxjobsaccrue", "MaxJobsAccrue", 13, SPUR_LIMIT(max_jobs_accrue)},
    {"minpriothreshold", "MinPrioThres", 12, SPUR_LIMIT(min_prio_threshold)},
    {"maxsubmitjobs", "MaxSubmit", 9, SPUR_LIMIT(max_submit_jobs)},
    {"qos", "QOS", 20, [](const Row& r) { return r.association ? joined(r.draft->qos_of(*r.association)) : ""; }},
    {"qoslevel", "QOS", 20, [](const Row& r) { return r.association ? joined(r.draft->qos_of(*r.association)) : ""; }},
    {"defaultqos", "Def QOS", 9,
     [](const Row& r) { return r.association ? r.draft->default_qos_of(*r.association) : std::string{}; }},
    {"parentname", "ParentName", 10,
     [](const Row& r) {
         return r.association && r.association->user().empty() ? r.association->parent_account() : std::string{};
     }},
    {"parentid", "ParentID", 8,
     [](const Row& r) { return r.association ? std::to_string(r.association->parent()) : ""; }},
    {"id", "ID", 6, [](const Row& r) { return r.association ? std::to_string(r.association->id()) : std::string{}; }},
    {"comment", "Comment", 20, [](const Row& r) { return r.association ? r.association->comment() : std::string{}; }},
};

constexpr Column account_columns[] = {
    {"account", "Account", 10, [](const Row& r) { return r.account ? r.account->name() : std::string{}; }},
    {"name", "Account", 10, [](const Row& r) { return r.account ? r.account->name() : std::string{}; }},
    {"description", "Descr", 20, [](const Row& r) { return r.account ? r.account->description() : std::string{}; }},
    {"organization", "Org", 20, [](const Row& r) { return r.account ? r.account->organization() : std::string{}; }},
    {"coordinators", "Coord Accounts", 20,
     [](const Row& r) { return r.account ? joined(r.draft->coordinators_of(r.account->name())) : std::string{}; }},
};

constexpr Column user_columns[] = {
    {"user", "User", 10, [](const Row& r) { return r.user ? r.user->name() : std::string{}; }},
    {"name", "User", 10, [](const Row& r) { return r.user ? r.user->name() : std::string{}; }},
    {"defaultaccount", "Def Acct", 10, [](const Row& r) { return r.user ? r.user->default_account() : std::string{}; }},
    {"defaultwckey", "Def WCKey", 10, [](const Row& r) { return r.user ? r.user->default_wckey() : std::string{}; }},
    {"adminlevel", "Admin", 9,
     [](const Row& r) { return r.user ? admin_level_text(r.user->admin_level()) : std::string{}; }},
    {"coordinators", "Coord Accounts", 20,
     [](const Row& r) {
         Names names;
         for (const auto& account : r.draft->all.accounts())
             if (r.user && is_in(r.draft->coordinators_of(account.name()), r.user->name()))
                 names.push_back(account.name());
         return joined(names);
     }},
};

constexpr Column qos_columns[] = {
    {"name", "Name", 10, [](const Row& r) { return r.qos->name(); }},
    {"priority", "Priority", 10, [](const Row& r) { return std::to_string(r.qos->priority()); }},
    {"gracetime", "GraceTime", 10, [](const Row& r) { return print_long_duration(r.qos->grace_time_s()); }},
    {"preempt", "Preempt", 10,
     [](const Row& r) {
         return joined({r.qos->preempt().begin(), r.qos->preempt().end()});
     }},
    {"preemptexempttime", "PreemptExemptTime", 19,
     [](const Row& r) {
         return r.qos->has_preempt_exempt_time_s() ? print_long_duration(r.qos->preempt_exempt_time_s())
                                                   : std::string{};
     }},
    {"preemptmode", "PreemptMode", 11, [](const Row& r) { return r.qos->preempt_mode(); }},
    {"flags", "Flags", 40, [](const Row& r) { return flags_text(r.qos->flags()); }},
    {"usagethreshold", "UsageThres", 10,
     [](const Row& r) {
         return r.qos->has_usage_threshold() ? fmt::format("{:f}", r.qos->usage_threshold()) : std::string{};
     }},
    {"limitfactor", "LimitFactor", 11,
     [](const Row& r) {
         return r.qos->has_limit_factor() ? fmt::format("{:f}", r.qos->limit_factor()) : std::string{};
     }},
    {"minpriothreshold", "MinPrioThres", 12, SPUR_LIMIT(min_prio_threshold)},
    {"maxjobsaccrueperuser", "MaxJobsAccruePU", 15, SPUR_LIMIT(max_jobs_accrue)},
    {"maxjobsaccruepu", "MaxJobsAccruePU", 15, SPUR_LIMIT(max_jobs_accrue)},
    {"maxjobsaccrueperaccount", "MaxJobsAccruePA", 15,
     [](const Row& r) {
         return number_if(r.qos->has_max_jobs_accrue_per_account(), r.qos->max_jobs_accrue_per_account());
     }},
    {"usagefactor", "UsageFactor", 11, [](const Row& r) { return fmt::format("{:f}", r.qos->usage_factor()); }},
    {"maxtresperuser", "MaxTRESPU", 13, [](const Row& r) { return tres_text(r.qos->max_tres_per_user()); }},
    {"maxtrespu", "MaxTRESPU", 13, [](const Row& r) { return tres_text(r.qos->max_tres_per_user()); }},
    {"maxjobsperuser", "MaxJobsPU", 9, SPUR_LIMIT(max_jobs)},
    {"maxjobspu", "MaxJobsPU", 9, SPUR_LIMIT(max_jobs)},
    {"maxsubmitjobsperuser", "MaxSubmitPU", 11, SPUR_LIMIT(max_submit_jobs)},
    {"maxsubmitpu", "MaxSubmitPU", 11, SPUR_LIMIT(max_submit_jobs)},
    {"maxsubmitjobspu", "MaxSubmitPU", 11, SPUR_LIMIT(max_submit_jobs)},
    {"maxtresperaccount", "MaxTRESPA", 13, [](const Row& r) { return tres_text(r.qos->max_tres_per_account()); }},
    {"maxtrespa", "MaxTRESPA", 13, [](const Row& r) { return tres_text(r.qos->max_tres_per_account()); }},
    {"maxjobsperaccount", "MaxJobsPA", 9,
     [](const Row& r) { return number_if(r.qos->has_max_jobs_per_account(), r.qos->max_jobs_per_account()); }},
    {"maxjobspa", "MaxJobsPA", 9,
     [](const Row& r) { return number_if(r.qos->has_max_jobs_per_account(), r.qos->max_jobs_per_account()); }},
    {"maxsubmitjobsperaccount", "MaxSubmitPA", 11,
     [](const Row& r) {
         return number_if(r.qos->has_max_submit_jobs_per_account(), r.qos->max_submit_jobs_per_account());
     }},
    {"maxsubmitpa", "MaxSubmitPA", 11,
     [](const Row& r) {
         return number_if(r.qos->has_max_submit_jobs_per_account(), r.qos->max_submit_jobs_per_account());
     }},
    {"mintresperjob", "MinTRES", 13, [](const Row& r) { return tres_text(r.qos->min_tres_per_job()); }},
    {"id", "ID", 6, [](const Row& r) { return std::to_string(r.qos->id()); }},
    {"description", "Descr", 20, [](const Row& r) { return r.qos->description(); }},
};

constexpr Column cluster_columns[] = {
    {"controlhost", "ControlHost", 15, [](const Row& r) { return r.draft->all.control_host(); }},
    {"controlport", "ControlPort", 12, [](const Row& r) { return std::to_string(r.draft->all.control_port()); }},
    {"rpc", "RPC", 5, [](const Row&) { return std::string{"9728"}; }},  // 22.05's
};

constexpr Column tres_columns[] = {
    {"type", "Type", 8, [](const Row& r) { return r.tres.substr(0, r.tres.find('/')); }},
    {"name", "Name", 15,
     [](const Row& r) { return r.tres.find('/') == std::string::npos ? "" : r.tres.substr(r.tres.find('/') + 1); }},
    {"id", "ID", 6, [](const Row& r) { return std::to_string(r.tres_id); }},
};

using Tables = std::vector<std::span<const Column>>;

const Column* find_column(const Tables& tables, std::string_view name) {
    for (const auto table : tables)
        for (const auto& column : table)
            if (name == column.key) return &column;
    for (const auto table : tables)
        for (const auto& column : table)
            if (name.size() > 1 && (std::string_view{column.key}.starts_with(name) || lower(column.header) == name))
                return &column;
    return nullptr;
}

// What is to be shown of an entity: its lines, its columns unless others are asked for, and where columns are found.
struct Listing {
    std::vector<Row> rows;
    std::string format;
    Tables tables;
    bool tree = false;
};

int print_listing(Manager& manager, const Listing& listing, const std::optional<std::string>& format) {
    const auto wanted = parse_columns(format.value_or(listing.format));
    if (!wanted) return manager.complain(wanted.error().text + "\n");
    std::vector<const Column*> columns;
    std::vector<TableColumn> shape;
    for (const auto& request : *wanted) {
        const auto* column = find_column(listing.tables, request.name);
        if (column == nullptr) return manager.complain(fmt::format("Unknown field '{}'\n", request.name));
        columns.push_back(column);
        const bool is_tree = listing.tree && column->header == std::string_view{"Account"};
        shape.push_back({column->header, request.width != 0 ? request.width : is_tree ? -20 : column->width});
    }
    const Table table{manager.options().style, manager.options().header, std::move(shape)};
    std::string text = table.header();
    for (const auto& row : listing.rows) {
        std::vector<std::string> cells;
        for (const auto* column : columns) cells.push_back(column->get(row));
        text += table.row(cells);
    }
    manager.print(text);
    return 0;
}

// Conditions of a listing.
struct Query {
    Names names, accounts, users, partitions, clusters, types, parents, qos;
    std::optional<std::string> format;
    bool tree = false, with_associations = false, with_coordinators = false, with_subaccounts = false,
         only_defaults = false;

    bool takes(const Names& list, const std::string& name) const { return list.empty() || is_in(list, lower(name)); }
};

std::optional<Query> read_query(Manager& manager, Words words) {
    Query query;
    query.with_associations = manager.options().associations;
    for (const auto& spec : read_sentence(words).conditions) {
        const std::pair<const char*, Names*> lists[] = {
            {"names", &query.names},       {"accounts", &query.accounts},
            {"users", &query.users},       {"partitions", &query.partitions},
            {"clusters", &query.clusters}, {"type", &query.types},
            {"parent", &query.parents},    {"qos", &query.qos}};
        const std::pair<const char*, bool*> flags[] = {{"tree", &query.tree},
                                                       {"withassoc", &query.with_associations},
                                                       {"withcoordinators", &query.with_coordinators},
                                                       {"withsubaccounts", &query.with_subaccounts},
                                                       {"onlydefaults", &query.only_defaults}};
        const auto list = std::ranges::find(lists, spec.key, [](const auto& e) { return std::string_view{e.first}; });
        const auto flag = std::ranges::find(flags, spec.key, [](const auto& e) { return std::string_view{e.first}; });
        if (spec.key == "format")
            query.format = spec.value;
        else if (list != std::end(lists))
            for (auto& name : spec.list()) list->second->push_back(std::move(name));
        else if (flag != std::end(flags))
            *flag->second = true;
        else
            return manager.complain(fmt::format(" Unknown condition: {}\n", spec.text)), std::nullopt;
    }
    return query;
}

// An account's own line, its users by name, then the accounts below it by name.
std::vector<std::pair<const v1::Association*, std::size_t>> in_tree_order(const AccountsDraft& draft) {
    std::map<std::uint32_t, std::vector<const v1::Association*>> children;
    for (const auto& entry : draft.all.associations()) children[entry.parent()].push_back(&entry);
    std::vector<std::pair<const v1::Association*, std::size_t>> order;
    const auto visit = [&](const auto& self, std::uint32_t parent, std::size_t depth) -> void {
        auto& list = children[parent];
        std::ranges::sort(list, [](const auto* a, const auto* b) {
            return std::tuple{a->user().empty(), a->user(), a->account(), a->partition()} <
                   std::tuple{b->user().empty(), b->user(), b->account(), b->partition()};
        });
        for (const auto* entry : list) {
            order.emplace_back(entry, depth);
            self(self, entry->id(), depth + 1);
        }
    };
    visit(visit, 0, 0);
    return order;
}

bool is_wanted(const AccountsDraft& draft, const Query& query, const v1::Association& entry) {
    const bool by_account = query.takes(query.accounts, entry.account()) ||
                            (query.with_subaccounts && std::ranges::any_of(query.accounts, [&](const auto& name) {
                                 return draft.is_below(entry, name);
                             }));
    if (query.only_defaults) {
        const auto* user = draft.user(entry.user());
        if (user == nullptr || user->default_account() != entry.account()) return false;
    }
    return by_account && query.takes(query.users, entry.user()) && query.takes(query.partitions, entry.partition()) &&
           query.takes(query.clusters, draft.all.cluster()) && query.takes(query.parents, entry.parent_account()) &&
           (query.qos.empty() ||
            std::ranges::any_of(query.qos, [&](const auto& name) { return is_in(draft.qos_of(entry), name); }));
}

const std::string association_format =
    "cluster,account,user,partition,share,priority,grpjobs,grptres,grpsubmitjobs,grpwall,grptresmins,maxjobs,"
    "maxtresperjob,maxtrespernode,maxsubmitjobs,maxwall,maxtresminsperjob,qos,defaultqos,grptresrunmins";

Listing associations(const AccountsDraft& draft, const Query& query) {
    Listing listing{{}, association_format, {association_columns, limit_columns}, query.tree};
    for (const auto& [entry, depth] : in_tree_order(draft))
        if (is_wanted(draft, query, *entry))
            listing.rows.push_back(
                {.draft = &draft, .association = entry, .depth = query.tree ? depth : std::size_t{0}});
    return listing;
}

Listing accounts(const AccountsDraft& draft, const Query& query) {
    Listing listing{{}, "account,description,organization", {account_columns, association_columns, limit_columns}};
    const auto names = query.names.empty() ? query.accounts : query.names;
    for (const auto& account : draft.all.accounts()) {
        if (!query.takes(names, account.name())) continue;
        if (!query.with_associations) {
            listing.rows.push_back({.draft = &draft, .account = &account});
            continue;
        }
        for (const auto& [entry, depth] : in_tree_order(draft))
            if (entry->account() == account.name() && is_wanted(draft, query, *entry))
                listing.rows.push_back({.draft = &draft, .account = &account, .association = entry});
    }
    if (query.with_associations) {
        listing.format +=
            ",cluster,parentname,user,share,priority,grpjobs,grpnodes,grpcpus,grpmemory,grpsubmitjobs,grpwall,"
            "grpcpumins,"
            "maxjobs,maxnodes,maxcpus,maxsubmitjobs,maxwall,maxcpumins,qos,defaultqos";
        listing.tables = {account_columns, association_columns, limit_columns};
    }
    if (query.with_coordinators) listing.format += ",coordinators";
    return listing;
}

Listing users(const AccountsDraft& draft, const Query& query) {
    Listing listing{{}, "user,defaultaccount,adminlevel", {user_columns, association_columns, limit_columns}};
    const auto names = query.names.empty() ? query.users : query.names;
    for (const auto& user : draft.all.users()) {
        if (!query.takes(names, user.name())) continue;
        if (!query.with_associations) {
            listing.rows.push_back({.draft = &draft, .user = &user});
            continue;
        }
        std::vector<const v1::Association*> own;
        for (const auto& entry : draft.all.associations())
            if (entry.user() == user.name() && query.takes(query.accounts, entry.account()) &&
                query.takes(query.partitions, entry.partition()))
                own.push_back(&entry);
        std::ranges::sort(own, {}, [](const auto* entry) { return entry->account(); });
        for (const auto* entry : own) listing.rows.push_back({.draft = &draft, .user = &user, .association = entry});
    }
    if (query.with_associations)
        listing.format +=
            ",cluster,account,partition,share,priority,maxjobs,maxnodes,maxcpus,maxsubmitjobs,maxwall,maxcpumins,qos,"
            "defaultqos";
    if (query.with_coordinators) listing.format += ",coordinators";
    return listing;
}

Listing qualities(const AccountsDraft& draft, const Query& query) {
    Listing listing{
        {},
        "name,priority,gracetime,preempt,preemptexempttime,preemptmode,flags,usagethreshold,usagefactor,grptres,"
        "grptresmins,grptresrunmins,grpjobs,grpsubmitjobs,grpwall,maxtresperjob,maxtrespernode,maxtresminsperjob,"
        "maxwall,"
        "maxtresperuser,maxjobsperuser,maxsubmitjobsperuser,maxtresperaccount,maxjobsperaccount,"
        "maxsubmitjobsperaccount,mintresperjob",
        {qos_columns, limit_columns}};
    std::vector<const v1::Qos*> all;
    for (const auto& qos : draft.all.qos())
        if (query.takes(query.names, qos.name())) all.push_back(&qos);
    std::ranges::sort(all, {}, [](const auto* qos) { return qos->id(); });
    for (const auto* qos : all) listing.rows.push_back({.draft = &draft, .qos = qos});
    return listing;
}

Listing clusters(const AccountsDraft& draft, const Query& query) {
    Listing listing{{},
                    "cluster,controlhost,controlport,rpc,share,grpjobs,grptres,grpsubmitjobs,maxjobs,maxtresperjob,"
                    "maxsubmitjobs,maxwall,qos,defaultqos",
                    {cluster_columns, association_columns, limit_columns}};
    const auto names = query.names.empty() ? query.clusters : query.names;
    if (query.takes(names, draft.all.cluster()))
        listing.rows.push_back({.draft = &draft, .association = draft.own("root")});
    return listing;
}

Listing resources(const AccountsDraft& draft, const Query& query) {
    Listing listing{{}, "type,name,id", {tres_columns}};
    std::size_t fixed = 0, more = 1000;
    for (const auto& name : draft.all.tres()) {
        const bool is_own = name.starts_with("gres/") || name.starts_with("license/");
        const auto id = is_own ? ++more : ++fixed;
        if (query.takes(query.types, name.substr(0, name.find('/'))))
            listing.rows.push_back({.draft = &draft, .tres = name, .tres_id = id});
    }
    return listing;
}

}  // namespace

int show(Manager& manager, std::string_view entity, Words words) {
    const auto query = read_query(manager, words);
    if (!query) return 1;
    const auto& draft = manager.draft();
    if (entity == "association") return print_listing(manager, associations(draft, *query), query->format);
    if (entity == "account" && query->tree) {
        auto by_tree = *query;
        for (auto& name : by_tree.names) by_tree.accounts.push_back(std::move(name));
        return print_listing(manager, associations(draft, by_tree), query->format);
    }
    if (entity == "account") return print_listing(manager, accounts(draft, *query), query->format);
    if (entity == "user") return print_listing(manager, users(draft, *query), query->format);
    if (entity == "qos") return print_listing(manager, qualities(draft, *query), query->format);
    if (entity == "cluster") return print_listing(manager, clusters(draft, *query), query->format);
    return print_listing(manager, resources(draft, *query), query->format);
}

}  // namespace spur::cli::sacctmgr
