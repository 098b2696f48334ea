// Histories: what tells that a state was replaced by another one or by an older copy, and what follows from that.
#include <gtest/gtest.h>

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

// An agent that has seen all there is of this state.
SeenHistory up_to_date(const Cluster& cluster, std::uint32_t job = 0) {
    const auto& history = cluster.history();
    return {history.id, history.eras.back().number, history.eras.back().mark, cluster.version(), job};
}

TEST(T50History, TheFirstLeaderFoundsItAndLaterOnesContinueIt) {
    ClusterBuilder b;
    b.nodes("n1");
    EXPECT_FALSE(b.apply(BeginEra{{}, 1})) << "without an id nothing can be founded";
    b.must(BeginEra{"first", 11});
    b.must(BeginEra{"second", 12});
    const auto& history = b.cluster().history();
    EXPECT_EQ(history.id, "first");
    ASSERT_EQ(history.eras.size(), 2U);
    EXPECT_EQ(history.eras[1].number, 2U);
    EXPECT_EQ(history.eras[1].mark, 12U);
    EXPECT_EQ(history.eras[1].version, b.cluster().version());
    const auto again = Cluster::load(snapshot_of(b.cluster()));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->history(), history);
}

TEST(T50History, OnlyTheLatestErasAndKeysAreKept) {
    ClusterBuilder b;
    b.nodes("n1");
    for (std::uint64_t i = 1; i <= 200; ++i) b.must(BeginEra{"h", i});
    EXPECT_EQ(b.cluster().history().eras.size(), 64U);
    EXPECT_EQ(b.cluster().history().eras.back().number, 200U);
    EXPECT_EQ(compare(b.cluster().history(), b.cluster().version(), {"h", 3, 3, 1, 0}), Standing::same)
        << "too long ago to tell";
    for (char i = 0; i < 50; ++i) b.must(TrustStepKey{std::string(32, static_cast<char>('0' + i))});
    b.must(TrustStepKey{std::string(32, '0' + 40)});
    EXPECT_EQ(b.cluster().history().step_keys.size(), 32U) << "one that comes again is not kept twice";
    EXPECT_EQ(b.cluster().history().step_keys.back(), std::string(32, '0' + 40));
    EXPECT_FALSE(b.apply(TrustStepKey{"short"}));
}

TEST(T50History, AnAgentThatHasSeenNoMoreThanThereIsBelongsHere) {
    const History history{"h", {{1, 11, 5}, {2, 12, 20}}, {}};
    for (const auto& seen : {SeenHistory{}, SeenHistory{"h", 1, 11, 19, 0}, SeenHistory{"h", 2, 12, 30, 0}})
        EXPECT_EQ(compare(history, 30, seen), Standing::same) << seen.version;
}

TEST(T50History, AnOlderCopyIsRecognisedHoweverFarItHasGrownSince) {
    const History history{"h", {{1, 11, 5}, {2, 12, 20}}, {}};
    for (const auto& seen : {SeenHistory{"h", 2, 12, 31, 0},   // later than anything
                             SeenHistory{"h", 1, 11, 20, 0},   // the first leader went on after the copy was made
                             SeenHistory{"h", 2, 99, 21, 0},   // another second leader
                             SeenHistory{"h", 3, 13, 25, 0}})  // a third that this one never had
        EXPECT_EQ(compare(history, 30, seen), Standing::behind) << seen.era << " " << seen.version;
    EXPECT_EQ(compare(history, 30, {"g", 1, 11, 5, 0}), Standing::other);
}

TEST(T50History, AnOlderCopyIsSaidAtTheNodeAndItsIdsAreNotGivenAgain) {
    ClusterBuilder b;
    b.nodes("n1");
    b.cluster();
    b.must(BeginEra{"h", 11});
    auto back = b.registration("n1");
    back.seen = up_to_date(b.cluster(), 41);
    EXPECT_TRUE(only<HistoryDiffers>(b.must(back)).empty());
    EXPECT_EQ(b.cluster().next_job_id(), JobId{1});
    back.seen.version += 100;
    const auto events = only<HistoryDiffers>(b.must(back));
    ASSERT_EQ(events.size(), 1U);
    EXPECT_FALSE(events[0].other);
    EXPECT_EQ(b.cluster().next_job_id(), JobId{42});
    EXPECT_NE(b.cluster().find_node("n1")->reason.view().find("an older copy was put back"), std::string_view::npos);
}

TEST(T50History, AnotherHistoryIsSaidAndItsIdsMeanNothing) {
    ClusterBuilder b;
    b.nodes("n1");
    b.cluster();
    b.must(BeginEra{"h", 11});
    auto back = b.registration("n1");
    back.seen = {"another", 1, 11, 4, 1'000'000};
    const auto events = only<HistoryDiffers>(b.must(back));
    ASSERT_EQ(events.size(), 1U);
    EXPECT_TRUE(events[0].other);
    EXPECT_EQ(b.cluster().next_job_id(), JobId{1});
}

TEST(T50History, AJobOfTheSameNumberFromAnotherTimeIsNotTakenForThisOne) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    auto back = b.registration("n1");
    back.held = {{b.id("a"), 1, StepId{step_extern}, b.job("a").start_time}};
    EXPECT_TRUE(only<EndUnknown>(b.must(back)).empty());
    back.held[0].start_time -= 1000;
    const auto events = b.must(back);
    EXPECT_EQ(only<EndUnknown>(events).size(), 1U);
    EXPECT_EQ(only<LaunchAgain>(events).size(), 1U);
}

TEST(T50History, NothingOfAnotherHistoryIsTakenForOursWhateverItsNumber) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).running("a", on("n1"));
    b.must(BeginEra{"h", 11});
    auto back = b.registration("n1");
    back.held = {{b.id("a"), 1, StepId{step_extern}, b.job("a").start_time}};
    back.seen = {"another", 1, 11, 4, 1};
    const auto events = b.must(back);
    EXPECT_EQ(only<EndUnknown>(events).size(), 1U);
    EXPECT_EQ(only<LaunchAgain>(events).size(), 1U);
}

}  // namespace
}  // namespace spur
