// sacctmgr add: new accounts, users, QOS and coordinators.
#include "cli/sacctmgr/manager.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::cli::sacctmgr {
namespace {

// What is said of the new record besides names: its own words, and changes to its association.
struct Wanted {
    Names names, accounts, partitions;
    std::string parent, description, organization, default_account, admin_level, default_wckey;
    std::vector<AssociationChange> changes;
};

std::optional<Wanted> read(Manager& manager, Words words) {
    Wanted wanted;
    const auto sentence = read_sentence(words);
    std::vector<Spec> specs = sentence.conditions;
    specs.insert(specs.end(), sentence.settings.begin(), sentence.settings.end());
    for (const auto& spec : specs) {
        const auto add_to = [&](Names& names) {
            for (auto& name : spec.list()) names.push_back(std::move(name));
        };
        if (spec.key == "names")
            add_to(wanted.names);
        else if (spec.key == "accounts")
            add_to(wanted.accounts);
        else if (spec.key == "users")
            add_to(wanted.names);
        else if (spec.key == "partitions")
            add_to(wanted.partitions);
        else if (spec.key == "parent")
            wanted.parent = spec.list().empty() ? "" : spec.list().front();
        else if (spec.key == "description")
            wanted.description = spec.value;
        else if (spec.key == "organization")
            wanted.organization = spec.value;
        else if (spec.key == "defaultaccount")
            wanted.default_account = spec.list().empty() ? "" : spec.list().front();
        else if (spec.key == "adminlevel")
            wanted.admin_level = spec.list().empty() ? "" : spec.list().front();
        else if (spec.key == "defaultwckey")
            wanted.default_wckey = spec.value;
        else if (spec.key == "clusters") {
            if (!manager.is_own_cluster(spec)) return std::nullopt;
        } else {
            auto change = association_change(spec, manager.draft());
            if (!change) return manager.unknown(spec, change.error(), false), std::nullopt;
            wanted.changes.push_back(std::move(*change));
        }
    }
    return wanted;
}

v1::Association new_association(const Wanted& wanted) {
    v1::Association entry;
    entry.set_shares(1);
    for (const auto& change : wanted.changes) change(entry);
    return entry;
}

}  // namespace

int add_account(Manager& manager, Words words) {
    auto wanted = read(manager, words);
    if (!wanted) return 1;
    if (wanted->names.empty()) wanted->names = wanted->accounts;
    if (wanted->names.empty()) return manager.complain(" Need name of account to add.\n");
    auto& draft = manager.draft();
    const auto parent = wanted->parent.empty() ? std::string{"root"} : wanted->parent;
    if (draft.own(parent) == nullptr)
        return manager.complain(
            fmt::format(" Parent account '{}' doesn't exist on cluster {}\n        Contact your admin to add this "
                        "account.\n No associations created.\n",
                        parent, manager.cluster()));
    auto entry = new_association(*wanted);
    entry.set_parent_account(parent);
    std::string accounts, associations;
    for (const auto& name : wanted->names) {
        if (draft.account(name) == nullptr) {
            v1::Account account;
            account.set_name(name);
            account.set_description(wanted->description.empty() ? name : wanted->description);
            const auto above = parent == "root" ? name : parent;
            account.set_organization(wanted->organization.empty() ? above : wanted->organization);
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
                            accounts, wanted->description.empty() ? "Account Name" : wanted->description,
                            wanted->organization.empty() ? "Parent/Account Name" : wanted->organization);
    if (!associations.empty()) text += " Associations\n" + associations;
    const auto settings = settings_text(entry, !wanted->parent.empty() || !wanted->changes.empty());
    if (!settings.empty()) text += " Settings\n" + settings;
    return manager.commit(text, "Problem adding accounts");
}

int add_user(Manager& manager, Words words) {
    auto wanted = read(manager, words);
    if (!wanted) return 1;
    if (wanted->names.empty()) return manager.complain(" Need name of user to add.\n");
    if (wanted->accounts.empty() && !wanted->default_account.empty()) wanted->accounts = {wanted->default_account};
    if (wanted->accounts.empty()) return manager.complain(" Need name of account to add user to.\n");
    auto& draft = manager.draft();
    v1::AccountUser::AdminLevel level = v1::AccountUser::NONE;
    if (!wanted->admin_level.empty()) {
        const auto known = find_admin_level(wanted->admin_level);
        if (!known) return manager.complain(fmt::format(" Unknown admin level: {}\n", wanted->admin_level));
        level = *known;
    }
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
    auto entry = new_association(*wanted);
    std::string users, associations;
    for (const auto& name : wanted->names) {
        const bool is_new = draft.user(name) == nullptr;
        const auto standard = wanted->default_account.empty() ? wanted->accounts.front() : wanted->default_account;
        if (is_new) {
            v1::AccountUser user;
            user.set_name(name);
            user.set_default_account(standard);
            user.set_default_wckey(wanted->default_wckey);
            user.set_admin_level(level);
            draft.create(user);
            users += fmt::format("  {}\n", name);
        }
        for (const auto& account : wanted->accounts)
            for (const auto& partition : partitions) {
                if (draft.association(account, name, partition) != nullptr) continue;
                entry.set_account(account);
                entry.set_user(name);
                entry.set_partition(partition);
                entry.set_is_default(is_new && account == standard);
                draft.create(entry);
                associations += fmt::format("  U = {:<9} A = {:<10} C = {:<10}", name, account, manager.cluster());
                associations += partition.empty() ? "\n" : fmt::format(" P = {:<10}\n", partition);
            }
        if (const auto* known = draft.user(name);
            known && !wanted->default_account.empty() && known->default_account() != wanted->default_account) {
            auto user = *known;
            user.set_default_account(wanted->default_account);
            draft.update(user);
        }
    }
    if (draft.edits.empty()) return manager.print(" Nothing new added.\n"), 1;
    std::string text;
    if (!users.empty()) text += " Adding User(s)\n" + users;
    if (!users.empty() && level != v1::AccountUser::NONE)
        text += fmt::format(" Settings =\n  Admin Level     = {}\n", admin_level_text(level));
    if (!associations.empty()) text += " Associations =\n" + associations + " Non Default Settings\n";
    text += settings_text(entry, false);
    const int code = manager.commit(text, "Problem adding users");
    return missing ? 1 : code;
}

int add_qos(Manager& manager, Words words) {
    auto& draft = manager.draft();
    Names names;
    std::vector<QosChange> changes;
    const auto sentence = read_sentence(words);
    std::vector<Spec> specs = sentence.conditions;
    specs.insert(specs.end(), sentence.settings.begin(), sentence.settings.end());
    for (const auto& spec : specs) {
        if (spec.key == "names") {
            for (auto& name : spec.list()) names.push_back(std::move(name));
            continue;
        }
        auto change = qos_change(spec, draft);
        if (!change) return manager.unknown(spec, change.error(), false);
        changes.push_back(std::move(*change));
    }
    if (names.empty()) return manager.complain(" Need name of qos to add.\n");
    std::string added;
    v1::Qos qos;
    for (const auto& name : names) {
        if (draft.qos(name) != nullptr) continue;
        qos = {};
        qos.set_name(name);
        qos.set_description(name);
        qos.set_usage_factor(1);
        for (const auto& change : changes) change(qos);
        draft.create(qos);
        added += fmt::format("  {}\n", name);
    }
    if (draft.edits.empty()) return manager.print(" Nothing new added.\n"), 1;
    return manager.commit(" Adding QOS(s)\n" + added + " Settings\n" + settings_text(qos), "Problem adding QOS");
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
