// Who may do what: root, the daemon's own user, and those the configuration or the accounts name.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "core/command.hpp"
#include "core/config.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/common/wire/auth.hpp"
#include "daemons/spurctld/users.hpp"

namespace spur::ctld {

class Authority {
public:
    explicit Authority(const AuthConfig& config) { reconfigure(config); }
    void reconfigure(const AuthConfig& config);

    // [any thread]
    AdminLevel level_of(Uid uid, const ReadModel& model) const;
    Actor actor(const wire::Caller& caller, const ReadModel& model) const {
        return {caller.uid, level_of(caller.uid, model), Text{user_name_of(caller.uid)}};
    }
    // Daemons speak as root or as the user this one runs as.
    bool is_daemon(Uid uid) const;

private:
    mutable std::mutex mutex_;
    std::set<Uid> administrators_, operators_;
};

}  // namespace spur::ctld
