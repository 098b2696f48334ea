// The one writer: what it refuses alone, what it makes smaller, and that it goes no further than it can read.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "core/store/codec.hpp"
#include "tests/support/engine_rig.hpp"

namespace spur::ctld {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using Stage = Answer::Stage;

// An entry as another controller writes it.
std::string foreign(std::string_view body) { return std::string(16, 'x') + std::string{body}; }

SubmitJob submission(std::size_t script_bytes = 10) {
    JobSpec spec;
    spec.name = "a";
    spec.script = "#!/bin/sh\n" + std::string(script_bytes, '#');
    spec.user_name = "user";
    spec.uid = 1000;
    spec.partitions = {"main"};
    return {{spec}, Actor::root(), {}};
}

class EngineTest : public ::testing::Test {
protected:
    static std::string beginning() {
        ClusterBuilder builder;
        builder.nodes("n1", testing::cpus(8));
        return snapshot_of(builder.cluster());
    }
    EngineTest() : rig{[](FakeLog& log) { log.first_snapshot = beginning(); }} { rig.start(); }

    // What becomes of these, proposed at once.
    std::vector<Answer> propose_all(const std::vector<Command>& commands) {
        std::vector<Answer> answers(commands.size());
        std::atomic<std::size_t> left{commands.size()};
        rig.engine->post([&] {
            for (std::size_t i = 0; i < commands.size(); ++i)
                rig.engine->propose(commands[i], [&, i](const Answer& answer) {
                    answers[i] = answer;
                    --left;
                });
        });
        while (left > 0) std::this_thread::sleep_for(1ms);
        return answers;
    }
    std::size_t job_count() {
        std::size_t count = 0;
        rig.look([&](const Cluster& cluster) { count = cluster.jobs().size(); });
        return count;
    }

    EngineRig rig;
};

// ---- exceptions ----------------------------------------------------------------------------------------------------

TEST_F(EngineTest, AnExceptionInATaskRefusesItsCallerAndNobodyElse) {
    std::promise<Error> refusal;
    rig.engine->post([] { throw std::bad_alloc{}; }, [&](const Error& error) { refusal.set_value(error); });
    EXPECT_EQ(refusal.get_future().get(), (Error{ErrorCode::internal, "there is not enough memory for it"}));
    rig.engine->post([] { throw std::length_error{"vector::reserve"}; });
    rig.engine->post([] { throw 7; });
    EXPECT_TRUE(rig.propose(submission()));
    EXPECT_TRUE(rig.has_warning("vector::reserve"));
    EXPECT_EQ(rig.fatal(), "");
}

TEST_F(EngineTest, AnExceptionOfWhoeverHearsDoesNotKeepTheOthersFromHearing) {
    rig.engine->propose(submission(), [](const Answer&) { throw std::runtime_error{"no"}; });
    EXPECT_TRUE(rig.propose(submission()));
    EXPECT_EQ(job_count(), 2U);
    EXPECT_EQ(rig.fatal(), "");
}

TEST_F(EngineTest, ACommandThatCannotBeStoredIsRefusedBeforeItIsProposed) {
    NodeRegistered absurd{.node = NodeId{0}};
    absurd.gpu_places.emplace_back().cores.add(2'000'000);
    const auto answers = propose_all({absurd, submission()});
    ASSERT_FALSE(answers[0].result);
    EXPECT_EQ(answers[0].stage, Stage::not_applied);
    EXPECT_NE(answers[0].result.error().text.find("cannot be stored"), std::string::npos);
    EXPECT_TRUE(answers[1].result);
    EXPECT_EQ(rig.log->entries().size(), 1U);
}

TEST_F(EngineTest, AnEntryIsTheProposerAndItsNumberLowestByteFirstThenTheCommand) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(rig.propose(submission()));
    const auto entries = rig.log->entries();
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].substr(0, 8), entries[1].substr(0, 8));
    const auto first = static_cast<char>(entries[0][8]);
    EXPECT_EQ(entries[0].substr(8, 8), first + std::string(7, '\0'));
    EXPECT_EQ(entries[1].substr(8, 8), static_cast<char>(first + 1) + std::string(7, '\0'));
    EXPECT_TRUE(decode_command(std::string_view{entries[0]}.substr(16)));
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

TEST_F(EngineTest, WhatIsTooLargeForTheLogIsRefusedAlone) {
    rig.log->set_largest(4000);
    const auto answers = propose_all({submission(), submission(10'000), submission()});
    EXPECT_TRUE(answers[0].result);
    ASSERT_FALSE(answers[1].result);
    EXPECT_EQ(answers[1].stage, Stage::not_applied);
    EXPECT_TRUE(answers[2].result);
}

TEST_F(EngineTest, ManyAtOnceAreCutIntoProposalsThatALogTakes) {
    const std::vector<Command> commands(5, submission(Engine::proposal_bytes / 2));
    for (const auto& answer : propose_all(commands)) EXPECT_TRUE(answer.result);
    for (const auto& proposal : rig.log->proposals()) {
        std::size_t bytes = 0;
        for (const auto& entry : proposal) bytes += entry.size();
        EXPECT_LE(bytes, Engine::proposal_bytes);
    }
}

TEST_F(EngineTest, AnEntryThatNoLogTakesIsRefusedWithItsSize) {
    const auto answers = propose_all({submission(Engine::largest_entry), submission()});
    ASSERT_FALSE(answers[0].result);
    EXPECT_EQ(answers[0].stage, Stage::not_applied);
    EXPECT_EQ(answers[0].result.error().text, "this is too large to be stored: it takes 49 MiB, and 48 are possible");
    EXPECT_TRUE(answers[1].result);
}

// ---- answers -------------------------------------------------------------------------------------------------------

TEST_F(EngineTest, OnlyVerdictsOfTheStateAreFinal) {
    EXPECT_EQ(propose_all({submission()})[0].stage, Stage::applied);
    const auto refused = propose_all({FinishJob{.job = JobId{77}, .attempt = 1}})[0];
    EXPECT_FALSE(refused.result);
    EXPECT_TRUE(refused.is_final());

    rig.log->refuse(Error{ErrorCode::invalid, "no room"});
    EXPECT_EQ(propose_all({submission()})[0].stage, Stage::not_applied);
    rig.log->refuse(Error{ErrorCode::internal, "the disk is full"});
    const auto full = propose_all({submission()})[0];
    EXPECT_EQ(full.stage, Stage::not_applied);
    EXPECT_EQ(full.result.error().text, "the disk is full");
    rig.log->refuse({});

    rig.log->hold();
    std::promise<Answer> lost;
    rig.engine->propose(submission(), [&](const Answer& answer) { lost.set_value(answer); });
    rig.settle();
    rig.log->lose(FakeLog::Fate::unknown);
    EXPECT_EQ(lost.get_future().get().stage, Stage::unknown);
}

// ---- broken is final -----------------------------------------------------------------------------------------------

class BrokenEngine : public EngineTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(BrokenEngine, AppliesLeadsProposesAndStoresNothingMore) {
    ASSERT_TRUE(rig.propose(submission()));
    const auto before = rig.snapshot();
    rig.log->hold();
    std::promise<Answer> waiting;
    rig.engine->propose(submission(), [&](const Answer& answer) { waiting.set_value(answer); });
    rig.settle();

    rig.log->append(GetParam());
    rig.log->append(foreign(encode({ClusterBuilder::start + 5, submission()})));
    EXPECT_EQ(waiting.get_future().get().stage, Stage::unknown);
    rig.log->release();
    rig.log->become(LogRole::leader, 2);
    rig.log->want_snapshot();
    ASSERT_TRUE(rig.log->restore(99, beginning()));
    rig.settle();

    EXPECT_EQ(rig.snapshot(), before);
    EXPECT_FALSE(rig.engine->leadership().is_leader);
    const auto more = rig.propose(submission());
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, ErrorCode::unavailable);
    EXPECT_TRUE(rig.log->snapshots().empty());
    std::promise<bool> confirmed;
    rig.engine->confirm_lead([&](const Result<void>& result) { confirmed.set_value(result.has_value()); });
    EXPECT_FALSE(confirmed.get_future().get());
    EXPECT_NE(rig.fatal(), "");
}

std::string newer_version() { return encode({1, SetStateVersion{newest_state_version + 1}}); }

INSTANTIATE_TEST_SUITE_P(AfterAnEntry, BrokenEngine,
                         ::testing::Values(std::string{"short"},                             // no head
                                           foreign("\x7f\x02"),                              // an unknown command
                                           foreign(std::string{"\x01\x02\xfc\x01\x05", 5}),  // a Tick with field 63
                                           foreign(newer_version())));

TEST_F(EngineTest, ABrokenEngineSaysWhichEntryAndWhy) {
    rig.log->append(foreign(newer_version()));
    rig.settle();
    EXPECT_EQ(rig.fatal(),
              "log entry 2: the controllers have gone on to version 4 of the state and this release knows versions up "
              "to 3; install the release that the others run");
}

TEST_F(EngineTest, AnEntryThatComesTwiceIsNotAppliedTwice) {
    const auto entry = foreign(encode({ClusterBuilder::start + 5, submission()}));
    rig.log->append(entry);
    rig.log->repeat(entry, 1);
    rig.settle();
    EXPECT_EQ(job_count(), 1U);
    EXPECT_EQ(rig.fatal(), "log entry 1 came after entry 2: the state plugin gives entries twice or backwards");
}

TEST_F(EngineTest, AnOutcomeThatComesEarlyOrTwiceAnswersNobodyBeforeTheEntryIsApplied) {
    rig.log->hold();
    std::atomic<int> answers{0};
    rig.engine->propose(submission(),
                        [&](const Answer& answer) { answers += answer.stage == Stage::applied ? 1 : 100; });
    rig.settle();
    rig.log->say_committed();
    rig.log->say_committed();
    rig.settle();
    EXPECT_EQ(answers, 0);
    rig.log->release();
    rig.settle();
    EXPECT_EQ(answers, 1);
    EXPECT_EQ(job_count(), 1U);
    EXPECT_EQ(rig.fatal(), "");
}

// ---- versions ------------------------------------------------------------------------------------------------------

TEST_F(EngineTest, WhatALaterVersionBroughtIsProposedOnlyWhereThatVersionIsInForce) {
    ClusterConfig config;
    rig.look([&](const Cluster& cluster) { config = cluster.config(); });
    const auto early = rig.propose(ApplyConfig{config, "digest"});
    ASSERT_FALSE(early);
    EXPECT_NE(early.error().text.find("bring all controllers to the same release"), std::string::npos);
    ASSERT_TRUE(rig.propose(SetStateVersion{2}));
    ASSERT_TRUE(rig.propose(ApplyConfig{config, "digest"}));
    rig.look([](const Cluster& cluster) {
        EXPECT_EQ(cluster.config_generation(), 1U);
        EXPECT_EQ(cluster.config_digests(), std::vector<Text>{"digest"});
        const auto again = Cluster::load(snapshot_of(cluster));
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_EQ(again->state_version(), 2U);
        EXPECT_EQ(again->config_digests(), cluster.config_digests());
    });
}

}  // namespace
}  // namespace spur::ctld
