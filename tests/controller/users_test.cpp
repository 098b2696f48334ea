// Who is behind a uid: remembered, shared, and used on while the directory service is silent.
#include <gtest/gtest.h>

#include <future>

#include "tests/support/fake_directory.hpp"

namespace spur::ctld {
namespace {

using namespace std::chrono_literals;
using testing::FakeDirectory;

class UsersTest : public ::testing::Test {
protected:
    static constexpr Users::Patience patient{.answer = 60s, .again = 60s};
    // What is remembered is never fresh here: each question goes to the directory, with an old answer at hand.
    static constexpr Users::Patience forgetful{.answer = 60s, .again = 60s, .remembered = 0s, .denied = 0s};
    static constexpr Users::Patience hasty{.answer = 50ms, .again = 10ms, .remembered = 0s, .denied = 0s};

    void SetUp() override { directory->add(1000, "alice", {100, 200}); }

    static std::future<Result<Users::Record>> begin(Users& users, Uid uid) {
        const auto promise = std::make_shared<std::promise<Result<Users::Record>>>();
        users.find_with_groups(uid, [promise](const Result<Users::Record>& found) { promise->set_value(found); });
        return promise->get_future();
    }
    static Result<Users::Record> find(Users& users, Uid uid) { return begin(users, uid).get(); }

    std::shared_ptr<FakeDirectory> directory = std::make_shared<FakeDirectory>();
};

TEST_F(UsersTest, AUserComesWithGroupsAndTheirNames) {
    Users users{directory, patient};
    const auto alice = find(users, 1000);
    ASSERT_TRUE(alice);
    EXPECT_EQ((*alice)->name, "alice");
    EXPECT_EQ((*alice)->groups, (std::vector<Gid>{100, 200}));
    EXPECT_EQ((*alice)->group_names, (std::vector<std::string>{"group100", "group200"}));
}

TEST_F(UsersTest, WhatIsRememberedIsToldAtOnceAndNotAskedAgain) {
    Users users{directory, patient};
    ASSERT_TRUE(find(users, 1000));
    directory->hang();
    auto again = begin(users, 1000);
    EXPECT_EQ(again.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(directory->asked(), 1);
    EXPECT_EQ(users.name_of(1000), "alice");
    EXPECT_EQ(users.name_of(4711), "4711");
}

TEST_F(UsersTest, AnUnknownUserIsAnAnswer) {
    Users users{directory, patient};
    const auto nobody = find(users, 4711);
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code, ErrorCode::not_found);
}

TEST_F(UsersTest, ADirectoryThatHangsCostsAMomentAndNotTheAnswer) {
    Users users{directory, hasty};
    while (!find(users, 1000)) std::this_thread::yield();  // this machine may be slower than we are hasty
    directory->hang();
    EXPECT_TRUE(find(users, 1000)) << "an old answer is better than none";
    const auto stranger = find(users, 4711);
    ASSERT_FALSE(stranger);
    EXPECT_EQ(stranger.error().code, ErrorCode::unavailable);
    // Nobody waits for what hangs already; it may take a while to begin.
    while (begin(users, 4711).wait_for(0s) != std::future_status::ready) std::this_thread::yield();
    directory->add(4711, "bob", {300});
    directory->answer();
    while (!find(users, 4711)) std::this_thread::yield();
    EXPECT_EQ((*find(users, 4711))->groups, std::vector<Gid>{300});
}

TEST_F(UsersTest, AQuestionThatNobodyGotRoundToIsAskedAgain) {
    Users users{directory, hasty};
    directory->hang();
    std::vector<std::future<Result<Users::Record>>> askers;
    for (Uid uid = 1; uid <= 20; ++uid) askers.push_back(begin(users, uid));  // far more than there are workers
    for (auto& asker : askers) EXPECT_EQ(asker.get().error().code, ErrorCode::unavailable);
    for (Uid uid = 1; uid <= 20; ++uid) directory->add(uid, "somebody", {100});
    directory->answer();
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    for (Uid uid = 1; uid <= 20; ++uid) {
        bool is_found = false;
        while (!is_found && std::chrono::steady_clock::now() < give_up) is_found = find(users, uid).has_value();
        EXPECT_TRUE(is_found) << "uid " << uid;
    }
}

TEST_F(UsersTest, ManyQuestionsAboutOneUserAreOne) {
    Users users{directory, patient};
    directory->hang();
    std::vector<std::future<Result<Users::Record>>> askers;
    for (int i = 0; i < 20; ++i) askers.push_back(begin(users, 1000));
    directory->answer();
    for (auto& asker : askers) EXPECT_TRUE(asker.get());
    EXPECT_EQ(directory->asked(), 1);
}

TEST_F(UsersTest, ADirectoryThatIsDownIsNoReasonToForgetSomebody) {
    Users users{directory, forgetful};
    ASSERT_TRUE(find(users, 1000));
    directory->break_down();
    EXPECT_TRUE(find(users, 1000));
    EXPECT_EQ(find(users, 4711).error().code, ErrorCode::unavailable);
    directory->answer();
    directory->remove(1000);
    EXPECT_EQ(find(users, 1000).error().code, ErrorCode::not_found) << "that somebody has gone is an answer";
}

TEST_F(UsersTest, NoGroupsAtAllIsNoAnswer) {
    struct Groupless final : UserDirectory {
        Result<std::optional<UserRecord>> find_user(Uid uid) override {
            return UserRecord{.uid = uid, .gid = 1, .name = "eve", .groups = {}, .group_names = {}};
        }
        Result<std::optional<Uid>> find_uid(const std::string&) override { return std::nullopt; }
        Result<std::vector<Gid>> groups_of(const UserRecord&) override { return std::vector<Gid>{}; }
        Result<std::optional<std::string>> group_name(Gid) override { return std::nullopt; }
        Result<std::optional<std::vector<Uid>>> group_members(const std::string&) override { return std::nullopt; }
    };
    Users strange{std::make_shared<Groupless>(), patient};
    const auto eve = find(strange, 1);
    ASSERT_FALSE(eve);
    EXPECT_EQ(eve.error().code, ErrorCode::unavailable);
}

TEST_F(UsersTest, SeveralAreFoundTogetherOrNotAtAll) {
    directory->add(1001, "bob", {300});
    Users users{directory, patient};
    const auto all = [&](const std::set<Uid>& uids) {
        std::promise<Result<Users::Records>> promise;
        users.find_all_with_groups(uids, [&](const Result<Users::Records>& found) { promise.set_value(found); });
        return promise.get_future().get();
    };
    EXPECT_EQ(all({1000, 1001})->at(1001)->name, "bob");
    EXPECT_TRUE(all({})->empty());
    EXPECT_FALSE(all({1000, 4711}));
}

TEST(UserDirectory, TheSystemKnowsRootAndSaysWhoIsUnknown) {
    const auto system = system_directory();
    const auto root = system->find_user(0);
    ASSERT_TRUE(root && *root);
    const auto groups = system->groups_of(**root);
    ASSERT_TRUE(groups);
    EXPECT_EQ(groups->front(), (*root)->gid);
    EXPECT_EQ(*find_uid(*system, (*root)->name), 0U);
    EXPECT_EQ(*find_uid(*system, "4711"), 4711U);
    EXPECT_FALSE(*system->find_uid("nobody has this name"));
}

}  // namespace
}  // namespace spur::ctld
