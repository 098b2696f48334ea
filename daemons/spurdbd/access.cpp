// The rules, by names and numbers of the configuration.
#include "daemons/spurdbd/access.hpp"

#include <pwd.h>
#include <spur/plugin/draft/accounting.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace spur::dbd {
namespace {

std::string name_of(Uid uid) {
    std::vector<char> buffer(16'384);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
    return found->pw_name;
}

bool is_named(const std::vector<std::string>& list, Uid uid) {
    if (list.empty()) return false;
    const auto number = std::to_string(uid), name = name_of(uid);
    return std::ranges::any_of(list,
                               [&](const std::string& one) { return one == number || (!name.empty() && one == name); });
}

// What PrivateData hides of each table. Who changed what, and what could not be stored, is for operators.
constexpr std::pair<std::uint32_t, std::uint32_t> hidden_by[] = {
    {SPUR_ROW_EVENT, private_data::events},
    {SPUR_ROW_RESERVATION, private_data::reservations},
    {SPUR_ROW_ACCOUNT, private_data::accounts},
    {SPUR_ROW_ASSOCIATION, private_data::accounts | private_data::users},
    {SPUR_ROW_USER, private_data::users},
    {SPUR_ROW_WCKEY, private_data::users},
    {SPUR_ROW_TRANSACTION, 0},
    {SPUR_ROW_SET_ASIDE, 0}};

}  // namespace

bool Access::is_daemon(Uid uid) const { return uid == 0 || uid == ::geteuid(); }

bool Access::is_administrator(Uid uid) const { return is_daemon(uid) || is_named(auth_.administrators, uid); }

bool Access::is_operator(Uid uid) const { return is_administrator(uid) || is_named(auth_.operators, uid); }

bool Access::sees_jobs_of_others(Uid uid) const { return (hidden_ & private_data::jobs) == 0 || is_operator(uid); }

Result<void> Access::check_rows(Uid uid, std::uint32_t table) const {
    for (const auto& [hidden, by] : hidden_by)
        if (hidden == table && (by == 0 || (hidden_ & by) != 0) && !is_operator(uid))
            return fail(ErrorCode::denied, "only operators may see this listing (PrivateData)");
    return {};
}

std::optional<std::string> Access::sees_usage_only_of(Uid uid) const {
    if ((hidden_ & private_data::usage) == 0 || is_operator(uid)) return std::nullopt;
    return name_of(uid);
}

}  // namespace spur::dbd
