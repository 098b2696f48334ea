// An array is one record until its tasks start, end or are changed by themselves.
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

JobRef ref(JobId id, std::vector<std::uint32_t> tasks = {}) {
    return {.job = id.value, .tasks = TaskSet::of(std::move(tasks))};
}

ClusterBuilder with_array(std::string_view text, std::uint32_t cores = 8) {
    ClusterBuilder b;
    b.nodes("n1", cpus(cores)).policies([](Policies& policies) { policies.max_array_size = 100'001; });
    b.pending("a", array(text));
    return b;
}

TEST(T28ArrayRecord, AHundredThousandTasksAreOneRecord) {
    auto b = with_array("0-99999:7%50");
    EXPECT_EQ(b.cluster().jobs().size(), 1U);
    EXPECT_EQ(b.job("a").task_count(), 14'286U);
    EXPECT_EQ(b.job("a").display_id(), "1_[0-99995:7%50]");
    EXPECT_EQ(b.cluster().find_array(b.id("a"))->size, 14'286U);
}

TEST(T28ArrayRecord, TasksGetIdsOfTheirOwnAndTheLastKeepsTheArrays) {
    auto b = with_array("1-3");
    const auto id = b.id("a");
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(b.start_on(id, "n1", 1));
    EXPECT_EQ(b.cluster().find_task(id, 1)->id.value, 2U);
    EXPECT_EQ(b.cluster().find_task(id, 2)->id.value, 3U);
    EXPECT_EQ(b.cluster().find_task(id, 3)->id, id);
    EXPECT_EQ(b.job("a").display_id(), "1_3");
    EXPECT_EQ(b.cluster().find_array(id)->active, 3U);
    EXPECT_FALSE(b.start_on(id, "n1", 1)) << "nothing of it waits any more";
}

TEST(T28ArrayRecord, AChosenTaskStartsBeforeItsTurn) {
    auto b = with_array("1-9");
    ASSERT_TRUE(b.start_on(b.id("a"), "n1", 1, 7));
    EXPECT_EQ(b.job("a").array_pending->str(), "1-6,8-9");
    EXPECT_FALSE(b.start_on(b.id("a"), "n1", 1, 7));
    EXPECT_FALSE(b.start_on(b.id("a"), "n1", 1, 70));
}

TEST(T28ArrayRecord, NoMoreTasksRunThanThePercentSignAllows) {
    auto b = with_array("0-9%2");
    const auto id = b.id("a");
    ASSERT_TRUE(b.start_on(id, "n1", 1));
    ASSERT_TRUE(b.start_on(id, "n1", 1));
    EXPECT_FALSE(b.start_on(id, "n1", 1));
    b.finish(b.cluster().find_task(id, 0)->id);
    EXPECT_TRUE(b.start_on(id, "n1", 1));
    b.must(UpdateJob{ref(id), {.array_limit = 5}, Actor::root()});
    EXPECT_TRUE(b.start_on(id, "n1", 1));
    EXPECT_EQ(b.job("a").display_id(), "1_[4-9%5]");
}

TEST(T28ArrayRecord, CancellingSomeTasksSplitsJustThose) {
    auto b = with_array("0-9");
    const auto id = b.id("a");
    b.must(CancelJob{ref(id, {3, 5}), Actor::root()});
    EXPECT_EQ(b.job("a").array_pending->str(), "0-2,4,6-9");
    EXPECT_EQ(b.cluster().find_task(id, 3)->state, JobState::cancelled);
    EXPECT_EQ(b.cluster().find_task(id, 5)->state, JobState::cancelled);
    EXPECT_EQ(b.cluster().find_array(id)->ended, 2U);
}

TEST(T28ArrayRecord, CancellingTheArrayEndsRunningAndWaitingTasksAlike) {
    auto b = with_array("0-9");
    const auto id = b.id("a");
    ASSERT_TRUE(b.start_on(id, "n1", 1));
    const auto running = b.cluster().find_task(id, 0)->id;
    b.must(CancelJob{ref(id), Actor::root()});
    EXPECT_TRUE(b.cluster().find_job(running)->is_completing());
    EXPECT_EQ(b.job("a").state, JobState::cancelled);
    EXPECT_EQ(b.job("a").display_id(), "1_[1-9]") << "what never ran stays one record";
    b.clean_up(running);
    EXPECT_EQ(b.cluster().find_array(id)->ended, 10U);
    EXPECT_EQ(b.cluster().find_array(id)->failed, 10U);
}

TEST(T28ArrayRecord, HoldingOneTaskLeavesTheOthersFree) {
    auto b = with_array("0-2");
    const auto id = b.id("a");
    b.must(HoldJob{ref(id, {1}), Actor::root()});
    EXPECT_EQ(to_string(b.cluster().find_task(id, 1)->reason), "JobHeldAdmin");
    EXPECT_TRUE(b.job("a").eligible);
    b.must(ReleaseJob{ref(id), Actor::root()});
    EXPECT_TRUE(b.cluster().find_task(id, 1)->eligible);
}

TEST(T28ArrayRecord, UpdatingTheWholeArraySplitsNothing) {
    auto b = with_array("0-99");
    b.must(UpdateJob{ref(b.id("a")), {.time_limit_min = 7}, Actor::root()});
    EXPECT_EQ(b.cluster().jobs().size(), 1U);
    EXPECT_EQ(b.job("a").time_limit_min, 7U);
}

TEST(T28ArrayRecord, ATaskThatIsRequeuedKeepsItsIdAndItsNumber) {
    auto b = with_array("0-2");
    const auto id = b.id("a");
    ASSERT_TRUE(b.start_on(id, "n1", 1));
    const auto task = b.cluster().find_task(id, 0)->id;
    b.must(RequeueJob{ref(id, {0}), Actor::root()});
    b.clean_up(task);
    EXPECT_EQ(b.cluster().find_task(id, 0)->id, task);
    EXPECT_TRUE(b.cluster().find_task(id, 0)->is_pending());
    EXPECT_EQ(b.cluster().find_array(id)->active, 0U);
}

TEST(T28ArrayRecord, AnArrayIsForgottenWithItsLastTask) {
    auto b = with_array("0-1");
    const auto id = b.id("a");
    ASSERT_TRUE(b.start_on(id, "n1", 1));
    const auto task = b.cluster().find_task(id, 0)->id;
    b.finish(task);
    b.must(PruneJobs{b.now() + 1});
    EXPECT_EQ(b.cluster().find_job(task), nullptr);
    EXPECT_NE(b.cluster().find_array(id), nullptr);
    b.must(CancelJob{ref(id), Actor::root()});
    b.must(PruneJobs{b.now() + 1});
    EXPECT_EQ(b.cluster().find_array(id), nullptr);
    EXPECT_TRUE(b.cluster().jobs().empty());
}

TEST(T28ArrayRecord, MaxJobCountCountsEveryTask) {
    ClusterBuilder b;
    b.nodes("n1", cpus(1)).policies([](Policies& policies) { policies.max_job_count = 10; });
    b.pending("a", array("0-7"));
    JobSpec more;
    more.script = "#!/bin/sh\n";
    more.array = "0-2";
    EXPECT_FALSE(b.apply(SubmitJob{{more}, Actor::root(), {}}));
    more.array = "0-1";
    EXPECT_TRUE(b.apply(SubmitJob{{more}, Actor::root(), {}}));
}

TEST(T28ArrayRecord, ATaskReferenceMeansOnlyThatTask) {
    auto b = with_array("0-9");
    const auto id = b.id("a");
    ASSERT_TRUE(b.start_on(id, "n1", 1));
    EXPECT_EQ(b.cluster().resolve(ref(id))->size(), 2U) << "the running task and the record of the others";
    EXPECT_EQ(b.cluster().resolve(ref(id, {0}))->front().job, b.cluster().find_task(id, 0));
    EXPECT_EQ(b.cluster().resolve(ref(id, {5}))->front().job->id, id);
    EXPECT_FALSE(b.cluster().resolve(ref(id, {77})));
    EXPECT_EQ(b.cluster().resolve(ref(id, {77})).error().text, "Invalid job id specified");
}

}  // namespace
}  // namespace spur
