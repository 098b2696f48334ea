// Plugins built from headers other than today's, in today's host.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "daemons/common/host/host.hpp"
#include "daemons/common/host/probe.hpp"

namespace spur::host {
namespace {

namespace fs = std::filesystem;

class TestAbi : public testing::Test {
protected:
    TestAbi() {
        std::string name = testing::TempDir() + "spurXXXXXX";
        scratch_ = ::mkdtemp(name.data());
        HostOptions options;
        options.facts = {{"cluster_name", "testing"}, {"state_dir", scratch_.string()}};
        host_ = std::make_unique<PluginHost>(options);
    }
    ~TestAbi() override {
        host_.reset();
        fs::remove_all(scratch_);
    }

    template <class Axis>
    void expect_loads(const std::string& type, std::vector<ConfigOption> options = {}) {
        host_->set_dirs({SPUR_ABI_PLUGINS});
        const auto opened = host_->open<Axis>(type, std::move(options));
        EXPECT_TRUE(opened) << opened.error().text;
    }

    fs::path scratch_;
    std::unique_ptr<PluginHost> host_;
};

TEST_F(TestAbi, APluginOfEveryAxisBuiltWithLongerStructsLoads) {
    fs::create_directory(scratch_ / "accel");
    std::ofstream{scratch_ / "accel" / "accel0"};
    for (const std::string name : {"next_c", "next_cpp"}) {
        expect_loads<StateAxis>("state/" + name);
        expect_loads<SchedAxis>("sched/" + name);
        expect_loads<SelectAxis>("select/" + name);
        expect_loads<PriorityAxis>("priority/" + name);
        expect_loads<AccountingAxis>("accounting/" + name);
        expect_loads<AuthAxis>("auth/" + name);
        expect_loads<NetAxis>("net/" + name);
        expect_loads<GpuAxis>("gpu/" + name, {{"directory", (scratch_ / "accel").string(), 1}});
    }
}

TEST_F(TestAbi, ACgroupPluginWithLongerStructsLoadsOrSaysThatThereAreNoControlGroups) {
    host_->set_dirs({SPUR_ABI_PLUGINS});
    const auto opened = host_->open<CgroupAxis>("cgroup/next_c", {{"root", (scratch_ / "none").string(), 1}});
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().text.find("is not a writable control group"), std::string::npos) << opened.error().text;
}

TEST_F(TestAbi, APluginWithAnOpThisHostDoesNotKnowLoads) { expect_loads<PriorityAxis>("priority/careful"); }

TEST_F(TestAbi, APluginOfALaterReleaseIsListedWithItsVersions) {
    const auto module = probe(fs::path{SPUR_ABI_PLUGINS} / "priority_careful.so");
    ASSERT_TRUE(module) << module.error().text;
    ASSERT_EQ(module->plugins.size(), 1u);
    EXPECT_EQ(module->plugins[0].version, "1.1.0");
}

}  // namespace
}  // namespace spur::host
