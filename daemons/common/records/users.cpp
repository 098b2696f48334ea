// Users and groups by name and number.
#include "daemons/common/records/users.hpp"

#include "core/base/ids.hpp"
#include "core/text/lexical.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <map>

namespace spur::records {
namespace {

template <class Lookup>
std::string cached(std::map<std::uint32_t, std::string>& known, std::uint32_t id, Lookup lookup) {
    const auto at = known.find(id);
    if (at != known.end()) return at->second;
    const char* name = lookup(id);
    return known.emplace(id, name ? name : fmt::format("{}", id)).first->second;
}

}  // namespace

std::string name_of_user(std::uint32_t uid) {
    static std::map<std::uint32_t, std::string> known;
    return cached(known, uid, [](std::uint32_t id) -> const char* {
        const auto* entry = ::getpwuid(id);
        return entry ? entry->pw_name : nullptr;
    });
}

std::string name_of_group(std::uint32_t gid) {
    static std::map<std::uint32_t, std::string> known;
    return cached(known, gid, [](std::uint32_t id) -> const char* {
        const auto* entry = ::getgrgid(id);
        return entry ? entry->gr_name : nullptr;
    });
}

std::optional<std::uint32_t> find_user(const std::string& name_or_number) {
    if (const auto* entry = ::getpwnam(name_or_number.c_str())) return entry->pw_uid;
    const auto number = find_unsigned(name_or_number);
    if (number && *number < nobody && ::getpwuid(static_cast<uid_t>(*number)))
        return static_cast<std::uint32_t>(*number);
    return std::nullopt;
}

std::optional<std::uint32_t> find_group(const std::string& name_or_number) {
    if (const auto* entry = ::getgrnam(name_or_number.c_str())) return entry->gr_gid;
    const auto number = find_unsigned(name_or_number);
    if (number && *number < nobody && ::getgrgid(static_cast<gid_t>(*number)))
        return static_cast<std::uint32_t>(*number);
    return std::nullopt;
}

}  // namespace spur::records
