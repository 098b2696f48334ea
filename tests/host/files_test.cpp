// Files that are never opened: not ELF, cut short, or writable by others.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "daemons/common/host/file_check.hpp"
#include "daemons/common/host/search.hpp"
#include "tests/host/fixture.hpp"

namespace spur::host {
namespace {

namespace fs = std::filesystem;

class PluginFileTest : public testing::Test {
protected:
    std::string open(const std::string& type = "sched/actor") {
        PluginHost host{test_options()};
        auto config = config_with({{"sched", {type}}});
        config.plugin_dirs = {dir_.path()};
        const auto sched = host.open<SchedAxis>(config);
        return sched ? "opened" : sched.error().text;
    }
    std::string refused(const std::string& sentence) {
        return "plugin file " + (dir_.path() / "sched_actor.so").native() + " refused: " + sentence;
    }
    TempDir dir_;
};

TEST_F(PluginFileTest, ATextFileIsNoPlugin) {
    const auto file = dir_.path() / "sched_actor.so";
    std::ofstream{file} << "#!/bin/sh\necho hello\n";
    ::chmod(file.c_str(), 0644);
    EXPECT_EQ(
        open(),
        refused("it is not an ELF shared object but begins with \"#!/bin/sh\\x0aecho h\"; install the built plugin"));
    std::ofstream{file};
    EXPECT_EQ(open(), refused("it is not an ELF shared object but empty; install the built plugin"));
}

TEST_F(PluginFileTest, EveryTruncationIsRefusedBeforeItIsMapped) {
    const auto file = dir_.copy("sched_actor.so");
    const auto whole = fs::file_size(file);
    for (const auto part : {std::uintmax_t{20}, std::uintmax_t{63}, whole / 10, whole / 2, whole - 1}) {
        dir_.copy("sched_actor.so");
        fs::resize_file(file, part);
        EXPECT_NE(open().find(" refused: it is cut short"), std::string::npos) << part << ": " << open();
    }
}

TEST_F(PluginFileTest, ObjectsForOtherMachinesAreNamed) {
    const auto file = dir_.copy("sched_actor.so");
    const auto patch = [&](std::streamoff at, char byte) {
        std::fstream stream{file, std::ios::in | std::ios::out | std::ios::binary};
        stream.seekp(at);
        stream.put(byte);
    };
    patch(18, static_cast<char>(0xb7));  // e_machine
    EXPECT_NE(open().find("it is built for aarch64 and this daemon for "), std::string::npos) << open();
    patch(4, 1);  // EI_CLASS
    EXPECT_NE(open().find("it is a 32-bit object"), std::string::npos) << open();
}

TEST_F(PluginFileTest, OneThatWantsExecutableStacksIsRefused) {
    const auto file = dir_.copy("sched_actor.so");
    std::fstream stream{file, std::ios::in | std::ios::out | std::ios::binary};
    Elf64_Ehdr header{};
    stream.read(reinterpret_cast<char*>(&header), sizeof header);
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        const auto at = static_cast<std::streamoff>(header.e_phoff + i * sizeof(Elf64_Phdr));
        Elf64_Phdr segment{};
        stream.seekg(at).read(reinterpret_cast<char*>(&segment), sizeof segment);
        if (segment.p_type != PT_GNU_STACK) continue;
        segment.p_flags |= PF_X;
        stream.seekp(at).write(reinterpret_cast<const char*>(&segment), sizeof segment);
    }
    stream.close();
    EXPECT_EQ(open(),
              refused("it would make the stacks of this daemon executable; link it with -Wl,-z,noexecstack, and "
                      "say .note.GNU-stack in what is written in assembler"));
}

TEST_F(PluginFileTest, ARunPathThroughAPlaceOfOthersIsRefused) {
    const auto file = dir_.copy("sched_astray.so");
    const auto elf = check_elf(file);
    ASSERT_TRUE(elf) << elf.error().text;
    EXPECT_EQ(elf->runpath, "/tmp/spur-nobody/lib");
    EXPECT_EQ(open("sched/astray"),
              "plugin file " + file.native() +
                  " refused: its directory /tmp is writable by everyone (mode 1777); run chmod go-w /tmp, or link it "
                  "without the run path \"/tmp/spur-nobody/lib\"");
    for (const auto* const good : {"", "$ORIGIN", "${ORIGIN}/lib", "/usr/lib:/usr/lib64/$PLATFORM"})
        EXPECT_TRUE(check_runpath(file, good, ::geteuid())) << good;
    for (const auto* const bad : {"lib", "/usr/lib:", ".", "/usr/lib:/tmp"})
        EXPECT_FALSE(check_runpath(file, bad, ::geteuid())) << bad;
}

TEST_F(PluginFileTest, OneThatIsReplacedWhileItIsLoadedIsRefused) {
    const auto file = dir_.copy("sched_swap_on_load.so");
    dir_.copy("sched_actor.so", "sched_swap_on_load.so.new");
    EXPECT_EQ(open("sched/swap_on_load"),
              "plugin file " + file.native() + " refused: it was replaced while it was being loaded; try again");
}

TEST_F(PluginFileTest, AProgramIsNoPlugin) {
    const auto file = dir_.path() / "sched_actor.so";
    fs::copy_file("/proc/self/exe", file);
    ::chmod(file.c_str(), 0755);
    EXPECT_EQ(open(), refused("it is a program, not a shared object; link it with -shared"));
}

TEST_F(PluginFileTest, ADirectoryIsNoPlugin) {
    fs::create_directory(dir_.path() / "sched_actor.so");
    EXPECT_EQ(open(), refused("it is not a regular file"));
}

TEST_F(PluginFileTest, AFileThatOthersMayWriteIsRefused) {
    const auto file = dir_.copy("sched_actor.so");
    ::chmod(file.c_str(), 0666);
    EXPECT_EQ(open(), refused("it is writable by everyone (mode 0666); run chmod go-w " + file.native()));
    ::chmod(file.c_str(), 0664);
    EXPECT_EQ(open(), refused("it is writable by its group (mode 0664); run chmod go-w " + file.native()));
}

TEST_F(PluginFileTest, ADirectoryThatOthersMayWriteIsRefused) {
    dir_.copy("sched_actor.so");
    ::chmod(dir_.path().c_str(), 0777);
    const auto text = open();
    ::chmod(dir_.path().c_str(), 0700);
    EXPECT_EQ(text, refused("its directory " + dir_.path().native() +
                            " is writable by everyone (mode 0777); run chmod go-w " + dir_.path().native()));
}

TEST_F(PluginFileTest, ALinkIsJudgedByWhatItLeadsTo) {
    const TempDir elsewhere;
    const auto target = elsewhere.copy("sched_actor.so");
    fs::create_symlink(target, dir_.path() / "sched_actor.so");
    EXPECT_EQ(open(), "opened");
    ::chmod(target.c_str(), 0666);
    EXPECT_EQ(open(), refused("its target " + target.native() +
                              " is writable by everyone (mode 0666); run chmod go-w " + target.native()));
    fs::remove(target);
    EXPECT_EQ(open(), refused(target.native() + " does not exist"));
}

TEST_F(PluginFileTest, AFileOfSomebodyElseIsRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    const auto file = dir_.copy("sched_actor.so");
    ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
    EXPECT_EQ(
        open(),
        refused(
            "it belongs to uid 12345, and only root and uid 0, which runs this daemon, are trusted; run chown root " +
            file.native()));
}

TEST_F(PluginFileTest, OfTwoDirectoriesTheFirstWinsAndTheOtherIsMentioned) {
    log::Capture log;
    const auto file = dir_.copy("sched_actor.so");
    PluginHost host{test_options()};
    auto config = config_with({{"sched", {"sched/actor"}}});
    config.plugin_dirs = {dir_.path(), SPUR_TEST_PLUGINS};
    ASSERT_TRUE(host.open<SchedAxis>(config));
    EXPECT_EQ(host.list().at(0).path, file);
    EXPECT_TRUE(log.contains("plugin sched/actor is in two directories: " + file.native() +
                             " is used and " SPUR_TEST_PLUGINS
                             "/sched_actor.so is not; the order of [plugins] dirs decides"));
}

TEST(Search, TypesAndFileNamesBelongTogether) {
    EXPECT_EQ(plugin_file_name("sched/backfill"), "sched_backfill.so");
    EXPECT_TRUE(is_plugin_type("gpu/rocm"));
    for (const auto* const bad : {"sched", "sched/", "/x", "Sched/x", "sched/x/y", "sched/..", "sched/x.so", "../x/y"})
        EXPECT_FALSE(is_plugin_type(bad)) << bad;
}

TEST_F(PluginFileTest, ADirectoryFurtherUpThatOthersMayWriteIsRefused) {
    const auto middle = dir_.path() / "a";
    fs::create_directories(middle / "b" / "c");
    const auto file = middle / "b" / "c" / "sched_actor.so";
    std::ofstream{file} << "x";
    for (const auto& path : {file, middle / "b" / "c", middle / "b", middle}) ::chmod(path.c_str(), 0755);
    EXPECT_TRUE(check_owner(file, ::geteuid()));
    ::chmod(middle.c_str(), 0777);
    const auto open_to_all = check_owner(file, ::geteuid());
    ASSERT_FALSE(open_to_all) << "whoever can rename b can put another b in its place";
    EXPECT_NE(open_to_all.error().text.find("its directory " + middle.native() + " is writable by everyone"),
              std::string::npos)
        << open_to_all.error().text;
    ::chmod(middle.c_str(), 01777);
    EXPECT_TRUE(check_owner(file, ::geteuid())) << "as in /tmp, nobody else can rename what is ours";
}

TEST_F(PluginFileTest, WhereALinkedDirectoryReallyIsCountsToo) {
    const auto real = dir_.path() / "real";
    fs::create_directories(real / "inner");
    std::ofstream{real / "inner" / "sched_actor.so"} << "x";
    ::chmod((real / "inner" / "sched_actor.so").c_str(), 0644);
    ::chmod((real / "inner").c_str(), 0755);
    fs::create_directory_symlink(real / "inner", dir_.path() / "link");
    const auto file = dir_.path() / "link" / "sched_actor.so";
    ::chmod(real.c_str(), 0755);
    EXPECT_TRUE(check_owner(file, ::geteuid()));
    ::chmod(real.c_str(), 0777);
    EXPECT_FALSE(check_owner(file, ::geteuid()));
}

}  // namespace
}  // namespace spur::host
