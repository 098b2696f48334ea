#include "daemons/spurctld/authority.hpp"

#include <unistd.h>

#include "daemons/spurctld/users.hpp"

namespace spur::ctld {

void Authority::reconfigure(const AuthConfig& config) {
    std::set<Uid> administrators, operators;
    for (const auto& name : config.administrators)
        if (const auto uid = find_uid(name)) administrators.insert(*uid);
    for (const auto& name : config.operators)
        if (const auto uid = find_uid(name)) operators.insert(*uid);
    const std::lock_guard lock{mutex_};
    administrators_ = std::move(administrators);
    operators_ = std::move(operators);
}

bool Authority::is_daemon(Uid uid) const { return uid == 0 || uid == ::geteuid(); }

AdminLevel Authority::level_of(Uid uid, const ReadModel& model) const {
    if (is_daemon(uid)) return AdminLevel::administrator;
    {
        const std::lock_guard lock{mutex_};
        if (administrators_.contains(uid)) return AdminLevel::administrator;
        if (operators_.contains(uid)) return AdminLevel::operator_;
    }
    const auto user = model.directory->users.find(Text{user_name_of(uid)});
    return user == model.directory->users.end() ? AdminLevel::none : user->second.admin_level;
}

}  // namespace spur::ctld
