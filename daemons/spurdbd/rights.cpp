// Levels and coordinators, from the mirrored accounts.
#include "daemons/spurdbd/rights.hpp"

#include <algorithm>

#include "core/text/lexical.hpp"
#include "daemons/common/history/row_buffer.hpp"

namespace spur::dbd {
namespace {

// Accounts below those that are coordinated, however deep.
Result<void> add_accounts_below(Database& database, const std::string& cluster, std::vector<std::string>& accounts) {
    std::vector<std::pair<std::string, std::string>> tree;  // account, parent
    Query query;
    query.table = SPUR_ROW_ASSOCIATION;
    query.cluster = cluster;
    SPUR_CHECK(database.query(query, [&](const spur_row& row) {
        const auto found = history::read_row(row);
        if (history::text_in(found, "user_name").empty())
            tree.emplace_back(history::text_in(found, "account"), history::text_in(found, "parent"));
    }));
    for (std::size_t i = 0; i < accounts.size(); ++i)
        for (const auto& [account, parent] : tree)
            if (parent == accounts[i] && std::ranges::find(accounts, account) == accounts.end())
                accounts.push_back(account);
    return {};
}

}  // namespace

Result<void> add_levels(Database& database, const std::string& cluster, Caller& caller) {
    Query query;
    query.table = SPUR_ROW_USER;
    query.cluster = cluster;
    query.conditions = {{.name = "uid", .test = SPUR_TEST_EQUAL, .numbers = {std::int64_t{caller.uid}}}};
    SPUR_CHECK(database.query(query, [&](const spur_row& row) {
        const auto found = history::read_row(row);
        const std::string level{history::text_in(found, "admin_level")}, coordinates{history::text_in(found, "coordinates")};
        if (level == "Operator" || level == "Administrator") caller.is_operator = caller.sees_others = true;
        for (const auto account : split(coordinates, ','))
            if (!account.empty()) caller.accounts.emplace_back(account);
    }));
    if (caller.accounts.empty() || caller.sees_others) return {};
    return add_accounts_below(database, cluster, caller.accounts);
}

}  // namespace spur::dbd
