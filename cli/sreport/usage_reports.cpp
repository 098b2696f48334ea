// Reports from rolled-up usage: clusters, accounts, users and wckeys.
#include "cli/sreport/report.hpp"

#include "core/text/lexical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace spur::cli::sreport {
namespace {

// Columns of numbers are wider with percentages.
int wide(const Context& context) { return context.options.time >= TimeFormat::seconds_percent ? 17 : 8; }

bool is_wanted(const Names& list, const std::string& name) {
    return list.empty() || std::ranges::any_of(list, [&](const auto& one) { return equal_nocase(one, name); });
}

bool is_cluster(const UsageLine& line) { return line.account.empty() && line.user.empty(); }

// Seconds of (cluster, tres): what there was.
using Totals = std::map<std::pair<std::string, std::string>, Usage>;
Totals totals_of(const Data& data) {
    Totals totals;
    for (const auto& line : data.usage)
        if (is_cluster(line)) totals[{line.cluster, line.tres}] = line.usage;
    return totals;
}

double reported(const Totals& totals, const std::string& cluster, const std::string& tres) {
    const auto found = totals.find({cluster, tres});
    return found == totals.end() ? 0 : found->second.reported();
}

Result<void> check_tres(const Context& context, bool is_utilization) {
    const bool has_node = std::ranges::find(context.options.tres, "node") != context.options.tres.end();
    if (has_node && (is_utilization || has_percent(context.options.time)))
        return fail(ErrorCode::invalid, "TRES node usage is no longer reported in {}.  Please use TRES CPU instead.",
                    has_percent(context.options.time) ? "percent format reports" : "the Cluster Utilization report");
    return {};
}

// Used seconds by TRES.
using Used = std::map<std::string, double>;

struct UserTable {
    const Context& context;
    Totals totals{totals_of(context.data)};
    Names tres{tres_of(context.options, context.data)};

    std::string proper(const std::string& user) const {
        const auto found = context.data.proper_names.find(user);
        return found == context.data.proper_names.end() ? std::string{} : found->second;
    }
    std::string amount(const std::string& cluster, const Used& used, const std::string& name) const {
        const auto found = used.find(name);
        return print_seconds(found == used.end() ? 0 : found->second, reported(totals, cluster, name),
                             context.options.time);
    }
    std::string count(const std::string& cluster, const std::string& name) const {
        const auto found = totals.find({cluster, name});
        return found == totals.end() ? "0" : std::to_string(found->second.count);
    }
    // A row, or one for each TRES that was asked for.
    void add(Layout& layout, Cells cells, const std::string& cluster, const Used& used) const {
        for (const auto& name : tres) {
            cells["tresname"] = name;
            cells["trescount"] = count(cluster, name);
            cells["used"] = amount(cluster, used, name);
            cells["energy"] = amount(cluster, used, "energy");
            layout.add(cells);
        }
    }
    bool is_used(const Used& used) const {
        return std::ranges::any_of(tres, [&](const std::string& name) {
            const auto found = used.find(name);
            return found != used.end() && found->second > 0;
        });
    }
    double first(const Used& used) const {
        const auto found = used.find(tres.front());
        return found == used.end() ? 0 : found->second;
    }
};

std::vector<ReportColumn> user_columns(const Context& context, std::string_view account_header, int account_width) {
    return {{"cluster", "Cluster", 9},
            {"accounts", account_header, account_width},
            {"login", "Login", 9},
            {"proper", "Proper Name", 15},
            {"wckey", "WCKey", 15},
            {"tresname", "TRES Name", 14},
            {"trescount", "TRES Count", 10},
            {"used", "Used", wide(context)},
            {"energy", "Energy", wide(context)}};
}

std::string shown_columns(const Context& context, std::string_view before, bool with_energy) {
    if (!context.options.tres.empty()) return fmt::format("{},tresname,used", before);
    return fmt::format("{},used{}", before, with_energy ? ",energy" : "");
}

// By what is used most, then by name.
struct Line {
    std::string cluster;
    Cells cells;
    Used used;
};
Result<std::string> print_lines(const UserTable& table, Layout layout, std::vector<Line> lines, std::size_t most) {
    std::ranges::stable_sort(lines, [&](const Line& a, const Line& b) {
        return a.cluster != b.cluster ? a.cluster < b.cluster : table.first(a.used) > table.first(b.used);
    });
    std::map<std::string, std::size_t> shown;
    for (const auto& line : lines)
        if (table.is_used(line.used) && ++shown[line.cluster] <= most)
            table.add(layout, line.cells, line.cluster, line.used);
    return layout.text();
}

// Usage of (cluster, user, what `other` says), of those that are wanted.
using ByUser = std::map<std::tuple<std::string, std::string, std::string>, Used>;
ByUser by_user(const Context& context, std::string UsageLine::*other) {
    const auto& wanted = context.conditions;
    ByUser sums;
    for (const auto& line : context.data.usage) {
        if (line.user.empty() || !is_wanted(wanted.users, line.user) || !is_wanted(wanted.accounts, line.account) ||
            !is_wanted(wanted.wckeys, line.wckey))
            continue;
        sums[{line.cluster, line.user, line.*other}][line.tres] += line.usage.allocated;
    }
    return sums;
}

// An account of a tree with what was used in it, and below it.
struct AccountNode {
    Used used;
    std::map<std::string, Used> users;
    std::set<std::string> children;
};

}  // namespace

Result<std::string> cluster_utilization(const Context& context) {
    SPUR_CHECK(check_tres(context, true));
    const int width = wide(context);
    const ReportColumn columns[] = {{"cluster", "Cluster", 9},       {"tresname", "TRES Name", 14},
                                    {"trescount", "TRES Count", 10}, {"allocated", "Allocated", width},
                                    {"down", "Down", width},         {"planneddown", "PLND Down", width},
                                    {"pdown", "PLND Down", width},   {"idle", "Idle", width},
                                    {"planned", "Planned", width},   {"overcommitted", "OverComm", width},
                                    {"reported", "Reported", width}};
    SPUR_TRY(auto layout, Layout::make(context,
                                       {fmt::format("Cluster Utilization {}", window_text(context.conditions, false)),
                                        usage_unit(context, "CPU")},
                                       columns,
                                       fmt::format("cluster,{}allocated,down,planneddown,idle,planned,reported",
                                                   context.options.tres.empty() ? "" : "tresname,")));
    const auto totals = totals_of(context.data);
    std::set<std::string> clusters;
    for (const auto& [key, usage] : totals) clusters.insert(key.first);
    for (const auto& cluster : clusters)
        for (const auto& tres : tres_of(context.options, context.data)) {
            const auto found = totals.find({cluster, tres});
            if (found == totals.end()) continue;
            const auto& usage = found->second;
            const auto text = [&](double seconds) {
                return print_seconds(seconds, usage.reported(), context.options.time);
            };
            layout.add({{"cluster", cluster},
                        {"tresname", tres},
                        {"trescount", std::to_string(usage.count)},
                        {"allocated", text(usage.allocated)},
                        {"down", text(usage.down)},
                        {"planneddown", text(usage.planned_down)},
                        {"pdown", text(usage.planned_down)},
                        {"idle", text(usage.idle)},
                        {"planned", text(usage.planned)},
                        {"overcommitted", text(usage.over)},
                        {"reported", text(usage.reported())}});
        }
    return layout.text();
}

Result<std::string> accounts_by_user(const Context& context) {
    SPUR_CHECK(check_tres(context, false));
    const auto& wanted = context.conditions;
    const UserTable table{context};
    SPUR_TRY(auto layout, Layout::make(context,
                                       {fmt::format("Cluster/Account/User Utilization {}", window_text(wanted, true)),
                                        usage_unit(context, "CPU")},
                                       user_columns(context, "Account", wanted.tree ? -20 : 15),
                                       shown_columns(context, "cluster,accounts,login,proper", true)));
    std::map<std::string, std::map<std::string, AccountNode>> clusters;
    for (const auto& line : context.data.usage) {
        if (is_cluster(line)) continue;
        auto& accounts = clusters[line.cluster];
        const auto own = line.account.empty() ? std::string{"root"} : line.account;
        if (!line.user.empty()) accounts[own].users[line.user][line.tres] += line.usage.allocated;
        auto account = own;
        for (int depth = 0; depth < 1000 && !account.empty(); ++depth) {
            accounts[account].used[line.tres] += line.usage.allocated;
            const auto parent = context.data.tree.parent_of(line.cluster, account);
            if (!parent.empty()) accounts[parent].children.insert(account);
            account = parent;
        }
    }
    for (auto& [cluster, accounts] : clusters) {
        const std::function<void(const std::string&, std::size_t)> visit = [&](const std::string& name,
                                                                               std::size_t depth) {
            const auto& node = accounts[name];
            const auto indented = [&](std::size_t by) {
                return (wanted.tree ? std::string(by, ' ') : std::string{}) + name;
            };
            if (wanted.users.empty() && table.is_used(node.used))
                table.add(layout, {{"cluster", cluster}, {"accounts", indented(depth)}}, cluster, node.used);
            for (const auto& [user, used] : node.users)
                if (is_wanted(wanted.users, user) && table.is_used(used))
                    table.add(layout,
                              {{"cluster", cluster},
                               {"accounts", indented(depth + 1)},
                               {"login", user},
                               {"proper", table.proper(user)}},
                              cluster, used);
            for (const auto& child : node.children) visit(child, depth + 1);
        };
        if (wanted.accounts.empty())
            visit("root", 0);
        else
            for (const auto& account : wanted.accounts)
                if (accounts.contains(account)) visit(account, 0);
    }
    return layout.text();
}

Result<std::string> users_by_account(const Context& context) {
    SPUR_CHECK(check_tres(context, false));
    const UserTable table{context};
    SPUR_TRY(auto layout,
             Layout::make(context,
                          {fmt::format("Cluster/User/Account Utilization {}", window_text(context.conditions, true)),
                           usage_unit(context, "CPU")},
                          user_columns(context, "Account", 15),
                          shown_columns(context, "cluster,login,proper,accounts", true)));
    std::vector<Line> lines;
    for (const auto& [key, used] : by_user(context, &UsageLine::account)) {
        const auto& [cluster, user, account] = key;
        lines.push_back({cluster,
                         {{"cluster", cluster}, {"login", user}, {"proper", table.proper(user)}, {"accounts", account}},
                         used});
    }
    return print_lines(table, std::move(layout), std::move(lines), SIZE_MAX);
}

Result<std::string> top_users(const Context& context) {
    SPUR_CHECK(check_tres(context, false));
    const UserTable table{context};
    SPUR_TRY(auto layout,
             Layout::make(
                 context,
                 {fmt::format("Top {} Users {}", context.conditions.top, window_text(context.conditions, true)),
                  usage_unit(context, "CPU")},
                 user_columns(context, "Account", 15), shown_columns(context, "cluster,login,proper,accounts", true)));
    std::vector<Line> lines;
    std::map<std::pair<std::string, std::string>, std::size_t> place;
    for (const auto& [key, used] : by_user(context, &UsageLine::account)) {
        const auto& [cluster, user, account] = key;
        if (!table.is_used(used)) continue;
        const auto known = place.find({cluster, user});
        if (context.conditions.group && known != place.end()) {
            auto& line = lines[known->second];
            line.cells["accounts"] += ", " + account;
            for (const auto& [name, seconds] : used) line.used[name] += seconds;
            continue;
        }
        place[{cluster, user}] = lines.size();
        lines.push_back({cluster,
                         {{"cluster", cluster}, {"login", user}, {"proper", table.proper(user)}, {"accounts", account}},
                         used});
    }
    return print_lines(table, std::move(layout), std::move(lines), context.conditions.top);
}

Result<std::string> users_by_wckey(const Context& context) {
    SPUR_CHECK(check_tres(context, false));
    const UserTable table{context};
    SPUR_TRY(auto layout,
             Layout::make(context,
                          {fmt::format("Cluster/User/WCKey Utilization {}", window_text(context.conditions, true)),
                           usage_unit(context, "CPU")},
                          user_columns(context, "Account", 15),
                          shown_columns(context, "cluster,login,proper,wckey", false)));
    std::vector<Line> lines;
    for (const auto& [key, used] : by_user(context, &UsageLine::wckey)) {
        const auto& [cluster, user, wckey] = key;
        if (!wckey.empty())
            lines.push_back({cluster,
                             {{"cluster", cluster}, {"login", user}, {"proper", table.proper(user)}, {"wckey", wckey}},
                             used});
    }
    return print_lines(table, std::move(layout), std::move(lines), SIZE_MAX);
}

Result<std::string> wckeys_by_user(const Context& context) {
    SPUR_CHECK(check_tres(context, false));
    const UserTable table{context};
    SPUR_TRY(auto layout,
             Layout::make(context,
                          {fmt::format("Cluster/WCKey/User Utilization {}", window_text(context.conditions, true)),
                           usage_unit(context, "CPU")},
                          user_columns(context, "Account", 15),
                          shown_columns(context, "cluster,wckey,login,proper", false)));
    std::map<std::pair<std::string, std::string>, std::pair<Used, std::map<std::string, Used>>> wckeys;
    for (const auto& [key, used] : by_user(context, &UsageLine::wckey)) {
        const auto& [cluster, user, wckey] = key;
        if (wckey.empty() || !table.is_used(used)) continue;
        auto& [sum, users] = wckeys[{cluster, wckey}];
        for (const auto& [name, seconds] : used) sum[name] += seconds;
        users[user] = used;
    }
    for (const auto& [key, all] : wckeys) {
        table.add(layout, {{"cluster", key.first}, {"wckey", key.second}}, key.first, all.first);
        for (const auto& [user, used] : all.second)
            table.add(layout,
                      {{"cluster", key.first}, {"wckey", key.second}, {"login", user}, {"proper", table.proper(user)}},
                      key.first, used);
    }
    return layout.text();
}

}  // namespace spur::cli::sreport
