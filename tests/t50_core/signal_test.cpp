// Signals, --signal and exit codes.
#include "core/slurm/signal.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace spur {
namespace {

TEST(T50Signal, NamesAndNumbersAreRead) {
    for (const auto* text : {"USR1", "SIGUSR1", "usr1", "sigusr1", "10"})
        EXPECT_EQ(parse_signal(text), SIGUSR1) << text;
    EXPECT_EQ(parse_signal("64"), 64);
    EXPECT_EQ(parse_signal("X").error().text, "Unknown job signal: X");
    for (const auto* text : {"", "0", "65", "-1", "SIG", "10x"}) EXPECT_FALSE(parse_signal(text)) << text;
}

TEST(T50Signal, NamesArePrinted) {
    EXPECT_EQ(signal_name(SIGTERM), "TERM");
    EXPECT_EQ(signal_name(SIGABRT), "ABRT");
    EXPECT_EQ(signal_name(50), "50");
}

TEST(T50Signal, AWarningHasFlagsAndATime) {
    EXPECT_EQ(WarningSignal::parse("USR1"), (WarningSignal{SIGUSR1, 60, false, false}));
    EXPECT_EQ(WarningSignal::parse("10@"), (WarningSignal{SIGUSR1, 60, false, false}));
    EXPECT_EQ(WarningSignal::parse("B:USR2@120"), (WarningSignal{SIGUSR2, 120, true, false}));
    EXPECT_EQ(WarningSignal::parse("RB:10@5"), (WarningSignal{SIGUSR1, 5, true, true}));
    EXPECT_EQ(WarningSignal::parse("B:USR2@120")->str(), "B:USR2@120");
    EXPECT_EQ(WarningSignal::parse("R:10")->str(), "R:USR1@60");
    for (const auto* text : {"", "B:", "B@5", "X", "0", "@60", "USR1@x", "USR1@65536", "Q:USR1"})
        EXPECT_FALSE(WarningSignal::parse(text)) << text;
}

TEST(T50Signal, ExitCodesShowCodeAndSignal) {
    EXPECT_EQ(print_exit(0), "0:0");
    EXPECT_EQ(print_exit(1 << 8), "1:0");
    EXPECT_EQ(print_exit(SIGTERM), "0:15");
    EXPECT_EQ(print_exit(SIGSEGV | 0x80), "0:11") << "with a core dump";
    EXPECT_EQ(print_exit(0xff00), "255:0");
}

}  // namespace
}  // namespace spur
