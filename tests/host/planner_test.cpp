// A planning cycle: budget, sink and selector.
#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include <array>
#include <atomic>
#include <thread>

#include "daemons/common/host/planner.hpp"
#include "daemons/common/host/process_state.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

using namespace std::chrono_literals;

// A cluster with two pending jobs, 101 and 102, and a sink that notes what is started.
class PlannerTest : public testing::Test {
protected:
    PlannerTest() {
        jobs_[0].id = 101;
        jobs_[1].id = 102;
        view_.size = sizeof(view_);
        view_.pending = plugin::span_of(jobs_);
        view_.pending_order = plugin::span_of(order_);
        sink_.size = sizeof(sink_);
        sink_.context = this;
        sink_.stopped = [](const spur_plan_sink*) -> std::uint32_t { return 0; };
        sink_.start = [](const spur_plan_sink* sink, std::uint32_t job, std::uint32_t, const spur_placement*,
                         std::uint32_t) -> spur_status {
            static_cast<PlannerTest*>(sink->context)->started_.push_back(job);
            return SPUR_OK;
        };
    }
    Result<PlanRun> run(const std::string& act, PlanBudget budget = {}, std::int64_t depth = 10) {
        auto options = acting(act);
        options.push_back({"depth", depth, 12});
        host_ = std::make_unique<PluginHost>(test_options());
        SPUR_TRY(const auto sched,
                 host_->open<SchedAxis>(config_with({{"sched", {"sched/actor"}}}, {{"sched/actor", options}})));
        SPUR_TRY(const auto select, host_->open<SelectAxis>(config_with({{"select", {"select/stub"}}})));
        Planner planner{sched, select};
        return planner.run(view_, sink_, budget);
    }
    std::array<spur_job_view, 2> jobs_{};
    std::array<std::uint32_t, 2> order_{1, 0};
    spur_cluster_view view_{};
    spur_plan_sink sink_{};
    std::vector<std::uint32_t> started_;
    std::unique_ptr<PluginHost> host_;
    log::Capture log_;
};

TEST_F(PlannerTest, WhatThePlannerStartsArrives) {
    const auto ran = run("start");
    ASSERT_TRUE(ran) << ran.error().text;
    EXPECT_EQ(started_, (std::vector<std::uint32_t>{1, 0}));
    EXPECT_FALSE(ran->was_stopped);
    EXPECT_EQ(ran->over, 0ns);
}

TEST_F(PlannerTest, APlannerPastItsBudgetIsToldToStop) {
    const auto ran = run("spin", {20ms, nullptr});
    ASSERT_TRUE(ran);
    EXPECT_TRUE(ran->was_stopped);
    EXPECT_GE(ran->took, 20ms);
    EXPECT_EQ(host_->list().at(0).ops.at(0).overruns, 1U);
}

TEST_F(PlannerTest, WhileAPlannerIsAwayItsCallAndItsOverrunShow) {
    host_ = std::make_unique<PluginHost>(test_options());
    auto options = acting("ignore_stop");
    options.push_back({"depth", std::int64_t{2'000}, 12});  // milliseconds
    const auto sched = host_->open<SchedAxis>(config_with({{"sched", {"sched/actor"}}}, {{"sched/actor", options}}));
    const auto select = host_->open<SelectAxis>(config_with({{"select", {"select/stub"}}}));
    ASSERT_TRUE(sched && select);
    Planner planner{*sched, *select};
    std::jthread cycle{[&] { static_cast<void>(planner.run(view_, sink_, {1ms, nullptr})); }};
    OpStats seen;
    do seen = host_->list().at(0).ops.at(0);
    while ((seen.running == 0 || seen.overruns == 0) && seen.calls == 0);
    EXPECT_EQ(seen.op, "plan");
    EXPECT_EQ(seen.calls, 0U);
    EXPECT_EQ(seen.running, 1U);
    EXPECT_GT(seen.running_ns, 0U);
    EXPECT_EQ(seen.overruns, 1U);
    cycle.join();
    seen = host_->list().at(0).ops.at(0);
    EXPECT_EQ(seen.running, 0U);
    EXPECT_EQ(seen.overruns, 1U);  // counted once
}

TEST_F(PlannerTest, AnOverrunIsLoggedWithByHowMuch) {
    const auto ran = run("ignore_stop", {5ms, nullptr}, 60);
    ASSERT_TRUE(ran);
    EXPECT_GE(ran->over, 50ms);
    EXPECT_TRUE(log_.contains("warning: plugin sched/actor: plan() took 0.0")) << testing::PrintToString(log_.lines());
    EXPECT_TRUE(log_.contains("s over its budget of 0.005 s; it never asked whether to stop"));
}

TEST_F(PlannerTest, APlannerThatDoesNotComeBackIsReportedWhileItIsAway) {
    ASSERT_TRUE(run("ignore_stop", {1ms, nullptr}, 1'300));
    EXPECT_TRUE(log_.contains("plugin sched/actor has been in plan() for 1.0 s and its budget is 0.0 s"))
        << testing::PrintToString(log_.lines());
}

TEST_F(PlannerTest, ADaemonThatIsStoppingStopsThePlanner) {
    const std::atomic<bool> stopping{true};
    const auto ran = run("spin", {10s, &stopping});
    ASSERT_TRUE(ran);
    EXPECT_TRUE(ran->was_stopped);
    EXPECT_LT(ran->took, 5s);
}

TEST_F(PlannerTest, TheSinkIsClosedToOtherThreads) {
    ASSERT_TRUE(run("foreign_thread"));
    EXPECT_TRUE(started_.empty());
    EXPECT_TRUE(
        log_.contains("plugin sched/actor breaks a rule: sink->start() was called from another thread than plan()'s"));
}

TEST_F(PlannerTest, QuestionsToSelectAreCounted) {
    ASSERT_TRUE(run("select"));
    const auto listed = host_->list();
    ASSERT_EQ(listed.size(), 2U);
    std::map<std::string, std::uint64_t> calls;
    for (const auto& op : listed[1].ops) calls[op.op] = op.calls;
    EXPECT_EQ(calls["begin"], 1U);
    EXPECT_EQ(calls["pick"], 10U);
    EXPECT_EQ(calls["end"], 1U);
    EXPECT_FALSE(calls.contains("screen")) << "the stub has none";
}

TEST_F(PlannerTest, ACycleThatWasNotEndedIsEndedAndReported) {
    ASSERT_TRUE(run("select", {}, 99));
    EXPECT_TRUE(log_.contains("plan() returned without end() for the select cycle it had begun"));
    EXPECT_EQ(host_->list().at(1).ops.at(1).calls, 1U);
}

TEST_F(PlannerTest, WhatAPlanChangesOfTheThreadIsPutBackAndTold) {
    const ProcessState before;
    ASSERT_TRUE(run("mask"));
    EXPECT_TRUE(
        log_.contains("plugin sched/actor breaks a rule: plan() changed the signal mask of spurtest; put back"));
    EXPECT_EQ(before.restore(), "");
}

TEST_F(PlannerTest, AFailedPlanIsAnError) {
    const auto ran = run("throw");
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().text, "plugin sched/actor threw an exception out of plan(): the actor threw");
}

}  // namespace
}  // namespace spur::host
