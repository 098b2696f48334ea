// The files of cgroup/v2: what is found in its directories.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "plugins/cgroup/v2/hierarchy.hpp"
#include "plugins/cgroup/v2/scope.hpp"

namespace spur::cgroup_v2 {
namespace {

namespace fs = std::filesystem;
constexpr std::uint32_t none = SPUR_NONE;

class CgroupFiles : public ::testing::Test {
protected:
    CgroupFiles() {
        std::string name = ::testing::TempDir() + "spur-cgroup-XXXXXX";
        node = mkdtemp(name.data());
    }
    ~CgroupFiles() override { fs::remove_all(node); }
    fs::path node;
};

TEST_F(CgroupFiles, WhatIsThereIsListedStepsBeforeTheirJob) {
    for (const auto* path : {"job_12.1/step_batch", "job_12.1/step_0/task_3", "job_7.2", "job_x.1", "job_3", "other",
                             "job_9.1.1", "job_12.1/step_", "job_12.1/steps"})
        fs::create_directories(node / path);
    const auto found = list_scopes(node.string());
    EXPECT_EQ(found.size(), 4U);
    const auto place = [&](const ScopeName& name) { return std::ranges::find(found, name) - found.begin(); };
    EXPECT_LT(place({12, 1, 0xfffffffb, none}), place({12, 1, none, none}));
    EXPECT_LT(place({12, 1, 0, none}), place({12, 1, none, none}));
    EXPECT_LT(place({7, 2, none, none}), 4);
}

TEST_F(CgroupFiles, RemovingTakesEmptyGroupsAlongAndMissingOnesAreFine) {
    fs::create_directories(node / "job_1.1/step_0/task_0");
    EXPECT_EQ(remove_scope((node / "job_1.1").string()), 0);
    EXPECT_FALSE(fs::exists(node / "job_1.1"));
    EXPECT_EQ(remove_scope((node / "job_1.1").string()), 0);
}

}  // namespace
}  // namespace spur::cgroup_v2
