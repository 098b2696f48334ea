// sacctmgr add: new accounts, users, QOS and coordinators.
#include "cli/sacctmgr/manager.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::cli::sacctmgr {
namespace {

using records::AccountsView;

// The names that a new record is about, and what is set on it.
struct Wanted {
    Names names, accounts, partitions;
    Changes changes;
};

std::optional<Wanted> read(Manager& manager, Words words,
                           std::initializer_list<std::span<const records::AccountsField>> tables) {
    Wanted wanted{{}, {}, {}, Changes{manager.draft()}};
    auto sentence = read_sentence(words);
    std::ranges::move(sentence.settings, std::back_inserter(sentence.conditions));
    const bool has_associations = tables.size() > 1;  // a QOS has none, so it is in no account or cluster
    for (const auto& spec : sentence.conditions) {
        Names* list = spec.key == "names" ? &wanted.names : nullptr;
        if (has_associations && spec.key == "users") list = &wanted.names;
        if (has_associations && spec.key == "accounts") list = &wanted.accounts;
        if (has_associations && spec.key == "partitions") list = &wanted.partitions;
        if (list != nullptr)
            std::ranges::move(spec.list(), std::back_inserter(*list));
        else if (has_associations && spec.key == "clusters") {
            if (!manager.is_own_cluster(spec)) return std::nullopt;
        } else if (const auto added = wanted.changes.add(spec, tables); !added)
            return manager.unknown(spec, added.error(), false), std::nullopt;
    }
    return wanted;
}

v1::Association fresh_association() {
    v1::Association entry;
    entry.set_shares(1);
    return entry;
}

std::string settings_of(const AccountsDraft& draft, const v1::Association& entry, bool with_parent) {
    const records::Context context;
    auto fresh = fresh_association();
    if (!with_parent) fresh.set_parent_account(entry.parent_account());
    return settings_text(
        records::association_fields(),
        {.accounts = draft, .in = context, .association = &entry, .limits = entry.limits(), .inherits = false},
        {.accounts = draft, .in = context, .association = &fresh, .inherits = false}, 14);
}

}  // namespace

int add_account(Manager& manager, Words words) {
    auto wanted = read(manager, words, {records::account_fields(), records::association_fields()});
    if (!wanted) return 1;
    if (wanted->names.empty()) wanted->names = wanted->accounts;
    if (wanted->names.empty()) return manager.complain(" Need name of account to add.\n");
    auto& draft = manager.draft();
    v1::Account asked;
    auto entry = fresh_association();
    entry.set_parent_account("root");
    wanted->changes.apply({.accounts = draft, .account = &asked, .association = &entry});
    const auto& parent = entry.parent_account();
    if (draft.own(parent) == nullptr)
        return manager.complain(
            fmt::format(" Parent account '{}' doesn't exist on cluster {}\n        Contact your admin to add this "
                        "account.\n No associations created.\n",
                        parent, manager.cluster()));
    std::string accounts, associations;
    for (const auto& name : wanted->names) {
        if (draft.account(name) == nullptr) {
            auto account = asked;
            account.set_name(name);
            if (asked.description().empty()) account.set_description(name);
            if (asked.organization().empty()) account.set_organization(parent == "root" ? name : parent);
            draft.create(account);
            accounts += fmt::format("  {}\n", name);
        }
        if (draft.own(name) == nullptr) {
            entry.set_account(name);
            draft.create(entry);
            associations += fmt::format("  A = {:<10} C = {:<10}\n", name, manager.cluster());
        }
    }
    if (draft.edits.empty()) return manager.print(" Nothing new added.\n"), 1;
    std::string text;
    if (!accounts.empty())
        text += fmt::format(" Adding Account(s)\n{} Settings\n  Description     = {}\n  Organization    = {}\n",
                            accounts, asked.description().empty() ? "Account Name" : asked.description(),
                            asked.organization().empty() ? "Parent/Account Name" : asked.organization());
    if (!associations.empty()) text += " Associations\n" + associations;
    const auto settings = settings_of(draft, entry, wanted->changes.has(records::association_fields()));
    if (!settings.empty()) text += " Settings\n" + settings;
    return manager.commit(text, "Problem adding accounts");
}

int add_user(Manager& manager, Words words) {
    auto wanted = read(manager, words, {records::user_fields(), records::association_fields()});
    if (!wanted) return 1;
    if (wanted->names.empty()) return manager.complain(" Need name of user to add.\n");
    auto& draft = manager.draft();
    v1::AccountUser asked;
    auto entry = fresh_association();
    wanted->changes.apply({.accounts = draft, .user = &asked, .association = &entry});
    if (wanted->accounts.empty() && !asked.default_account().empty()) wanted->accounts = {asked.default_account()};
    if (wanted->accounts.empty()) return manager.complain(" Need name of account to add user to.\n");
    bool missing = false;
    for (const auto& account : wanted->accounts)
        if (draft.own(account) == nullptr) {
            missing = true;
            manager.complain(fmt::format(
                " This account '{}' doesn't exist.\n        Contact your admin to add this account.\n", account));
        }
    std::erase_if(wanted->accounts, [&](const auto& account) { return draft.own(account) == nullptr; });
    if (wanted->accounts.empty()) return manager.complain(" No associations or wckeys created.\n");
    const auto partitions = wanted->partitions.empty() ? Names{""} : wanted->partitions;
    std::string users, associations;
    for (const auto& name : wanted->names) {
        const auto* const known = draft.user(name);
        const auto standard = asked.default_account().empty() ? wanted->accounts.front() : asked.default_account();
        if (known == nullptr) {
            auto user = asked;
            user.set_name(name);
            user.set_default_account(standard);
            draft.create(user);
            users += fmt::format("  {}\n", name);
        }
        for (const auto& account : wanted->accounts)
            for (const auto& partition : partitions) {
                if (draft.association(account, name, partition) != nullptr) continue;
                entry.set_account(account);
                entry.set_user(name);
                entry.set_partition(partition);
                entry.set_is_default(known == nullptr && account == standard);
                draft.create(entry);
                associations += fmt::format("  U = {:<9} A = {:<10} C = {:<10}", name, account, manager.cluster());
                associations += partition.empty() ? "\n" : fmt::format(" P = {:<10}\n", partition);
            }
        if (known && !asked.default_account().empty() && known->default_account() != asked.default_account()) {
            auto user = *known;
            user.set_default_account(asked.default_account());
            draft.update(user);
        }
    }
    if (draft.edits.empty()) return manager.print(" Nothing new added.\n"), 1;
    std::string text;
    if (!users.empty()) {
        text += " Adding User(s)\n" + users;
        const records::Context context;
        const v1::AccountUser fresh;
        asked.clear_default_account();
        const auto settings = settings_text(records::user_fields(), {.accounts = draft, .in = context, .user = &asked},
                                            {.accounts = draft, .in = context, .user = &fresh}, 16);
        if (!settings.empty()) text += " Settings =\n" + settings;
    }
    if (!associations.empty()) text += " Associations =\n" + associations + " Non Default Settings\n";
    text += settings_of(draft, entry, false);
    const int code = manager.commit(text, "Problem adding users");
    return missing ? 1 : code;
}

int add_qos(Manager& manager, Words words) {
    auto& draft = manager.draft();
    const auto wanted = read(manager, words, {records::qos_fields()});
    if (!wanted) return 1;
    if (wanted->names.empty()) return manager.complain(" Need name of qos to add.\n");
    std::string added;
    v1::Qos qos, fresh;
    fresh.set_usage_factor(1);
    for (const auto& name : wanted->names) {
        if (draft.qos(name) != nullptr) continue;
        qos = fresh;
        qos.set_name(name);
        qos.set_description(name);
        wanted->changes.apply({.accounts = draft, .qos = &qos});
        draft.create(qos);
        added += fmt::format("  {}\n", name);
    }
    if (draft.edits.empty()) return manager.print(" Nothing new added.\n"), 1;
    const records::Context context;
    const auto settings =
        settings_text(records::qos_fields(), {.accounts = draft, .in = context, .qos = &qos, .limits = qos.limits()},
                      {.accounts = draft, .in = context, .qos = &fresh}, 25);
    return manager.commit(" Adding QOS(s)\n" + added + " Settings\n" + settings, "Problem adding QOS");
}

namespace {

// "account=chem names=alice,bob", for coordinators.
std::optional<std::pair<Names, Names>> read_coordinators(Manager& manager, Words words) {
    Names users, accounts;
    for (const auto& spec : read_sentence(words).conditions) {
        if (spec.key == "names" || spec.key == "users")
            for (auto& name : spec.list()) users.push_back(std::move(name));
        else if (spec.key == "accounts")
            for (auto& name : spec.list()) accounts.push_back(std::move(name));
        else
            return manager.unknown(spec, {}, false), std::nullopt;
    }
    return std::pair{std::move(users), std::move(accounts)};
}

}  // namespace

int add_coordinator(Manager& manager, Words words) {
    const auto read_words = read_coordinators(manager, words);
    if (!read_words) return 1;
    const auto& [users, accounts] = *read_words;
    if (users.empty() || accounts.empty())
        return manager.complain(" You need to specify a user list and an account list here.\n");
    auto& draft = manager.draft();
    std::string text = " Adding Coordinator User(s)\n";
    for (const auto& name : users) {
        if (draft.user(name) == nullptr)
            return manager.complain(fmt::format(" You specified a non-existant user\n  {}\n", name));
        text += fmt::format("  {}\n", name);
    }
    text += " To Account(s) and all sub-accounts\n";
    for (const auto& name : accounts) {
        const auto* known = draft.account(name);
        if (known == nullptr)
            return manager.complain(fmt::format(" You specified a non-existant account\n  {}\n", name));
        text += fmt::format("  {}\n", name);
        auto account = *known;
        for (const auto& user : users)
            if (std::ranges::find(account.coordinators(), user) == account.coordinators().end())
                account.add_coordinators(user);
        draft.update(account);
    }
    return manager.commit(text, "Problem adding coordinator");
}

int delete_coordinator(Manager& manager, Words words) {
    const auto read_words = read_coordinators(manager, words);
    if (!read_words) return 1;
    const auto& [users, accounts] = *read_words;
    if (users.empty() && accounts.empty())
        return manager.complain(" You need to specify a user list or an account list here.\n");
    auto& draft = manager.draft();
    std::string text, removed;
    if (!users.empty()) text += fmt::format(" Removing Coordinators with user name\n  {}\n", fmt::join(users, "\n  "));
    if (!accounts.empty()) text += fmt::format(" From Account(s)\n  {}\n", fmt::join(accounts, "\n  "));
    for (const auto& known : draft.all.accounts()) {
        if (!accounts.empty() && !is_in(accounts, known.name())) continue;
        auto account = known;
        account.clear_coordinators();
        for (const auto& name : known.coordinators()) {
            if (!users.empty() && !is_in(users, name))
                account.add_coordinators(name);
            else
                removed += fmt::format("  U = {:<9} A = {:<10}\n", name, known.name());
        }
        if (account.coordinators_size() != known.coordinators_size()) draft.update(account);
    }
    if (removed.empty()) return manager.print(text + " Nothing removed\n"), 1;
    return manager.commit(text + " Removed Coordinators (sub accounts not listed)...\n" + removed,
                          "Error with request");
}

int add_cluster(Manager& manager, Words words) {
    for (const auto& spec : read_sentence(words).conditions)
        for (const auto& name : spec.list())
            if (name == manager.cluster())
                return manager.complain(fmt::format(" This cluster {} already exists.  Not adding.\n", name));
    return manager.complain(fmt::format(
        " This controller keeps the accounts of one cluster, {}; others have their own.\n", manager.cluster()));
}

int delete_cluster(Manager& manager, Words) {
    return manager.complain(fmt::format(
        " This controller keeps the accounts of one cluster, {}, which cannot be removed.\n", manager.cluster()));
}

}  // namespace spur::cli::sacctmgr
