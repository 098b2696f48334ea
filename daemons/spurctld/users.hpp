// Who is behind a uid: names and groups from the system's databases, remembered for a minute so that a slow directory
// service is not asked for every job. [any thread]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ids.hpp"

namespace spur::ctld {

struct UserRecord {
    Uid uid{};
    Gid gid{};
    std::string name;
    std::string group;
    std::vector<Gid> groups;               // all of them, the primary one first
    std::vector<std::string> group_names;  // the same
};

// Empty: this system does not know the uid.
std::optional<UserRecord> find_user(Uid uid);
std::optional<Uid> find_uid(const std::string& name_or_number);
// Everybody in the group, by whatever entry; empty: there is no such group.
std::optional<std::vector<Uid>> find_group_members(const std::string& name);
// The login name of `uid`, or the number itself.
std::string user_name_of(Uid uid);

}  // namespace spur::ctld
