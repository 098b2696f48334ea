// The rule for each kind of record.
#include "daemons/spurctld/service/privacy.hpp"

#include <algorithm>
#include <utility>

#include "daemons/spurctld/service/account_rights.hpp"

namespace spur::ctld {

namespace {
bool is_listed(const std::vector<Text>& list, const Text& name) { return std::ranges::find(list, name) != list.end(); }
}  // namespace

Privacy::Privacy(Actor who, const planning::ReadModel& model)
    : who_{std::move(who)}, model_{model}, hidden_{who_.is_operator() ? 0 : model.policies().private_data} {}

bool Privacy::coordinates(std::string_view account) const { return is_coordinator(who_, model_, account); }

bool Privacy::shows(const Job& job) const {
    return !hides(private_data::jobs) || job.spec->uid == who_.uid || coordinates(job.spec->account);
}

bool Privacy::shows_secrets(const Job& job) const { return who_.is_operator() || job.spec->uid == who_.uid; }

// The ones the caller may use: by name, and by the accounts that the caller has.
bool Privacy::shows(const Reservation& reservation) const {
    if (!hides(private_data::reservations)) return true;
    if (!reservation.users.empty()) return is_listed(reservation.users, who_.name) != reservation.deny_users;
    if (!reservation.groups.empty())
        return std::ranges::find(reservation.group_members, who_.uid) != reservation.group_members.end();
    const bool has_account = std::ranges::any_of(model_.associations(), [&](const auto& entry) {
        return entry.second.user == who_.name && is_listed(reservation.accounts, entry.second.account);
    });
    return has_account != reservation.deny_accounts;
}

bool Privacy::shows(const Account& account) const {
    return !hides(private_data::accounts) || coordinates(account.name);
}

bool Privacy::shows(const User& user) const { return !hides(private_data::users) || user.name == who_.name; }

bool Privacy::shows(const Association& association) const {
    if (!hides(private_data::users)) return true;
    return association.user.empty() || association.user == who_.name || coordinates(association.account);
}

bool Privacy::shows_usage(const Association& association) const {
    return !hides(private_data::usage) || association.user == who_.name || coordinates(association.account);
}

}  // namespace spur::ctld
