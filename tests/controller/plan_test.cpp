// What the host makes of a planner's answers: sorted, held against the view, kept for whoever preempted.
#include <gtest/gtest.h>

#include <spur/plugin/plugin.hpp>

#include "daemons/common/planning/plan.hpp"
#include "daemons/common/planning/wishes.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur::planning {
namespace {

using namespace spur::testing;

class PlanOfAPlanner : public ::testing::Test {
protected:
    PlanOfAPlanner() { b.nodes("n[1-4]", cpus(4)); }

    // Begins a plan over what was built; the promises last from plan to plan.
    const spur_plan_sink& plan() {
        Changes all;
        all.everything = true;
        auto seen = all;
        model_ = ReadModelBuilder{}.publish(b.cluster(), all);
        mirror_ = std::make_unique<Mirror>();
        mirror_->set_understood(understood);
        mirror_->update(model_, seen);
        for (const auto slot : mirror_->unscored()) mirror_->place(slot, 1);
        view_ = &mirror_->view(b.now());
        counts_.update(model_, seen);
        promises_.update(*model_, b.now());
        collector_ = std::make_unique<PlanCollector>(*mirror_, *view_, std::chrono::steady_clock::time_point::max(),
                                                     stopping_, counts_, promises_, PlanCollector::MayStart{});
        return *collector_->sink();
    }
    std::uint32_t slot(std::string_view job) { return mirror_->pending().find(b.id(job)); }
    std::uint32_t running(std::string_view job) { return mirror_->running().find(b.id(job)); }
    // One core of each node, in this order.
    spur_placement on(std::vector<std::uint32_t> nodes, std::uint64_t core = 1) {
        word_ = core;
        shares_.clear();
        for (const auto node : nodes) shares_.push_back({node, 1, 0, {&word_, 4, 0}, {}, 1, 0});
        return spur_placed(shares_.data(), static_cast<std::uint32_t>(shares_.size()));
    }
    spur_status start(const spur_plan_sink& sink, std::string_view job, const spur_placement& where) {
        return sink.start(&sink, slot(job), 0, &where, SPUR_UNLIMITED);
    }
    std::string complaint() {
        const auto plan = collector_->take();
        return plan.complaints.empty() ? "" : plan.complaints.front();
    }

    ClusterBuilder b;
    std::uint64_t understood{~std::uint64_t{0}};
    std::shared_ptr<const ReadModel> model_;
    std::unique_ptr<Mirror> mirror_;
    const spur_cluster_view* view_{};
    LimitCounts counts_;
    Promises promises_;
    std::atomic<bool> stopping_{false};
    std::unique_ptr<PlanCollector> collector_;
    std::uint64_t word_{};
    std::vector<spur_node_share> shares_;
};

TEST_F(PlanOfAPlanner, NamesNodesInAnyOrder) {
    b.pending("wide", node_count(3), tasks(3));
    const auto& sink = plan();
    ASSERT_EQ(start(sink, "wide", on({2, 0, 3})), SPUR_OK);
    auto starts = collector_->take().starts;
    ASSERT_EQ(starts.size(), 1U);
    EXPECT_TRUE(b.apply(StartJob{{starts[0]}}));
}

TEST_F(PlanOfAPlanner, MayNotNameANodeTwice) {
    b.pending("wide", node_count(2), tasks(2));
    EXPECT_EQ(start(plan(), "wide", on({1, 1})), SPUR_REJECTED);
    EXPECT_EQ(complaint(), fmt::format("job {}: names node 1 twice", b.id("wide").value));
}

TEST_F(PlanOfAPlanner, IsNotBelievedWhenItClaimsMoreCoresThanThereAre) {
    b.pending("a");
    const auto& sink = plan();
    auto wild = on({0});
    shares_[0].cores.count = UINT32_MAX;  // half a gigabyte behind one word
    EXPECT_EQ(start(sink, "a", wild), SPUR_REJECTED);
    EXPECT_EQ(complaint(), fmt::format("job {}: claims 4294967295 cores of node n1, which has 4", b.id("a").value));
}

TEST_F(PlanOfAPlanner, IsAskedForAPartitionOfTheJobs) {
    b.partition("other", "n1").partition("main", "n[1-4]").pending("a", partition("main"));
    const auto& sink = plan();
    std::uint32_t other = 0;
    while (plugin::view(SPUR_AT(spur_partition_view, view_->partitions, other)->name) != "other") ++other;
    EXPECT_EQ(sink.may_start(&sink, slot("a"), other), SPUR_REJECTED);
    EXPECT_EQ(complaint(), fmt::format("asks whether job {} may start in partition {}, which is not its own",
                                       b.id("a").value, other));
    const auto& again = plan();
    again.expect(&again, slot("a"), b.now() + 60, other, {});
    EXPECT_EQ(complaint(), fmt::format("expects job {} in partition {}, which is not its own", b.id("a").value, other));
}

class Preemption : public PlanOfAPlanner {
protected:
    Preemption() {
        b.running("victim", testing::on("n1"), cpus_each(1)).pending("urgent").pending("eager");
        preempt();
    }
    void preempt() {
        const auto& sink = plan();
        const auto victim = running("victim");
        const auto where = on({0});
        ASSERT_EQ(sink.preempt(&sink, slot("urgent"), 0, &victim, 1, &where), SPUR_OK);
    }
};

TEST_F(Preemption, KeepsWhatItFreesForThePreemptor) {
    b.finish(b.id("victim"));
    EXPECT_EQ(start(plan(), "eager", on({0})), SPUR_REJECTED) << "it was freed for another job";
    EXPECT_EQ(start(plan(), "eager", on({0}, 2)), SPUR_OK) << "another core of the same node is free for all";
    EXPECT_EQ(start(plan(), "eager", on({1})), SPUR_OK) << "and so is another node";
    EXPECT_EQ(start(plan(), "urgent", on({0})), SPUR_OK);
}

TEST_F(Preemption, KeepsItUntilThePreemptorStartsElsewhere) {
    b.finish(b.id("victim"));
    const auto& sink = plan();
    ASSERT_EQ(start(sink, "urgent", on({2})), SPUR_OK);
    EXPECT_EQ(start(sink, "eager", on({0})), SPUR_OK);
}

TEST_F(Preemption, KeepsItUntilThePreemptorLeavesTheQueue) {
    b.finish(b.id("victim"));
    b.must(CancelJob{{.job = b.id("urgent").value}, Actor::root()});
    EXPECT_EQ(start(plan(), "eager", on({0})), SPUR_OK);
}

TEST_F(Preemption, KeepsItNoLongerThanThePromiseLasts) {
    b.finish(b.id("victim"));
    b.at(SPUR_PREEMPT_PROMISE_S - 1);
    EXPECT_EQ(start(plan(), "eager", on({0})), SPUR_REJECTED);
    b.at(SPUR_PREEMPT_PROMISE_S + 1);
    EXPECT_EQ(start(plan(), "eager", on({0})), SPUR_OK);
}

TEST_F(PlanOfAPlanner, SeesAJobsNameAndWhateverTheSiteSaysOfIt) {
    b.pending("a", spec([](JobSpec& job) {
                  job.name = "solver";
                  job.extra = "rack=cold";
              }));
    plan();
    const auto& view = mirror_->pending().view(slot("a"));
    EXPECT_EQ(plugin::view(view.name), "solver");
    EXPECT_EQ(plugin::view(view.extra), "rack=cold");
    EXPECT_EQ(view.array_task, SPUR_NONE);
}

TEST_F(PlanOfAPlanner, ShowsNoJobThatAsksForWhatNoPluginKnows) {
    understood = ~SPUR_WISH_CONTIGUOUS;
    b.pending("plain").pending("row", spec([](JobSpec& job) { job.contiguous = true; }));
    plan();
    EXPECT_EQ(view_->pending_order.count, 1U);
    ASSERT_EQ(mirror_->misunderstood().size(), 1U);
    const auto wishes = mirror_->pending().view(*mirror_->misunderstood().begin()).wishes;
    EXPECT_EQ(say_unknown(wishes & ~understood, "select/linear", "sched/fifo"),
              "select/linear does not know --contiguous");
    understood = ~std::uint64_t{0};
    plan();
    EXPECT_EQ(view_->pending_order.count, 2U) << "another plugin may know it";
}

}  // namespace
}  // namespace spur::planning
