// Who may do what at spurdbd: daemons store, operators see everything, others what PrivateData leaves them.
#pragma once

#include <optional>
#include <string>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/model/config.hpp"

namespace spur::dbd {

class Access {
public:
    explicit Access(const Config& config) : auth_{config.auth}, hidden_{config.cluster.policies.private_data} {}
    // Daemons speak as root or as the user this one runs as.
    bool is_daemon(Uid uid) const;
    // [waits for the system's user database] By the configuration; the accounts' own levels are the controllers'.
    bool is_operator(Uid uid) const;
    bool is_administrator(Uid uid) const;
    bool sees_jobs_of_others(Uid uid) const;
    Result<void> check_rows(Uid uid, std::uint32_t table) const;   // of a table of accounting.h: may the caller see it?
    std::optional<std::string> sees_usage_only_of(Uid uid) const;  // nothing: of everybody

private:
    AuthConfig auth_;
    std::uint32_t hidden_;  // private_data
};

}  // namespace spur::dbd
