// What tasks use, read from a /proc of our own making.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "daemons/spurstepd/process_tree.hpp"
#include "daemons/spurstepd/usage_meter.hpp"

namespace spur::step {
namespace {

namespace fs = std::filesystem;

constexpr pid_t daemon_pid = 100;

struct Process {
    pid_t pid{}, parent{}, group{};
    std::uint64_t cpu_ticks{}, rss_pages{}, vm_bytes{}, faults{}, read{}, written{};
    std::uint64_t start_ticks{7};
};

class FakeProc : public ::testing::Test {
protected:
    FakeProc() { fs::create_directories(root); }
    ~FakeProc() override { fs::remove_all(root); }

    void put(const Process& process) const {
        const auto place = root / std::to_string(process.pid);
        fs::create_directories(place);
        std::ofstream{place / "stat"} << process.pid << " (a (name) 1) S " << process.parent << ' ' << process.group
                                      << " 1 0 -1 4194304 11 12 " << process.faults << " 0 " << process.cpu_ticks
                                      << " 0 0 0 20 0 1 0 " << process.start_ticks << ' ' << process.vm_bytes << ' '
                                      << process.rss_pages << " 18446744073709551615 1 1 0\n";
        std::ofstream{place / "io"} << "rchar: " << process.read << "\nwchar: " << process.written
                                    << "\nsyscr: 1\nsyscw: 1\nread_bytes: 0\nwrite_bytes: 0\n";
    }
    void remove(pid_t pid) const { fs::remove_all(root / std::to_string(pid)); }
    std::uint64_t value(std::size_t task, Measured what) const {
        return meter.tasks().at(task).values.at(static_cast<std::size_t>(what));
    }

    fs::path root{fs::temp_directory_path() / ("spur-proc-" + std::to_string(getpid()))};
    UsageMeter meter{root.string()};
    const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t tick_us = 1'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
};

TEST_F(FakeProc, ALineOfStatIsReadWhateverTheProcessIsCalled) {
    put({.pid = 12, .parent = 7, .group = 9, .cpu_ticks = 5, .rss_pages = 3, .vm_bytes = 4096, .faults = 2});
    const auto found = parse_stat(read_proc((root / "12/stat").string()));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->pid, 12);
    EXPECT_EQ(found->parent, 7);
    EXPECT_EQ(found->group, 9);
    EXPECT_EQ(found->cpu_ticks, 5U);
    EXPECT_EQ(found->major_faults, 2U);
    EXPECT_EQ(found->start_ticks, 7U);
    EXPECT_EQ(found->vm_bytes, 4096U);
    EXPECT_EQ(found->rss_pages, 3U);
    for (const auto* line : {"", "12", "12 (x", "12 (x)", "12 (x) S", "12 (x) S 1 2", "x (y) S 1 1 1"})
        EXPECT_FALSE(parse_stat(line)) << line;
}

TEST_F(FakeProc, ATaskIsItsProcessAndAllBelowIt) {
    put({.pid = 200, .parent = daemon_pid, .group = 200, .cpu_ticks = 3, .rss_pages = 10, .vm_bytes = 1000, .read = 5});
    put({.pid = 201, .parent = 200, .group = 200, .cpu_ticks = 4, .rss_pages = 20, .vm_bytes = 2000, .faults = 6});
    put({.pid = 202, .parent = 201, .group = 202, .cpu_ticks = 1, .rss_pages = 1, .vm_bytes = 10, .written = 7});
    put({.pid = 300, .parent = daemon_pid, .group = 300, .rss_pages = 5, .vm_bytes = 1});
    put({.pid = 400, .parent = 1, .group = 400, .rss_pages = 1000});
    put({.pid = 500, .parent = daemon_pid, .group = 500, .rss_pages = 1000});
    meter.add(3, 200);
    meter.add(4, 300);
    meter.sample(daemon_pid);
    EXPECT_EQ(meter.tasks().at(0).task, 3U);
    EXPECT_EQ(value(0, Measured::cpu_us), 8 * tick_us);
    EXPECT_EQ(value(0, Measured::rss_bytes), 31 * page);
    EXPECT_EQ(value(0, Measured::vm_bytes), 3010U);
    EXPECT_EQ(value(0, Measured::pages), 6U);
    EXPECT_EQ(value(0, Measured::read_bytes), 5U);
    EXPECT_EQ(value(0, Measured::write_bytes), 7U);
    EXPECT_EQ(value(1, Measured::rss_bytes), 5 * page);
    EXPECT_EQ(meter.resident_bytes(), 36 * page) << "neither somebody else's process nor what is no task's counts";
    EXPECT_EQ(meter.pids().size(), 4U);
}

TEST_F(FakeProc, WhatRisesAndFallsIsKeptAtItsMost) {
    put({.pid = 200, .parent = daemon_pid, .group = 200, .cpu_ticks = 1, .rss_pages = 100, .vm_bytes = 900});
    meter.add(0, 200);
    meter.sample(daemon_pid);
    put({.pid = 200, .parent = daemon_pid, .group = 200, .cpu_ticks = 9, .rss_pages = 10, .vm_bytes = 100});
    meter.sample(daemon_pid);
    EXPECT_EQ(value(0, Measured::rss_bytes), 100 * page);
    EXPECT_EQ(value(0, Measured::vm_bytes), 900U);
    EXPECT_EQ(value(0, Measured::cpu_us), 9 * tick_us);
    EXPECT_EQ(meter.resident_bytes(), 10 * page) << "what it has now";
}

TEST_F(FakeProc, AProcessThatForksAwayStaysItsTasks) {
    put({.pid = 200, .parent = daemon_pid, .group = 200, .rss_pages = 1});
    put({.pid = 201, .parent = 200, .group = 999, .rss_pages = 2});
    meter.add(0, 200);
    meter.sample(daemon_pid);
    put({.pid = 201, .parent = daemon_pid, .group = 999, .rss_pages = 50});  // its parent has gone
    meter.sample(daemon_pid);
    EXPECT_EQ(value(0, Measured::rss_bytes), 51 * page);
    put({.pid = 201, .parent = daemon_pid, .group = 999, .rss_pages = 500, .start_ticks = 70});
    meter.sample(daemon_pid);
    EXPECT_EQ(meter.resident_bytes(), page) << "another process has its number now";
}

TEST_F(FakeProc, ChildrenThatTheKernelListsAreNotLookedForAmongAll) {
    put({.pid = daemon_pid, .parent = 1, .group = 1});
    put({.pid = 200, .parent = daemon_pid, .group = 200, .rss_pages = 4});
    put({.pid = 201, .parent = daemon_pid, .group = 200, .rss_pages = 8});  // not in the list: just born
    for (const auto& [pid, children] : {std::pair{"100", "200 "}, std::pair{"200", ""}}) {
        fs::create_directories(root / pid / "task" / pid);
        std::ofstream{root / pid / "task" / pid / "children"} << children;
    }
    meter.add(0, 200);
    meter.sample(daemon_pid);
    EXPECT_EQ(value(0, Measured::rss_bytes), 4 * page);
}

TEST_F(FakeProc, ATaskThatNobodyLookedAtHasTheKernelsNumbers) {
    put({.pid = 200, .parent = daemon_pid, .group = 200, .read = 11, .written = 12});
    meter.add(0, 200);
    meter.read_last(200);
    remove(200);
    rusage whole{};
    whole.ru_utime = {1, 500'000};
    whole.ru_stime = {0, 250'000};
    whole.ru_maxrss = 2048;
    whole.ru_majflt = 3;
    meter.end(200, whole);
    EXPECT_EQ(value(0, Measured::cpu_us), 1'750'000U);
    EXPECT_EQ(value(0, Measured::rss_bytes), 2048U * 1024);
    EXPECT_EQ(value(0, Measured::vm_bytes), 2048U * 1024) << "at least what was resident";
    EXPECT_EQ(value(0, Measured::pages), 3U);
    EXPECT_EQ(value(0, Measured::read_bytes), 11U);
    EXPECT_EQ(value(0, Measured::write_bytes), 12U);
    meter.end(200, rusage{.ru_utime = {100, 0}});
    EXPECT_EQ(value(0, Measured::cpu_us), 1'750'000U) << "a later process with its number is not it";
}

}  // namespace
}  // namespace spur::step
