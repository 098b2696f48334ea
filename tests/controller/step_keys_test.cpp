// What a leader puts into the state, and the keys that steps are signed with.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <utime.h>

#include <filesystem>

#include "daemons/spurctld/agents/step_keys.hpp"
#include "spur/v1/controller.pb.h"
#include "tests/support/engine_rig.hpp"

namespace spur::ctld {
namespace {

using namespace testing;

class StepKeysTest : public ::testing::Test {
protected:
    StepKeysTest() {
        std::string pattern = std::filesystem::temp_directory_path() / "step-keys-XXXXXX";
        directory = mkdtemp(pattern.data());
    }
    ~StepKeysTest() override { std::filesystem::remove_all(directory); }
    std::string file() const { return directory + "/step_signing.key"; }

    std::string directory;
};

// A controller of this directory, on a log of its own or on what another has left.
struct Controller {
    explicit Controller(const std::string& directory, std::vector<std::string> entries = {})
        : rig{[&](FakeLog& log) { log.first_entries = std::move(entries); }},
          keys{*rig.engine, directory, [](auto) {}} {
        if (const auto opened = keys.open(); !opened) throw std::runtime_error{opened.error().text};
        rig.engine->observe(keys);
    }
    ~Controller() { rig.engine->stop(); }
    Controller& start() {
        rig.start();
        static_cast<void>(rig.propose(SetStateVersion{newest_state_version}));  // refused if it is in force already
        rig.settle();
        return *this;
    }
    History history() {
        History history;
        rig.look([&](const Cluster& cluster) { history = cluster.history(); });
        return history;
    }
    v1::SignedCredential sign(const std::string& body) const {
        v1::SignedCredential outer;
        outer.ParseFromString(*keys.sign(body));
        return outer;
    }
    EngineRig rig;
    StepKeys keys;
};

bool is_trusted(const History& history, const v1::SignedCredential& credential) {
    for (const auto& key : history.step_keys)
        if (key == credential.key()) return sign::is_signed_by(key, credential.body(), credential.signature());
    return false;
}

TEST_F(StepKeysTest, WhatAControllerSignsIsTrustedByItsStateAndOnlyThat) {
    Controller controller{directory};
    controller.start();
    auto credential = controller.sign("step");
    EXPECT_TRUE(is_trusted(controller.history(), credential));
    credential.set_body("another");
    EXPECT_FALSE(is_trusted(controller.history(), credential));
    EXPECT_FALSE(is_trusted(controller.history(), Controller{{}}.sign("step")));
}

TEST_F(StepKeysTest, NothingIsProposedThatAControllerOfAnOlderReleaseCannotRead) {
    Controller controller{directory};
    controller.rig.start();
    controller.rig.settle();
    EXPECT_TRUE(controller.rig.log->entries().empty());
    ASSERT_TRUE(controller.rig.propose(SetStateVersion{newest_state_version}));
    controller.rig.settle();
    EXPECT_EQ(controller.history().eras.size(), 1U);
    EXPECT_TRUE(is_trusted(controller.history(), controller.sign("step")));
}

TEST_F(StepKeysTest, ARestartedControllerSignsWithTheSameKeyAndTheStateStillTrustsWhatWasSigned) {
    v1::SignedCredential before;
    std::vector<std::string> log;
    {
        Controller controller{directory};
        before = controller.start().sign("step");
        log = controller.rig.log->entries();
    }
    Controller controller{directory, log};
    EXPECT_TRUE(is_trusted(controller.start().history(), before));
    EXPECT_EQ(controller.sign("step").key(), before.key());
    EXPECT_EQ(controller.history().step_keys.size(), 1U);
    EXPECT_EQ(controller.history().eras.size(), 2U);
}

TEST_F(StepKeysTest, AnotherLeaderHasItsOwnKeyAndTheFirstOnesSignaturesStayGood) {
    Controller first{directory};
    const auto before = first.start().sign("step");
    Controller second{{}, first.rig.log->entries()};
    second.start();
    EXPECT_NE(second.sign("step").key(), before.key());
    EXPECT_TRUE(is_trusted(second.history(), before));
    EXPECT_TRUE(is_trusted(second.history(), second.sign("step")));
    EXPECT_EQ(second.history().id, first.history().id);
}

TEST_F(StepKeysTest, TheKeyIsInAFileForNobodyElseAndIsNotInTheLog) {
    Controller controller{directory};
    controller.start();
    struct stat info {};
    ASSERT_EQ(stat(file().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
    std::string secret(32, '\0');
    FILE* in = fopen(file().c_str(), "rb");
    ASSERT_EQ(fread(secret.data(), 1, secret.size(), in), secret.size());
    fclose(in);
    for (const auto& entry : controller.rig.log->entries()) EXPECT_EQ(entry.find(secret), std::string::npos);
    chmod(file().c_str(), 0644);
    EXPECT_THROW(Controller{directory}, std::runtime_error) << "others may have read it";
}

TEST_F(StepKeysTest, AKeyThatIsOldIsReplacedOnceTheStateTrustsTheNew) {
    { Controller controller{directory}; }
    utimbuf long_ago{1'000'000'000, 1'000'000'000};
    ASSERT_EQ(utime(file().c_str(), &long_ago), 0);
    Controller controller{directory};
    controller.keys.set_lifetime(std::chrono::hours{24});
    const auto old = controller.sign("step");
    controller.start();
    for (int i = 0; i < 3; ++i) controller.rig.settle();
    const auto fresh = controller.sign("step");
    EXPECT_NE(fresh.key(), old.key());
    EXPECT_TRUE(is_trusted(controller.history(), old));
    EXPECT_TRUE(is_trusted(controller.history(), fresh));
    EXPECT_EQ(Controller{directory}.sign("step").key(), fresh.key()) << "the next start goes on with it";
}

}  // namespace
}  // namespace spur::ctld
