// The file itself: who may have written it, and what a missing one says.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "daemons/common/config/config.hpp"

namespace spur::config {
namespace {

class ConfigFile : public testing::Test {
protected:
    ConfigFile() {
        std::string name = testing::TempDir() + "spurXXXXXX";
        dir_ = ::mkdtemp(name.data());
        path_ = dir_ / "spur.conf";
        std::ofstream{path_} << "cluster_name = \"filed\"\n";
        ::chmod(path_.c_str(), 0644);
    }
    ~ConfigFile() override { std::filesystem::remove_all(dir_); }
    std::filesystem::path dir_, path_;
};

TEST_F(ConfigFile, IsReadWhenNobodyElseMayWriteIt) {
    const auto config = load_config({path_, true});
    ASSERT_TRUE(config) << config.error().text;
    EXPECT_EQ(config->cluster.cluster_name, "filed");
    EXPECT_EQ(config->path, path_);
}

TEST_F(ConfigFile, IsRefusedWhenEveryoneMayWriteIt) {
    ::chmod(path_.c_str(), 0666);
    const auto config = load_config({path_, true});
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().text, "configuration " + path_.native() +
                                       " refused: it is writable by everyone (mode 0666); run chmod go-w " +
                                       path_.native());
    EXPECT_TRUE(load_config({path_, false}));
}

TEST_F(ConfigFile, IsRefusedByRootWhenItsGroupMayWriteIt) {
    ::chmod(path_.c_str(), 0664);
    EXPECT_EQ(load_config({path_, true}).has_value(), ::geteuid() != 0);
}

TEST_F(ConfigFile, IsRefusedByRootWhenSomebodyElseOwnsIt) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    ASSERT_EQ(::chown(path_.c_str(), 12345, 12345), 0);
    const auto config = load_config({path_, true});
    ASSERT_FALSE(config);
    EXPECT_NE(config.error().text.find("belongs to uid 12345"), std::string::npos) << config.error().text;
}

TEST_F(ConfigFile, ThatIsMissingIsNamed) {
    const auto config = load_config({dir_ / "none.conf", true});
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, ErrorCode::not_found);
    EXPECT_EQ(config.error().text,
              "configuration " + (dir_ / "none.conf").native() + " cannot be opened: No such file or directory");
}

TEST_F(ConfigFile, MistakesNameThePathThatWasGiven) {
    std::ofstream{path_} << "\nfoo = 1\n";
    const auto config = load_config({path_, true});
    ASSERT_FALSE(config);
    EXPECT_NE(config.error().text.find("(" + path_.native() + ":2)"), std::string::npos) << config.error().text;
}

}  // namespace
}  // namespace spur::config
