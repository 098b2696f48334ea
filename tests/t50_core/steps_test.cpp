// Steps inside an allocation: where their tasks go, and who may use what at the same time.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/machine/step_layout.hpp"
#include "core/store/codec.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;
using Ids = std::vector<std::vector<std::uint32_t>>;

Result<CreateStep> lay_out(ClusterBuilder& b, const StepSpec& wanted) {
    return lay_out_step(b.cluster(), b.id("a"), wanted, Actor::root());
}
ClusterBuilder three_nodes() {
    ClusterBuilder b;
    b.nodes("n[1-3]", cpus(2)).running("a", on("n[1-3]"), limit_min(10));
    return b;
}

TEST(T50Steps, BlockDistributionFillsNodesButLeavesNoneEmpty) {
    auto b = three_nodes();
    const auto step = lay_out(b, {.min_nodes = 3, .tasks = 4});
    ASSERT_TRUE(step);
    EXPECT_EQ(step->task_ids, (Ids{{0, 1}, {2}, {3}})) << "srun(1)'s own example";
}

TEST(T50Steps, CyclicDistributionGoesRound) {
    auto b = three_nodes();
    const auto step = lay_out(b, {.min_nodes = 3, .tasks = 4, .distribution = "cyclic"});
    ASSERT_TRUE(step);
    EXPECT_EQ(step->task_ids, (Ids{{0, 3}, {1}, {2}}));
}

TEST(T50Steps, PlanesAreDealtOutInTurn) {
    EXPECT_EQ(distribute_tasks({4, 3}, *Distribution::parse("plane=2")), (Ids{{0, 1, 4, 5}, {2, 3, 6}}));
    EXPECT_EQ(distribute_tasks({3, 3}, *Distribution::parse("block")), (Ids{{0, 1, 2}, {3, 4, 5}}));
    EXPECT_EQ(distribute_tasks({3, 2}, *Distribution::parse("CYCLIC:block")), (Ids{{0, 2, 4}, {1, 3}}));
}

TEST(T50Steps, AStepHasAllOfItsNodesUnlessItAsksExactly) {
    auto b = three_nodes();
    const auto whole = lay_out(b, {.min_nodes = 1, .tasks = 1});
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->shares.front().cores.count(), 2U);
    const auto exact = lay_out(b, {.min_nodes = 1, .tasks = 1, .exact = true});
    ASSERT_TRUE(exact);
    EXPECT_EQ(exact->shares.front().cores.count(), 1U);
}

TEST(T50Steps, StepsKeepApartUnlessTheyOverlap) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(*lay_out(b, {.tasks = 2, .exact = true}));
    const auto second = lay_out(b, {.tasks = 2, .exact = true});
    ASSERT_TRUE(second);
    EXPECT_EQ(second->shares.front().cores, (Bitset{2, 3}));
    b.must(*second);
    const auto third = lay_out(b, {.tasks = 1, .exact = true});
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code, ErrorCode::conflict) << "later, when others have ended";
    EXPECT_EQ(third.error().text, "Requested nodes are busy");
    EXPECT_TRUE(lay_out(b, {.tasks = 4, .overlap = true}));
    b.must(FinishStep{{b.id("a"), StepId{0}}, 1, EndCause::exited, 0, {}});
    EXPECT_TRUE(lay_out(b, {.tasks = 1, .exact = true}));
}

TEST(T50Steps, OnlyAStepsOwnNodesCanReportItsEnd) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n1"));
    b.must(*lay_out(b, {.tasks = 1}));
    const FinishStep end{.key = {b.id("a"), StepId{0}}, .attempt = 1, .usage = {}, .node = b.node("n2")};
    const auto refused = b.apply(end);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::denied);
    EXPECT_FALSE(b.cluster().find_step(end.key)->is_over());
    b.must(FinishStep{.key = end.key, .attempt = 1, .usage = {}, .node = b.node("n1")});
    EXPECT_TRUE(b.cluster().find_step(end.key)->is_over());
}

// ---- the ends that nodes report ------------------------------------------------------------------------------------

// A job on three nodes with a step on the first two, in a state that counts the ends of steps.
class StepEnds : public ::testing::Test {
protected:
    StepEnds() {
        b.policies([](Policies& policies) { policies.keep_outbox = true; });
        b.nodes("n[1-3]", cpus(2));
        b.must(SetStateVersion{newest_state_version});
        b.must(OutboxDelivered{0});
        b.running("a", on("n[1-3]"), limit_min(10));
        b.must(*lay_out(b, {.min_nodes = 2, .tasks = 2}));
    }
    StepNodeDone done(std::string_view node, std::uint32_t exit_status = 0) {
        return {key, 1, {b.node(node)}, EndCause::exited, exit_status, usage};
    }
    const Step& step() { return *b.cluster().find_step(key); }
    static std::size_t ends(const Events& events) {
        return static_cast<std::size_t>(
            std::ranges::count_if(events, [](const Event& event) { return std::holds_alternative<StepEnded>(event); }));
    }
    ClusterBuilder b;
    const StepUsage usage{.user_us = 5, .system_us = 3, .max_rss_kib = 70, .read_bytes = 11, .write_bytes = 13};
    const StepKey key{JobId{1}, StepId{0}};
};

TEST_F(StepEnds, AStepEndsWithItsLastNodeAndHasUsedWhatTheyAllHave) {
    EXPECT_EQ(ends(b.must(done("n2", 4 << 8))), 0U);
    EXPECT_FALSE(step().is_over());
    auto last = done("n1", 1 << 8);
    last.usage.max_rss_kib = 20;
    b.at(30);
    EXPECT_EQ(ends(b.must(last)), 1U);
    EXPECT_EQ(step().state, JobState::failed);
    EXPECT_EQ(step().exit_status, 4U << 8) << "the highest";
    EXPECT_EQ(step().end_time, ClusterBuilder::start + 30);
    EXPECT_EQ(step().usage,
              (StepUsage{.user_us = 10, .system_us = 6, .max_rss_kib = 70, .read_bytes = 22, .write_bytes = 26}))
        << "memory does not add up over nodes";
    EXPECT_EQ(b.job("a").derived_exit_status, 4U << 8);
    EXPECT_EQ(b.cluster().outbox().back().step->usage, step().usage);
}

TEST_F(StepEnds, AStepKnowsWhichTaskOnWhichNodeUsedMostAndLeast) {
    auto first = done("n2"), second = done("n1");
    first.usage.add_task(b.node("n2"), 1, std::vector<std::uint64_t>{10, 500});
    second.usage.add_task(b.node("n1"), 0, std::vector<std::uint64_t>{40, 500});
    b.must(first);
    b.must(second);
    const auto& usage = step().usage;
    EXPECT_EQ(usage.tasks, 2U);
    ASSERT_EQ(usage.measured.size(), 2U);
    EXPECT_EQ(usage.measured[0], (MeasuredUse{50, {40, b.node("n1"), 0}, {10, b.node("n2"), 1}}));
    EXPECT_EQ(usage.measured[1], (MeasuredUse{1000, {500, b.node("n1"), 0}, {500, b.node("n1"), 0}}))
        << "the lowest task";
    EXPECT_EQ(b.cluster().outbox().back().step->usage, usage);
}

TEST_F(StepEnds, WhatANodeSaysTwiceCountsOnce) {
    b.must(done("n1"));
    const auto again = b.apply(done("n1"));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::conflict);
    EXPECT_FALSE(b.apply(done("n3"))) << "it has no part in the step";
    EXPECT_EQ(step().usage, usage);
    EXPECT_FALSE(step().is_over());
}

TEST_F(StepEnds, TheNodeThatDidNotJustExitSaysHowTheStepEnded) {
    auto killed = done("n1", 9);
    killed.cause = EndCause::out_of_memory;
    b.must(killed);
    b.must(done("n2"));
    EXPECT_EQ(step().state, JobState::out_of_memory);
}

TEST_F(StepEnds, WhereItNeverBeganSrunSpeaksForTheNodes) {
    b.must(StepNodeDone{key, 1, {b.node("n2"), b.node("n1")}, EndCause::exited, 1 << 8, {}});
    EXPECT_EQ(step().state, JobState::failed);
}

TEST_F(StepEnds, WhatAStepUsedBeforeItsJobWasCancelledIsKept) {
    EXPECT_EQ(ends(b.must(CancelJob{{.job = 1}, Actor::root()})), 0U);
    EXPECT_TRUE(step().is_over()) << "its place is free";
    b.must(done("n1", 15));
    EXPECT_EQ(ends(b.must(done("n2", 15))), 1U) << "now nothing will be added to its record";
    EXPECT_EQ(step().state, JobState::cancelled);
    EXPECT_EQ(step().usage.user_us, 10U);
}

TEST_F(StepEnds, ANodeThatIsDoneWithTheJobHasNoStepLeft) {
    b.must(CancelJob{{.job = 1}, Actor::root()});
    b.must(done("n1"));
    EXPECT_EQ(ends(b.must(NodeJobDone{JobId{1}, 1, {b.node("n2")}})), 1U);
    EXPECT_TRUE(step().open_shares.empty());
}

TEST_F(StepEnds, AStepOfAJobThatOutlivesANodeEndsAsANodeFailure) {
    b.pending("b", node_count(2), spec([](JobSpec& job) { job.no_kill = true; }));
    b.finish(b.id("a"));
    ASSERT_TRUE(b.start_on(b.id("b"), "n[1-2]"));
    const auto made = lay_out_step(b.cluster(), b.id("b"), {.min_nodes = 2, .tasks = 2}, Actor::root());
    ASSERT_TRUE(made);
    b.must(*made);
    b.must(NodeLost{b.node("n2"), "gone"});
    const StepKey other{b.id("b"), StepId{0}};
    EXPECT_FALSE(b.cluster().find_step(other)->is_over()) << "n1 goes on";
    b.must(StepNodeDone{other, 1, {b.node("n1")}, EndCause::exited, 0, {}});
    EXPECT_EQ(b.cluster().find_step(other)->state, JobState::node_fail);
}

TEST_F(StepEnds, WhatTheBatchScriptUsedIsKept) {
    FinishJob end{.job = JobId{1}, .attempt = 1, .node = b.node("n1"), .detail = {}, .must_hold = true, .usage = usage};
    b.must(end);
    const auto* batch = b.cluster().find_step({JobId{1}, StepId{step_batch}});
    EXPECT_EQ(batch->state, JobState::completed);
    EXPECT_EQ(batch->usage, usage);
    (void)b.apply(end);
    EXPECT_EQ(batch->usage, usage) << "reported again";
}

TEST_F(StepEnds, AccountingHearsWhatARequeuedScriptUsed) {
    b.policies([](Policies& policies) { policies.requeue_exit = {7}; });
    b.finish(b.id("a"));
    b.pending("b");
    ASSERT_TRUE(b.start_on(b.id("b"), "n1"));
    b.must(FinishJob{.job = b.id("b"),
                     .attempt = 1,
                     .exit_status = 7 << 8,
                     .node = b.node("n1"),
                     .node_done = true,
                     .detail = {},
                     .usage = usage});
    ASSERT_TRUE(b.job("b").is_pending()) << "its steps are gone";
    const auto& outbox = b.cluster().outbox();
    const auto record = std::ranges::find_if(outbox, [&](const OutboxEntry& entry) {
        return entry.kind == OutboxKind::step_ended && entry.step->key.job == b.id("b");
    });
    ASSERT_NE(record, outbox.end());
    EXPECT_EQ(record->step->usage, usage);
}

TEST(T50Steps, ARunningStepIsCountedFromTheVersionOnThatCanWriteItDown) {
    auto b = three_nodes();
    b.must(*lay_out(b, {.min_nodes = 2, .tasks = 2}));
    const StepNodeDone done{{b.id("a"), StepId{0}}, 1, {b.node("n1"), b.node("n2")}, EndCause::exited, 0, {}};
    std::string entry;
    EXPECT_FALSE(encode(Stamped<Command>{b.now(), done}, entry, version_with_step_ends - 1));
    EXPECT_FALSE(b.apply(done));
    b.must(SetStateVersion{newest_state_version});
    b.must(done);
    EXPECT_TRUE(b.cluster().find_step(done.key)->is_over());
}

TEST(T50Steps, AStepThatCanNeverFitIsRefusedForGood) {
    auto b = three_nodes();
    const auto tasks = lay_out(b, {.tasks = 7});
    ASSERT_FALSE(tasks);
    EXPECT_EQ(tasks.error().code, ErrorCode::invalid);
    EXPECT_EQ(tasks.error().text, "More processors requested than permitted");
    const auto nodes = lay_out(b, {.min_nodes = 4});
    ASSERT_FALSE(nodes);
    EXPECT_EQ(nodes.error().text, "Node count specification invalid");
    EXPECT_FALSE(lay_out(b, {.node_list = "n9"}));
    EXPECT_TRUE(lay_out(b, {.min_nodes = 3, .tasks = 7, .overcommit = true}));
}

TEST(T50Steps, NodesCanBeChosenByNameAndByPosition) {
    auto b = three_nodes();
    const auto named = lay_out(b, {.tasks = 1, .node_list = "n2"});
    ASSERT_TRUE(named);
    EXPECT_EQ(named->shares.front().node, b.node("n2"));
    const auto relative = lay_out(b, {.min_nodes = 1, .tasks = 1, .relative = 2});
    ASSERT_TRUE(relative);
    EXPECT_EQ(relative->shares.front().node, b.node("n3"));
    const auto excluded = lay_out(b, {.min_nodes = 1, .tasks = 1, .exclude_nodes = "n1"});
    ASSERT_TRUE(excluded);
    EXPECT_EQ(excluded->shares.front().node, b.node("n2"));
}

TEST(T50Steps, GpusAreGivenToOneStepAtATime) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4), gpus(2)).pending("a", spec([](JobSpec& job) { job.gres_per_node = "gpu:2"; }));
    auto placement = b.place(b.id("a"), "n1");
    placement.shares[0].gres = {{"gpu", "", 2, Bitset{0, 1}, {}}};
    b.must(StartJob{{placement}});
    const auto first = lay_out(b, {.tasks = 1, .gres_per_node = "gpu:1", .exact = true});
    ASSERT_TRUE(first);
    EXPECT_EQ(first->shares[0].gres[0].devices, Bitset{0});
    b.must(*first);
    const auto second = lay_out(b, {.tasks = 1, .gres_per_node = "gpu:1", .exact = true});
    ASSERT_TRUE(second);
    EXPECT_EQ(second->shares[0].gres[0].devices, Bitset{1});
    b.must(*second);
    EXPECT_FALSE(lay_out(b, {.tasks = 1, .gres_per_node = "gpu:1", .exact = true}));
}

TEST(T50Steps, ABatchJobHasItsBatchStepFromTheStart) {
    auto b = three_nodes();
    const auto* batch = b.cluster().find_step({b.id("a"), StepId{step_batch}});
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->shares.size(), 1U);
    b.finish(b.id("a"), 2 << 8);
    EXPECT_EQ(b.cluster().find_step({b.id("a"), StepId{step_batch}})->state, JobState::failed);
}

TEST(T50Steps, NumbersCountUpAndTheHighestExitCodeIsRemembered) {
    auto b = three_nodes();
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto events = b.must(*lay_out(b, {.tasks = 1, .overlap = true}));
        EXPECT_EQ(std::get<StepStarted>(events.front()).step.step.value, i);
        b.must(FinishStep{{b.id("a"), StepId{i}}, 1, EndCause::exited, (i == 1 ? 5U : 0U) << 8, {}});
    }
    EXPECT_EQ(b.job("a").derived_exit_status, 5U << 8);
}

TEST(T50Steps, NoStepStartsInAJobThatIsNotRunning) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).pending("a");
    EXPECT_EQ(lay_out(b, {}).error().text, "Job is pending execution");
    ASSERT_TRUE(b.start_on(b.id("a"), "n1"));
    const auto step = *lay_out(b, {});
    b.must(CancelJob{{.job = b.id("a").value}, Actor::root()});
    EXPECT_FALSE(b.apply(step)) << "laid out while the job still ran";
    EXPECT_EQ(lay_out(b, {}).error().text, "Job/step already completing or completed");
}

TEST(T50Steps, AForgedLayoutIsRefused) {
    auto b = three_nodes();
    auto step = *lay_out(b, {.min_nodes = 1, .tasks = 1});
    step.shares[0].cores.add(5);
    EXPECT_FALSE(b.apply(step)) << "a core the job does not have";
    step = *lay_out(b, {.min_nodes = 1, .tasks = 1});
    step.task_ids = {{0, 1}};
    EXPECT_FALSE(b.apply(step)) << "more tasks than it says";
    step = *lay_out(b, {.min_nodes = 1, .tasks = 1});
    step.actor = {1001, AdminLevel::none, "eve"};
    EXPECT_FALSE(b.apply(step)) << "somebody else's job";
}

}  // namespace
}  // namespace spur
