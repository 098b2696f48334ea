// The probe describes good files and survives bad ones.
#include <gtest/gtest.h>

#include <chrono>

#include "daemons/common/host/module_codec.hpp"
#include "daemons/common/host/probe.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

std::filesystem::path plugin(const std::string& name) {
    return std::filesystem::path{SPUR_TEST_PLUGINS} / (name + ".so");
}

std::string refusal(const std::string& name, const ProbeOptions& options = {}) {
    const auto module = probe(plugin(name), options);
    EXPECT_FALSE(module) << name;
    const auto prefix = "plugin file " + plugin(name).native() + " refused: ";
    EXPECT_TRUE(module.error().text.starts_with(prefix)) << module.error().text;
    return module.error().text.substr(std::min(prefix.size(), module.error().text.size()));
}

TEST(Probe, TellsWhatAPluginSaysOfItself) {
    const auto module = probe(plugin("sched_actor"));
    ASSERT_TRUE(module) << module.error().text;
    EXPECT_EQ(module->path, plugin("sched_actor"));
    EXPECT_EQ(module->epoch, 1U);
    ASSERT_EQ(module->plugins.size(), 1U);
    const auto& desc = module->plugins[0];
    EXPECT_EQ(desc.type, "sched/actor");
    EXPECT_EQ(desc.axis(), "sched");
    EXPECT_EQ(desc.version, "2.5.0");
    EXPECT_EQ(desc.interfaces, (std::vector<std::string>{"spur.sched/1", "spur.sched/7"}));
    ASSERT_EQ(desc.options.size(), 4U);
    EXPECT_EQ(desc.options[1].choices, "create|plan|destroy");
    EXPECT_STREQ(option_kind_name(desc.options[3].kind), "duration");
    EXPECT_EQ(desc.options[3].fallback, "1-00:00:00");
}

TEST(Probe, SurvivesAFileThatCrashesExitsOrBreaksTheRules) {
    EXPECT_TRUE(refusal("sched_crash_on_load").starts_with("it crashed while it was loaded: "))
        << refusal("sched_crash_on_load");
    EXPECT_EQ(refusal("sched_exit_on_load"), "it called exit(3) while it was loaded");
    EXPECT_EQ(refusal("sched_null_module"), "its spur_module_v1() returned NULL");
    EXPECT_EQ(refusal("sched_wrong_name"),
              "it holds sched/something, which belongs in sched_something.so; rename the file or its type");
}

TEST(Probe, DoesNotWaitForEver) {
    ProbeOptions options;
    options.timeout = std::chrono::milliseconds{300};
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(refusal("sched_loop_on_load", options), "it did not finish loading within 0.3 s");
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds{5});
}

TEST(Probe, BoundsTheMemoryOfAFileThatEatsIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers reserve terabytes of address space";
#endif
    ProbeOptions options;
    options.memory_bytes = std::uint64_t{128} << 20;
    EXPECT_EQ(refusal("sched_eat_on_load", options),
              "it crashed while it was loaded: Aborted, or it wanted more than 128 MiB of memory");
}

TEST(Probe, ListsADirectoryWholeWhateverIsInIt) {
    const TempDir first, second;
    first.copy("sched_actor.so");
    first.copy("sched_crash_on_load.so");
    second.copy("sched_actor.so");
    second.copy("gpu_one.so");
    const auto found = probe_all({first.path(), second.path(), first.path() / "none"});
    ASSERT_EQ(found.size(), 4U);
    EXPECT_TRUE(found[0].module && !found[0].shadowed);
    EXPECT_FALSE(found[1].module);
    EXPECT_TRUE(found[2].module);
    EXPECT_EQ(found[2].file.filename(), "gpu_one.so");
    EXPECT_TRUE(found[3].shadowed);
}

TEST(Probe, WhatTheChildSendsIsNotBelieved) {
    ModuleInfo module;
    module.path = "/x";
    module.plugins.push_back({"sched/x", "1", "v", "s", {"spur.sched/1"}, {{"k", 1, 0, true, "d", "h", "", -1, 5}}});
    const auto bytes = encode_module(module);
    EXPECT_EQ(decode_module(bytes), module);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
        EXPECT_FALSE(decode_module(std::string_view{bytes}.substr(0, cut)));
    EXPECT_FALSE(decode_module(bytes + "x"));
    EXPECT_FALSE(decode_module(std::string(64, '\xff')));
}

}  // namespace
}  // namespace spur::host
