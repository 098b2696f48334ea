// What may be written for each kind of option, and what the plugin is given.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "daemons/common/host/options.hpp"

namespace spur::host {
namespace {

OptionInfo option(std::string key, std::uint32_t kind, std::string fallback = "") {
    OptionInfo info;
    info.key = std::move(key);
    info.kind = kind;
    info.has_fallback = !fallback.empty();
    info.fallback = std::move(fallback);
    return info;
}

struct Given {
    PluginConfig config;
    spur_config view;
    const spur_config_value& at(std::uint32_t index) const { return *SPUR_AT(spur_config_value, view.values, index); }
};

Result<Given> give(std::vector<OptionInfo> declared, const std::vector<ConfigOption>& written) {
    DescriptorInfo plugin;
    plugin.type = "sched/x";
    plugin.options = std::move(declared);
    SPUR_TRY(auto config, PluginConfig::make(plugin, written, "spur.conf"));
    Given given{std::move(config), {}};
    given.view = given.config.view();
    return given;
}

std::string mistake(OptionInfo declared, ConfigValue written) {
    const auto key = declared.key;
    const auto given = give({std::move(declared)}, {{key, std::move(written), 5}});
    return given ? "none" : given.error().text;
}

TEST(PluginOptions, EveryDeclaredOptionHasAValueInTheOrderOfTheDeclaration) {
    const auto given = give({option("text", SPUR_OPTION_STRING, "abc"), option("number", SPUR_OPTION_INT, "-7"),
                             option("real", SPUR_OPTION_FLOAT, "0.5"), option("yes", SPUR_OPTION_BOOL, "true"),
                             option("time", SPUR_OPTION_DURATION, "1:30"), option("size", SPUR_OPTION_SIZE, "2G"),
                             option("names", SPUR_OPTION_LIST, "a, b"), option("empty", SPUR_OPTION_STRING)},
                            {});
    ASSERT_TRUE(given) << given.error().text;
    ASSERT_EQ(given->view.values.count, 8U);
    EXPECT_STREQ(given->at(0).text, "abc");
    EXPECT_EQ(given->at(1).integer, -7);
    EXPECT_DOUBLE_EQ(given->at(2).real, 0.5);
    EXPECT_EQ(given->at(3).integer, 1);
    EXPECT_EQ(given->at(4).integer, 90);
    EXPECT_EQ(given->at(5).integer, std::int64_t{2} << 30);
    ASSERT_EQ(given->at(6).list_count, 2U);
    EXPECT_STREQ(given->at(6).list[1], "b");
    EXPECT_STREQ(given->at(7).text, "");
    for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(given->at(i).is_default, 1U);
}

TEST(PluginOptions, WhatIsWrittenTakesTheDefaultsPlaceAndKeepsItsLine) {
    const auto given = give({option("number", SPUR_OPTION_INT, "1"), option("names", SPUR_OPTION_LIST)},
                            {{"names", std::vector<std::string>{"x", "y", "z"}, 8}, {"number", std::int64_t{5}, 7}});
    ASSERT_TRUE(given);
    EXPECT_EQ(given->at(0).integer, 5);
    EXPECT_EQ(given->at(0).line, 7U);
    EXPECT_EQ(given->at(0).is_default, 0U);
    EXPECT_EQ(given->at(1).list_count, 3U);
}

TEST(PluginOptions, DurationsAreSeconds) {
    EXPECT_EQ(parse_option_duration("2-00:00:00"), 172'800);
    EXPECT_EQ(parse_option_duration("90"), 5'400);
    EXPECT_EQ(parse_option_duration("30s"), 30);
    EXPECT_EQ(parse_option_duration("1h30m"), 5'400);
    EXPECT_EQ(parse_option_duration("2w"), 1'209'600);
    EXPECT_EQ(parse_option_duration("unlimited"), std::numeric_limits<std::int64_t>::max());
    for (const auto* const bad : {"", "soon", "30x", "s", "1h30", "99999999999999999999s", "-5s"})
        EXPECT_FALSE(parse_option_duration(bad)) << bad;
}

TEST(PluginOptions, SizesAreBytes) {
    EXPECT_EQ(parse_option_size("512M"), std::int64_t{512} << 20);
    EXPECT_EQ(parse_option_size("1.5GiB"), std::int64_t{3} << 29);
    EXPECT_EQ(parse_option_size("4096"), 4096);
    EXPECT_EQ(parse_option_size("10kb"), 10'240);
    for (const auto* const bad : {"", "M", "5X", "-1G", "1e400", "nan", "999999999P"})
        EXPECT_FALSE(parse_option_size(bad)) << bad;
}

TEST(PluginOptions, AValueOfTheWrongKindIsNamed) {
    EXPECT_EQ(mistake(option("a", SPUR_OPTION_INT, "1"), std::string{"x"}),
              "plugin sched/x: option a must be a whole number, not \"x\" (spur.conf:5)");
    EXPECT_EQ(mistake(option("a", SPUR_OPTION_BOOL), std::int64_t{1}),
              "plugin sched/x: option a must be true or false, not 1 (spur.conf:5)");
    EXPECT_EQ(mistake(option("a", SPUR_OPTION_PATH), std::string{"relative"}),
              "plugin sched/x: option a must be an absolute path, and \"relative\" is not (spur.conf:5)");
    EXPECT_EQ(mistake(option("a", SPUR_OPTION_LIST), 1.5),
              "plugin sched/x: option a must be a list of texts, not 1.5 (spur.conf:5)");
    auto choice = option("a", SPUR_OPTION_CHOICE);
    choice.choices = "easy|conservative";
    EXPECT_EQ(mistake(choice, std::string{"eazy"}),
              "plugin sched/x: option a must be one of easy|conservative, not \"eazy\"; did you mean \"easy\"? "
              "(spur.conf:5)");
    auto bounded = option("a", SPUR_OPTION_INT, "5");
    bounded.minimum = 1;
    bounded.maximum = 10;
    EXPECT_EQ(mistake(bounded, std::int64_t{11}),
              "plugin sched/x: option a must lie between 1 and 10, and 11 does not (spur.conf:5)");
}

TEST(PluginOptions, ASecretIsNeverShown) {
    EXPECT_EQ(mistake(option("a", SPUR_OPTION_SECRET), std::int64_t{1234}),
              "plugin sched/x: option a must be a text in quotes, not this (spur.conf:5)");
}

TEST(PluginOptions, ASecretMayStandInAFileOfItsOwnAndNothingElseMay) {
    const std::string path = testing::TempDir() + "spur-secret";
    std::ofstream{path} << "hush\n";
    ::chmod(path.c_str(), 0600);
    const auto given = give({option("password", SPUR_OPTION_SECRET)}, {{"password.file", path, 5}});
    ASSERT_TRUE(given) << given.error().text;
    EXPECT_STREQ(given->at(0).text, "hush");
    EXPECT_EQ(given->at(0).is_default, 0U);
    ::chmod(path.c_str(), 0644);
    const auto refused = give({option("password", SPUR_OPTION_SECRET)}, {{"password.file", path, 5}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "plugin sched/x: option password stands in " + path +
                                        ", which others may use (mode 0644): chmod 600 " + path + " (spur.conf:5)");
    const auto plain = give({option("depth", SPUR_OPTION_INT, "1")}, {{"depth.file", path, 5}});
    ASSERT_FALSE(plain);
    EXPECT_EQ(plain.error().text,
              "plugin sched/x: option depth is no secret: write its value here, and not the name of a file "
              "(spur.conf:5)");
    std::filesystem::remove(path);
}

TEST(PluginOptions, ARequiredOptionMustBeGiven) {
    auto needed = option("url", SPUR_OPTION_STRING);
    needed.flags = SPUR_OPTION_REQUIRED;
    const auto given = give({needed}, {});
    ASSERT_FALSE(given);
    EXPECT_EQ(given.error().text,
              "plugin sched/x needs its option \"url\": add it to [plugin.\"sched/x\"] in spur.conf");
}

}  // namespace
}  // namespace spur::host
