// The life of a job: queued, started, ended, requeued, suspended.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

template <class E>
std::vector<E> only(const Events& events) {
    std::vector<E> found;
    for (const auto& event : events)
        if (const auto* match = std::get_if<E>(&event)) found.push_back(*match);
    return found;
}

JobRef ref(JobId id) { return {.job = id.value}; }

TEST(T50JobLife, ASubmittedJobWaitsAndIsEligible) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).pending("a");
    EXPECT_EQ(b.job("a").state, JobState::pending);
    EXPECT_TRUE(b.job("a").eligible);
    EXPECT_EQ(b.job("a").reason, Reason::none);
    EXPECT_EQ(b.job("a").submit_time, b.now());
    EXPECT_EQ(b.cluster().pending_jobs().size(), 1U);
}

TEST(T50JobLife, AStartedJobHoldsItsCoresUntilEveryNodeIsDone) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n[1-2]"), limit_min(10));
    const auto id = b.id("a");
    EXPECT_EQ(b.job("a").attempt, 1U);
    EXPECT_EQ(b.job("a").end_time, b.now() + 600);
    EXPECT_EQ(b.cluster().find_node("n1")->shown_state(), NodeState::allocated);

    b.at(5).must(FinishJob{.job = id, .attempt = 1});
    EXPECT_EQ(b.job("a").state, JobState::completed);
    EXPECT_TRUE(b.job("a").is_completing());
    EXPECT_EQ(b.cluster().find_node("n2")->use.own_cores.count(), 4U);
    EXPECT_EQ(display_state(b.cluster().find_node("n1")->shown_state(), b.cluster().find_node("n1")->shown_flags()),
              "COMPLETING");

    EXPECT_TRUE(only<JobEnded>(b.must(NodeJobDone{id, 1, {b.node("n1")}})).empty());
    EXPECT_EQ(b.cluster().find_node("n1")->use.own_cores.count(), 0U);
    EXPECT_EQ(only<JobEnded>(b.must(NodeJobDone{id, 1, {b.node("n2")}})).size(), 1U);
    EXPECT_FALSE(b.job("a").is_completing());
    EXPECT_EQ(b.cluster().find_node("n2")->shown_state(), NodeState::idle);
    EXPECT_EQ(b.job("a").run_time_s(b.now() + 99), 5);
}

TEST(T50JobLife, AnExitCodeFailsTheJobWithItsReason) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.finish(b.id("a"), 3 << 8);
    EXPECT_EQ(b.job("a").state, JobState::failed);
    EXPECT_EQ(to_string(b.job("a").reason), "NonZeroExitCode");
    EXPECT_EQ(b.job("a").exit_status, 3U << 8);
}

TEST(T50JobLife, AReportAboutAnOldAttemptChangesNothing) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(RequeueJob{ref(b.id("a")), Actor::root()});
    b.clean_up(b.id("a"));
    ASSERT_TRUE(b.start_on(b.id("a"), "n1"));
    EXPECT_EQ(b.job("a").attempt, 2U);
    const auto before = snapshot_of(b);
    EXPECT_FALSE(b.apply(FinishJob{.job = b.id("a"), .attempt = 1}));
    EXPECT_FALSE(b.apply(NodeJobDone{b.id("a"), 1, {b.node("n1")}}));
    EXPECT_EQ(snapshot_of(b), before);
}

TEST(T50JobLife, ARequeuedJobIsPendingAgainOnceItsNodesAreDone) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.at(9).must(RequeueJob{ref(b.id("a")), Actor::root()});
    EXPECT_EQ(b.job("a").state, JobState::pending);
    EXPECT_TRUE(b.job("a").is_completing());
    EXPECT_FALSE(b.start_on(b.id("a"), "n1")) << "its old attempt is still being cleaned up";
    b.clean_up(b.id("a"));
    EXPECT_TRUE(b.job("a").is_pending());
    EXPECT_TRUE(b.job("a").eligible);
    EXPECT_EQ(b.job("a").restarts, 1U);
    EXPECT_EQ(b.job("a").submit_time, b.now());
}

TEST(T50JobLife, RequeueHoldKeepsTheJobBackWithSlurmsWords) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(RequeueJob{ref(b.id("a")), Actor::root(), true, false});
    b.clean_up(b.id("a"));
    EXPECT_FALSE(b.job("a").eligible);
    EXPECT_EQ(b.job("a").reason_text, "job requeued in held state");
    b.must(ReleaseJob{ref(b.id("a")), Actor::root()});
    EXPECT_TRUE(b.job("a").eligible);
    EXPECT_EQ(display_state(b.job("a").state, b.job("a").flags), "PENDING");
}

TEST(T50JobLife, AFinishedJobCanBeRequeuedToo) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.finish(b.id("a"));
    b.must(RequeueJob{ref(b.id("a")), Actor::root()});
    EXPECT_TRUE(b.job("a").is_pending());
    EXPECT_EQ(b.job("a").allocation, nullptr);
}

TEST(T50JobLife, AJobThatMayNotRequeueIsNot) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), spec([](JobSpec& job) { job.requeue = false; }));
    const auto refused = b.apply(RequeueJob{ref(b.id("a")), Actor::root()});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "Requested operation is presently disabled");
}

TEST(T50JobLife, CancellingARunningJobGoesThroughCompleting) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    const auto events = b.must(CancelJob{ref(b.id("a")), Actor::root()});
    EXPECT_EQ(only<JobEnding>(events).size(), 1U);
    EXPECT_EQ(b.job("a").state, JobState::cancelled);
    EXPECT_EQ(display_state(b.job("a").state, b.job("a").flags), "COMPLETING");
    const auto again = b.apply(CancelJob{ref(b.id("a")), Actor::root()});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().text, "Job/step already completing or completed");
}

TEST(T50JobLife, ASuspendedJobLetsGoOfItsCoresAndKeepsItsMemory) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4), memory_mib(1000)).running("a", on("n1"), limit_min(10), spec([](JobSpec& job) {
                                                         job.mem_per_node_mib = 600;
                                                     }));
    b.at(60).must(SuspendJob{ref(b.id("a")), Actor::root()});
    EXPECT_EQ(b.cluster().find_node("n1")->use.own_cores.count(), 0U);
    EXPECT_EQ(b.cluster().find_node("n1")->use.memory_mib, 600U);
    b.at(100).running("b", on("n1"));
    const auto busy = b.apply(ResumeJob{ref(b.id("a")), Actor::root()});
    ASSERT_FALSE(busy) << "its cores are somebody else's now";
    b.finish(b.id("b"));
    b.at(160).must(ResumeJob{ref(b.id("a")), Actor::root()});
    EXPECT_EQ(b.job("a").end_time, ClusterBuilder::start + 600 + 100);
    EXPECT_EQ(b.job("a").run_time_s(b.now() + 10), 70);
    EXPECT_EQ(b.job("a").suspended_s, 100U);
}

TEST(T50JobLife, AJobCancelledWhileSuspendedGivesNothingBackTwice) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(SuspendJob{ref(b.id("a")), Actor::root()});
    b.running("b", on("n1"));
    b.must(CancelJob{ref(b.id("a")), Actor::root()});
    b.clean_up(b.id("a"));
    EXPECT_EQ(b.cluster().find_node("n1")->use.own_cores.count(), 4U) << "b's";
    EXPECT_EQ(b.cluster().find_node("n1")->job_count, 1U);
}

TEST(T50JobLife, TheTimeLimitEndsAJobWithTimeout) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), limit_min(1));
    EXPECT_EQ(b.cluster().next_due(), b.now() + 60);
    EXPECT_TRUE(b.at(59).must(Tick{}).empty());
    EXPECT_EQ(only<JobEnding>(b.at(60).must(Tick{})).size(), 1U);
    EXPECT_EQ(b.job("a").state, JobState::timeout);
    EXPECT_EQ(to_string(b.job("a").reason), "TimeLimit");
}

TEST(T50JobLife, AWarningSignalIsSentOnceBeforeTheEnd) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), limit_min(5), spec([](JobSpec& job) { job.signal = "B:USR1@60"; }));
    EXPECT_EQ(b.cluster().next_due(), b.now() + 240);
    const auto signals = only<JobSignalled>(b.at(240).must(Tick{}));
    ASSERT_EQ(signals.size(), 1U);
    EXPECT_EQ(signals[0].signal, 10U);
    EXPECT_TRUE(signals[0].batch_only);
    EXPECT_TRUE(only<JobSignalled>(b.at(250).must(Tick{})).empty());
}

TEST(T50JobLife, APendingJobThatCannotEndBeforeItsDeadlineEndsWithDeadline) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).pending("a", limit_min(10), spec([](JobSpec& job) {
                                       job.deadline = ClusterBuilder::start + 900;
                                   }));
    b.at(300).must(Tick{});
    EXPECT_EQ(b.job("a").state, JobState::pending);
    b.at(b.cluster().next_due() - ClusterBuilder::start).must(Tick{});
    EXPECT_EQ(b.job("a").state, JobState::deadline);
    EXPECT_EQ(to_string(b.job("a").reason), "DeadLine");
}

TEST(T50JobLife, ABeginTimeKeepsAJobBackUntilItComes) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).pending("a", spec([](JobSpec& job) { job.begin = ClusterBuilder::start + 30; }));
    EXPECT_EQ(to_string(b.job("a").reason), "BeginTime");
    EXPECT_FALSE(b.start_on(b.id("a"), "n1"));
    b.at(30).must(Tick{});
    EXPECT_TRUE(b.job("a").eligible);
    EXPECT_TRUE(b.start_on(b.id("a"), "n1"));
}

TEST(T50JobLife, HoldsByUserAndByAdministratorDiffer) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).pending("a").pending("b");
    const Actor alice{1000, AdminLevel::none, "alice"};
    b.must(HoldJob{ref(b.id("a")), alice});
    b.must(HoldJob{ref(b.id("b")), Actor::root()});
    EXPECT_EQ(to_string(b.job("a").reason), "JobHeldUser");
    EXPECT_EQ(to_string(b.job("b").reason), "JobHeldAdmin");
    EXPECT_EQ(b.job("a").priority, 0U);
    b.must(ReleaseJob{ref(b.id("a")), alice});
    EXPECT_TRUE(b.job("a").eligible);
    EXPECT_FALSE(b.apply(ReleaseJob{ref(b.id("b")), alice})) << "an administrator's hold is not hers to lift";
}

TEST(T50JobLife, OtherPeoplesJobsCannotBeTouched) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).pending("a");
    const Actor eve{1001, AdminLevel::none, "eve"};
    const auto before = snapshot_of(b);
    for (const Command& command : {Command{CancelJob{ref(b.id("a")), eve}}, Command{HoldJob{ref(b.id("a")), eve}},
                                   Command{UpdateJob{ref(b.id("a")), {.name = Text{"mine"}}, eve}}}) {
        const auto refused = b.apply(command);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::denied);
    }
    EXPECT_EQ(snapshot_of(b), before);
}

TEST(T50JobLife, TheSameRequestTwiceIsOneJob) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    JobSpec job;
    job.script = "#!/bin/sh\n";
    const auto first = std::get<JobQueued>(b.must(SubmitJob{{job}, Actor::root(), "r-1"}).front());
    const auto again = std::get<JobQueued>(b.must(SubmitJob{{job}, Actor::root(), "r-1"}).front());
    EXPECT_EQ(again.job, first.job);
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(b.cluster().jobs().size(), 1U);
}

TEST(T50JobLife, OldJobsAreForgottenAfterMinJobAge) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).policies([](Policies& policies) { policies.min_job_age_s = 100; });
    b.running("a", on("n1"));
    b.finish(b.id("a"));
    const auto id = b.id("a");
    EXPECT_EQ(b.cluster().next_due(), b.now() + 100);
    b.at(99).must(Tick{});
    EXPECT_NE(b.cluster().find_job(id), nullptr);
    EXPECT_EQ(only<JobForgotten>(b.at(100).must(Tick{})).size(), 1U);
    EXPECT_EQ(b.cluster().find_job(id), nullptr);
    EXPECT_EQ(b.cluster().next_due(), 0);
}

TEST(T50JobLife, JobIdsAreNotUsedAgainWhileTheyAreKnown) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).policies([](Policies& policies) { policies.max_job_id = 3; });
    EXPECT_EQ(b.submit("a").value, 1U);
    b.submit("b");
    b.submit("c");
    b.must(CancelJob{ref(b.id("b")), Actor::root()});
    b.must(PruneJobs{b.now() + 1});
    EXPECT_EQ(b.submit("d").value, 2U) << "1 and 3 are still there";
}

TEST(T50JobLife, AFailedPrologDrainsTheNodeAndHoldsTheJob) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(FinishJob{.job = b.id("a"), .attempt = 1, .cause = EndCause::prolog_failed, .node = b.node("n1")});
    b.clean_up(b.id("a"));
    EXPECT_EQ(b.job("a").state, JobState::pending);
    EXPECT_EQ(b.job("a").reason_text, "launch failed requeued held");
    EXPECT_EQ(
        display_full_state(b.cluster().find_node("n1")->shown_state(), b.cluster().find_node("n1")->shown_flags()),
        "IDLE+DRAIN");
    EXPECT_EQ(b.cluster().find_node("n1")->reason, "Prolog error");
}

TEST(T50JobLife, WithoutLeaveToRequeueAFailedPrologIsTheJobsEnd) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), spec([](JobSpec& spec) { spec.requeue = false; }));
    b.must(FinishJob{.job = b.id("a"), .attempt = 1, .cause = EndCause::prolog_failed, .node = b.node("n1")});
    EXPECT_EQ(b.job("a").state, JobState::cancelled);
}

TEST(T50JobLife, AFailedEpilogDrainsTheNode) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(FinishJob{.job = b.id("a"), .attempt = 1});
    b.must(NodeJobDone{b.id("a"), 1, {b.node("n1")}, true});
    EXPECT_EQ(b.job("a").state, JobState::completed);
    const auto* node = b.cluster().find_node("n1");
    EXPECT_EQ(display_full_state(node->shown_state(), node->shown_flags()), "IDLE+DRAIN");
    EXPECT_EQ(node->reason, "Epilog error");
}

TEST(T50JobLife, OnlyAJobsOwnNodesCanReportItsEnd) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n1"));
    FinishJob forged{.job = b.id("a"), .attempt = 1, .node = b.node("n2"), .must_hold = true};
    const auto refused = b.apply(forged);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::denied) << "final: the reporter need not say it again";
    forged.node.reset();
    EXPECT_FALSE(b.apply(forged));
    forged.cause = EndCause::prolog_failed;
    forged.node = b.node("n2");
    EXPECT_FALSE(b.apply(forged));
    EXPECT_FALSE(b.apply(NodeJobDone{b.id("a"), 1, {b.node("n2")}}));
    EXPECT_EQ(b.job("a").state, JobState::running);
    EXPECT_EQ(b.cluster().find_node("n2")->reason, "") << "nothing half done";
    b.must(FinishJob{.job = b.id("a"), .attempt = 1, .node = b.node("n1"), .must_hold = true});
    EXPECT_TRUE(b.job("a").is_completing());
}

TEST(T50JobLife, ALogOfBeforeReportersWereCheckedStillApplies) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n1"));
    b.must(FinishJob{.job = b.id("a"), .attempt = 1, .node = b.node("n2")});
    EXPECT_TRUE(b.job("a").is_completing());
}

TEST(T50JobLife, AScriptThatASignalEndsHasSlurmsReason) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n1")).running("b", on("n2"));
    b.must(FinishJob{.job = b.id("a"), .attempt = 1, .exit_status = 9});
    b.must(FinishJob{.job = b.id("b"), .attempt = 1, .exit_status = 3 << 8});
    EXPECT_EQ(b.job("a").reason, Reason::job_launch_failure);
    EXPECT_EQ(b.job("b").reason, Reason::non_zero_exit_code);
}

}  // namespace
}  // namespace spur
