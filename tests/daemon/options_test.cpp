// The command line of a daemon, and versions.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "daemons/common/daemon/options.hpp"
#include "daemons/common/daemon/update.hpp"

namespace spur::daemon {
namespace {

const std::vector<OwnOption> own{{"node-name", 'N', "NAME", "the name of this node"},
                                 {"print", 'C', "", "print the hardware"}};

Result<DaemonOptions> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "spurd");
    return DaemonOptions::parse("spurd", static_cast<int>(words.size()), words.data(), own);
}

std::string mistake(std::vector<const char*> words) {
    const auto options = parse(std::move(words));
    return options ? "none" : options.error().text;
}

TEST(DaemonOptions, LettersAndNamesMeanTheSame) {
    const auto letters = parse({"-D", "-f", "/a.conf", "-vv", "-t", "-L/log"});
    const auto names =
        parse({"--foreground", "--config=/a.conf", "--verbose", "--verbose", "--test", "--log-file", "/log"});
    ASSERT_TRUE(letters && names);
    for (const auto& options : {*letters, *names}) {
        EXPECT_TRUE(options.foreground && options.test_only);
        EXPECT_EQ(options.config_path, "/a.conf");
        EXPECT_EQ(options.verbosity, 2U);
        EXPECT_EQ(options.log_file, "/log");
    }
}

TEST(DaemonOptions, ADaemonsOwnOptionsAreFoundByName) {
    const auto options = parse({"-Nn1", "-DC", "--state-dir=/s", "--listen", ":0"});
    ASSERT_TRUE(options) << options.error().text;
    EXPECT_EQ(options->get("node-name"), "n1");
    EXPECT_TRUE(options->has("print"));
    EXPECT_TRUE(options->foreground);
    EXPECT_EQ(options->state_dir, "/s");
    EXPECT_EQ(options->listen, ":0");
    EXPECT_EQ(options->get("absent", "x"), "x");
}

TEST(DaemonOptions, FilesAreMeantFromWhereTheDaemonWasStarted) {
    const auto options = parse({"-f", "here.conf", "--pid-file=pid", "-dstate", "--listen", "here:1"});
    ASSERT_TRUE(options) << options.error().text;
    const auto here = std::filesystem::current_path();
    EXPECT_EQ(options->config_path, (here / "here.conf").native());
    EXPECT_EQ(options->pid_file, (here / "pid").native());
    EXPECT_EQ(options->state_dir, (here / "state").native());
    EXPECT_EQ(options->listen, "here:1");
}

TEST(DaemonOptions, MistakesAreSentences) {
    EXPECT_EQ(mistake({"--foregroun"}), "there is no option --foregroun; did you mean \"foreground\"?; try spurd -h");
    EXPECT_EQ(mistake({"-x"}), "there is no option -x; try spurd -h");
    EXPECT_EQ(mistake({"-f"}), "-f needs FILE; try spurd -h");
    EXPECT_EQ(mistake({"--test=1"}), "--test takes no value; try spurd -h");
    EXPECT_EQ(mistake({"file"}), "it takes no arguments, and \"file\" is one; try spurd -h");
}

TEST(DaemonOptions, EachVRaisesTheConfiguredLevelByOne) {
    EXPECT_EQ(parse({})->level("info"), log::Level::info);
    EXPECT_EQ(parse({"-v"})->level("info"), log::Level::debug);
    EXPECT_EQ(parse({"-v"})->level("warning"), log::Level::info);
    EXPECT_EQ(parse({"-vvvvv"})->level("info"), log::Level::trace);
}

TEST(DaemonOptions, HelpShowsEveryOption) {
    const auto text = usage("spurd", "the node agent", own, "Signals: TERM stops it.");
    for (const auto* const part : {"-D, --foreground", "-N, --node-name=NAME", "    --listen=HOST:PORT",
                                   "the name of this node", "\nSignals: TERM stops it.\n"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Update, VersionsAreComparedByNumber) {
    EXPECT_TRUE(is_newer("1.10.0", "1.9.3"));
    EXPECT_TRUE(is_newer("2.0", "1.99.99"));
    EXPECT_FALSE(is_newer("1.0.0", "1.0"));
    EXPECT_FALSE(is_newer("garbage", "1.0"));
}

TEST(Update, TheFeedNamesTheNewestOfItsChannel) {
    const auto feed = testing::TempDir() + "spur-feed-" + std::to_string(::getpid());
    std::ofstream{feed} << "stable 1.2.0\nnightly 3.0.0\nstable 1.4.1\nrubbish\n";
    UpdateConfig config;
    config.check_on_startup = true;
    config.feed = feed;
    EXPECT_EQ(find_update(config, "1.0.0").value(), "1.4.1");
    EXPECT_EQ(find_update(config, "1.4.1").value(), std::nullopt);
    config.feed = feed + ".none";
    EXPECT_FALSE(find_update(config, "1.0.0"));
    std::remove(feed.c_str());
}

}  // namespace
}  // namespace spur::daemon
