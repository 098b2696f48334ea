// Looking names and groups up on the workers, and remembering the answers.
#include "daemons/spurctld/service/users.hpp"

#include "core/slurm/refusal.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace spur::ctld {

namespace {

using Clock = std::chrono::steady_clock;

Result<Users::Record> look_up_name(UserDirectory& directory, Uid uid) {
    SPUR_TRY(auto user, directory.find_user(uid));
    if (!user) return fail(refusal::invalid_user.as(ErrorCode::not_found, ": this cluster does not know uid {}", uid));
    return std::make_shared<const UserRecord>(*std::move(user));
}

Result<Users::Record> look_up_groups(UserDirectory& directory, Uid uid) {
    SPUR_TRY(const auto named, look_up_name(directory, uid));
    auto user = *named;
    SPUR_TRY(user.groups, directory.groups_of(user));
    if (user.groups.empty())
        return fail(ErrorCode::unavailable, "the groups of user {} cannot be found out", user.name);
    for (const auto gid : user.groups) {
        SPUR_TRY(const auto name, directory.group_name(gid));
        user.group_names.push_back(name.value_or(std::to_string(gid)));
    }
    return std::make_shared<const UserRecord>(std::move(user));
}

}  // namespace

// What one kind of question was answered with.
struct Users::Memory {
    struct Entry {
        std::optional<Result<Record>> known;  // a record, or that there is none
        Clock::time_point fresh_until{};
        std::optional<Clock::time_point> asked;  // an answer is waited for since then
        bool begun{false};                       // a worker has got round to the question
        bool overdue{false};                     // it waits for the answer, and nobody else does any more
        std::vector<Answer> waiting;
    };
    using LookUp = Result<Record> (*)(UserDirectory&, Uid);

    LookUp look_up;
    Patience patience;
    std::mutex mutex;
    std::unordered_map<Uid, Entry> entries;

    void begin(Uid uid) {
        const std::lock_guard lock{mutex};
        entries[uid].begun = true;
    }
    void keep(Uid uid, const Result<Record>& found) {
        const std::lock_guard lock{mutex};
        auto& entry = entries[uid];
        entry.asked.reset();
        entry.begun = entry.overdue = false;
        if (!found && found.error().code != ErrorCode::not_found) return;
        entry.known = found;
        entry.fresh_until = Clock::now() + (found ? patience.remembered : patience.denied);
    }
    // Those who wait get what is known: an old answer is better than none.
    void tell(Uid uid, const Result<Record>& found) {
        std::vector<Answer> waiting;
        Result<Record> said = found;
        {
            const std::lock_guard lock{mutex};
            auto& entry = entries[uid];
            waiting = std::exchange(entry.waiting, {});
            if (!entry.begun) entry.asked.reset();  // given up while it was queued: nobody will answer it
            entry.overdue = entry.asked.has_value();
            if (!said && entry.known) said = *entry.known;
        }
        for (const auto& answer : waiting) answer(said);
    }
};

Users::Users(std::shared_ptr<UserDirectory> directory) : Users{std::move(directory), Patience{}} {}

Users::Users(std::shared_ptr<UserDirectory> directory, Patience patience)
    : directory_{std::move(directory)},
      patience_{patience},
      names_{std::make_shared<Memory>()},
      groups_{std::make_shared<Memory>()} {
    names_->look_up = look_up_name;
    groups_->look_up = look_up_groups;
    names_->patience = groups_->patience = patience;
}

void Users::stop() { workers_.stop(); }

void Users::find(Uid uid, Answer answer) { look_up(names_, uid, std::move(answer)); }
void Users::find_with_groups(Uid uid, Answer answer) { look_up(groups_, uid, std::move(answer)); }

void Users::look_up(const std::shared_ptr<Memory>& memory, Uid uid, Answer answer) {
    const auto now = Clock::now();
    std::optional<Result<Record>> said;
    auto patience = patience_.answer;
    {
        const std::lock_guard lock{memory->mutex};
        auto& entry = memory->entries[uid];
        const bool is_slow = entry.asked && now - *entry.asked >= patience_.again;
        if (entry.known && (now < entry.fresh_until || is_slow)) {
            said = entry.known;
        } else if (entry.overdue) {
            said = fail(ErrorCode::unavailable, "{} does not answer; try again later", whom);
        } else {
            entry.waiting.push_back(std::move(answer));
            if (entry.asked) return;
            entry.asked = now;
            if (entry.known) patience = patience_.again;
        }
    }
    if (said) return answer(*said);
    // The answer is kept however late it comes, and until it comes nobody asks for the same user again: a service that
    // hangs takes no more than one worker for each.
    workers_.ask<Record>(
        std::string{whom}, patience,
        [memory, uid, directory = directory_] {
            memory->begin(uid);
            Result<Record> found = fail(ErrorCode::internal, "looking up uid {} failed", uid);
            try {
                found = memory->look_up(*directory, uid);
            } catch (const std::exception& error) {
                found.error().text += fmt::format(": {}", error.what());
            }
            memory->keep(uid, found);
            return found;
        },
        [memory, uid](const Result<Record>& found) { memory->tell(uid, found); });
}

void Users::find_all_with_groups(const std::set<Uid>& uids, std::function<void(const Result<Records>&)> answer) {
    struct Gathering {
        std::mutex mutex;
        Result<Records> found;
        std::size_t left;
        std::function<void(const Result<Records>&)> answer;
    };
    const auto all = std::make_shared<Gathering>();
    all->left = uids.size();
    all->answer = std::move(answer);
    for (const auto uid : uids)
        find_with_groups(uid, [all, uid](const Result<Record>& found) {
            {
                const std::lock_guard lock{all->mutex};
                if (!found)
                    all->found = std::unexpected(found.error());
                else if (all->found)
                    all->found->emplace(uid, *found);
                if (--all->left > 0) return;
            }
            all->answer(all->found);
        });
    if (uids.empty()) all->answer(all->found);
}

void Users::learn_names(const std::set<Uid>& uids, std::function<void()> done) {
    if (uids.empty()) return done();
    const auto left = std::make_shared<std::atomic<std::size_t>>(uids.size());
    for (const auto uid : uids)
        find(uid, [left, done](const Result<Record>&) {
            if (--*left == 0) done();
        });
}

std::string Users::name_of(Uid uid) const {
    for (const auto& memory : {names_, groups_}) {
        const std::lock_guard lock{memory->mutex};
        const auto found = memory->entries.find(uid);
        if (found != memory->entries.end() && found->second.known && *found->second.known)
            return (**found->second.known)->name;
    }
    return std::to_string(uid);
}

}  // namespace spur::ctld
