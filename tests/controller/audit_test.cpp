// The audit trail: what is said of a job's life, of nodes, by whom, and what users cannot do to it.
#include "daemons/spurctld/service/audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/engine_rig.hpp"

namespace spur::ctld {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AuditTest : public ::testing::Test {
protected:
    static std::string beginning() {
        ClusterBuilder builder;
        builder.nodes("n[1-2]", testing::cpus(8)).pending("a").running("b", on("n1"), cpus_each(1));
        return snapshot_of(builder.cluster());
    }
    AuditTest() : rig{[](FakeLog& log) { log.first_snapshot = beginning(); }} {
        rig.engine->observe(audit);
        rig.start();
    }
    ~AuditTest() override { rig.engine->stop(); }

    std::vector<std::string> lines_after(Command command) {
        const auto done = rig.propose(std::move(command));
        EXPECT_TRUE(done) << done.error().text;
        rig.engine->stop();
        audit.stop();
        return lines;
    }
    JobId id(std::string_view name) {
        JobId found;
        rig.look([&](const Cluster& cluster) {
            for (const auto& [job_id, job] : cluster.jobs())
                if (job.spec->name == name) found = job_id;
        });
        return found;
    }
    const Actor alice{1000, AdminLevel::none, "alice"};
    std::vector<std::string> lines;
    Audit audit{[this](const std::vector<std::string>& more) { lines.insert(lines.end(), more.begin(), more.end()); }};
    EngineRig rig;
};

TEST_F(AuditTest, ASubmissionIsOneLineWithWhoAndWhat) {
    ClusterBuilder other;
    other.nodes("n[1-2]", testing::cpus(8)).pending("x");
    auto spec = *other.cluster().find_job(other.id("x"))->spec;
    spec.name = "evil\"\njob 1: ended";
    SubmitJob submit;
    submit.components = {spec};
    submit.actor = {spec.uid, AdminLevel::none, "alice"};
    const auto told = lines_after(submit);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_THAT(told[0], HasSubstr(fmt::format(
                             ": submitted by uid {} (alice), name \"evil\\\"\\njob 1: ended\", partition ", spec.uid)));
    EXPECT_TRUE(told[0].starts_with("job "));
}

TEST_F(AuditTest, ACancellationSaysByWhomAndThenHowItEnded) {
    const auto job = id("a");
    const auto told = lines_after(CancelJob{JobRef{.job = job.value}, Actor::root()});
    EXPECT_THAT(told, ElementsAre(fmt::format("job {}: cancelled by uid 0 (root)", job.value),
                                  fmt::format("job {}: ended CANCELLED, exit code 0:0", job.value)));
}

TEST_F(AuditTest, TheEndOfARunIsToldWithItsExitCode) {
    const auto job = id("b");
    const auto told =
        lines_after(FinishJob{.job = job, .attempt = 1, .exit_status = 3 << 8, .node = NodeId{0}, .node_done = true});
    ASSERT_EQ(told.size(), 1U);
    EXPECT_THAT(told[0], HasSubstr(fmt::format("job {}: ended FAILED, exit code 3:0, after ", job.value)));
}

TEST_F(AuditTest, ANodeThatIsDrainedIsOneLineAndJobsOnItAreNone) {
    UpdateNode drain{.nodes = {NodeId{1}}, .action = NodeAction::drain, .reason = Text{"disk"}, .actor = Actor::root()};
    EXPECT_THAT(lines_after(drain), ElementsAre("node n2: IDLE+DRAIN, reason \"disk\", set by uid 0"));
}

TEST_F(AuditTest, WhatIsRefusedIsNotTold) {
    EXPECT_FALSE(rig.propose(CancelJob{JobRef{.job = 4711}, alice}));
    rig.engine->stop();
    audit.stop();
    EXPECT_TRUE(lines.empty());
}

TEST_F(AuditTest, AReplayedLogIsNotTold) {
    EXPECT_TRUE(lines.empty());  // what was in the log before the start happened under somebody else's eyes
    audit.stop();
}

}  // namespace
}  // namespace spur::ctld
