// What plugins keep over restarts: whole, bounded, and never half written. Secrets in files.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "daemons/common/host/plugin_store.hpp"
#include "daemons/common/host/secrets.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

namespace fs = std::filesystem;

class Store : public ::testing::Test {
protected:
    fs::path file() const { return PluginStore::place(directory_.path(), "gpu/sim"); }
    // As a new process would find it.
    Result<PluginStore::Values> found() const {
        PluginStore store{file()};
        SPUR_TRY(const auto values, store.values());
        return *values;
    }
    TempDir directory_;
};

TEST_F(Store, KeepsWhatWasPutAndForgetsWhatWasRemoved) {
    PluginStore store{file()};
    EXPECT_TRUE(found()->empty());
    EXPECT_FALSE(fs::exists(file()));  // reading makes nothing
    ASSERT_TRUE(store.change({{"a/b", "one"}, {"empty", ""}, {"bytes", std::string("\0\n\xff", 3)}, {"x", "y"}}));
    ASSERT_TRUE(store.change({{"x", std::nullopt}, {"never", std::nullopt}, {"a/b", "two"}}));
    const PluginStore::Values wanted{{"a/b", "two"}, {"bytes", std::string("\0\n\xff", 3)}, {"empty", ""}};
    EXPECT_EQ(*found(), wanted);
    EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Store, AChangeIsAllOrNothing) {
    PluginStore store{file()};
    ASSERT_TRUE(store.change({{"kept", "1"}}));
    EXPECT_FALSE(store.change({{"kept", "2"}, {"bad key", "3"}}));
    EXPECT_EQ(found()->at("kept"), "1");
    std::ofstream{file().native() + ".new"} << "a crash left this";
    EXPECT_EQ(found()->size(), 1U);
    ASSERT_TRUE(store.change({{"kept", "3"}}));
    EXPECT_EQ(found()->at("kept"), "3");
}

TEST_F(Store, HasItsLimits) {
    PluginStore store{file()};
    for (const auto& key : {std::string{}, std::string(129, 'k'), std::string{"sp ace"}, std::string("nul\0", 4)})
        EXPECT_FALSE(store.change({{key, "v"}})) << key;
    EXPECT_FALSE(store.change({{"v", std::string(65'537, 'v')}}));
    std::vector<PluginStore::Change> many;
    for (int i = 0; i < 1024; ++i) many.push_back({fmt::format("key{}", i), "v"});
    EXPECT_TRUE(store.change(many));
    EXPECT_FALSE(store.change({{"one_more", "v"}}));
    for (int i = 0; i < 15; ++i) EXPECT_TRUE(store.change({{fmt::format("key{}", i), std::string(65'536, 'v')}})) << i;
    EXPECT_FALSE(store.change({{"key15", std::string(65'536, 'v')}}));
}

TEST_F(Store, DamageIsSaidAndNeverOverwritten) {
    ASSERT_TRUE(PluginStore{file()}.change({{"a", "b"}}));
    for (const auto& damage : {std::string{"nonsense"}, std::string{}, [&] {
                                   std::ifstream in{file(), std::ios::binary};
                                   std::string text{std::istreambuf_iterator<char>{in}, {}};
                                   text[15] ^= 1;
                                   return text;
                               }()}) {
        std::ofstream{file(), std::ios::binary | std::ios::trunc} << damage;
        const auto read = found();
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, ErrorCode::corrupt);
        EXPECT_FALSE(PluginStore{file()}.change({{"a", "c"}}));
    }
}

TEST_F(Store, IsOneForAllInstancesOfAType) {
    const auto one = PluginStore::at(file()), other = PluginStore::at(file());
    EXPECT_EQ(one, other);
    ASSERT_TRUE(one->change({{"a", "b"}}));
    EXPECT_EQ((*other->values())->at("a"), "b");
}

class Secrets : public Store {
protected:
    std::string write(const std::string& text, mode_t mode) {
        const auto path = directory_.path().native() + "/secret";
        std::ofstream{path, std::ios::binary | std::ios::trunc} << text;
        chmod(path.c_str(), mode);
        return path;
    }
};

TEST_F(Secrets, AreReadFromFilesThatNobodyElseMayRead) {
    EXPECT_EQ(*read_secret(write("hush\n", 0600), geteuid()), "hush");
    EXPECT_EQ(*read_secret(write("two\nlines\n\n", 0400), geteuid()), "two\nlines\n");
    for (const mode_t mode : {0640, 0604, 0620}) {
        const auto refused = read_secret(write("hush", mode), geteuid());
        ASSERT_FALSE(refused);
        EXPECT_NE(refused.error().text.find("which others may use"), std::string::npos);
    }
    EXPECT_FALSE(read_secret(write(std::string(70'000, 's'), 0600), geteuid()));
    EXPECT_FALSE(read_secret(write(std::string("a\0b", 3), 0600), geteuid()));
    EXPECT_FALSE(read_secret("relative", geteuid()));
    EXPECT_FALSE(read_secret(directory_.path().native(), geteuid()));
    if (geteuid() != 0) return;
    const auto path = write("theirs", 0600);
    ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(read_secret(path, 0));
}

TEST_F(Secrets, AStampChangesWithTheFile) {
    const std::vector<ConfigOption> options{{"password.file", write("one", 0600), 3}};
    const auto before = secret_stamp(options);
    EXPECT_EQ(secret_stamp(options), before);
    write("other", 0600);
    EXPECT_NE(secret_stamp(options), before);
}

}  // namespace
}  // namespace spur::host
