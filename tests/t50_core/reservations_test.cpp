// Reservations: who may use the nodes, and what happens when their time comes and goes.
#include <gtest/gtest.h>

#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

Reservation wanted(ClusterBuilder& b, std::string_view node, std::uint64_t from, std::uint64_t until,
                   std::uint64_t flags = 0) {
    Reservation entry;
    entry.start_time = ClusterBuilder::start + static_cast<UnixSeconds>(from);
    entry.end_time = ClusterBuilder::start + static_cast<UnixSeconds>(until);
    entry.nodes = {b.node(node)};
    entry.users = {"alice"};
    entry.flags = flags;
    return entry;
}
JobOption reserved(std::string_view name) {
    return spec([name = Text{name}](JobSpec& job) { job.reservation = name; });
}
std::string shown(ClusterBuilder& b, std::string_view name) {
    const auto* node = b.cluster().find_node(name);
    return display_state(node->shown_state(), node->shown_flags());
}

TEST(T50Reservations, OneWithoutANameIsNamedAfterItsUser) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 100, 200), Actor::root()});
    b.must(EditReservation{Edit::create, wanted(b, "n2", 100, 200), Actor::root()});
    EXPECT_NE(b.cluster().find_reservation("alice_1"), nullptr);
    EXPECT_NE(b.cluster().find_reservation("alice_2"), nullptr);
}

TEST(T50Reservations, JobsMustEndBeforeItBeginsOrBelongToIt) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 300, 900), Actor::root()});
    b.pending("long", limit_min(6)).pending("short", limit_min(5));
    b.pending("member", reserved("alice_1"), limit_min(5));
    EXPECT_FALSE(b.start_on(b.id("long"), "n1", 1));
    EXPECT_TRUE(b.start_on(b.id("short"), "n1", 1));
    EXPECT_FALSE(b.start_on(b.id("member"), "n1", 1)) << "it has not begun";
    b.at(300).must(Tick{});
    EXPECT_TRUE(b.start_on(b.id("member"), "n1", 1));
}

TEST(T50Reservations, ItsJobsStayOnItsNodes) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 0, 9000), Actor::root()});
    b.pending("member", reserved("alice_1"), limit_min(5));
    EXPECT_FALSE(b.start_on(b.id("member"), "n2", 1));
    EXPECT_TRUE(b.start_on(b.id("member"), "n1", 1));
}

TEST(T50Reservations, OneForMaintenanceIsNotClosedToItsOwnJobsByAnother) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 0, 9000), Actor::root()});
    b.must(EditReservation{Edit::create, wanted(b, "n1", 0, 9000, reservation_flag::maint), Actor::root()});
    b.pending("repair", reserved("alice_2"), limit_min(5)).pending("member", reserved("alice_1"), limit_min(5));
    EXPECT_FALSE(b.start_on(b.id("member"), "n1", 1));
    EXPECT_TRUE(b.start_on(b.id("repair"), "n1", 1));
}

TEST(T50Reservations, StrangersAreRefusedAtSubmission) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 0, 900), Actor::root()});
    JobSpec stranger;
    stranger.user_name = "eve";
    EXPECT_FALSE(b.cluster().find_reservation("alice_1")->admits(stranger));
}

TEST(T50Reservations, NodesShowThatTheyAreReserved) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 10, 100), Actor::root()});
    b.must(EditReservation{Edit::create, wanted(b, "n2", 10, 100, reservation_flag::maint), Actor::root()});
    EXPECT_EQ(b.cluster().next_due(), b.now() + 10);
    b.at(10).must(Tick{});
    EXPECT_EQ(shown(b, "n1"), "RESERVED");
    EXPECT_EQ(shown(b, "n2"), "MAINT");
    b.at(100).must(Tick{});
    EXPECT_EQ(shown(b, "n1"), "IDLE");
    EXPECT_EQ(shown(b, "n2"), "IDLE");
    EXPECT_TRUE(b.cluster().reservations().empty());
}

TEST(T50Reservations, WaitingJobsOfOneThatIsOverAreHeld) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    auto entry = wanted(b, "n1", 100, 200);
    entry.name = "lab";
    b.must(EditReservation{Edit::create, entry, Actor::root()});
    b.pending("a", reserved("lab"));
    const auto refused = b.apply(EditReservation{Edit::remove, entry, Actor::root()});
    ASSERT_FALSE(refused) << "a job waits for it";
    EXPECT_EQ(refused.error().text, "Requested reservation is in use");
    b.at(200).must(Tick{});
    EXPECT_EQ(to_string(b.job("a").reason), "ReservationDeleted");
    EXPECT_FALSE(b.job("a").eligible);
}

TEST(T50Reservations, OneInUseIsNotDeleted) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    auto entry = wanted(b, "n1", 0, 6000);
    entry.name = "lab";
    b.must(EditReservation{Edit::create, entry, Actor::root()});
    b.pending("a", reserved("lab"));
    ASSERT_TRUE(b.start_on(b.id("a"), "n1"));
    const auto refused = b.apply(EditReservation{Edit::remove, entry, Actor::root()});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "Requested reservation is in use");
}

TEST(T50Reservations, OneOfSomeCoresLeavesTheOthersOfTheNode) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    auto entry = wanted(b, "n1", 0, 6000);
    NodeShare kept{.node = b.node("n1")};
    kept.cores.add(0);
    entry.cores = {kept};
    b.must(EditReservation{Edit::create, entry, Actor::root()});
    b.pending("a", limit_min(5));
    auto placement = b.place(b.id("a"), "n1", 2);
    EXPECT_FALSE(b.apply(StartJob{{placement}})) << "core 0 is kept";
    placement.shares.front().cores = {};
    placement.shares.front().cores.add(2);
    placement.shares.front().cores.add(3);
    EXPECT_TRUE(b.apply(StartJob{{placement}}));
}

TEST(T50Reservations, NodesAreNotReservedTwiceNorUnderRunningJobs) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).running("a", on("n2"), limit_min(10));
    b.must(EditReservation{Edit::create, wanted(b, "n1", 100, 200), Actor::root()});
    const auto twice = b.apply(EditReservation{Edit::create, wanted(b, "n1", 150, 250), Actor::root()});
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().text, "Requested reservation overlaps with another reservation");
    EXPECT_TRUE(
        b.apply(EditReservation{Edit::create, wanted(b, "n1", 150, 250, reservation_flag::overlap), Actor::root()}));
    const auto busy = b.apply(EditReservation{Edit::create, wanted(b, "n2", 100, 200), Actor::root()});
    ASSERT_FALSE(busy);
    EXPECT_EQ(busy.error().text, "Requested nodes are busy");
    EXPECT_TRUE(b.apply(
        EditReservation{Edit::create, wanted(b, "n2", 100, 200, reservation_flag::ignore_jobs), Actor::root()}));
    EXPECT_TRUE(b.apply(EditReservation{Edit::create, wanted(b, "n2", 600, 700), Actor::root()}))
        << "the job is over by then";
}

TEST(T50Reservations, DailyOnesComeBackTheNextDay) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 10, 100, reservation_flag::daily), Actor::root()});
    b.at(10).must(Tick{});
    EXPECT_EQ(shown(b, "n1"), "RESERVED");
    b.at(100).must(Tick{});
    EXPECT_EQ(shown(b, "n1"), "IDLE");
    EXPECT_EQ(b.cluster().find_reservation("alice_1")->start_time, ClusterBuilder::start + 10 + 86'400);
    EXPECT_EQ(b.cluster().next_due(), ClusterBuilder::start + 10 + 86'400);
}

TEST(T50Reservations, FlagsAreWrittenInSlurmsOrder) {
    EXPECT_EQ(print_reservation_flags(*parse_reservation_flags("ignore_jobs,maint,static_alloc,overlap,flex,magnetic")),
              "MAINT,FLEX,OVERLAP,IGNORE_JOBS,STATIC,MAGNETIC");
    EXPECT_FALSE(parse_reservation_flags("maint,nonsense"));
    EXPECT_FALSE(parse_reservation_flags("spec_nodes")) << "shown, never typed";
}

TEST(T50Reservations, JobsMayOutlastItAndAreEndedWithIt) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 0, 600), Actor::root()});
    b.pending("member", reserved("alice_1"), limit_min(60));
    ASSERT_TRUE(b.start_on(b.id("member"), "n1", 1));
    b.at(599).must(Tick{});
    EXPECT_EQ(b.job("member").state, JobState::running);
    b.at(600).must(Tick{});
    EXPECT_EQ(b.job("member").state, JobState::timeout);
}

TEST(T50Reservations, JobsOfAFlexibleOneBeginBeforeItAndRunOnAfterIt) {
    ClusterBuilder b;
    b.nodes("n[1-2]", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 300, 600, reservation_flag::flex), Actor::root()});
    b.pending("early", reserved("alice_1"), limit_min(60)).pending("outside", reserved("alice_1"), limit_min(60));
    EXPECT_TRUE(b.start_on(b.id("early"), "n1", 1));
    EXPECT_TRUE(b.start_on(b.id("outside"), "n2", 1));
    b.at(300).must(Tick{});
    b.at(600).must(Tick{});
    EXPECT_EQ(b.job("early").state, JobState::running);
}

TEST(T50Reservations, SomeTimeMayBeGrantedAfterItsEnd) {
    ClusterBuilder b;
    b.policies([](Policies& policies) { policies.resv_over_run_min = 5; }).nodes("n1", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 0, 600), Actor::root()});
    b.pending("member", reserved("alice_1"), limit_min(60));
    ASSERT_TRUE(b.start_on(b.id("member"), "n1", 1));
    b.at(600).must(Tick{});
    EXPECT_EQ(b.job("member").state, JobState::running);
    b.at(900).must(Tick{});
    EXPECT_EQ(b.job("member").state, JobState::timeout);
}

TEST(T50Reservations, TheNextTimesOfOneThatRepeatsKeepJobsOutToo) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    b.must(EditReservation{Edit::create, wanted(b, "n1", 300, 600, reservation_flag::daily), Actor::root()});
    b.at(600).must(Tick{});
    b.pending("day", limit_min(24 * 60)).pending("shorter", limit_min(23 * 60));
    EXPECT_FALSE(b.start_on(b.id("day"), "n1", 1)) << "tomorrow's would begin while it runs";
    EXPECT_TRUE(b.start_on(b.id("shorter"), "n1", 1));
    EXPECT_FALSE(b.apply(EditReservation{Edit::create, wanted(b, "n1", 86'400 + 400, 86'400 + 500), Actor::root()}));
}

TEST(T50Reservations, WeekdaysAndWeekendsAreSkipped) {
    Reservation entry;
    const UnixSeconds friday = 1'000'512'000;  // 2001-09-15T00:00 UTC is a Saturday
    entry.flags = reservation_flag::weekday;
    EXPECT_EQ(entry.gap_after(friday - 86'400), 3 * 86'400);
    EXPECT_EQ(entry.gap_after(friday - 2 * 86'400), 86'400);
    entry.flags = reservation_flag::weekend;
    EXPECT_EQ(entry.gap_after(friday), 86'400);
    EXPECT_EQ(entry.gap_after(friday + 86'400), 6 * 86'400);
}

TEST(T50Reservations, OneThatReplacesGivesNodesThatAreInUseOrDownForIdleOnes) {
    ClusterBuilder b;
    b.nodes("n[1-4]", cpus(4)).partition("main", "n[1-4]").cluster();
    for (const auto flag : {reservation_flag::replace, reservation_flag::replace_down}) {
        auto entry = wanted(b, "n1", 0, 600, flag);
        entry.name = flag == reservation_flag::replace ? "r" : "d";
        entry.nodes = {b.node(flag == reservation_flag::replace ? "n1" : "n2")};
        entry.partition = "main";
        b.must(EditReservation{Edit::create, entry, Actor::root()});
    }
    const auto nodes_of = [&](std::string_view name) { return b.cluster().find_reservation(name)->nodes; };
    b.pending("in", reserved("r"), limit_min(5)).pending("in d", reserved("d"), limit_min(5));
    ASSERT_TRUE(b.start_on(b.id("in"), "n1", 1));
    EXPECT_EQ(nodes_of("r"), std::vector{b.node("n3")});
    ASSERT_TRUE(b.start_on(b.id("in d"), "n2", 1));
    EXPECT_EQ(nodes_of("d"), std::vector{b.node("n2")}) << "only nodes that are down are replaced";
    b.must(
        UpdateNode{.nodes = {b.node("n2")}, .action = NodeAction::drain, .reason = Text{"x"}, .actor = Actor::root()});
    EXPECT_EQ(nodes_of("d"), std::vector{b.node("n4")});
}

TEST(T50Reservations, OneThatNobodyUsesGoesAfterAWhileIfItIsToldTo) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    auto entry = wanted(b, "n1", 0, 6000, reservation_flag::purge_comp);
    entry.purge_comp_s = 30;
    b.must(EditReservation{Edit::create, entry, Actor::root()});
    b.pending("member", reserved("alice_1"), limit_min(5));
    ASSERT_TRUE(b.start_on(b.id("member"), "n1", 1));
    b.at(100).must(Tick{});
    ASSERT_NE(b.cluster().find_reservation("alice_1"), nullptr);
    b.finish(b.id("member"));
    EXPECT_EQ(b.cluster().next_due(), ClusterBuilder::start + 130);
    b.at(130).must(Tick{});
    EXPECT_EQ(b.cluster().find_reservation("alice_1"), nullptr);
}

TEST(T50Reservations, GroupsAreWhoTheirMembersAre) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    auto entry = wanted(b, "n1", 0, 600);
    entry.name = "g";
    entry.groups = {"staff"};
    entry.group_members = {1001};
    EXPECT_EQ(b.apply(EditReservation{Edit::create, entry, Actor::root()}).error().text,
              "Reservations can't have users and groups specified, only one or the other");
    entry.users.clear();
    b.must(EditReservation{Edit::create, entry, Actor::root()});
    b.pending("one", user("alice", 1001), reserved("g"), limit_min(5));
    EXPECT_TRUE(b.start_on(b.id("one"), "n1", 1));
    b.pending("other", user("bob", 1002), reserved("g"), limit_min(5));
    EXPECT_FALSE(b.start_on(b.id("other"), "n1", 1));
}

TEST(T50Reservations, ThoseOfCoresLeaveTheOtherCoresToOthers) {
    ClusterBuilder b;
    b.nodes("n1", cpus(4)).cluster();
    auto entry = wanted(b, "n1", 0, 600);
    NodeShare share{.node = b.node("n1")};
    share.cores.add(0);
    share.cores.add(1);
    entry.cores = {share};
    b.must(EditReservation{Edit::create, entry, Actor::root()});
    b.pending("other", limit_min(5)).pending("member", reserved("alice_1"), limit_min(5));
    auto placed = b.place(b.id("other"), "n1", 2);
    EXPECT_FALSE(b.apply(StartJob{{placed}})) << "cores 0 and 1 are kept";
    placed.shares[0].cores = Bitset{2};
    placed.shares[0].cores.add(3);
    EXPECT_TRUE(b.apply(StartJob{{placed}}));
    auto inside = b.place(b.id("member"), "n1", 2);
    EXPECT_TRUE(b.apply(StartJob{{inside}}));
}

}  // namespace
}  // namespace spur
