// Live reconfiguration: new instances take over between two calls, or everything stays.
#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

using Options = std::vector<ConfigOption>;

Config sched_config(const std::string& type, Options options = {}) {
    return config_with({{"sched", {type}}}, {{type, std::move(options)}});
}

std::string explained(const Bound<SchedAxis>& sched) { return told_by(sched); }

TEST(Reconfigure, ChangedOptionsMakeANewInstance) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(sched_config("sched/actor"));
    ASSERT_TRUE(sched);
    const auto changes = host.reconfigure(sched_config("sched/actor", {{"depth", std::int64_t{77}, 5}}));
    ASSERT_TRUE(changes) << changes.error().text;
    ASSERT_EQ(changes->size(), 1U);
    EXPECT_EQ(changes->at(0).what, "options");
    EXPECT_NE(explained(*sched).find("depth 77"), std::string::npos);
    EXPECT_EQ(log.count("sched/actor: destroyed"), 1U);
}

TEST(Reconfigure, AnotherPluginTakesOver) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(sched_config("sched/actor"));
    ASSERT_TRUE(sched);
    const auto changes = host.reconfigure(sched_config("sched/other", {{"depth", std::int64_t{5}, 5}}));
    ASSERT_TRUE(changes) << changes.error().text;
    EXPECT_EQ(changes->at(0).what, "plugin");
    EXPECT_EQ(changes->at(0).from, "sched/actor");
    EXPECT_EQ(changes->at(0).to, "sched/other");
    EXPECT_EQ(sched->type(), "sched/other");
    EXPECT_NE(explained(*sched).find("depth 5,"), std::string::npos);
}

TEST(Reconfigure, NothingChangesWhenNothingChanged) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(sched_config("sched/actor", {{"depth", std::int64_t{7}, 5}}));
    ASSERT_TRUE(sched);
    const auto changes =
        host.reconfigure(sched_config("sched/actor", {{"depth", std::int64_t{7}, 99}}));  // another line
    ASSERT_TRUE(changes);
    EXPECT_TRUE(changes->empty());
    EXPECT_EQ(log.count("destroyed"), 0U);
}

TEST(Reconfigure, OnAnyFailureEveryOldInstanceStays) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(sched_config("sched/actor", {{"depth", std::int64_t{7}, 5}}));
    const auto select = host.open<SelectAxis>(config_with({{"select", {"select/stub"}}}));
    ASSERT_TRUE(sched && select);
    auto config = config_with({{"sched", {"sched/other"}}, {"select", {"select/nowhere"}}});
    const auto changes = host.reconfigure(config);
    ASSERT_FALSE(changes);
    EXPECT_NE(changes.error().text.find("plugin select/nowhere was not found"), std::string::npos);
    EXPECT_EQ(sched->type(), "sched/actor");
    EXPECT_NE(explained(*sched).find("depth 7"), std::string::npos);
}

TEST(Reconfigure, AWrongOptionOrAFailingCreateChangesNothing) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(sched_config("sched/actor", {{"depth", std::int64_t{7}, 5}}));
    ASSERT_TRUE(sched);
    auto changes = host.reconfigure(sched_config("sched/actor", {{"depth", std::string{"x"}, 6}}));
    ASSERT_FALSE(changes);
    EXPECT_EQ(changes.error().text, "plugin sched/actor: option depth must be a whole number, not \"x\" (spur.conf:6)");
    changes = host.reconfigure(sched_config("sched/actor", acting("fail", "create")));
    ASSERT_FALSE(changes);
    changes = host.reconfigure(sched_config("sched/null_op"));
    ASSERT_FALSE(changes);
    EXPECT_NE(explained(*sched).find("depth 7"), std::string::npos);
}

TEST(Reconfigure, ACallInFlightEndsOnTheOldInstance) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(sched_config("sched/actor", acting("spin")));
    ASSERT_TRUE(sched);
    static std::atomic<bool> inside, stop;
    inside = stop = false;
    std::thread planner{[&] {
        spur_plan_sink sink{};
        sink.size = sizeof(sink);
        sink.stopped = [](const spur_plan_sink*) -> std::uint32_t {
            inside = true;
            return stop.load() ? 1 : 0;
        };
        const spur_cluster_view view{};
        EXPECT_TRUE(sched->call(&spur_sched_ops::plan, &view, nullptr, &sink));
    }};
    while (!inside) std::this_thread::yield();
    std::thread ender{[&] {
        while (sched->type() != "sched/other") std::this_thread::yield();
        EXPECT_EQ(log.count("sched/actor: destroyed"), 0U);  // the new one is in force, the old one still at work
        stop = true;
    }};
    ASSERT_TRUE(host.reconfigure(sched_config("sched/other")));
    planner.join();
    ender.join();
    EXPECT_EQ(log.count("sched/actor: destroyed"), 1U);
}

TEST(Reconfigure, CallsFromManyThreadsNeverMeetADestroyedInstance) {
    auto options = test_options();
    options.check_roles = false;  // planning cycles do not overlap; here they do
    PluginHost host{options};
    const auto sched = host.open<SchedAxis>(sched_config("sched/actor"));
    ASSERT_TRUE(sched);
    std::atomic<bool> stop{false};
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i)
        callers.emplace_back([&] {
            while (!stop) {
                const auto text = told_by(*sched);
                ASSERT_TRUE(text.starts_with("testing, depth")) << text;
            }
        });
    for (int i = 1; i <= 50; ++i)
        ASSERT_TRUE(host.reconfigure(
            sched_config(i % 2 == 0 ? "sched/actor" : "sched/other", {{"depth", std::int64_t{i}, 1}})));
    stop = true;
    for (auto& caller : callers) caller.join();
}

TEST(Reconfigure, ThePrepareStepRunsOnEveryNewInstanceAndMayRefuseIt) {
    PluginHost host{test_options()};
    std::vector<std::string> prepared;
    const auto sched =
        host.open<SchedAxis>(sched_config("sched/actor"), [&](const Pin<SchedAxis>& pin) -> Result<void> {
            prepared.push_back(pin.type());
            if (pin.type() == "sched/other") return fail(ErrorCode::conflict, "not this one");
            return {};
        });
    ASSERT_TRUE(sched);
    const auto changes = host.reconfigure(sched_config("sched/other"));
    ASSERT_FALSE(changes);
    EXPECT_EQ(changes.error().text, "not this one");
    EXPECT_EQ(sched->type(), "sched/actor");
    EXPECT_EQ(prepared, (std::vector<std::string>{"sched/actor", "sched/other"}));
}

TEST(Reconfigure, AFileThatChangedUnderTheDaemonIsReportedOnce) {
    log::Capture log;
    const TempDir dir;
    const auto file = dir.copy("sched_actor.so");
    auto config = sched_config("sched/actor");
    config.plugin_dirs.insert(config.plugin_dirs.begin(), dir.path().native());
    PluginHost host{test_options()};
    const auto plans = host.open<SchedAxis>(config);
    const auto questions = host.open<SchedAxis>(config);  // the same plugin, open twice
    ASSERT_TRUE(plans && questions);
    ASSERT_TRUE(host.reconfigure(config));
    EXPECT_FALSE(log.contains("changed on disk"));

    std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) + std::chrono::seconds{10});
    const auto changes = host.reconfigure(config);
    ASSERT_TRUE(changes);
    EXPECT_EQ(*changes, (std::vector<Change>{{"sched", "sched/actor", "sched/actor", "file changed"}}));
    EXPECT_EQ(log.count(file.native() + " was written over while it is in use, which may crash spurtest at any moment"),
              1U);
}

TEST(Reconfigure, ALinkThatLeadsToANewerFileIsNoticed) {
    log::Capture log;
    const TempDir dir;
    dir.copy("sched_actor.so", "sched_actor.so.1");
    const auto link = dir.path() / "sched_actor.so";
    std::filesystem::create_symlink("sched_actor.so.1", link);
    auto config = sched_config("sched/actor");
    config.plugin_dirs = {dir.path()};
    PluginHost host{test_options()};
    ASSERT_TRUE(host.open<SchedAxis>(config));

    dir.copy("sched_actor.so", "sched_actor.so.2");
    std::filesystem::create_symlink("sched_actor.so.2", dir.path() / "fresh");
    std::filesystem::rename(dir.path() / "fresh", link);
    const auto changes = host.reconfigure(config);
    ASSERT_TRUE(changes);
    EXPECT_EQ(*changes, (std::vector<Change>{{"sched", "sched/actor", "sched/actor", "file changed"}}));
    EXPECT_EQ(log.count(link.native() + " changed on disk since it was loaded; restart spurtest to load it"), 1U);
}

TEST(Reconfigure, AFileThatIsWrittenOverIsNamedWithoutBeingAsked) {
    log::Capture log;
    const TempDir dir;
    const auto file = dir.copy("sched_actor.so");
    auto config = sched_config("sched/actor");
    config.plugin_dirs = {dir.path()};
    auto options = test_options();
    options.slow_call = std::chrono::milliseconds{20};
    PluginHost host{options};
    ASSERT_TRUE(host.open<SchedAxis>(config));
    std::ofstream{file, std::ios::app} << "more";
    EXPECT_TRUE(eventually([&] { return log.contains(file.native() + " was written over while it is in use"); }));
}

TEST(Reconfigure, AnAxisThatCannotBeSwappedSaysThatARestartIsNeeded) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto state = host.open<StateAxis>(config_with({{"state", {"state/stub"}}}));
    ASSERT_TRUE(state) << state.error().text;
    const auto changes =
        host.reconfigure(config_with({{"state", {"state/stub"}}}, {{"state/stub", {{"level", std::int64_t{2}, 1}}}}));
    ASSERT_TRUE(changes);
    ASSERT_EQ(changes->size(), 1U);
    EXPECT_EQ(changes->at(0).what, "restart needed");
}

TEST(Reconfigure, AGroupGainsAndLosesMembers) {
    PluginHost host{test_options()};
    const auto group = host.open_group<GpuAxis>(config_with({{"gpu", {"gpu/one"}}}));
    ASSERT_EQ(group.pins().size(), 1U);
    auto changes = host.reconfigure(config_with({{"gpu", {"gpu/one", "gpu/two"}}}));
    ASSERT_TRUE(changes) << changes.error().text;
    EXPECT_EQ(changes->at(0).what, "added");
    EXPECT_EQ(group.pins().size(), 2U);
    changes = host.reconfigure(config_with({{"gpu", {"gpu/two"}}}));
    ASSERT_TRUE(changes);
    EXPECT_EQ(changes->at(0).what, "removed");
    ASSERT_EQ(group.pins().size(), 1U);
    EXPECT_EQ(group.pins()[0].type(), "gpu/two");
}

TEST(Reconfigure, AGroupThatWasEmptyCanGrow) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto group = host.open_group<GpuAxis>(config_with({{"gpu", {"gpu/absent"}}}));
    EXPECT_TRUE(group.pins().empty());
    EXPECT_TRUE(log.contains("goes on without gpu"));
    ASSERT_TRUE(host.reconfigure(config_with({{"gpu", {"gpu/one"}}})));
    EXPECT_EQ(group.pins().size(), 1U);
}

}  // namespace
}  // namespace spur::host
