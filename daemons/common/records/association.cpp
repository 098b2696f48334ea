// Associations, accounts, users, the cluster and its resources as sacctmgr's users know them. One row a field; the
// order is that in which settings are announced.
#include <algorithm>

#include "daemons/common/records/accounts_values.hpp"

namespace spur::records {
namespace {

using namespace accounts_value;
using A = v1::Association;

template <auto Get>
Value of_association(const AccountsView& view) {
    return view.association ? Value{(view.association->*Get)()} : Value{};
}
template <auto Get>
Value of_account(const AccountsView& view) {
    return view.account ? Value{(view.account->*Get)()} : Value{};
}
template <auto Get>
Value of_user(const AccountsView& view) {
    return view.user ? Value{(view.user->*Get)()} : Value{};
}

Value shares_of(const AccountsView& view) {
    if (!view.association) return {};
    return view.association->shares_parent() ? Value{"parent"} : Value{view.association->shares()};
}
Value account_of(const AccountsView& view) {
    if (!view.association) return of_account<&v1::Account::name>(view);
    return std::string(view.depth, ' ') + view.association->account();
}
Value user_of(const AccountsView& view) {
    return view.association ? Value{view.association->user()} : of_user<&v1::AccountUser::name>(view);
}
Value parent_of(const AccountsView& view) {
    return view.association && view.association->user().empty() ? Value{view.association->parent_account()} : Value{};
}
Value qos_of(const AccountsView& view) {
    if (!view.association) return {};
    const auto& own = view.association->qos();
    return joined(view.inherits ? view.accounts.qos_of(*view.association) : Names{own.begin(), own.end()});
}
Value default_qos_of(const AccountsView& view) {
    if (!view.association) return {};
    return view.inherits ? view.accounts.default_qos_of(*view.association) : view.association->default_qos();
}
Value coordinators_of(const AccountsView& view) {
    return view.account ? Value{joined(view.accounts.coordinators_of(view.account->name()))} : Value{};
}
Value coordinated_by(const AccountsView& view) {
    Names names;
    for (const auto& account : view.accounts.all.accounts())
        if (view.user && is_in(view.accounts.coordinators_of(account.name()), view.user->name()))
            names.push_back(account.name());
    return joined(names);
}
constexpr const char* admin_levels[] = {"None", "Operator", "Administrator"};  // by their number
Value admin_level_of(const AccountsView& view) {
    return view.user ? Value{admin_levels[std::min<int>(view.user->admin_level(), 2)]} : Value{};
}

Result<void> set_shares(AccountsChange& change, const Setting& setting) {
    const bool of_parent = equal_nocase(setting.value, "parent");
    SPUR_TRY(const auto shares, of_parent ? Result<Number>{1U} : read_limit({"FairShare", setting.value}));
    change.association->set_shares(shares.value_or(1));
    change.association->set_shares_parent(of_parent);
    return {};
}
Result<void> set_priority(AccountsChange& change, const Setting& setting) {
    SPUR_TRY(const auto priority, read_limit(setting));
    change.association->set_priority(priority.value_or(0));
    return {};
}
Result<void> set_qos(AccountsChange& change, const Setting& setting) {
    SPUR_TRY(const auto named, read_qos(change, setting));
    auto names = change.accounts.qos_of(*change.association);
    change_names(change.operation, named, names);
    std::ranges::sort(names);
    change.association->mutable_qos()->Assign(names.begin(), names.end());
    return {};
}
Result<void> set_default_qos(AccountsChange& change, const Setting& setting) {
    change.association->clear_default_qos();
    if (setting.value == "-1") return {};
    SPUR_TRY(const auto named, read_qos(change, setting));
    if (named.size() != 1) return fail(ErrorCode::invalid, "There is one default QOS, not {}", setting.value);
    change.association->set_default_qos(named.front());
    return {};
}
std::string first_name(const Setting& setting) {
    const auto names = read_list(setting.value);
    return names.empty() ? std::string{} : names.front();
}
Result<void> set_parent(AccountsChange& change, const Setting& setting) {
    change.association->set_parent_account(first_name(setting));
    return {};
}
Result<void> set_default_account(AccountsChange& change, const Setting& setting) {
    change.user->set_default_account(first_name(setting));
    return {};
}
Result<void> set_admin_level(AccountsChange& change, const Setting& setting) {
    const auto word = first_name(setting);
    for (int level = 0; level < 3 && !word.empty(); ++level)
        if (lower(admin_levels[level]).starts_with(word)) {
            change.user->set_admin_level(static_cast<v1::AccountUser::AdminLevel>(level));
            return {};
        }
    return fail(ErrorCode::invalid, " Unknown admin level: {}", setting.value);
}
template <auto Record, auto Mutable>
Result<void> set_string(AccountsChange& change, const Setting& setting) {
    *((change.*Record)->*Mutable)() = setting.value;
    return {};
}

// clang-format off
constexpr AccountsField association_head[] = {
    {.listing = column("cluster", "Cluster", 10), .member = "cluster",
     .get = [](const AccountsView& view) {  // another cluster's associations are not known, its name is
         const auto& all = view.accounts.all;
         return view.association || all.associations().empty() ? Value{all.cluster()} : Value{};
     }},
    {.listing = column("account", "Account", 10), .member = "acct", .get = account_of},
    {.listing = column("user", "User", 10), .member = "user", .get = user_of},
    {.listing = column("partition", "Partition", 10), .member = "partition", .get = of_association<&A::partition>},
    {.name = "Fairshare", .listing = column("share", "Share", 9, "fairshare"), .member = "shares_raw",
     .type = Type::count, .get = shares_of, .change = {"fairshare", 3, set_shares, "shares", 3}},
};

constexpr AccountsField association_tail[] = {
    limit("MaxJobs", column("maxjobs", "MaxJobs", 7), "max_jobs", SPUR_COUNT(Limits, max_jobs)),
    limit("MaxJobsAccrue", column("maxjobsaccrue", "MaxJobsAccrue", 13), "max_jobs_accrue",
          SPUR_COUNT(Limits, max_jobs_accrue)),
    limit("MaxSubmitJobs", column("maxsubmitjobs", "MaxSubmit", 9), "max_submit_jobs",
          SPUR_COUNT(Limits, max_submit_jobs)),
    limit("MaxTRES", column("maxtresperjob", "MaxTRES", 13), "max_tres_pj",
          SPUR_TRES(Limits, max_tres_per_job), "maxtres"),
    limit("MaxTRESPerNode", column("maxtrespernode", "MaxTRESPerNode", 14), "max_tres_pn",
          SPUR_TRES(Limits, max_tres_per_node)),
    limit("MaxTRESMins", column("maxtresminsperjob", "MaxTRESMins", 13), "max_tres_mins_pj",
          SPUR_TRES(Limits, max_tres_mins_per_job)),
    limit("MaxWall", column("maxwall", "MaxWall", 11), "max_wall_pj",
          SPUR_WALL(Limits, max_wall_min), "maxwalldurationperjob"),
    limit("MinPrioThreshold", column("minpriothreshold", "MinPrioThres", 12), "min_prio_thresh",
          SPUR_COUNT(Limits, min_prio_threshold)),
    {.name = "Parent", .listing = column("parentname", "ParentName", 10), .member = "parent_acct", .get = parent_of,
     .change = {"parent", 3, set_parent}},
    {.name = "Priority", .listing = column("priority", "Priority", 10), .member = "priority", .type = Type::count,
     .get = [](const AccountsView& view) { return view.association ? nonzero(view.association->priority()) : Value{}; },
     .change = {"priority", 3, set_priority}},
    {.name = "QOS", .listing = column("qos", "QOS", 20, "qoslevel"), .member = "qos_list", .get = qos_of,
     .change = {"qoslevel", 3, set_qos}},
    {.name = "DefQOS", .listing = column("defaultqos", "Def QOS", 9), .member = "def_qos_id", .get = default_qos_of,
     .change = {"defaultqos", 3, set_default_qos}},
    {.listing = column("parentid", "ParentID", 8), .member = "parent_id", .type = Type::count,
     .get = of_association<&A::parent>},
    {.listing = column("id", "ID", 6), .member = "id", .type = Type::count, .get = of_association<&A::id>},
    {.listing = column("comment", "Comment", 20), .get = of_association<&A::comment>,
     .change = {"comment", 3, set_string<&AccountsChange::association, &A::mutable_comment>}},
};
constexpr auto association_rows =
    joined_rows(association_head, group_limits, association_tail, one_resource_limits);

constexpr AccountsField account_rows[] = {
    {.listing = column("account", "Account", 10, "name"), .member = "name", .get = of_account<&v1::Account::name>},
    {.name = "Description", .listing = column("description", "Descr", 20), .member = "description",
     .get = of_account<&v1::Account::description>,
     .change = {"description", 3, set_string<&AccountsChange::account, &v1::Account::mutable_description>}},
    {.name = "Organization", .listing = column("organization", "Org", 20), .member = "organization",
     .get = of_account<&v1::Account::organization>,
     .change = {"organization", 3, set_string<&AccountsChange::account, &v1::Account::mutable_organization>}},
    {.listing = column("coordinators", "Coord Accounts", 20), .member = "coordinators", .get = coordinators_of},
};

constexpr AccountsField user_rows[] = {
    {.listing = column("user", "User", 10, "name"), .member = "name", .get = of_user<&v1::AccountUser::name>},
    {.name = "Default Account", .listing = column("defaultaccount", "Def Acct", 10), .member = "default_acct",
     .get = of_user<&v1::AccountUser::default_account>,
     .change = {"defaultaccount", 3, set_default_account, "defacct", 4}},
    {.name = "Default WCKey", .listing = column("defaultwckey", "Def WCKey", 10), .member = "default_wckey",
     .get = of_user<&v1::AccountUser::default_wckey>,
     .change = {"defaultwckey", 3, set_string<&AccountsChange::user, &v1::AccountUser::mutable_default_wckey>}},
    {.name = "Admin Level", .listing = column("adminlevel", "Admin", 9), .member = "admin_level", .get = admin_level_of,
     .change = {"adminlevel", 3, set_admin_level}},
    {.listing = column("coordinators", "Coord Accounts", 20), .member = "coord_accts", .get = coordinated_by},
};

constexpr AccountsField cluster_rows[] = {
    {.listing = column("controlhost", "ControlHost", 15), .member = "control_host",
     .get = [](const AccountsView& view) -> Value { return view.accounts.all.control_host(); }},
    {.listing = column("controlport", "ControlPort", 12), .member = "control_port", .type = Type::count,
     .get = [](const AccountsView& view) -> Value { return view.accounts.all.control_port(); }},
    {.listing = column("rpc", "RPC", 5), .member = "rpc_version", .type = Type::count,
     .get = [](const AccountsView&) -> Value { return 9728; }},  // 22.05's
};

constexpr AccountsField tres_rows[] = {
    {.listing = column("type", "Type", 8), .member = "type",
     .get = [](const AccountsView& view) -> Value { return view.tres.substr(0, view.tres.find('/')); }},
    {.listing = column("name", "Name", 15), .member = "name",
     .get = [](const AccountsView& view) {
         const auto slash = view.tres.find('/');
         return slash == std::string::npos ? Value{} : Value{view.tres.substr(slash + 1)};
     }},
    {.listing = column("id", "ID", 6), .member = "id", .type = Type::count,
     .get = [](const AccountsView& view) -> Value { return view.tres_id; }},
};
// clang-format on

}  // namespace

std::span<const AccountsField> association_fields() { return association_rows; }
std::span<const AccountsField> account_fields() { return account_rows; }
std::span<const AccountsField> user_fields() { return user_rows; }
std::span<const AccountsField> cluster_fields() { return cluster_rows; }
std::span<const AccountsField> tres_fields() { return tres_rows; }

}  // namespace spur::records
