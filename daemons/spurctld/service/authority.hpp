// Who may do what: root, the daemon's own user, and those the configuration or the accounts name.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "core/machine/command.hpp"
#include "core/model/config.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/common/wire/auth.hpp"
#include "daemons/spurctld/service/users.hpp"

namespace spur::ctld {

class Authority {
public:
    Authority(const AuthConfig& config, const Users& users) : users_{users} { reconfigure(config); }
    void reconfigure(const AuthConfig& config);

    // [any thread] Who has been asked for before (Users::find): a user whose name is not remembered is a number.
    Actor actor(const wire::Caller& caller, const planning::ReadModel& model) const;
    // Daemons speak as root or as the user this one runs as.
    bool is_daemon(Uid uid) const;

private:
    AdminLevel level_of(Uid uid, const std::string& name, const planning::ReadModel& model) const;

    const Users& users_;
    mutable std::mutex mutex_;
    std::set<std::string> administrators_, operators_;  // names and numbers, as configured
};

}  // namespace spur::ctld
