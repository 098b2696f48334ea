// sacctmgr show: listings, column by column as Slurm has them.
#include "cli/sacctmgr/manager.hpp"

#include "core/text/lexical.hpp"
#include "daemons/common/history/row_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace spur::cli::sacctmgr {
namespace {

using records::account_fields;
using records::AccountsField;
using records::AccountsView;
using records::association_fields;
using Tables = std::vector<std::span<const AccountsField>>;

const AccountsField* find_column(const Tables& tables, std::string_view name) {
    for (const auto table : tables)
        for (const auto& field : table)
            for (const auto* known : {field.listing.name, field.listing.older})
                if (field.listing.header[0] != 0 && known != nullptr && name == known) return &field;
    for (const auto table : tables)
        for (const auto& field : table)
            if (field.listing.header[0] != 0 && name.size() > 1 &&
                (std::string_view{field.listing.name}.starts_with(name) || lower(field.listing.header) == name))
                return &field;
    return nullptr;
}

// What is to be shown of an entity: its lines, its columns unless others are asked for, and where columns are found.
struct Listing {
    std::vector<AccountsView> rows;
    std::string format;
    Tables tables;
    bool tree = false;
};

int print_listing(Manager& manager, const Listing& listing, const std::optional<std::string>& format) {
    const auto wanted = parse_columns(format.value_or(listing.format));
    if (!wanted) return manager.complain(wanted.error().text + "\n");
    std::vector<std::pair<const AccountsField*, int>> columns;
    for (const auto& request : *wanted) {
        const auto* field = find_column(listing.tables, request.name);
        if (field == nullptr) return manager.complain(fmt::format("Unknown field '{}'\n", request.name));
        const bool is_tree = listing.tree && field->listing.header == std::string_view{"Account"};
        columns.emplace_back(field, request.width != 0 ? request.width : is_tree ? -20 : field->listing.width);
    }
    manager.print(table_text(manager.options().style, manager.options().header, columns, listing.rows));
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

AccountsView line_of(const AccountsDraft& draft, const v1::Association* entry) {
    static const records::Context context;
    AccountsView line{.accounts = draft, .in = context, .association = entry};
    if (entry != nullptr) line.limits = draft.limits_of(*entry);
    return line;
}

Listing associations(const AccountsDraft& draft, const Query& query) {
    Listing listing{{}, association_format, {association_fields()}, query.tree};
    for (const auto& [entry, depth] : in_tree_order(draft))
        if (is_wanted(draft, query, *entry)) {
            listing.rows.push_back(line_of(draft, entry));
            if (query.tree) listing.rows.back().depth = depth;
        }
    return listing;
}

Listing accounts(const AccountsDraft& draft, const Query& query) {
    Listing listing{{}, "account,description,organization", {account_fields(), association_fields()}};
    const auto names = query.names.empty() ? query.accounts : query.names;
    for (const auto& account : draft.all.accounts()) {
        if (!query.takes(names, account.name())) continue;
        const auto add = [&](const v1::Association* entry) {
            listing.rows.push_back(line_of(draft, entry));
            listing.rows.back().account = &account;
        };
        if (!query.with_associations) {
            add(nullptr);
            continue;
        }
        for (const auto& [entry, depth] : in_tree_order(draft))
            if (entry->account() == account.name() && is_wanted(draft, query, *entry)) add(entry);
    }
    if (query.with_associations)
        listing.format +=
            ",cluster,parentname,user,share,priority,grpjobs,grpnodes,grpcpus,grpmemory,grpsubmitjobs,grpwall,"
            "grpcpumins,maxjobs,maxnodes,maxcpus,maxsubmitjobs,maxwall,maxcpumins,qos,defaultqos";
    if (query.with_coordinators) listing.format += ",coordinators";
    return listing;
}

Listing users(const AccountsDraft& draft, const Query& query) {
    Listing listing{{}, "user,defaultaccount,adminlevel", {records::user_fields(), association_fields()}};
    const auto names = query.names.empty() ? query.users : query.names;
    for (const auto& user : draft.all.users()) {
        if (!query.takes(names, user.name())) continue;
        const auto add = [&](const v1::Association* entry) {
            listing.rows.push_back(line_of(draft, entry));
            listing.rows.back().user = &user;
        };
        if (!query.with_associations) {
            add(nullptr);
            continue;
        }
        std::vector<const v1::Association*> own;
        for (const auto& entry : draft.all.associations())
            if (entry.user() == user.name() && query.takes(query.accounts, entry.account()) &&
                query.takes(query.partitions, entry.partition()))
                own.push_back(&entry);
        std::ranges::sort(own, {}, [](const auto* entry) { return entry->account(); });
        std::ranges::for_each(own, add);
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
        "maxwall,maxtresperuser,maxjobsperuser,maxsubmitjobsperuser,maxtresperaccount,maxjobsperaccount,"
        "maxsubmitjobsperaccount,mintresperjob",
        {records::qos_fields()}};
    std::vector<const v1::Qos*> all;
    for (const auto& qos : draft.all.qos())
        if (query.takes(query.names, qos.name())) all.push_back(&qos);
    std::ranges::sort(all, {}, [](const auto* qos) { return qos->id(); });
    for (const auto* qos : all) {
        listing.rows.push_back(line_of(draft, nullptr));
        listing.rows.back().qos = qos;
        listing.rows.back().limits = qos->limits();
    }
    return listing;
}

Listing clusters(const AccountsDraft& draft, const Query& query) {
    Listing listing{{},
                    "cluster,controlhost,controlport,rpc,share,grpjobs,grptres,grpsubmitjobs,maxjobs,maxtresperjob,"
                    "maxsubmitjobs,maxwall,qos,defaultqos",
                    {records::cluster_fields(), association_fields()}};
    const auto names = query.names.empty() ? query.clusters : query.names;
    if (query.takes(names, draft.all.cluster())) listing.rows.push_back(line_of(draft, draft.own("root")));
    return listing;
}

Listing resources(const AccountsDraft& draft, const Query& query) {
    Listing listing{{}, "type,name,id", {records::tres_fields()}};
    std::size_t fixed = 0, more = 1000;
    for (const auto& name : draft.all.tres()) {
        const bool is_own = name.starts_with("gres/") || name.starts_with("license/");
        const auto id = is_own ? ++more : ++fixed;
        if (!query.takes(query.types, name.substr(0, name.find('/')))) continue;
        listing.rows.push_back(line_of(draft, nullptr));
        listing.rows.back().tres = name;
        listing.rows.back().tres_id = id;
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
    if (entity == "cluster") {
        // Of the others, spurdbd knows where they are and no more.
        const auto others = manager.other_clusters();
        std::deque<AccountsDraft> drafts;
        auto listing = clusters(draft, *query);
        const auto names = query->names.empty() ? query->clusters : query->names;
        for (const auto& [name, row] : others) {
            if (!query->takes(names, name)) continue;
            auto& other = drafts.emplace_back();
            other.all.set_cluster(name);
            other.all.set_control_host(history::text_in(row, "control_host"));
            other.all.set_control_port(static_cast<std::uint32_t>(history::number_in(row, "control_port")));
            listing.rows.push_back(line_of(other, nullptr));
        }
        return print_listing(manager, listing, query->format);
    }
    return print_listing(manager, resources(draft, *query), query->format);
}

}  // namespace spur::cli::sacctmgr
