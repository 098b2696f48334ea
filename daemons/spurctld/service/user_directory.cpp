// The system's databases of users and groups, by way of the C library and whatever nsswitch.conf puts behind it.
#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>

#include "daemons/spurctld/service/users.hpp"

namespace spur::ctld {

namespace {

// Calls one of the C library's get..._r functions with as much room as it needs.
template <class Entry, class Call>
Result<std::optional<Entry>> look_up(std::string_view what, std::string& buffer, Call&& call) {
    constexpr std::size_t first_size = 16 << 10, largest = 64 << 20;
    for (buffer.resize(first_size);; buffer.resize(buffer.size() * 4)) {
        Entry entry{};
        Entry* found = nullptr;
        const int error = call(&entry, buffer.data(), buffer.size(), &found);
        if (error == ERANGE && buffer.size() < largest) continue;
        if (error == EINTR) continue;
        // Several services say "not found" with an error number.
        if (found == nullptr && (error == 0 || error == ENOENT || error == ESRCH)) return std::nullopt;
        if (found == nullptr)
            return fail(ErrorCode::unavailable, "{} cannot be looked up: {}", what, std::strerror(error));
        return entry;
    }
}

class SystemDirectory final : public UserDirectory {
public:
    Result<std::optional<UserRecord>> find_user(Uid uid) override {
        std::string buffer;
        SPUR_TRY(const auto found, look_up<passwd>(fmt::format("uid {}", uid), buffer,
                                                   [&](auto... room) { return getpwuid_r(uid, room...); }));
        if (!found) return std::nullopt;
        return UserRecord{.uid = uid, .gid = found->pw_gid, .name = found->pw_name, .groups = {}, .group_names = {}};
    }

    Result<std::optional<Uid>> find_uid(const std::string& name) override {
        std::string buffer;
        SPUR_TRY(const auto found, look_up<passwd>("user " + name, buffer,
                                                   [&](auto... room) { return getpwnam_r(name.c_str(), room...); }));
        if (!found) return std::nullopt;
        return found->pw_uid;
    }

    Result<std::vector<Gid>> groups_of(const UserRecord& user) override {
        int count = 64;
        for (int attempt = 0; attempt < 3; ++attempt) {  // it says how many there are, and more may have come since
            std::vector<gid_t> groups(static_cast<std::size_t>(count));
            if (getgrouplist(user.name.c_str(), user.gid, groups.data(), &count) < 0) continue;
            groups.resize(static_cast<std::size_t>(count));
            return std::vector<Gid>{groups.begin(), groups.end()};
        }
        return fail(ErrorCode::unavailable, "the groups of user {} cannot be found out", user.name);
    }

    Result<std::optional<std::string>> group_name(Gid gid) override {
        std::string buffer;
        SPUR_TRY(const auto found, look_up<group>(fmt::format("gid {}", gid), buffer,
                                                  [&](auto... room) { return getgrgid_r(gid, room...); }));
        if (!found) return std::nullopt;
        return found->gr_name;
    }

    Result<std::optional<std::vector<Uid>>> group_members(const std::string& name) override {
        std::string buffer;
        SPUR_TRY(const auto found, look_up<group>("group " + name, buffer,
                                                  [&](auto... room) { return getgrnam_r(name.c_str(), room...); }));
        if (!found) return std::nullopt;
        std::vector<Uid> members;
        for (auto** member = found->gr_mem; *member != nullptr; ++member) {
            SPUR_TRY(const auto uid, find_uid(*member));
            if (uid) members.push_back(*uid);
        }
        // Those who have it as their first group are not listed there.
        static std::mutex walking;
        const std::lock_guard lock{walking};
        ::setpwent();
        while (const auto* user = ::getpwent())
            if (user->pw_gid == found->gr_gid) members.push_back(user->pw_uid);
        ::endpwent();
        return members;
    }
};

}  // namespace

std::shared_ptr<UserDirectory> system_directory() { return std::make_shared<SystemDirectory>(); }

Result<std::optional<Uid>> find_uid(UserDirectory& directory, const std::string& name_or_number) {
    Uid uid{};
    const auto* end = name_or_number.data() + name_or_number.size();
    if (const auto [rest, error] = std::from_chars(name_or_number.data(), end, uid);
        error == std::errc{} && rest == end)
        return uid;
    return directory.find_uid(name_or_number);
}

}  // namespace spur::ctld
