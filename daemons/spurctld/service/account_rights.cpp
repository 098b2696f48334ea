// Checking each edit of the accounts against the caller's rights.
#include "daemons/spurctld/service/account_rights.hpp"

#include "core/slurm/refusal.hpp"

#include <algorithm>

namespace spur::ctld {

namespace {

Result<void> denied(std::string_view what) { return fail(refusal::denied.with(": {}", what)); }

const Association* own_association(const planning::Directory& directory, std::string_view account) {
    for (const auto& [id, entry] : directory.associations)
        if (entry.account == account && entry.user.empty()) return &entry;
    return nullptr;
}

bool coordinates(const Actor& who, const planning::Directory& directory, std::string_view account) {
    if (who.name.empty()) return false;
    const auto has = [&](const Text& name) {
        const auto found = directory.accounts.find(name);
        return found != directory.accounts.end() &&
               std::ranges::find(found->second.coordinators, who.name) != found->second.coordinators.end();
    };
    for (const auto* entry = own_association(directory, account); entry != nullptr;) {
        if (has(entry->account)) return true;
        const auto parent = directory.associations.find(entry->parent);
        entry = parent == directory.associations.end() ? nullptr : &parent->second;
    }
    return false;
}

bool coordinates_something(const Actor& who, const planning::Directory& directory) {
    return std::ranges::any_of(directory.accounts, [&](const auto& entry) {
        return std::ranges::find(entry.second.coordinators, who.name) != entry.second.coordinators.end();
    });
}

struct Rights {
    const Actor& who;
    const planning::Directory& directory;

    Result<void> operator()(const EditUser& edit) const {
        const auto known = directory.users.find(edit.user.name);
        const auto before = known == directory.users.end() ? AdminLevel::none : known->second.admin_level;
        const auto highest = std::max(before, edit.edit == Edit::remove ? AdminLevel::none : edit.user.admin_level);
        if (who.is_administrator()) return {};
        if (who.is_operator())
            return highest == AdminLevel::administrator ? denied("operators cannot make or change administrators")
                                                        : Result<void>{};
        if (highest != AdminLevel::none || edit.edit == Edit::remove || !coordinates_something(who, directory))
            return denied("only operators and coordinators of accounts change users");
        // A coordinator brings new users in, and may give those below other default accounts below.
        const bool is_new = known == directory.users.end();
        const bool inside = coordinates(who, directory, edit.user.default_account) &&
                            (is_new || coordinates(who, directory, known->second.default_account));
        return inside ? Result<void>{} : denied("that user's account is not below one of yours");
    }
    Result<void> operator()(const EditAssociation& edit) const {
        if (who.is_operator()) return {};
        const auto& entry = edit.association;
        // Below the account, not the account itself: its own limits are set by those above.
        const auto* own = own_association(directory, entry.account);
        const auto above = own == nullptr ? directory.associations.end() : directory.associations.find(own->parent);
        const bool inside = !entry.user.empty() ? coordinates(who, directory, entry.account)
                                                : above != directory.associations.end() &&
                                                      coordinates(who, directory, above->second.account);
        const bool moved = entry.user.empty() && !coordinates(who, directory, edit.parent_account);
        const bool fresh = entry.user.empty() && own == nullptr;
        return (fresh || inside) && !moved ? Result<void>{} : denied("that account is not below one of yours");
    }
    Result<void> operator()(const EditAccount& edit) const {
        if (who.is_operator()) return {};
        if (edit.edit == Edit::create && edit.account.coordinators.empty() && coordinates_something(who, directory))
            return {};
        return edit.edit != Edit::create && own_association(directory, edit.account.name) == nullptr
                   ? denied("that account is not below one of yours")
                   : below(edit.account.name);
    }
    Result<void> operator()(const EditQos&) const {
        return who.is_operator() ? Result<void>{} : denied("only operators change QOS");
    }
    Result<void> operator()(const ResetUsage&) const {
        return who.is_operator() ? Result<void>{} : denied("only operators reset usage");
    }
    template <class Other>
    Result<void> operator()(const Other&) const {
        return denied("this is not about accounts");
    }

    Result<void> below(std::string_view account) const {
        const auto* own = own_association(directory, account);
        const auto above = own == nullptr ? directory.associations.end() : directory.associations.find(own->parent);
        return above != directory.associations.end() && coordinates(who, directory, above->second.account)
                   ? Result<void>{}
                   : denied("that account is not below one of yours");
    }
};

}  // namespace

bool is_coordinator(const Actor& who, const planning::Directory& directory, std::string_view account) {
    return coordinates(who, directory, account);
}

Result<void> may_edit(const Actor& who, const Command& command, const planning::Directory& directory) {
    return std::visit(Rights{who, directory}, command);
}

}  // namespace spur::ctld
