// File name patterns, as sbatch and srun 22.05 expanded them.
#include "core/text/pattern.hpp"

#include <gtest/gtest.h>

namespace spur {
namespace {

PatternValues step_values() {
    return {.job = 128, .step = 0, .node = "n7", .node_index = 1, .task = 3, .user = "ann", .job_name = "nm"};
}
PatternValues batch_values() { return {.job = 128, .node = "n7", .user = "ann", .job_name = "nm"}; }

TEST(T50Pattern, SymbolsAreReplaced) {
    EXPECT_EQ(expand_pattern("job%J.out", step_values()), "job128.0.out");
    EXPECT_EQ(expand_pattern("%j-%t-%n-%N-%s-%u-%x%%", step_values()), "128-3-1-n7-0-ann-nm%");
    EXPECT_EQ(expand_pattern("%A", step_values()), "128");
}

TEST(T50Pattern, AWidthPadsNumbersWithZeros) {
    EXPECT_EQ(expand_pattern("job%4j.out", step_values()), "job0128.out");
    EXPECT_EQ(expand_pattern("job%j-%2t.out", step_values()), "job128-03.out");
    EXPECT_EQ(expand_pattern("%5J_%3s_%5N", step_values()), "00128.0_000_n7");
    EXPECT_EQ(expand_pattern("%0j %12j %100j", step_values()), "128 0000000128 0000000128");
}

TEST(T50Pattern, ABatchScriptIsTheStepNamedBatch) {
    EXPECT_EQ(expand_pattern("%s %J %6J %3s", batch_values()), "batch 128 000128 batch");
}

TEST(T50Pattern, ArraysHaveAMasterAndAnIndex) {
    auto values = batch_values();
    values.array_job = 42;
    values.array_task = 13;
    EXPECT_EQ(expand_pattern("slurm-%A_%a.out %4a %b", values), "slurm-42_13.out 0013 3");
    EXPECT_EQ(expand_pattern("%a", batch_values()), "4294967294");
}

TEST(T50Pattern, UnknownSymbolsStay) {
    EXPECT_EQ(expand_pattern("o%q o%", batch_values()), "o%q o%");
    EXPECT_EQ(expand_pattern("o%-5j", batch_values()), "o%-5j");
    EXPECT_EQ(expand_pattern("o%5q o%5", batch_values()), "o5q o5");
    EXPECT_EQ(expand_pattern("o%5%", batch_values()), "o5%");
}

TEST(T50Pattern, ABackslashTurnsPatternsOff) {
    EXPECT_EQ(expand_pattern("o\\%j", batch_values()), "o%j");
    EXPECT_EQ(expand_pattern("\\\\o%j", batch_values()), "\\o%j");
    EXPECT_EQ(expand_pattern("o%j\\", batch_values()), "o%j");
    EXPECT_FALSE(differs_by_task("o\\%t"));
}

TEST(T50Pattern, RelativeNamesBelongToTheWorkDirectory) {
    EXPECT_EQ(expand_path("sub/o%j", batch_values(), "/home/ann"), "/home/ann/sub/o128");
    EXPECT_EQ(expand_path("o", batch_values(), "/"), "/o");
    EXPECT_EQ(expand_path("/abs%j", batch_values(), "/home/ann"), "/abs128");
}

TEST(T50Pattern, SomePatternsMakeAFilePerTaskOrNode) {
    EXPECT_TRUE(differs_by_task("o%3t"));
    EXPECT_FALSE(differs_by_task("o%%t"));
    EXPECT_TRUE(differs_by_node("o%N"));
    EXPECT_TRUE(differs_by_node("o%n"));
    EXPECT_FALSE(differs_by_node("o%j%"));
}

}  // namespace
}  // namespace spur
