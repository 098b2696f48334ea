// Calls through the host: counted, named, and unable to throw.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <spur/plugin/plugin.hpp>

#include "daemons/common/host/process_state.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

auto plan(const Bound<SchedAxis>& sched) {
    const spur_cluster_view view{};
    return sched.call(&spur_sched_ops::plan, &view, nullptr, nullptr);
}

std::string plan_error(const std::string& act) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config(act));
    EXPECT_TRUE(sched) << sched.error().text;
    const auto planned = plan(*sched);
    EXPECT_FALSE(planned);
    EXPECT_EQ(host.list().at(0).ops.at(0).failures, 1U);
    return planned.error().text;
}

TEST(Call, IsCountedAndTimed) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config("nothing"));
    ASSERT_TRUE(sched);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(plan(*sched));
    const auto listed = host.list();
    ASSERT_EQ(listed.size(), 1U);
    EXPECT_EQ(listed[0].type, "sched/actor");
    EXPECT_EQ(listed[0].version, "2.5.0");
    EXPECT_EQ(listed[0].state, "active");
    const auto& op = listed[0].ops.at(0);
    EXPECT_EQ(op.op, "plan");
    EXPECT_EQ(op.calls, 100U);
    EXPECT_EQ(op.failures, 0U);
    EXPECT_GT(op.total_ns, 0U);
    EXPECT_GE(op.total_ns, op.max_ns);
    EXPECT_LT(op.total_ns, 1'000'000'000U);
}

TEST(Call, AVerdictIsAnAnswer) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config("verdict"));
    ASSERT_TRUE(sched);
    EXPECT_EQ(plan(*sched), 7);
    EXPECT_EQ(host.list().at(0).ops.at(0).failures, 0U);
}

TEST(Call, AFailureIsThePluginsSentenceOnOneLine) {
    EXPECT_EQ(plan_error("fail"), "plugin sched/actor: the disk is on fire");
    EXPECT_EQ(plan_error("fail_silently"), "plugin sched/actor failed in plan() and does not say why (busy)");
}

TEST(Call, ExceptionsStopAtTheBoundary) {
    EXPECT_EQ(plan_error("throw"), "plugin sched/actor threw an exception out of plan(): the actor threw");
    EXPECT_EQ(plan_error("throw_int"), "plugin sched/actor threw an exception of unknown type out of plan()");
}

TEST(Call, ExceptionsInCreateAndDestroyStopThereToo) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config("throw", "create"));
    ASSERT_FALSE(sched);
    EXPECT_EQ(sched.error().text, "plugin sched/actor threw an exception out of create(): the actor threw");
    ASSERT_TRUE(host.open<SchedAxis>(actor_config("throw", "destroy")));
    host.stop();
    EXPECT_TRUE(log.contains("plugin sched/actor threw an exception out of destroy(): the actor threw"));
}

TEST(Call, WhatCreateChangesOfTheProcessIsPutBackAndTold) {
    const std::pair<const char*, const char*> changes[] = {
        {"umask", "the umask"},
        {"directory", "the working directory"},
        {"locale", "the locale"},
        {"mask", "the signal mask"},
        {"rounding", "the floating point mode"},
        {"descriptor", "a standard descriptor"},
        {"user", "the effective user"},
    };
    for (const auto& [act, what] : changes) {
        if (std::string_view{act} == "user" && ::geteuid() != 0) continue;
        log::Capture log;
        const ProcessState before;
        for (const auto* const when : {"create", "destroy"}) {
            PluginHost host{test_options()};
            ASSERT_TRUE(host.open<SchedAxis>(actor_config(act, when)));
            host.stop();
            EXPECT_EQ(log.count(fmt::format("plugin sched/actor breaks a rule: {}() changed {} of spurtest; put back",
                                            when, what)),
                      1U)
                << act;
        }
        if (std::string_view{act} == "descriptor") continue;  // that one is gone
        EXPECT_EQ(before.restore(), "");
    }
}

TEST(Call, ACopyOfTheProcessThatAPluginForkedEnds) {
    ::testing::internal::CaptureStderr();
    PluginHost host{test_options()};
    ASSERT_TRUE(host.open<SchedAxis>(actor_config("fork", "create")));
    int status = 0;
    ASSERT_GT(::wait(&status), 0);
    EXPECT_EQ(WEXITSTATUS(status), EX_SOFTWARE);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "plugin sched/actor came back from create() in a fork of spurtest; that copy ends\n");
}

TEST(Call, WhatCreateSaysIsTheError) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(actor_config("fail", "create"));
    ASSERT_FALSE(sched);
    EXPECT_EQ(sched.error().text, "plugin sched/actor: no such hardware here");
}

TEST(Call, AnOpThatIsNotThereIsSaidToBeMissing) {
    PluginHost host{test_options()};
    const auto gpu = host.open<GpuAxis>(config_with({{"gpu", {"gpu/one"}}}));
    ASSERT_TRUE(gpu);
    EXPECT_TRUE(gpu->can(&spur_gpu_ops::scan));
    EXPECT_FALSE(gpu->can(&spur_gpu_ops::reset));
    const auto reset = gpu->call(&spur_gpu_ops::reset, spur_str{}, nullptr);
    ASSERT_FALSE(reset);
    EXPECT_EQ(reset.error().text, "plugin gpu/one does not do reset()");
}

TEST(Call, ReachesThePluginsOptionsAndFacts) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(
        config_with({{"sched", {"sched/actor"}}},
                    {{"sched/actor", {{"depth", std::int64_t{42}, 3}, {"window", std::string{"30s"}, 4}}}}));
    ASSERT_TRUE(sched) << sched.error().text;
    EXPECT_EQ(told_by(*sched), "testing, depth 42, window 30, tasks 0");
}

TEST(Call, TheSameFileServesTwoInstances) {
    PluginHost host{test_options()};
    const auto first = host.open<SchedAxis>(actor_config("nothing"));
    const auto second = host.open<SchedAxis>(actor_config("fail"));
    ASSERT_TRUE(first && second);
    EXPECT_TRUE(plan(*first));
    EXPECT_FALSE(plan(*second));
}

}  // namespace
}  // namespace spur::host
