// sacctmgr modify: what is set on accounts, users, QOS and the cluster.
#include "cli/sacctmgr/manager.hpp"

#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace spur::cli::sacctmgr {
namespace {

// Which records are meant.
struct Conditions {
    Names names, accounts, users, partitions;
};

std::optional<Conditions> read_conditions(Manager& manager, const std::vector<Spec>& specs) {
    Conditions found;
    for (const auto& spec : specs) {
        const auto add_to = [&](Names& names) {
            for (auto& name : spec.list()) names.push_back(std::move(name));
        };
        if (spec.key == "names")
            add_to(found.names);
        else if (spec.key == "accounts")
            add_to(found.accounts);
        else if (spec.key == "users")
            add_to(found.users);
        else if (spec.key == "partitions")
            add_to(found.partitions);
        else if (spec.key == "clusters") {
            if (!manager.is_own_cluster(spec)) return std::nullopt;
        } else {
            return manager.complain(fmt::format(" Unknown condition: {}\n", spec.text)), std::nullopt;
        }
    }
    return found;
}

bool is_meant(const Names& names, std::string_view name) { return names.empty() || is_in(names, name); }

std::string user_line(const Manager& manager, const v1::Association& entry) {
    auto line = fmt::format("  C = {:<10} A = {:<20} U = {:<9}", manager.cluster(), entry.account(), entry.user());
    return line + (entry.partition().empty() ? "\n" : fmt::format(" P = {}\n", entry.partition()));
}

using Tables = std::initializer_list<std::span<const records::AccountsField>>;

// The fields that are set; rawusage=0, which is none, is only noted.
std::optional<Changes> read_changes(Manager& manager, const std::vector<Spec>& specs, Tables tables,
                                    bool* reset_usage = nullptr) {
    Changes changes{manager.draft()};
    for (const auto& spec : specs) {
        if (reset_usage != nullptr && spec.key == "rawusage") {
            if (spec.value != "0") return manager.complain(" RawUsage can only be set to 0\n"), std::nullopt;
            *reset_usage = true;
        } else if (const auto added = changes.add(spec, tables); !added) {
            return manager.unknown(spec, added.error(), true), std::nullopt;
        }
    }
    return changes;
}

void change(AccountsDraft& draft, const v1::Association& known, const Changes& changes) {
    auto entry = known;
    changes.apply({.accounts = draft, .association = &entry});
    draft.update(entry);
}

int nothing_set(Manager& manager) { return manager.complain(" You didn't give me anything to set\n"); }

std::string users_below(const Manager& manager, const AccountsDraft& draft, std::string_view account) {
    std::string text;
    for (const auto* entry : draft.below(account))
        if (!entry->user().empty()) text += user_line(manager, *entry);
    return text;
}

}  // namespace

int modify_account(Manager& manager, Words words) {
    const auto sentence = read_sentence(words);
    auto where = read_conditions(manager, sentence.conditions);
    if (!where) return 1;
    for (auto& name : where->accounts) where->names.push_back(std::move(name));
    bool reset = false;
    const auto changes =
        read_changes(manager, sentence.settings, {records::account_fields(), records::association_fields()}, &reset);
    if (!changes) return 1;
    if (changes->empty() && !reset) return nothing_set(manager);

    auto& draft = manager.draft();
    std::string accounts, associations;
    for (const auto& known : draft.all.accounts()) {
        if (!is_meant(where->names, known.name())) continue;
        const auto* own = draft.own(known.name());
        if (reset && own != nullptr) draft.reset_usage(*own);
        if (changes->has(records::account_fields())) {
            auto account = known;
            changes->apply({.accounts = draft, .account = &account});
            draft.update(account);
            accounts += fmt::format("  {}\n", known.name());
        }
        if (own == nullptr || !changes->has(records::association_fields())) continue;
        auto entry = *own;
        changes->apply({.accounts = draft, .association = &entry});
        if (const auto& parent = entry.parent_account(); parent != own->parent_account()) {
            if (draft.own(parent) == nullptr)
                return manager.complain(
                    fmt::format(" Parent account '{}' doesn't exist on cluster {}\n", parent, manager.cluster()));
            if (draft.is_below(*draft.own(parent), known.name()))
                return manager.complain(fmt::format(" Account '{}' cannot be below itself\n", known.name()));
        }
        associations += fmt::format("  C = {:<10} A = {}", manager.cluster(), known.name());
        associations += own->parent_account().empty() ? "\n" : fmt::format(" of {}\n", own->parent_account());
        draft.update(entry);
        if (changes->reach_users()) associations += users_below(manager, draft, known.name());
    }
    if (draft.edits.empty()) return manager.print(" Nothing modified\n"), 1;
    std::string text;
    if (reset) text += fmt::format("No cluster specified, resetting on local cluster {}\n", manager.cluster());
    if (!accounts.empty()) text += " Modified accounts...\n" + accounts;
    if (!associations.empty()) text += " Modified account associations...\n" + associations;
    return manager.commit(text, "Error with request");
}

int modify_user(Manager& manager, Words words) {
    const auto sentence = read_sentence(words);
    auto where = read_conditions(manager, sentence.conditions);
    if (!where) return 1;
    for (auto& name : where->users) where->names.push_back(std::move(name));
    bool reset = false;
    const auto changes =
        read_changes(manager, sentence.settings, {records::user_fields(), records::association_fields()}, &reset);
    if (!changes) return 1;
    if (changes->empty() && !reset) return nothing_set(manager);
    if (reset && where->accounts.empty()) return manager.complain("sacctmgr: error: An account must be specified\n");

    auto& draft = manager.draft();
    std::string users, associations, strangers, standard;
    if (changes->has(records::user_fields()))
        for (const auto& known : draft.all.users()) {
            if (!is_meant(where->names, known.name())) continue;
            auto user = known;
            changes->apply({.accounts = draft, .user = &user});
            const bool has = std::ranges::any_of(draft.all.associations(), [&](const auto& entry) {
                return entry.user() == known.name() && entry.account() == user.default_account();
            });
            if (changes->has("defaultaccount") && !has) {
                standard = user.default_account();
                strangers += fmt::format("  U = {} C = {}\n", known.name(), manager.cluster());
            }
            draft.update(user);
            users += fmt::format("  {}\n", known.name());
        }
    if (!strangers.empty())
        return manager.complain(
            fmt::format(" Can't modify because these users aren't associated with new default account '{}'...\n{}",
                        standard, strangers));
    for (const auto& entry : draft.all.associations()) {
        if (entry.user().empty() || !is_meant(where->names, entry.user()) ||
            !is_meant(where->accounts, entry.account()) || !is_meant(where->partitions, entry.partition()))
            continue;
        if (reset) draft.reset_usage(entry);
        if (!changes->has(records::association_fields())) continue;
        change(draft, entry, *changes);
        associations += user_line(manager, entry);
    }
    if (draft.edits.empty()) return manager.print(" Nothing modified\n"), 1;
    std::string text;
    if (!users.empty()) text += " Modified users...\n" + users;
    if (!associations.empty()) text += " Modified user associations...\n" + associations;
    return manager.commit(text, "Error with request");
}

int modify_qos(Manager& manager, Words words) {
    const auto sentence = read_sentence(words);
    const auto where = read_conditions(manager, sentence.conditions);
    if (!where) return 1;
    auto& draft = manager.draft();
    const auto changes = read_changes(manager, sentence.settings, {records::qos_fields()});
    if (!changes) return 1;
    if (changes->empty()) return nothing_set(manager);
    std::string text;
    for (const auto& known : draft.all.qos()) {
        if (!is_meant(where->names, known.name())) continue;
        auto qos = known;
        changes->apply({.accounts = draft, .qos = &qos});
        draft.update(qos);
        text += fmt::format("  {}\n", known.name());
    }
    if (draft.edits.empty()) return manager.print(" Nothing modified\n"), 1;
    return manager.commit(" Modified qos...\n" + text, "Error with request");
}

int modify_cluster(Manager& manager, Words words) {
    const auto sentence = read_sentence(words);
    const auto where = read_conditions(manager, sentence.conditions);
    if (!where) return 1;
    const auto changes = read_changes(manager, sentence.settings, {records::association_fields()});
    if (!changes) return 1;
    if (changes->empty()) return nothing_set(manager);
    const auto* root = manager.draft().own("root");
    if (root == nullptr || !is_meant(where->names, lower(manager.cluster())))
        return manager.print(" Nothing modified\n"), 1;
    change(manager.draft(), *root, *changes);
    return manager.commit(fmt::format(" Modified cluster...\n  {}\n", manager.cluster()), "Error with request");
}

// ---- delete --------------------------------------------------------------------------------------------------------

namespace {

int no_conditions(Manager& manager) { return manager.complain(" No conditions given to remove, not executing.\n"); }

// Removes users none of whose associations stay, and gives the others another default account where theirs is gone.
void update_users(AccountsDraft& draft, const std::set<std::uint32_t>& removed) {
    for (const auto& user : draft.all.users()) {
        const v1::Association* left = nullptr;
        bool keeps_default = false, touched = false;
        for (const auto& entry : draft.all.associations()) {
            if (entry.user() != user.name()) continue;
            if (removed.contains(entry.id())) {
                touched = true;
                continue;
            }
            if (left == nullptr) left = &entry;
            keeps_default = keeps_default || entry.account() == user.default_account();
        }
        if (!touched || keeps_default) continue;
        if (left == nullptr) {
            draft.remove(user);
            continue;
        }
        auto changed = user;
        changed.set_default_account(left->account());
        draft.update(changed);
    }
}

void forget_coordinators(AccountsDraft& draft, const Names& users) {
    for (const auto& known : draft.all.accounts()) {
        auto account = known;
        account.clear_coordinators();
        for (const auto& name : known.coordinators())
            if (!is_in(users, name)) account.add_coordinators(name);
        if (account.coordinators_size() != known.coordinators_size()) draft.update(account);
    }
}

}  // namespace

int delete_user(Manager& manager, Words words) {
    auto where = read_conditions(manager, read_sentence(words).conditions);
    if (!where) return 1;
    for (auto& name : where->users) where->names.push_back(std::move(name));
    if (where->names.empty() && where->accounts.empty()) return no_conditions(manager);
    auto& draft = manager.draft();
    const bool whole = where->accounts.empty() && where->partitions.empty();
    std::set<std::uint32_t> removed;
    std::string associations, users;
    for (const auto& entry : draft.all.associations()) {
        if (entry.user().empty() || !is_meant(where->names, entry.user()) ||
            !is_meant(where->accounts, entry.account()) || !is_meant(where->partitions, entry.partition()))
            continue;
        if (entry.user() == "root" && entry.account() == "root") continue;
        draft.remove(entry);
        removed.insert(entry.id());
        associations +=
            fmt::format("  C = {:<10} A = {:<10} U = {:<9}", manager.cluster(), entry.account(), entry.user());
        associations += entry.partition().empty() ? "\n" : fmt::format(" P = {}\n", entry.partition());
    }
    if (whole)
        for (const auto& user : draft.all.users())
            if (is_in(where->names, user.name())) {
                users += fmt::format("  {}\n", user.name());
                const bool bare = std::ranges::none_of(draft.all.associations(),
                                                       [&](const auto& entry) { return entry.user() == user.name(); });
                if (bare) draft.remove(user);
            }
    if (whole) forget_coordinators(draft, where->names);
    update_users(draft, removed);
    if (draft.edits.empty()) return manager.print(" Nothing deleted\n"), 1;
    return manager.commit(whole ? " Deleting users...\n" + users : " Deleting user associations...\n" + associations,
                          "Error with request");
}

int delete_account(Manager& manager, Words words) {
    auto where = read_conditions(manager, read_sentence(words).conditions);
    if (!where) return 1;
    for (auto& name : where->accounts) where->names.push_back(std::move(name));
    if (where->names.empty()) return no_conditions(manager);
    if (is_in(where->names, "root"))
        return manager.complain(" You are not allowed to remove the root account.\n Use remove cluster instead.\n");
    auto& draft = manager.draft();
    std::set<std::uint32_t> removed;
    std::vector<const v1::Association*> gone;
    Names accounts;
    std::string text, standard;
    for (const auto& known : draft.all.accounts()) {
        if (!is_in(where->names, known.name())) continue;
        text += fmt::format("  {}\n", known.name());
        if (draft.own(known.name()) == nullptr && !is_in(accounts, known.name())) accounts.push_back(known.name());
        for (const auto* entry : draft.below(known.name())) {
            if (!removed.insert(entry->id()).second) continue;
            gone.push_back(entry);
            if (entry->user().empty() && !is_in(accounts, entry->account())) accounts.push_back(entry->account());
        }
    }
    for (const auto* entry : gone) {
        const auto* user = entry->user().empty() ? nullptr : draft.user(entry->user());
        const bool stays = user != nullptr && std::ranges::any_of(draft.all.associations(), [&](const auto& other) {
                               return other.user() == entry->user() && !removed.contains(other.id());
                           });
        if (stays && user->default_account() == entry->account())
            standard +=
                fmt::format("  C = {:<15} A = {:<10} U = {:<9}\n", manager.cluster(), entry->account(), entry->user());
    }
    if (!standard.empty())
        return manager.complain(
            fmt::format(" Error with request: {}\n{}", refusal::default_account.sentence, standard) +
            " Please either remove the accounts listed above from list and resubmit,\n"
            " or change these users' default accounts to remove the account(s).\n Changes Discarded\n");
    for (auto entry = gone.rbegin(); entry != gone.rend(); ++entry)  // children come after their parents
        if (!(*entry)->user().empty()) draft.remove(**entry);
    for (auto entry = gone.rbegin(); entry != gone.rend(); ++entry)
        if ((*entry)->user().empty()) draft.remove(**entry);
    update_users(draft, removed);
    for (const auto& name : accounts)
        if (const auto* account = draft.account(name)) draft.remove(*account);
    if (draft.edits.empty()) return manager.print(" Nothing deleted\n"), 1;
    return manager.commit(" Deleting accounts...\n" + text, "Error with request");
}

int delete_qos(Manager& manager, Words words) {
    const auto where = read_conditions(manager, read_sentence(words).conditions);
    if (!where) return 1;
    if (where->names.empty()) return no_conditions(manager);
    auto& draft = manager.draft();
    std::string text;
    for (const auto& qos : draft.all.qos())
        if (is_in(where->names, qos.name())) {
            draft.remove(qos);
            text += fmt::format("  {}\n", qos.name());
        }
    if (draft.edits.empty()) return manager.print(" Nothing deleted\n"), 1;
    return manager.commit(" Deleting QOS(s)...\n" + text, "Error with request");
}

}  // namespace spur::cli::sacctmgr
