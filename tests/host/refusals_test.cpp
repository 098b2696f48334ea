// Each broken plugin is refused with one sentence that says what is wrong with it.
#include <gtest/gtest.h>

#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

struct Broken {
    const char* way;
    const char* sentence;  // behind "plugin file .../sched_<way>.so refused: ", or the whole where it begins with
                           // "plugin sched/"
};

const std::vector<Broken> corpus{
    {"no_entry",
     "it does not export spur_module_v1() as spurtest needs, so it is no Spur plugin or its symbol is hidden; build it "
     "with "
     "spur_add_plugin() or mark the function SPUR_EXPORT"},
    {"epoch_two", "it exports spur_module_v2 and spurtest speaks spur_module_v1; install its release for Spur 1.x"},
    {"null_module", "its spur_module_v1() returned NULL"},
    {"small_module",
     "its spur_module is 4 bytes and spurtest needs at least 24; build the plugin with the headers of Spur 1.0 or "
     "later"},
    {"huge_module", "its spur_module claims to be 1073741824 bytes long; its `size` was not set to sizeof"},
    {"wild_module", "its spur_module lies in memory that cannot be read; build the plugin again with its headers"},
    {"wrong_epoch", "it was built for ABI epoch 7 and spurtest speaks epoch 1; install its release for Spur 1.x"},
    {"no_plugins", "it holds no plugin"},
    {"endless_plugins", "it holds sched/endless_plugins twice"},
    {"small_desc",
     "descriptor 0 is 16 bytes and spurtest needs at least 88; build the plugin with the headers of Spur 1.0 or later"},
    {"huge_desc", "descriptor 0 claims to be 2147483647 bytes long; its `size` was not set to sizeof"},
    {"wild_desc", "descriptor 0 lies in memory that cannot be read; build the plugin again with its headers"},
    {"wild_type", "its `type` is not a terminated string of at most 64 bytes"},
    {"null_vendor", "the `vendor` of sched/null_vendor is NULL; give it a text, \"\" if there is nothing to say"},
    {"endless_summary", "the `summary` of sched/endless_summary is not a terminated string of at most 1024 bytes"},
    {"bad_type", "its type is \"Backfill\", not axis/name in lower case, such as sched/backfill"},
    {"wrong_name", "it holds sched/something, which belongs in sched_something.so; rename the file or its type"},
    {"null_create", "create() of sched/null_create is NULL and required"},
    {"wild_create", "create() of sched/wild_create does not point to code"},
    {"null_interfaces", "sched/null_interfaces lists no interfaces; set `interfaces`, for example to \"spur.sched/1\""},
    {"major_two",
     "plugin sched/major_two refused: it speaks spur.sched/2, this spurtest speaks spur.sched/1; install a release of "
     "the plugin "
     "for Spur 1.x"},
    {"other_axis",
     "plugin sched/other_axis refused: it lists spur.gpu/1 and this spurtest needs spur.sched/1; choose a plugin for "
     "the axis "
     "sched"},
    {"bad_option_kind",
     "option \"depth\" of sched/bad_option_kind is of kind 99, which spurtest does not know; it needs a newer Spur"},
    {"bad_option_key", "option \"Depth!\" of sched/bad_option_key is not named in lower_case_words"},
    {"twice_option", "sched/twice_option declares option \"depth\" twice"},
    {"bad_default", "the default of option \"depth\" of sched/bad_default is no good: \"deep\" is not a whole number"},
    {"small_stride", "sched/small_stride has option_stride 8; set it to sizeof(spur_option), which is 56"},
    {"many_options", "sched/many_options claims 100000 options; the most is 256"},
    {"null_query",
     "plugin sched/null_query refused: it lists spur.sched/1 and its query() answers NULL for it; this spurtest needs "
     "the "
     "table"},
    {"null_op", "plugin sched/null_op refused: plan() of its spur.sched/1 table is NULL and this spurtest requires it"},
    {"short_ops",
     "plugin sched/short_ops refused: its spur.sched/1 table is 8 bytes and ends before plan(), which this spurtest "
     "requires; "
     "build it with the headers of Spur 1.0 or later"},
    {"huge_ops",
     "plugin sched/huge_ops refused: its spur.sched/1 table claims to be 4294967295 bytes long; its `size` was not set "
     "to sizeof"},
    {"wild_ops", "plugin sched/wild_ops refused: its query() answers with a pointer that cannot be read"},
    {"wild_op", "plugin sched/wild_op refused: plan() of its spur.sched/1 table does not point to code"},
    {"create_nothing", "plugin sched/create_nothing refused: its create() succeeded without making an instance"},
    {"undefined_symbol",
     "the dynamic linker says: undefined symbol: nobody_defines_this; link it against all it needs, nothing comes from "
     "the daemon"},
};

class Refusal : public testing::TestWithParam<Broken> {};

TEST_P(Refusal, SaysWhatIsWrong) {
    const std::string way = GetParam().way, sentence = GetParam().sentence;
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(config_with({{"sched", {"sched/" + way}}}));
    ASSERT_FALSE(sched);
    const auto file = std::string{SPUR_TEST_PLUGINS} + "/sched_" + way + ".so";
    EXPECT_EQ(sched.error().text,
              sentence.starts_with("plugin sched/") ? sentence : "plugin file " + file + " refused: " + sentence);
}

INSTANTIATE_TEST_SUITE_P(Host, Refusal, testing::ValuesIn(corpus),
                         [](const auto& broken) { return std::string{broken.param.way}; });

TEST(Host, APluginThatDoesNotExistNamesThePlacesWhereItWasLookedFor) {
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(config_with({{"sched", {"sched/nowhere"}}}));
    ASSERT_FALSE(sched);
    EXPECT_TRUE(sched.error().text.starts_with(
        "plugin sched/nowhere was not found: no sched_nowhere.so in " SPUR_TEST_PLUGINS ", "))
        << sched.error().text;
    EXPECT_TRUE(sched.error().text.ends_with("; install it, or add its directory to [plugins] dirs"))
        << sched.error().text;
}

TEST(Host, AWrongOptionIsRefusedWithItsLine) {
    PluginHost host{test_options()};
    const auto open = [&](std::vector<ConfigOption> options) {
        const auto sched =
            host.open<SchedAxis>(config_with({{"sched", {"sched/actor"}}}, {{"sched/actor", std::move(options)}}));
        return sched ? std::string{"accepted"} : sched.error().text;
    };
    EXPECT_EQ(open({{"depht", std::int64_t{3}, 31}}),
              "plugin sched/actor has no option \"depht\"; did you mean \"depth\"? It knows: act, when, depth, window "
              "(spur.conf:31)");
    EXPECT_EQ(open({{"depth", std::string{"deep"}, 32}}),
              "plugin sched/actor: option depth must be a whole number, not \"deep\" (spur.conf:32)");
    EXPECT_EQ(open({{"when", std::string{"never"}, 33}, {"window", true, 34}}),
              "plugin sched/actor: option when must be one of create|plan|destroy, not \"never\" (spur.conf:33)\n"
              "plugin sched/actor: option window must be a duration such as \"2-00:00:00\" or \"30s\", not true "
              "(spur.conf:34)");
}

TEST(Host, AListIsTriedInItsOrderAndTheLogSaysWhatWasWrongWithTheFirst) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto sched = host.open<SchedAxis>(config_with({{"sched", {"sched/null_op", "sched/actor"}}}));
    ASSERT_TRUE(sched) << sched.error().text;
    EXPECT_EQ(sched->type(), "sched/actor");
    EXPECT_TRUE(log.contains(
        "plan() of its spur.sched/1 table is NULL and this spurtest requires it; sched/actor is used instead"));
}

TEST(Host, AnOptionalAxisIsDoneWithout) {
    log::Capture log;
    PluginHost host{test_options()};
    const auto sched = host.open_optional<SchedAxis>(config_with({{"sched", {"sched/null_op"}}}));
    EXPECT_FALSE(sched);
    EXPECT_TRUE(log.contains("; spurtest goes on without sched"));
    const auto called = sched.call(&spur_sched_ops::plan, nullptr, nullptr, nullptr);
    ASSERT_FALSE(called);
    EXPECT_EQ(called.error().text, "no sched plugin is in force");
}

TEST(Host, CheckReportsEveryPluginThatCannotBeUsed) {
    PluginHost host{test_options()};
    const std::vector<const AxisInfo*> axes{&SchedAxis::info, &GpuAxis::info};
    EXPECT_TRUE(host.check(config_with({{"sched", {"sched/actor"}}, {"gpu", {"gpu/one", "gpu/two"}}}), axes));
    const auto checked =
        host.check(config_with({{"sched", {"sched/null_op"}}, {"gpu", {"gpu/one", "gpu/three"}}}), axes);
    ASSERT_FALSE(checked);
    EXPECT_NE(checked.error().text.find("plan() of its"), std::string::npos);
    EXPECT_NE(checked.error().text.find("\nplugin gpu/three was not found"), std::string::npos) << checked.error().text;
    EXPECT_TRUE(host.list().empty());
}

}  // namespace
}  // namespace spur::host
