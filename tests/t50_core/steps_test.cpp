// Steps inside an allocation: where their tasks go, and who may use what at the same time.
#include <gtest/gtest.h>

#include "core/machine/step_layout.hpp"
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
