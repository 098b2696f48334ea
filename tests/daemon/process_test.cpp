// Going into the background, being ready, and the state directory.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "daemons/common/daemon/background.hpp"
#include "daemons/common/daemon/state_dir.hpp"

namespace spur::daemon {
namespace {

namespace fs = std::filesystem;

class InTempDir : public testing::Test {
protected:
    InTempDir() {
        std::string name = testing::TempDir() + "spurXXXXXX";
        dir_ = ::mkdtemp(name.data());
    }
    ~InTempDir() override { fs::remove_all(dir_); }
    fs::path dir_;
};

template <class Body>
int status_of_child(const Body& body) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(body());
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}

using StateDirTest = InTempDir;

TEST_F(StateDirTest, IsMadeForItsUserAlone) {
    const auto dir = StateDir::open(dir_ / "a/b");
    ASSERT_TRUE(dir) << dir.error().text;
    struct stat status {};
    ASSERT_EQ(::stat((dir_ / "a/b").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U);
}

TEST_F(StateDirTest, BelongsToOneDaemonAtATime) {
    {
        const auto first = StateDir::open(dir_ / "s");
        ASSERT_TRUE(first);
        const auto second = StateDir::open(dir_ / "s");
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().text, "state directory " + (dir_ / "s").native() + " is in use by process " +
                                           std::to_string(::getpid()) +
                                           "; stop it first, or name another with --state-dir");
    }
    EXPECT_TRUE(StateDir::open(dir_ / "s"));
}

TEST_F(StateDirTest, ThatOthersMayWriteToIsRefused) {
    fs::create_directory(dir_ / "s");
    ::chmod((dir_ / "s").c_str(), 0770);
    const auto dir = StateDir::open(dir_ / "s");
    ASSERT_FALSE(dir);
    EXPECT_NE(dir.error().text.find("is writable by others (mode 0770); run chmod 0700 "), std::string::npos)
        << dir.error().text;
}

TEST_F(StateDirTest, CannotBeAFile) {
    std::ofstream{dir_ / "s"} << "x";
    const auto dir = StateDir::open(dir_ / "s");
    ASSERT_FALSE(dir);
    EXPECT_NE(dir.error().text.find("is not a directory"), std::string::npos);
}

using BackgroundTest = InTempDir;

TEST_F(BackgroundTest, TheStarterEndsWellOnceTheDaemonIsReady) {
    const auto pid_file = dir_ / "pid";
    const int status = status_of_child([&] {
        if (!go_into_background()) return 90;
        // From here on this is the daemon; its starter has become the child that the test waits for.
        if (!ready(pid_file)) return 91;
        stopping();
        return 0;
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    pid_t written = 0;
    std::ifstream{pid_file} >> written;
    EXPECT_GT(written, 0);
    EXPECT_NE(written, ::getpid());
}

TEST_F(BackgroundTest, TheStarterFailsAsTheDaemonDoes) {
    const int status = status_of_child([] {
        if (!go_into_background()) return 90;
        return 42;
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST_F(BackgroundTest, SystemdIsTold) {
    const auto path = (dir_ / "notify").native();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    status_of_child([&] {
        ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
        return ready() ? 0 : 1;
    });
    std::array<char, 128> buffer{};
    const auto got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    ASSERT_GT(got, 0);
    EXPECT_TRUE(std::string_view(buffer.data(), static_cast<std::size_t>(got)).starts_with("READY=1\n"));
    ::close(fd);
}

TEST_F(BackgroundTest, APidFileOfAnotherProcessIsLeftAlone) {
    const auto pid_file = dir_ / "pid";
    std::ofstream{pid_file} << "1\n";
    stopping(pid_file);
    EXPECT_TRUE(fs::exists(pid_file));
    ASSERT_TRUE(ready(pid_file));
    stopping(pid_file);
    EXPECT_FALSE(fs::exists(pid_file));
}

TEST(Complain, GivesTheCodeBackAndNamesTheProgramOnEveryLine) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(complain("spurctld", Error{ErrorCode::invalid, "one\ntwo"}, 64), 64);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "spurctld: error: one\nspurctld: error: two\n");
}

}  // namespace
}  // namespace spur::daemon
