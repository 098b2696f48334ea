// Finding a caller's level: administrator, operator or neither.
#include "daemons/spurctld/service/authority.hpp"

#include <unistd.h>

namespace spur::ctld {

// Kept as they were written: looking names up here could wait for a directory service.
void Authority::reconfigure(const AuthConfig& config) {
    const std::lock_guard lock{mutex_};
    administrators_ = {config.administrators.begin(), config.administrators.end()};
    operators_ = {config.operators.begin(), config.operators.end()};
}

bool Authority::is_daemon(Uid uid) const { return uid == 0 || uid == ::geteuid(); }

Actor Authority::actor(const wire::Caller& caller, const planning::ReadModel& model) const {
    const auto name = users_.name_of(caller.uid);
    return {caller.uid, level_of(caller.uid, name, model), Text{name}};
}

AdminLevel Authority::level_of(Uid uid, const std::string& name, const planning::ReadModel& model) const {
    if (is_daemon(uid)) return AdminLevel::administrator;
    {
        const auto number = std::to_string(uid);
        const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;  // never taken for a name
        const auto names = [&](const std::set<std::string>& who) {
            return who.contains(number) || (!is_number && who.contains(name));
        };
        const std::lock_guard lock{mutex_};
        if (names(administrators_)) return AdminLevel::administrator;
        if (names(operators_)) return AdminLevel::operator_;
    }
    const auto* user = model.find_user(name);
    return user ? user->admin_level : AdminLevel::none;
}

}  // namespace spur::ctld
