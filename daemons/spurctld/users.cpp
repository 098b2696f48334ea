#include "daemons/spurctld/users.hpp"

#include <grp.h>
#include <pwd.h>

#include <charconv>
#include <chrono>
#include <mutex>
#include <unordered_map>

namespace spur::ctld {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t buffer_size = 65536;

std::string group_name(Gid gid) {
    group record{};
    group* found = nullptr;
    std::string buffer(buffer_size, '\0');
    getgrgid_r(gid, &record, buffer.data(), buffer.size(), &found);
    return found != nullptr ? found->gr_name : std::to_string(gid);
}

std::optional<UserRecord> look_up(Uid uid) {
    passwd record{};
    passwd* found = nullptr;
    std::string buffer(buffer_size, '\0');
    getpwuid_r(uid, &record, buffer.data(), buffer.size(), &found);
    if (found == nullptr) return std::nullopt;
    UserRecord user{.uid = uid, .gid = found->pw_gid, .name = found->pw_name, .group = group_name(found->pw_gid)};
    int count = 256;
    std::vector<gid_t> groups(static_cast<std::size_t>(count));
    if (getgrouplist(found->pw_name, found->pw_gid, groups.data(), &count) < 0) {
        groups.resize(static_cast<std::size_t>(count));
        if (getgrouplist(found->pw_name, found->pw_gid, groups.data(), &count) < 0) count = 0;
    }
    groups.resize(static_cast<std::size_t>(count));
    for (const auto gid : groups) {
        user.groups.push_back(gid);
        user.group_names.push_back(group_name(gid));
    }
    return user;
}

}  // namespace

std::optional<UserRecord> find_user(Uid uid) {
    struct Entry {
        std::optional<UserRecord> user;
        Clock::time_point until;
    };
    static std::mutex mutex;
    static std::unordered_map<Uid, Entry> known;
    const auto now = Clock::now();
    {
        const std::lock_guard lock{mutex};
        if (const auto found = known.find(uid); found != known.end() && found->second.until > now)
            return found->second.user;
    }
    auto user = look_up(uid);
    const std::lock_guard lock{mutex};
    // A user added a moment ago should not have to wait a minute.
    known[uid] = {user, now + (user ? std::chrono::seconds{60} : std::chrono::seconds{2})};
    return user;
}

std::optional<Uid> find_uid(const std::string& name_or_number) {
    Uid uid{};
    const auto* end = name_or_number.data() + name_or_number.size();
    if (const auto [rest, error] = std::from_chars(name_or_number.data(), end, uid);
        error == std::errc{} && rest == end)
        return uid;
    passwd record{};
    passwd* found = nullptr;
    std::string buffer(buffer_size, '\0');
    getpwnam_r(name_or_number.c_str(), &record, buffer.data(), buffer.size(), &found);
    if (found == nullptr) return std::nullopt;
    return found->pw_uid;
}

std::optional<std::vector<Uid>> find_group_members(const std::string& name) {
    group record{};
    group* found = nullptr;
    std::string buffer(buffer_size, '\0');
    getgrnam_r(name.c_str(), &record, buffer.data(), buffer.size(), &found);
    if (found == nullptr) return std::nullopt;
    std::vector<Uid> members;
    for (auto** member = found->gr_mem; *member != nullptr; ++member)
        if (const auto uid = find_uid(*member)) members.push_back(*uid);
    // Those who have it as their first group are not listed there.
    static std::mutex walking;
    const std::lock_guard lock{walking};
    ::setpwent();
    while (const auto* user = ::getpwent())
        if (user->pw_gid == found->gr_gid) members.push_back(user->pw_uid);
    ::endpwent();
    return members;
}

std::string user_name_of(Uid uid) {
    const auto user = find_user(uid);
    return user ? user->name : std::to_string(uid);
}

}  // namespace spur::ctld
