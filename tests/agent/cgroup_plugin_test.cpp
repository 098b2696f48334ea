// The step daemon's own host: what it does with plugins that lie, throw, crash and hang.
#include "daemons/spurstepd/cgroup_plugin.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <numbers>

#include "daemons/spurstepd/containment.hpp"

namespace spur::step {
namespace {

Setup setup_with(const std::string& attack) {
    Setup setup;
    setup.file = SPUR_TEST_PLUGINS "/cgroup_refusing.so";
    setup.type = "cgroup/refusing";
    setup.patience_ms = 300;
    setup.options = {{.key = "refuses", .kind = SPUR_OPTION_STRING},
                     {.key = "attack", .kind = SPUR_OPTION_STRING, .text = attack},
                     {.key = "ratio", .kind = SPUR_OPTION_FLOAT, .real = 0.1},
                     {.key = "words", .kind = SPUR_OPTION_LIST, .list = {"a", "b"}}};
    return setup;
}

TEST(StepSetup, IsReadAsItWasWrittenToTheLastDigit) {
    auto setup = setup_with("x");
    setup.options[2].real = std::numbers::pi / 3e7;
    setup.options[1].integer = -7;
    setup.facts = {{"node_name", "n1"}};
    setup.needed = 5;
    const int file = make_setup_file(encode(setup));
    ASSERT_GE(file, 0);
    EXPECT_EQ(read_setup_file(file), setup);
    EXPECT_EQ(read_setup_file(file), setup) << "a second step daemon reads it too";
    close(file);
}

TEST(StepCgroupPlugin, OneThatBehavesIsLoaded) {
    const auto plugin = CgroupPlugin::load(setup_with(""));
    ASSERT_TRUE(plugin) << plugin.error().text;
    EXPECT_FALSE((*plugin)->can(SPUR_CGROUP_CONTAINS));
}

struct Attack {
    const char* name;
    const char* sentence;
};

class StepLoading : public ::testing::TestWithParam<Attack> {};

TEST_P(StepLoading, IsRefusedWithASentence) {
    const auto plugin = CgroupPlugin::load(setup_with(GetParam().name));
    ASSERT_FALSE(plugin);
    EXPECT_NE(plugin.error().text.find(GetParam().sentence), std::string::npos) << plugin.error().text;
}

INSTANTIATE_TEST_SUITE_P(
    Attacks, StepLoading,
    ::testing::Values(Attack{"throw-create", "create()"}, Attack{"crash-create", "crashed in create()"},
                      Attack{"abort-create", "crashed in create() (Aborted)"},
                      Attack{"overflow-create", "crashed in create()"},
                      Attack{"hang-create", "did not come back from create() within 300 ms"},
                      Attack{"spin-create", "did not come back from create() within 300 ms"},
                      Attack{"no-instance", "without making an instance"},
                      Attack{"no-table", "answers NULL"}, Attack{"short-table", "ends before make()"},
                      Attack{"empty-table", "capabilities() of its spur.cgroup/1 table is NULL"},
                      Attack{"wild-table", "a pointer that cannot be read"},
                      Attack{"throw-query", "query()"}, Attack{"crash-query", "crashed in query()"},
                      Attack{"crash-capabilities", "crashed in capabilities()"},
                      Attack{"thread-create", "it has started 1 threads"}));

TEST(StepCgroupPlugin, OneThatCanDoLessThanInSpurdIsRefused) {
    auto setup = setup_with("");
    setup.needed = SPUR_CGROUP_CONTAINS;
    const auto plugin = CgroupPlugin::load(setup);
    ASSERT_FALSE(plugin);
    EXPECT_NE(plugin.error().text.find("can do less in the step daemon"), std::string::npos) << plugin.error().text;
}

TEST(StepCgroupPlugin, OneWhoseOptionsHaveChangedIsRefused) {
    auto setup = setup_with("");
    setup.options.pop_back();
    const auto plugin = CgroupPlugin::load(setup);
    ASSERT_FALSE(plugin);
    EXPECT_NE(plugin.error().text.find("its file was replaced"), std::string::npos) << plugin.error().text;
}

LaunchSpec spec() {
    LaunchSpec spec;
    spec.job = 1;
    spec.tasks.resize(1);
    return spec;
}

TEST(StepContainment, ACallThatHangsFailsTheStepAndIsTheLast) {
    for (const auto* const attack : {"hang-make", "spin-make", "throw-make", "crash-make", "overflow-make"}) {
        const auto choice = CgroupChoice::make(setup_with(attack));
        ASSERT_TRUE(choice.plugin) << choice.problem;
        Containment containment{choice, spec()};
        const auto made = containment.prepare(spec());
        ASSERT_FALSE(made) << attack;
        EXPECT_NE(made.error().text.find("make()"), std::string::npos) << made.error().text;
        EXPECT_TRUE(containment.remove());
    }
}

TEST(StepContainment, AThreadOfMakeIsFoundOut) {
    const auto choice = CgroupChoice::make(setup_with("thread-make"));
    ASSERT_TRUE(choice.plugin) << choice.problem;
    Containment containment{choice, spec()};
    const auto made = containment.prepare(spec());
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().text.find("started a thread in make()"), std::string::npos) << made.error().text;
}

// ---- what a site holds its jobs to ----------------------------------------------------------------------------------

host::OptionValue list_of(const char* key, std::vector<std::string> words) {
    return {.key = key, .kind = SPUR_OPTION_LIST, .list = std::move(words)};
}

TEST(StepSiteLimits, AJobMayHaveHalfTheMachinesProcessesAndAllJobsLeaveAnEighth) {
    EXPECT_EQ(process_limits(32'768, 0).job.value, 16'384U);
    EXPECT_EQ(process_limits(32'768, 0).node.value, 28'672U);
    EXPECT_EQ(process_limits(32'768, 500).job.value, 500U);
    EXPECT_EQ(process_limits(32'768, -1).job.rule, SPUR_LIMIT_NONE);
    EXPECT_GT(machine_processes(), 100U);
}

TEST(StepSiteLimits, DevicesAreNamedByPathOrNumbers) {
    const auto null = find_device("/dev/null");
    ASSERT_TRUE(null);
    EXPECT_EQ(null->kind, SPUR_CGROUP_CHARACTER);
    EXPECT_EQ(null->major_number, 1U);
    EXPECT_EQ(null->minor_number, 3U);
    const auto all = find_device("b 8:*");
    ASSERT_TRUE(all);
    EXPECT_EQ(all->kind, SPUR_CGROUP_BLOCK);
    EXPECT_EQ(all->minor_number, SPUR_NONE);
    for (const auto* const wrong : {"/dev/absent", "/etc/passwd", "c 1", "c x:y", "nvidia"})
        EXPECT_FALSE(find_device(wrong)) << wrong;
}

TEST(StepSiteLimits, MistakesAreSentences) {
    const auto io = SiteLimits::make({list_of("io_limits", {"/dev/null read=1M"})});
    ASSERT_FALSE(io);
    EXPECT_NE(io.error().text.find("not a block device"), std::string::npos) << io.error().text;
    const auto devices = SiteLimits::make({list_of("allowed_devices", {"nvidia0"})});
    ASSERT_FALSE(devices);
    EXPECT_NE(devices.error().text.find("neither a path nor numbers"), std::string::npos) << devices.error().text;
    EXPECT_TRUE(SiteLimits::make({list_of("allowed_devices", {"/dev/fuse", "c 195:*"})}));
}

}  // namespace
}  // namespace spur::step
