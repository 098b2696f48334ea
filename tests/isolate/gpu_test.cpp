// Devices behind a socket: found, bound and watched as without, and what they say of themselves arrives.
#include <gtest/gtest.h>

#include <signal.h>

#include <fstream>

#include <spur/plugin/plugin.hpp>

#include "daemons/common/host/stop.hpp"
#include "tests/isolate/isolating.hpp"

namespace spur::host {
namespace {

using GpuOps = spur_gpu_ops;

// What a scan says, a line for each record.
struct Scan {
    Scan() {
        sink = {sizeof sink, 0, this,
                [](const spur_gpu_sink* at, const spur_gpu_device* device) {
                    static_cast<Scan*>(at->context)
                        ->lines.push_back(fmt::format("{} {} {} {} {} {} {} {}", device->index, device->numa_node,
                                                      device->health, device->memory_mib, plugin::view(device->key),
                                                      plugin::view(device->type), plugin::view(device->parent),
                                                      plugin::view(device->device_files)));
                },
                [](const spur_gpu_sink* at, const spur_gpu_link* link) {
                    static_cast<Scan*>(at->context)
                        ->lines.push_back(fmt::format("{} {} {} {}", plugin::view(link->from), plugin::view(link->to),
                                                      link->kind, link->weight));
                }};
    }
    std::vector<std::string> lines;
    spur_gpu_sink sink{};
};

struct IsolatedGpus : ::testing::Test {
    Bound<GpuAxis> open(bool isolated) {
        Config config = config_with({{"gpu", {"gpu/sim"}}}, {{"gpu/sim",
                                                              {{"isolate", isolated, 1},
                                                               {"devices", std::vector<std::string>{"a100:4"}, 2},
                                                               {"links", std::vector<std::string>{"0-3:nvlink:50"}, 3},
                                                               {"slices", std::vector<std::string>{"3:1g.5gb:7"}, 4},
                                                               {"files", std::vector<std::string>{"0:/dev/null"}, 5},
                                                               {"health_file", (dir.path() / "health").native(), 6}}}});
        config.plugin_dirs = {SPUR_REAL_PLUGINS};
        const auto opened = (isolated ? apart : here).open<GpuAxis>(config);
        EXPECT_TRUE(opened) << opened.error().text;
        return opened ? *opened : Bound<GpuAxis>{};
    }
    std::vector<std::string> scan(const Bound<GpuAxis>& of) {
        Scan all;
        const auto done = of.call(&GpuOps::scan, &all.sink, stop.get());
        EXPECT_TRUE(done) << done.error().text;
        return all.lines;
    }
    std::vector<std::string> bind(const Bound<GpuAxis>& of) {
        std::vector<std::string> lines;
        const spur_gpu_env_sink sink{
            sizeof(spur_gpu_env_sink), 0, &lines,
            [](const spur_gpu_env_sink* at, spur_str name, spur_str value) {
                static_cast<std::vector<std::string>*>(at->context)
                    ->push_back(fmt::format("{}={}", plugin::view(name), plugin::view(value)));
            },
            [](const spur_gpu_env_sink* at, spur_str path) {
                static_cast<std::vector<std::string>*>(at->context)->emplace_back(plugin::view(path));
            }};
        const spur_gpu_grant grants[] = {{plugin::str("SIM-a100-2"), 0}, {plugin::str("SIM-a100-0"), 0}};
        spur_gpu_binding binding{};
        binding.size = sizeof binding;
        binding.job = 7;
        binding.grants = {grants, 2, sizeof grants[0]};
        const auto done = of.call(&GpuOps::bind, &binding, &sink);
        EXPECT_TRUE(done) << done.error().text;
        return lines;
    }
    Isolated::Status status() const { return *apart.list().front().isolated; }

    const TempDir dir;
    const log::Capture lines;
    PluginHost apart{isolating()}, here{test_options()};
    StopSource stop;
    Bound<GpuAxis> plugin{open(true)};
};

TEST_F(IsolatedGpus, DevicesAreFoundAndBoundAsTheyAreWithoutAProcessBetween) {
    const auto near = open(false);
    EXPECT_EQ(scan(plugin), scan(near));
    EXPECT_EQ(scan(plugin).size(), 4u + 7 + 12);
    EXPECT_EQ(bind(plugin), bind(near));
    spur_gpu_load load{};
    load.size = sizeof load;
    ASSERT_TRUE(plugin.call(&GpuOps::load, plugin::str("SIM-a100-1"), &load));
    EXPECT_EQ(load.health, SPUR_GPU_HEALTHY);
    EXPECT_LT(load.power_watts, 0);
    const auto nobody = plugin.call(&GpuOps::load, plugin::str("SIM-a100-9"), &load);
    ASSERT_FALSE(nobody);
    EXPECT_NE(nobody.error().text.find("there is no simulated device SIM-a100-9"), std::string::npos);
    EXPECT_FALSE(plugin.call(&GpuOps::partition, plugin::str("SIM-a100-1"), spur_span{}, stop.get()));
}

TEST_F(IsolatedGpus, WhatADeviceSaysOfItselfReachesTheDaemonAndSoDoItsNumbers) {
    std::atomic<int> heard{0};
    apart.on_changed(SPUR_CHANGED_DEVICES, [&](const Notice& notice) {
        EXPECT_EQ(notice.plugin, "gpu/sim");
        EXPECT_EQ(notice.subject, "SIM-a100-1");
        EXPECT_NE(notice.reason.find("device 1"), std::string::npos) << notice.reason;
        ++heard;
    });
    StopSource end;
    std::jthread watcher{[&] { EXPECT_FALSE(plugin.call(&GpuOps::watch, end.get())); }};
    std::ofstream{dir.path() / "health"} << "1 failed\n";
    EXPECT_TRUE(eventually([&] { return heard == 1; }));
    EXPECT_TRUE(scan(plugin)[1].starts_with("1 4294967295 3 ")) << scan(plugin)[1];
    EXPECT_TRUE(eventually([&] {
        for (const auto& metric : apart.metrics())
            if (metric.name == "spur_gpu_sim_health_changes_total") return metric.series.at(0).value == 1;
        return false;
    }));
    end.stop();
    watcher.join();
    EXPECT_EQ(status().restarts, 0u) << "a watch that is stopped gives up by itself";
    apart.stop_listening();
}

TEST_F(IsolatedGpus, AWatchLastsAndEndsWithItsProcess) {
    StopSource end;
    std::atomic<bool> is_over{false};
    std::jthread watcher{[&] {
        const auto done = plugin.call(&GpuOps::watch, end.get());
        ASSERT_FALSE(done);
        EXPECT_NE(done.error().text.find("its process died of signal 9 (Killed) during watch()"), std::string::npos)
            << done.error().text;
        is_over = true;
    }};
    const auto begun = std::chrono::steady_clock::now();  // longer than other calls may be silent
    while (std::chrono::steady_clock::now() - begun < hurried().silence + hurried().grace) scan(plugin);
    EXPECT_FALSE(is_over);
    ::kill(status().pid, SIGKILL);
    watcher.join();
    EXPECT_EQ(scan(plugin).size(), 4u + 7 + 12);
    EXPECT_EQ(status().restarts, 1u);
}

}  // namespace
}  // namespace spur::host
