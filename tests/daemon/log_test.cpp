// Log lines: levels, files, JSON, and rotation.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "daemons/common/log/batch.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/common/log/throttle.hpp"

namespace spur::log {
namespace {

class LogFile : public testing::Test {
protected:
    LogFile() {
        std::string name = testing::TempDir() + "spurXXXXXX";
        dir_ = ::mkdtemp(name.data());
        file_ = dir_ / "log";
    }
    ~LogFile() override {
        use(nullptr);
        set_level(Level::info);
        std::filesystem::remove_all(dir_);
    }
    static std::string contents(const std::filesystem::path& file) {
        std::ifstream in{file};
        return {std::istreambuf_iterator<char>{in}, {}};
    }
    Result<void> begin(Level level = Level::info, bool json = false) {
        return start({"spurtest", level, file_, false, json});
    }
    std::filesystem::path dir_, file_;
};

TEST_F(LogFile, NothingThatIsLoggedCanForgeALine) {
    ASSERT_TRUE(begin());
    warning("entry {} refused", "A=\n2026-01-01 error: forged\x1b[2J");
    warning("{}", std::string(1 << 20, 'x'));
    flush();
    const auto text = contents(file_);
    EXPECT_EQ(std::ranges::count(text, '\n'), 2);
    EXPECT_NE(text.find("A=\\n2026-01-01 error: forged\\x1b[2J"), std::string::npos) << text;
    EXPECT_LT(text.size(), 10'000u);
}

TEST_F(LogFile, ManyLinesAtOnceLookLikeManyLines) {
    for (const bool json : {false, true}) {
        std::filesystem::remove(file_);
        ASSERT_TRUE(begin(Level::info, json));
        write_all(Level::info, {"one", "two\nforged", "three \"quoted\""});
        write_all(Level::debug, {"unheard"});
        info("four");
        flush();
        std::vector<std::string> seen;
        std::ifstream in{file_};
        for (std::string line; std::getline(in, line);) seen.push_back(line);
        ASSERT_EQ(seen.size(), 4u) << contents(file_);
        const auto begins = json ? std::string{"{\"time\":\"20"} : std::string{"20"};
        for (const auto& line : seen) EXPECT_TRUE(line.starts_with(begins)) << line;
        EXPECT_NE(seen[1].find(json ? "\"text\":\"two\\\\nforged\"}" : " spurtest: info: two\\nforged"),
                  std::string::npos)
            << seen[1];
        EXPECT_NE(seen[2].find(json ? "three \\\"quoted\\\"\"}" : "three \"quoted\""), std::string::npos) << seen[2];
        EXPECT_TRUE(seen[3].ends_with(json ? "four\"}" : " four")) << seen[3];
    }
}

TEST(LogThrottle, ManyLinesOfAKindBecomeANumber) {
    Capture lines;
    Throttle throttle{3, std::chrono::hours{1}}, open{3, std::chrono::seconds{0}};
    for (int i = 0; i < 100; ++i) throttle.warning("refused");
    EXPECT_EQ(lines.count("refused"), 3u);
    for (int i = 0; i < 10; ++i) open.warning("allowed");
    EXPECT_EQ(lines.count("allowed"), 10u);
}

TEST_F(LogFile, HasTimeProgramLevelAndText) {
    ASSERT_TRUE(begin());
    warning("node {} is {}", "n1", "gone");
    const auto text = contents(file_);
    EXPECT_TRUE(text.ends_with(" spurtest: warning: node n1 is gone\n")) << text;
    struct stat status {};
    ASSERT_EQ(::stat(file_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0007U, 0U) << "others may not read it";
}

TEST_F(LogFile, KeepsOnlyWhatTheLevelAllows) {
    ASSERT_TRUE(begin(Level::warning));
    info("not this");
    debug("nor this");
    error("this");
    EXPECT_EQ(contents(file_).find("not"), std::string::npos);
    EXPECT_NE(contents(file_).find("error: this"), std::string::npos);
}

TEST_F(LogFile, CanBeJson) {
    ASSERT_TRUE(begin(Level::info, true));
    info("a \"quoted\" \\ text");
    const auto text = contents(file_);
    EXPECT_NE(text.find(R"("program":"spurtest","level":"info","text":"a \"quoted\" \\ text"})"), std::string::npos)
        << text;
}

TEST_F(LogFile, IsReopenedAfterItWasRenamed) {
    ASSERT_TRUE(begin());
    info("before");
    std::filesystem::rename(file_, dir_ / "log.1");
    info("between");
    reopen();
    info("after");
    EXPECT_NE(contents(dir_ / "log.1").find("between"), std::string::npos);
    EXPECT_EQ(contents(dir_ / "log.1").find("after"), std::string::npos);
    EXPECT_NE(contents(file_).find("after"), std::string::npos);
}

TEST_F(LogFile, ThatCannotBeOpenedIsAnErrorAndChangesNothing) {
    file_ = dir_ / "none/log";
    const auto started = begin();
    ASSERT_FALSE(started);
    EXPECT_TRUE(started.error().text.starts_with("log file " + file_.native() + " cannot be opened: "))
        << started.error().text;
}

TEST(LogLevel, UnderstandsSlurmsNamesToo) {
    EXPECT_EQ(find_level("Info"), Level::info);
    EXPECT_EQ(find_level("verbose"), Level::info);
    EXPECT_EQ(find_level("debug3"), Level::trace);
    EXPECT_EQ(find_level("quiet"), Level::error);
    EXPECT_EQ(find_level("loud"), std::nullopt);
}

}  // namespace
}  // namespace spur::log
