// state/memory keeps the same contract, as long as the process lives.
#include <gtest/gtest.h>

#include "replica.hpp"

namespace spur::test {
namespace {

std::vector<std::string> numbered(int from, int to) {
    std::vector<std::string> entries;
    for (int i = from; i < to; ++i) entries.push_back("entry " + std::to_string(i));
    return entries;
}

class StateMemory : public testing::Test {
protected:
    StateMemory() { replica.options["store"] = testing::UnitTest::GetInstance()->current_test_info()->name(); }
    void TearDown() override { EXPECT_EQ(replica.complaint(), ""); }
    Replica replica{"state_memory"};
};

TEST_F(StateMemory, CommitsInOrderAndLeadsAtOnce) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_TRUE(replica.is_leader());
    for (std::uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(replica.propose("entry " + std::to_string(i), i).code, SPUR_OK);
    ASSERT_TRUE(replica.wait([&] { return replica.fates().size() == 1000; }));
    EXPECT_EQ(replica.entries(), numbered(0, 1000));
    EXPECT_EQ(replica.barrier().code, SPUR_OK);
}

TEST_F(StateMemory, ANamedStoreOutlivesItsInstance) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 100)).code, SPUR_OK);
    ASSERT_EQ(replica.snapshot_at(60).code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(100, 110)).code, SPUR_OK);
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.restores(), 1u);
    EXPECT_EQ(replica.entries(), numbered(0, 110));
    EXPECT_EQ(replica.last_index(), 110u);
}

TEST_F(StateMemory, ANamelessStoreDoesNot) {
    replica.options["store"] = "";
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit("x").code, SPUR_OK);
    replica.close();
    ASSERT_EQ(replica.open().code, SPUR_OK);
    EXPECT_EQ(replica.entry_count(), 0u);
}

TEST_F(StateMemory, AStoreInUseIsRefused) {
    ASSERT_EQ(replica.open().code, SPUR_OK);
    Replica second("state_memory");
    second.options = replica.options;
    EXPECT_EQ(second.open().code, SPUR_E_BUSY);
}

TEST_F(StateMemory, LatencyGathersProposals) {
    replica.options["latency_us"] = "20000";
    ASSERT_EQ(replica.open().code, SPUR_OK);
    for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(replica.propose("entry " + std::to_string(i), i).code, SPUR_OK);
    ASSERT_TRUE(replica.wait([&] { return replica.fates().size() == 100; }));
    EXPECT_LT(replica.status().fsyncs, 20u);
}

TEST_F(StateMemory, EveryAcceptedProposalGetsOneOutcomeEvenWhenClosing) {
    replica.options["latency_us"] = "5000000";
    ASSERT_EQ(replica.open().code, SPUR_OK);
    for (std::uint64_t i = 0; i < 50; ++i) ASSERT_EQ(replica.propose("x", i).code, SPUR_OK);
    replica.close();
    EXPECT_EQ(replica.fates().size(), 50u);
}

TEST_F(StateMemory, ASnapshotIsAskedForWhenTheLogHasGrown) {
    replica.options["snapshot_threshold"] = "100";
    ASSERT_EQ(replica.open().code, SPUR_OK);
    ASSERT_EQ(replica.commit(numbered(0, 150)).code, SPUR_OK);
    EXPECT_TRUE(replica.wait([&] { return replica.snapshots_wanted() == 1; }));
}

}  // namespace
}  // namespace spur::test
