// Dependencies, as a running Slurm was seen to treat them.
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

JobRef ref(JobId id) { return {.job = id.value}; }
std::string on_job(std::string_view kind, JobId id) { return fmt::format("{}:{}", kind, id.value); }

// Two jobs, one of which will succeed and one fail, and a third that depends on one of them.
struct Outcome {
    std::string after_good, after_bad;
};
Outcome try_kind(std::string_view kind) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8)).pending("good").pending("bad");
    b.pending("on_good", dependency(on_job(kind, b.id("good"))))
        .pending("on_bad", dependency(on_job(kind, b.id("bad"))));
    EXPECT_EQ(to_string(b.job("on_good").reason), "Dependency") << kind;
    EXPECT_TRUE(b.start_on(b.id("good"), "n1", 1));
    EXPECT_TRUE(b.start_on(b.id("bad"), "n1", 1));
    b.finish(b.id("good"));
    b.finish(b.id("bad"), 1 << 8);
    const auto shown = [&](std::string_view name) {
        return b.job(name).eligible ? std::string{"runs"} : std::string{to_string(b.job(name).reason)};
    };
    return {shown("on_good"), shown("on_bad")};
}

TEST(T50Waiting, EachKindOfDependencyLooksAtTheOutcomeInItsOwnWay) {
    constexpr auto never = "DependencyNeverSatisfied";
    for (const auto* kind : {"after", "afterany"}) {
        EXPECT_EQ(try_kind(kind).after_good, "runs") << kind;
        EXPECT_EQ(try_kind(kind).after_bad, "runs") << kind;
    }
    for (const auto* kind : {"afterok", "aftercorr"}) {
        EXPECT_EQ(try_kind(kind).after_good, "runs") << kind;
        EXPECT_EQ(try_kind(kind).after_bad, never) << kind;
    }
    EXPECT_EQ(try_kind("afternotok").after_good, never);
    EXPECT_EQ(try_kind("afternotok").after_bad, "runs");
}

TEST(T50Waiting, AfterIsSatisfiedByTheStartAlready) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8)).pending("first");
    b.pending("second", dependency(on_job("after", b.id("first"))));
    b.pending("later", dependency(on_job("after", b.id("first")) + "+2"));
    ASSERT_TRUE(b.start_on(b.id("first"), "n1", 1));
    EXPECT_TRUE(b.job("second").eligible);
    EXPECT_FALSE(b.job("later").eligible);
    EXPECT_EQ(b.cluster().next_due(), b.now() + 120);
    b.at(120).must(Tick{});
    EXPECT_TRUE(b.job("later").eligible);
}

TEST(T50Waiting, AJobThatCompletesIsNotDoneBeforeItsNodesAre) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8)).running("first", on("n1"), cpus_each(1));
    b.pending("second", dependency(on_job("afterany", b.id("first"))));
    b.must(FinishJob{.job = b.id("first"), .attempt = 1});
    EXPECT_FALSE(b.job("second").eligible);
    b.clean_up(b.id("first"));
    EXPECT_TRUE(b.job("second").eligible);
}

TEST(T50Waiting, AllMustBeFulfilledOrAnyWithAQuestionMark) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8)).running("x", on("n1"), cpus_each(1)).running("y", on("n1"), cpus_each(1));
    const auto x = b.id("x").value;
    const auto y = b.id("y").value;
    b.pending("all", dependency(fmt::format("afterok:{},afterok:{}", x, y)));
    b.pending("any", dependency(fmt::format("afterok:{}?afterok:{}", x, y)));
    b.finish(b.id("y"));
    EXPECT_FALSE(b.job("all").eligible);
    EXPECT_EQ(b.job("all").dependencies.with_state(), fmt::format("afterok:{}(unfulfilled)", x));
    EXPECT_TRUE(b.job("any").eligible);
    b.finish(b.id("x"), 1 << 8);
    EXPECT_EQ(to_string(b.job("all").reason), "DependencyNeverSatisfied");
    EXPECT_EQ(b.job("all").dependencies.with_state(), fmt::format("afterok:{}(failed)", x));
}

TEST(T50Waiting, ADependencyOnAnUnknownJobIsNone) {
    ClusterBuilder b;
    b.nodes("n1", cpus(1)).pending("a", dependency("afterok:99999"));
    EXPECT_TRUE(b.job("a").eligible);
    EXPECT_TRUE(b.job("a").dependencies.empty());
}

TEST(T50Waiting, KillOnInvalidDependencyCancelsTheJob) {
    ClusterBuilder b;
    b.nodes("n1", cpus(1)).running("bad", on("n1"));
    b.pending("a", dependency(on_job("afterok", b.id("bad"))),
              spec([](JobSpec& job) { job.kill_on_invalid_dependency = true; }));
    b.finish(b.id("bad"), 1 << 8);
    EXPECT_EQ(b.job("a").state, JobState::cancelled);
    EXPECT_EQ(to_string(b.job("a").reason), "DependencyNeverSatisfied");
}

TEST(T50Waiting, ACancelledJobCountsAsFailed) {
    ClusterBuilder b;
    b.nodes("n1", cpus(1)).pending("first");
    b.pending("ok", dependency(on_job("afterok", b.id("first"))))
        .pending("notok", dependency(on_job("afternotok", b.id("first"))));
    b.must(CancelJob{ref(b.id("first")), Actor::root()});
    EXPECT_EQ(to_string(b.job("ok").reason), "DependencyNeverSatisfied");
    EXPECT_TRUE(b.job("notok").eligible);
}

TEST(T50Waiting, SingletonsOfOneUserAndNameRunOneAfterTheOther) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8));
    const auto first = b.submit("same", {dependency("singleton")});
    const auto second = b.submit("same", {dependency("singleton")});
    const auto third = b.submit("same", {dependency("singleton")});
    const auto other = b.submit("same", {dependency("singleton"), user("bob", 1001)});
    const auto eligible = [&](JobId id) { return b.cluster().find_job(id)->eligible; };
    EXPECT_TRUE(eligible(first));
    EXPECT_FALSE(eligible(second));
    EXPECT_TRUE(eligible(other));
    b.must(CancelJob{ref(second), Actor::root()});
    ASSERT_TRUE(b.start_on(first, "n1", 1));
    EXPECT_FALSE(eligible(third));
    b.finish(first);
    EXPECT_TRUE(eligible(third));
}

TEST(T50Waiting, ADependencyOnAnArrayWaitsForAllOfIt) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8)).pending("a", array("1-3"));
    const auto id = b.id("a");
    b.pending("ok", dependency(on_job("afterok", id))).pending("notok", dependency(on_job("afternotok", id)));
    b.pending("one", dependency(fmt::format("afterok:{}_1", id.value)));
    EXPECT_EQ(b.job("ok").dependencies.with_state(), fmt::format("afterok:{}_*(unfulfilled)", id.value));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(b.start_on(id, "n1", 1));
    b.finish(b.cluster().find_task(id, 1)->id);
    EXPECT_TRUE(b.job("one").eligible);
    b.finish(b.cluster().find_task(id, 2)->id, 1 << 8);
    EXPECT_EQ(to_string(b.job("ok").reason), "Dependency");
    b.finish(b.cluster().find_task(id, 3)->id);
    EXPECT_EQ(to_string(b.job("ok").reason), "DependencyNeverSatisfied");
    EXPECT_TRUE(b.job("notok").eligible);
}

TEST(T50Waiting, CorrespondingTasksFollowEachOther) {
    ClusterBuilder b;
    b.nodes("n1", cpus(8)).pending("a", array("1-3"));
    const auto a = b.id("a");
    b.pending("b", array("1-4"), dependency(on_job("aftercorr", a)));
    const auto c = b.id("b");
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(b.start_on(a, "n1", 1));
    b.finish(b.cluster().find_task(a, 1)->id);
    EXPECT_TRUE(b.cluster().find_task(c, 1)->eligible);
    EXPECT_FALSE(b.cluster().find_task(c, 2)->eligible);
    b.finish(b.cluster().find_task(a, 2)->id, 1 << 8);
    EXPECT_EQ(to_string(b.cluster().find_task(c, 2)->reason), "DependencyNeverSatisfied");
    b.finish(b.cluster().find_task(a, 3)->id);
    EXPECT_TRUE(b.cluster().find_task(c, 3)->eligible);
    EXPECT_EQ(to_string(b.cluster().find_task(c, 4)->reason), "DependencyNeverSatisfied") << "it has no partner";
}

TEST(T50Waiting, DependenciesInACircleAreRefused) {
    ClusterBuilder b;
    b.nodes("n1", cpus(1)).pending("a");
    b.pending("b", dependency(on_job("afterok", b.id("a"))));
    const auto refused =
        b.apply(UpdateJob{ref(b.id("a")), {.dependency = Text{on_job("afterok", b.id("b"))}}, Actor::root()});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "Circular job dependency");
    EXPECT_FALSE(b.apply(UpdateJob{ref(b.id("a")), {.dependency = Text{on_job("after", b.id("a"))}}, Actor::root()}));
}

TEST(T50Waiting, TakingADependencyAwayFreesTheJob) {
    ClusterBuilder b;
    b.nodes("n1", cpus(1)).pending("a");
    b.pending("b", dependency(on_job("afterok", b.id("a"))));
    b.must(UpdateJob{ref(b.id("b")), {.dependency = Text{}}, Actor::root()});
    EXPECT_TRUE(b.job("b").eligible);
}

}  // namespace
}  // namespace spur
