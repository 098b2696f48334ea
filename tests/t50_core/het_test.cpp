// Heterogeneous jobs, resizing, preemption, licences and the ways nodes are shared.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

JobSpec simple(std::string_view name) {
    JobSpec job;
    job.name = Text{name};
    job.script = "#!/bin/sh\n";
    job.uid = 1000;
    job.user_name = "alice";
    return job;
}
JobRef ref(JobId id) { return {.job = id.value}; }

class T50Het : public ::testing::Test {
protected:
    T50Het() {
        b.nodes("n[1-3]", cpus(4)).cluster();
        leader = std::get<JobQueued>(b.must(SubmitJob{{simple("x"), simple("y")}, Actor::root(), {}}).front()).job;
        second = JobId{leader.value + 1};
    }
    Result<Events> start() { return b.apply(StartJob{{b.place(leader, "n1"), b.place(second, "n2")}}); }
    const Job& job(JobId id) { return *b.cluster().find_job(id); }

    ClusterBuilder b;
    JobId leader, second;
};

TEST_F(T50Het, ComponentsHaveFollowingIdsAndOneLeader) {
    EXPECT_EQ(job(leader).display_id(), "1+0");
    EXPECT_EQ(job(second).display_id(), "1+1");
    EXPECT_EQ(b.cluster().resolve(ref(leader))->size(), 2U);
    EXPECT_EQ(b.cluster().resolve({.job = leader.value, .component = 1})->front().job->id, second);
}

TEST_F(T50Het, TheyStartTogetherOrNotAtAll) {
    EXPECT_FALSE(b.apply(StartJob{{b.place(leader, "n1")}}));
    EXPECT_FALSE(b.apply(StartJob{{b.place(leader, "n1"), b.place(second, "n1")}})) << "there is no room for both";
    EXPECT_EQ(b.cluster().find_node("n1")->job_count, 0U);
    EXPECT_TRUE(start());
    EXPECT_TRUE(job(leader).is_running() && job(second).is_running());
}

TEST_F(T50Het, TheyEndTogether) {
    ASSERT_TRUE(start());
    b.must(FinishJob{.job = leader, .attempt = 1});
    EXPECT_EQ(job(second).state, JobState::completed);
    EXPECT_TRUE(job(second).is_completing());
}

TEST_F(T50Het, TheyAreRequeuedTogetherWhenANodeIsLost) {
    ASSERT_TRUE(start());
    b.must(NodeLost{b.node("n2"), {}});
    b.clean_up(leader);
    EXPECT_TRUE(job(leader).is_pending());
    EXPECT_TRUE(job(second).is_pending());
}

TEST_F(T50Het, CancellingTheLeaderCancelsAll) {
    b.must(CancelJob{ref(leader), Actor::root()});
    EXPECT_EQ(job(second).state, JobState::cancelled);
}

TEST_F(T50Het, OnlyTheFirstRunsTheScript) {
    ASSERT_TRUE(start());
    EXPECT_NE(b.cluster().find_step({leader, StepId{step_batch}}), nullptr);
    EXPECT_EQ(b.cluster().find_step({second, StepId{step_batch}}), nullptr);
}

TEST_F(T50Het, AWaitingComponentIsNotCancelledByItselfButARunningOneMayBeGivenUp) {
    const auto refused = b.apply(CancelJob{ref(second), Actor::root()});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "Operation not permitted on individual component of heterogeneous job");
    ASSERT_TRUE(start());
    b.must(CancelJob{ref(second), Actor::root()});
    EXPECT_EQ(job(second).state, JobState::cancelled);
    EXPECT_TRUE(job(leader).is_running());
    b.must(CancelJob{{.job = leader.value, .component = 0}, Actor::root()});
    EXPECT_EQ(job(leader).state, JobState::cancelled);
}

TEST_F(T50Het, ComponentsNumberTheirStepsTogether) {
    ASSERT_TRUE(start());
    const auto step = [&](JobId id, std::optional<StepId> number) {
        CreateStep command{.job = id, .attempt = 1, .id = number, .tasks = 1, .overlap = true};
        command.shares = {job(id).allocation->shares.front()};
        command.task_ids = {{0}};
        command.actor = Actor::root();
        for (const auto& event : b.must(command))
            if (const auto* begun = std::get_if<StepStarted>(&event)) return begun->step.step.value;
        return UINT32_MAX;
    };
    EXPECT_EQ(step(leader, {}), 0U);
    EXPECT_EQ(step(second, {}), 1U);
    EXPECT_EQ(step(leader, {}), 2U);
    EXPECT_EQ(step(second, StepId{2}), 2U) << "the same step in another component";
    EXPECT_EQ(step(leader, {}), 3U);
}

TEST(T50Resize, AJobShrinksToTheNodesItKeeps) {
    ClusterBuilder b;
    b.nodes("n[1-3]", cpus(4)).running("a", on("n[1-3]"));
    b.must(UpdateJob{ref(b.id("a")), {.keep_nodes = std::vector{b.node("n1"), b.node("n2")}}, Actor::root()});
    EXPECT_EQ(b.job("a").allocation->shares.size(), 2U);
    EXPECT_EQ(b.job("a").allocation->cpus, 8U);
    b.pending("b");
    EXPECT_FALSE(b.start_on(b.id("b"), "n3")) << "it still cleans up";
    b.must(NodeJobDone{b.id("a"), 1, {b.node("n3")}});
    EXPECT_TRUE(b.start_on(b.id("b"), "n3"));
    EXPECT_TRUE(b.job("a").is_running());
    b.finish(b.id("a"));
    EXPECT_EQ(b.job("a").state, JobState::completed);
}

TEST(T50Resize, TheNodeOfTheBatchScriptStays) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n[1-2]"));
    EXPECT_FALSE(b.apply(UpdateJob{ref(b.id("a")), {.keep_nodes = std::vector{b.node("n2")}}, Actor::root()}));
}

TEST(T50Preempt, EachModeEndsInItsOwnWay) {
    const auto preempted = [](PreemptMode mode) {
        ClusterBuilder b;
        b.nodes("n1", cpus(4)).running("a", on("n1"));
        b.must(PreemptJob{b.id("a"), 1, mode, JobId{9}});
        b.clean_up(b.id("a"));
        EXPECT_EQ(b.cluster().find_node("n1")->use.own_cores.count(), 0U);
        return b.job("a").state;
    };
    EXPECT_EQ(preempted(PreemptMode::cancel), JobState::preempted);
    EXPECT_EQ(preempted(PreemptMode::requeue), JobState::pending);
    EXPECT_EQ(preempted(PreemptMode::suspend), JobState::suspended);
}

TEST(T50Preempt, AJobWithATimeOfGraceIsWarnedFirstAndEndedAfterwards) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).partition("low", "ALL", [](Partition& part) {
        part.grace_time_s = 60;
        part.preempt_mode = PreemptMode::requeue;
    });
    b.running("a", on("n1"), spec([](JobSpec& job) { job.partitions = {"low"}; }));
    std::vector<std::uint32_t> signals;
    for (const auto& event : b.must(PreemptJob{b.id("a"), 1, PreemptMode::requeue, JobId{9}}))
        if (const auto* sent = std::get_if<JobSignalled>(&event)) signals.push_back(sent->signal);
    EXPECT_EQ(signals, (std::vector<std::uint32_t>{18, 15}));
    EXPECT_TRUE(b.job("a").is_running());
    EXPECT_FALSE(b.apply(PreemptJob{b.id("a"), 1, PreemptMode::requeue, JobId{9}})) << "once is enough";
    b.at(59).must(Tick{});
    EXPECT_TRUE(b.job("a").is_running());
    b.at(60).must(Tick{});
    b.clean_up(b.id("a"));
    EXPECT_TRUE(b.job("a").is_pending());
}

TEST(T50Preempt, OneThatDiesOfTheWarningWasPreempted) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).partition("low", "ALL", [](Partition& part) { part.grace_time_s = 60; });
    b.running("a", on("n1"), spec([](JobSpec& job) { job.partitions = {"low"}; }));
    b.must(PreemptJob{b.id("a"), 1, PreemptMode::cancel, JobId{9}});
    b.must(FinishJob{.job = b.id("a"), .attempt = 1, .exit_status = 15});
    EXPECT_EQ(b.job("a").state, JobState::preempted);
}

TEST(T50Preempt, OneThatWasPutAsideGoesOnWhenTheOtherHasEnded) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(PreemptJob{b.id("a"), 1, PreemptMode::suspend, JobId{9}});
    b.pending("urgent");
    ASSERT_TRUE(b.start_on(b.id("urgent"), "n1"));
    EXPECT_EQ(b.job("a").state, JobState::suspended);
    b.finish(b.id("urgent"));
    EXPECT_TRUE(b.job("a").is_running());
    EXPECT_EQ(b.job("a").preempt_time, 0);
}

TEST(T50Start, LicensesAreCounted) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).license("matlab", 2);
    const auto two = spec([](JobSpec& job) { job.licenses = "matlab:2"; });
    b.running("a", on("n1"), cpus_each(1), two).pending("b", two);
    EXPECT_FALSE(b.start_on(b.id("b"), "n1", 1));
    EXPECT_EQ(b.cluster().licenses().find("matlab")->second.used, 2U);
    b.finish(b.id("a"));
    EXPECT_TRUE(b.start_on(b.id("b"), "n1", 1));
}

TEST(T50Start, ExclusiveJobsHaveTheirNodesAlone) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), cpus_each(1), spec([](JobSpec& job) {
                                       job.exclusive = Exclusive::node;
                                   }));
    b.pending("b");
    EXPECT_FALSE(b.start_on(b.id("b"), "n1", 1));
    EXPECT_EQ(b.cluster().find_node("n1")->shown_state(), NodeState::allocated);
    b.finish(b.id("a"));
    EXPECT_TRUE(b.start_on(b.id("b"), "n1", 1));
}

TEST(T50Start, ExclusiveUserSharesWithOneselfOnly) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"), cpus_each(1), spec([](JobSpec& job) {
                                       job.exclusive = Exclusive::user;
                                   }));
    b.pending("mine").pending("theirs", user("bob", 1001));
    EXPECT_TRUE(b.start_on(b.id("mine"), "n1", 1));
    EXPECT_FALSE(b.start_on(b.id("theirs"), "n1", 1));
}

TEST(T50Start, ForcedOversubscriptionSharesCoresUpToItsCount) {
    ClusterBuilder b;
    b.nodes("n1", cpus(2)).partition("shared", "ALL", [](Partition& part) {
        part.oversubscribe = OverSubscribe::force;
        part.oversubscribe_jobs = 2;
    });
    for (const auto* name : {"a", "b", "c"}) b.pending(name);
    const auto on_both = [&](std::string_view name) {
        Placement part{b.id(name), {}, "shared", {{b.node("n1"), Bitset{0, 1}, 2, 0, {}, 0}}, {}};
        return b.apply(StartJob{{part}}).has_value();
    };
    EXPECT_TRUE(on_both("a"));
    EXPECT_TRUE(on_both("b"));
    EXPECT_FALSE(on_both("c"));
}

TEST(T50Start, AStalePlanIsRefusedWithTheReason) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4), memory_mib(1000), gpus(2)).pending("a").pending("b");
    auto first = b.place(b.id("a"), "n1", 2);
    first.shares[0].memory_mib = 800;
    first.shares[0].gres = {{"gpu", "", 1, Bitset{0}, {}}};
    auto second = b.place(b.id("b"), "n1", 2);
    b.must(StartJob{{first}});
    const auto why = [&](Placement part) { return b.apply(StartJob{{std::move(part)}}).error().text; };
    EXPECT_EQ(why(second), "cores 0-1 of n1 are in use");
    second.shares[0].cores = Bitset{2, 3};
    second.shares[0].memory_mib = 300;
    EXPECT_EQ(why(second), "300 MiB of memory are wanted on n1, 200 are free");
    second.shares[0].memory_mib = 200;
    second.shares[0].gres = {{"gpu", "", 1, Bitset{0}, {}}};
    EXPECT_EQ(why(second), "gpu 0 of n1 is in use");
    second.shares[0].gres = {{"gpu", "", 1, Bitset{1}, {}}};
    EXPECT_TRUE(b.apply(StartJob{{second}}));
}

TEST(T50Start, ThePartitionDecidesWhereAndWhether) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).partition("one", "n1").partition("two", "n2").pending("a");
    EXPECT_FALSE(b.start_on(b.id("a"), "n2", 1)) << "n2 is not in partition one";
    auto part = b.place(b.id("a"), "n2", 1);
    part.partition = "two";
    EXPECT_FALSE(b.apply(StartJob{{part}})) << "it did not ask for two";
    Partition down = *b.cluster().find_partition("one");
    down.state = PartitionState::down;
    b.must(EditPartition{Edit::update, down});
    EXPECT_FALSE(b.start_on(b.id("a"), "n1", 1));
}

TEST(T50Outbox, WhatAccountingMustHearWaitsUntilItHas) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).policies([](Policies& policies) { policies.keep_outbox = true; });
    b.running("a", on("n1"));
    b.finish(b.id("a"), 1 << 8);
    std::vector<OutboxKind> kinds;
    for (const auto& entry : b.cluster().outbox()) kinds.push_back(entry.kind);
    EXPECT_EQ(kinds, (std::vector{OutboxKind::job_queued, OutboxKind::job_started, OutboxKind::step_ended,
                                  OutboxKind::job_ended}));
    EXPECT_EQ(b.cluster().outbox().back().job->state, JobState::failed);
    EXPECT_EQ(b.cluster().outbox().front().job->state, JobState::pending) << "as it was then";
    b.must(OutboxDelivered{b.cluster().outbox()[2].sequence});
    EXPECT_EQ(b.cluster().outbox().size(), 1U);
}

TEST(T50Outbox, NothingIsKeptUntilSomebodyReadsIt) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).policies([](Policies& policies) { policies.keep_outbox = true; });
    b.pending("a");
    EXPECT_FALSE(b.cluster().outbox().empty()) << "as an earlier version of the state has it";
    b.must(SetStateVersion{newest_state_version});
    b.pending("b");
    EXPECT_TRUE(b.cluster().outbox().empty());
    b.must(OutboxDelivered{0});
    b.pending("c");
    const auto& outbox = b.cluster().outbox();
    ASSERT_EQ(std::ranges::count_if(outbox, [](const OutboxEntry& entry) { return entry.job != nullptr; }), 1);
    EXPECT_EQ(outbox.back().job->id, b.id("c")) << "behind what the cluster is, which comes first";
    const auto loaded = Cluster::load(snapshot_of(b.cluster()));
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->outbox().size(), outbox.size());
}

}  // namespace
}  // namespace spur
