// Users and groups for tests: those one adds, asked as the system's are. It can be made to hang or to fail.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>

#include "daemons/spurctld/service/users.hpp"

namespace spur::testing {

class FakeDirectory final : public ctld::UserDirectory {
public:
    ~FakeDirectory() override { answer(); }

    void add(Uid uid, std::string name, std::vector<Gid> groups) {
        const std::lock_guard lock{mutex_};
        users_[uid] = {.uid = uid, .gid = groups.front(), .name = std::move(name), .groups = std::move(groups)};
    }
    void remove(Uid uid) {
        const std::lock_guard lock{mutex_};
        users_.erase(uid);
    }
    void hang() { set(Mood::hanging); }     // whoever asks waits until answer() or break_down()
    void break_down() { set(Mood::down); }  // it says that it cannot say
    void answer() { set(Mood::well); }
    // How often it was asked for groups.
    int asked() {
        const std::lock_guard lock{mutex_};
        return asked_;
    }

    Result<std::optional<ctld::UserRecord>> find_user(Uid uid) override {
        SPUR_TRY(auto user, find(uid));
        if (user) user->groups.clear();
        return user;
    }
    Result<std::optional<Uid>> find_uid(const std::string& name) override {
        std::unique_lock lock{mutex_};
        SPUR_CHECK(wait(lock));
        for (const auto& [uid, user] : users_)
            if (user.name == name) return uid;
        return std::nullopt;
    }
    Result<std::vector<Gid>> groups_of(const ctld::UserRecord& user) override {
        SPUR_TRY(const auto found, find(user.uid));
        const std::lock_guard lock{mutex_};
        ++asked_;
        return found ? found->groups : std::vector<Gid>{};
    }
    Result<std::optional<std::string>> group_name(Gid gid) override { return fmt::format("group{}", gid); }
    Result<std::optional<std::vector<Uid>>> group_members(const std::string&) override { return std::nullopt; }

private:
    enum class Mood : std::uint8_t { well, hanging, down };
    void set(Mood mood) {
        {
            const std::lock_guard lock{mutex_};
            mood_ = mood;
        }
        changed_.notify_all();
    }
    Result<void> wait(std::unique_lock<std::mutex>& lock) {
        changed_.wait(lock, [this] { return mood_ != Mood::hanging; });
        if (mood_ == Mood::down) return fail(ErrorCode::unavailable, "the directory is down");
        return {};
    }
    Result<std::optional<ctld::UserRecord>> find(Uid uid) {
        std::unique_lock lock{mutex_};
        SPUR_CHECK(wait(lock));
        const auto found = users_.find(uid);
        if (found == users_.end()) return std::nullopt;
        return found->second;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    Mood mood_{Mood::well};
    int asked_{0};
    std::map<Uid, ctld::UserRecord> users_;
};

}  // namespace spur::testing
