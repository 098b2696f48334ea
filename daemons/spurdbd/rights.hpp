// Whose jobs a caller may see at spurdbd: by the configuration, and by what sacctmgr gave them, as far as the
// controllers have mirrored it.
#pragma once

#include "daemons/spurdbd/database.hpp"

namespace spur::dbd {

struct Caller {
    Uid uid{};
    bool is_operator{false};              // by the configuration, or by level
    bool sees_others{false};              // jobs of everybody
    std::vector<std::string> accounts{};  // whose jobs are the caller's to see as well: coordinated, and those below
};

// [waits] Adds to `caller` what the accounts of `cluster` (empty: of all) say.
Result<void> add_levels(Database& database, const std::string& cluster, Caller& caller);

}  // namespace spur::dbd
