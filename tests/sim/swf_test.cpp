// Reading Standard Workload Format, and refusing what is none.
#include <gtest/gtest.h>

#include "cli/sim/trace.hpp"

namespace spur::cli::sim {
namespace {

constexpr const char* head =
    "; Version: 2.2\n"
    "; UnixStartTime: 1087329600\n"
    "; MaxProcs: 128\n"
    "; Queue: 1 short\n"
    "\n";

Trace read(const std::string& lines) {
    auto trace = parse_swf(head + lines, "log.swf");
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().text);
    return trace.value_or(Trace{});
}

std::string refusal(const std::string& lines) {
    const auto trace = parse_swf(head + lines, "log.swf");
    return trace ? "(accepted)" : trace.error().text;
}

TEST(SimSwf, EveryFieldOfAJobIsRead) {
    const auto trace = read("  7  100 5 3600 16 3500.5 2048 32 7200 4096 1 3 4 5 1 -1 -1 -1\n");
    ASSERT_EQ(trace.jobs.size(), 1);
    EXPECT_EQ(trace.begins, 1'087'329'600);
    const auto& job = trace.jobs[0];
    EXPECT_EQ(job.id, "7");
    EXPECT_EQ(job.submit_s, 100);
    EXPECT_EQ(job.run_s, 3600);
    EXPECT_EQ(job.tasks, 32);  // requested, rather than allocated
    EXPECT_EQ(job.limit_s, 7200);
    EXPECT_EQ(job.mem_per_cpu_mib, 4);
    EXPECT_EQ(job.user, "user3");
    EXPECT_EQ(job.account, "group4");
    EXPECT_EQ(job.partition, "short");
    EXPECT_FALSE(job.fails);
    EXPECT_FALSE(trace.knows_partitions);
}

TEST(SimSwf, UnknownFieldsFallBackToWhatIsKnown) {
    const auto trace = read("1 0 -1 90 8 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n");
    ASSERT_EQ(trace.jobs.size(), 1);
    EXPECT_EQ(trace.jobs[0].tasks, 8);
    EXPECT_EQ(trace.jobs[0].limit_s, 90);
    EXPECT_FALSE(trace.jobs[0].mem_per_cpu_mib);
    EXPECT_TRUE(trace.jobs[0].user.empty());
    EXPECT_TRUE(trace.jobs[0].fails);
}

TEST(SimSwf, JobsThatCannotBeReplayedAreLeftOutAndCounted) {
    const auto trace = read(
        "1 0 -1 90 -1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"   // no size
        "2 0 -1 -1 8 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"    // no run time
        "3 0 -1 0 8 -1 -1 -1 -1 -1 5 -1 -1 -1 -1 -1 -1 -1\n"     // cancelled in the queue
        "4 0 -1 10 8 -1 -1 -1 -1 -1 5 -1 -1 -1 -1 -1 -1 -1\n");  // cancelled while it ran
    ASSERT_EQ(trace.jobs.size(), 1);
    EXPECT_EQ(trace.jobs[0].id, "4");
    EXPECT_EQ(trace.remarks.size(), 3);
}

TEST(SimSwf, AJobMayWaitForItsUserToThink) {
    const auto trace = read(
        "1 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"
        "2 5 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 1 30\n"
        "3 6 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 99 30\n");
    ASSERT_EQ(trace.jobs.size(), 3);
    EXPECT_EQ(trace.jobs[1].follows, "1");
    EXPECT_EQ(trace.jobs[1].think_s, 30);
    EXPECT_EQ(trace.jobs[2].follows, "");  // of job 99 nothing is known
}

TEST(SimSwf, JobsAreInTheOrderOfSubmission) {
    const auto trace = read(
        "1 50 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"
        "2 5 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n");
    EXPECT_EQ(trace.jobs[0].id, "2");
    EXPECT_EQ(trace.jobs[1].id, "1");
}

TEST(SimSwf, BadLinesAreRefusedWithFileAndLine) {
    EXPECT_EQ(refusal("1 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1\n"), "log.swf:6: 17 fields; a job has 18");
    EXPECT_EQ(refusal("1 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1 0\n"), "log.swf:6: 19 fields; a job has 18");
    EXPECT_EQ(refusal("\n1 x -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"),
              "log.swf:7: field 2 (submit time) is \"x\", which is no number");
    EXPECT_EQ(refusal("1 0 -1 1.5 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"),
              "log.swf:6: field 4 (run time) is 1.5, which is no whole number");
    EXPECT_EQ(refusal("1 0 -1 -7 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"),
              "log.swf:6: field 4 (run time) is -7; it must be -1 (unknown) or from 0 to 4000000000");
    EXPECT_EQ(refusal("1 -1 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"),
              "log.swf:6: field 2 (submit time) is -1: every job has one");
    EXPECT_NE(refusal("1 0 nan 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"), "(accepted)");
    EXPECT_NE(refusal("1 0 1e99 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"), "(accepted)");
    EXPECT_EQ(refusal("1 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n1 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"),
              "log.swf: two jobs are called \"1\"");
}

}  // namespace
}  // namespace spur::cli::sim
