// Who is behind a uid: names and groups from the system's databases. A directory service behind them may be slow or
// hang, so it is asked by workers; what it said is remembered, and used on while it is silent. [any thread]
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "daemons/common/work/worker_pool.hpp"

namespace spur::ctld {

struct UserRecord {
    Uid uid{};
    Gid gid{};
    std::string name;
    std::vector<Gid> groups;               // all of them, the primary one first; empty: not asked for
    std::vector<std::string> group_names;  // the same
};

// The system's databases. Every call may hang. Nothing: there is no such user or group; an error: nobody could say.
class UserDirectory {
public:
    virtual ~UserDirectory() = default;
    virtual Result<std::optional<UserRecord>> find_user(Uid uid) = 0;  // without groups
    virtual Result<std::optional<Uid>> find_uid(const std::string& name) = 0;
    virtual Result<std::vector<Gid>> groups_of(const UserRecord& user) = 0;
    virtual Result<std::optional<std::string>> group_name(Gid gid) = 0;
    // Everybody in the group, by whatever entry.
    virtual Result<std::optional<std::vector<Uid>>> group_members(const std::string& name) = 0;
};
std::shared_ptr<UserDirectory> system_directory();
// Of a name or a number as typed.
Result<std::optional<Uid>> find_uid(UserDirectory& directory, const std::string& name_or_number);

class Users {
public:
    using Record = std::shared_ptr<const UserRecord>;
    // not_found: there is no such user; unavailable: nobody could say within the time we wait.
    using Answer = std::function<void(const Result<Record>&)>;
    using Records = std::map<Uid, Record>;

    struct Patience {
        std::chrono::milliseconds answer{5000};  // for a first answer
        std::chrono::milliseconds again{1000};   // for a fresh one where an old one will do
        std::chrono::seconds remembered{60};     // before it is asked again
        std::chrono::seconds denied{2};          // a user added a moment ago should not have to wait a minute
    };
    explicit Users(std::shared_ptr<UserDirectory> directory = system_directory());
    Users(std::shared_ptr<UserDirectory> directory, Patience patience);

    // `answer` is called before this returns where the user is remembered, else once, on another thread.
    void find(Uid uid, Answer answer);
    void find_with_groups(Uid uid, Answer answer);
    // All of them, with their groups, or why one is missing.
    void find_all_with_groups(const std::set<Uid>& uids, std::function<void(const Result<Records>&)> answer);
    void stop();  // nobody is answered any more once this returns
    // The login name as far as it is remembered, else the number. Never waits.
    std::string name_of(Uid uid) const;
    // Makes name_of() know these, as far as they can be found; then `done`.
    void learn_names(const std::set<Uid>& uids, std::function<void()> done);
    // For what is not asked often enough to be remembered: `question` on a worker, which may wait.
    template <class T>
    void ask(std::function<Result<T>(UserDirectory&)> question, std::function<void(Result<T>)> answer) {
        workers_.ask<T>(
            std::string{whom}, patience_.answer,
            [directory = directory_, question = std::move(question)] { return question(*directory); },
            std::move(answer));
    }

private:
    static constexpr std::string_view whom = "the directory service (users and groups)";
    struct Memory;
    void look_up(const std::shared_ptr<Memory>& memory, Uid uid, Answer answer);

    const std::shared_ptr<UserDirectory> directory_;
    const Patience patience_;
    std::shared_ptr<Memory> names_, groups_;  // the workers' too: one that hangs may outlive us
    work::WorkerPool workers_;
};

}  // namespace spur::ctld
