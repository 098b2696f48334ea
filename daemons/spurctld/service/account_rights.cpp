// Checking each edit of the accounts against the caller's rights.
#include "daemons/spurctld/service/account_rights.hpp"

#include "core/slurm/refusal.hpp"

#include <algorithm>

namespace spur::ctld {

namespace {

Result<void> denied(std::string_view what) { return fail(refusal::denied.with(": {}", what)); }

// An account's own association, which its users' are below.
const Association* own_association(const Picture& picture, std::string_view account) {
    return picture.find_association(account, {}, {});
}

bool coordinates(const Actor& who, const Picture& picture, std::string_view account) {
    return picture.coordinates(who.name, account, own_association(picture, account));
}

bool coordinates_something(const Actor& who, const Picture& picture) {
    return std::ranges::any_of(picture.accounts(), [&](const auto& entry) {
        return std::ranges::find(entry.second.coordinators, who.name) != entry.second.coordinators.end();
    });
}

struct Rights {
    const Actor& who;
    const Picture& picture;

    Result<void> operator()(const EditUser& edit) const {
        const auto* known = picture.find_user(edit.user.name);
        const auto before = known ? known->admin_level : AdminLevel::none;
        const auto highest = std::max(before, edit.edit == Edit::remove ? AdminLevel::none : edit.user.admin_level);
        if (who.is_administrator()) return {};
        if (who.is_operator())
            return highest == AdminLevel::administrator ? denied("operators cannot make or change administrators")
                                                        : Result<void>{};
        if (highest != AdminLevel::none || edit.edit == Edit::remove || !coordinates_something(who, picture))
            return denied("only operators and coordinators of accounts change users");
        // A coordinator brings new users in, and may give those below other default accounts below.
        const bool inside = coordinates(who, picture, edit.user.default_account) &&
                            (!known || coordinates(who, picture, known->default_account));
        return inside ? Result<void>{} : denied("that user's account is not below one of yours");
    }
    Result<void> operator()(const EditAssociation& edit) const {
        if (who.is_operator()) return {};
        const auto& entry = edit.association;
        // Below the account, not the account itself: its own limits are set by those above.
        const bool inside =
            entry.user.empty() ? coordinates_above(entry.account) : coordinates(who, picture, entry.account);
        const bool moved = entry.user.empty() && !coordinates(who, picture, edit.parent_account);
        const bool fresh = entry.user.empty() && own_association(picture, entry.account) == nullptr;
        return (fresh || inside) && !moved ? Result<void>{} : denied("that account is not below one of yours");
    }
    Result<void> operator()(const EditAccount& edit) const {
        if (who.is_operator()) return {};
        if (edit.edit == Edit::create && edit.account.coordinators.empty() && coordinates_something(who, picture))
            return {};
        return coordinates_above(edit.account.name) ? Result<void>{} : denied("that account is not below one of yours");
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

    bool coordinates_above(std::string_view account) const {
        const auto* own = own_association(picture, account);
        const auto* above = own ? picture.find_association(own->parent) : nullptr;
        return above && coordinates(who, picture, above->account);
    }
};

}  // namespace

bool is_coordinator(const Actor& who, const Picture& picture, std::string_view account) {
    return coordinates(who, picture, account);
}

Result<void> may_edit(const Actor& who, const Command& command, const Picture& picture) {
    return std::visit(Rights{who, picture}, command);
}

}  // namespace spur::ctld
