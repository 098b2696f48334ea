// squeue's and scancel's command lines.
#include "cli/scancel/scancel.hpp"
#include "cli/squeue/options.hpp"

#include <gtest/gtest.h>

namespace spur::cli {
namespace {

using Words = std::vector<std::string>;

squeue::Options queue_options(Words words) {
    squeue::Options options;
    words.insert(words.begin(), "squeue");
    squeue::join_optional_arguments(words);
    const auto outcome = apply_words(squeue::option_table(), options, words);
    EXPECT_EQ(outcome.end, ParseEnd::go_on) << outcome.error;
    EXPECT_TRUE(outcome.rest.empty());
    return options;
}

TEST(T05Queue, JobsMayBeGivenWithAndWithoutASpace) {
    for (const Words& words : {Words{"-j12,13"}, Words{"-j", "12,13"}, Words{"--jobs", "12,13"}, Words{"--jobs=12,13"},
                               Words{"--job", "12,13"}}) {
        const auto options = queue_options(words);
        ASSERT_TRUE(options.query.jobs);
        EXPECT_EQ(options.query.jobs->size(), 2U);
    }
}

TEST(T05Queue, StepsMayBeNamedOrLeftOpen) {
    EXPECT_TRUE(queue_options({"-s"}).steps);
    EXPECT_FALSE(queue_options({"-s"}).query.jobs);
    EXPECT_EQ(queue_options({"-s12.0"}).query.jobs->front().step, 0U);
    EXPECT_EQ(queue_options({"--steps", "12.1", "-h"}).query.jobs->front().step, 1U);
}

TEST(T05Queue, LettersCombineAndLongNamesMayBeShortened) {
    const auto options = queue_options({"-hro", "%i", "--part=main,gpu", "--noconv"});
    EXPECT_FALSE(options.header);
    EXPECT_TRUE(options.query.split_arrays);
    EXPECT_EQ(options.format, "%i");
    EXPECT_EQ(options.query.partitions, (std::vector<std::string>{"main", "gpu"}));
    EXPECT_FALSE(options.convert_units);
}

TEST(T05Queue, AWrongJobIdIsNamed) {
    squeue::Options options;
    Words words{"squeue", "-jabc"};
    const auto outcome = apply_words(squeue::option_table(), options, words);
    EXPECT_EQ(outcome.end, ParseEnd::wrong);
    EXPECT_EQ(outcome.error, "Invalid job id: abc");
}

TEST(T05Queue, StartMeansPendingJobsByStartTime) {
    auto options = queue_options({"--start"});
    ASSERT_TRUE(squeue::combine(options));
    EXPECT_EQ(options.sort, "S");
    EXPECT_TRUE(options.query.states);
}

scancel::Options cancel_options(Words words, std::string* error = nullptr) {
    scancel::Options options;
    words.insert(words.begin(), "scancel");
    auto outcome = apply_words(scancel::option_table(), options, words);
    const auto added = scancel::add_ids(options, outcome.rest);
    if (error) *error = outcome.end == ParseEnd::go_on ? (added ? "" : added.error().text) : outcome.error;
    return options;
}

TEST(T05Queue, CancelTakesIdsTasksAndSteps) {
    const auto options = cancel_options({"12", "13_[1-3]", "14.0,15+1"});
    ASSERT_EQ(options.request.ids_size(), 4);
    EXPECT_EQ(options.request.ids(1), "13_[1-3]");
    EXPECT_EQ(options.request.ids(2), "14.0");
    EXPECT_TRUE(options.is_plain());
    EXPECT_FALSE(options.request.with_filters());
}

TEST(T05Queue, CancelByFilterSaysSo) {
    const auto options = cancel_options({"-n", "foo", "-t", "PD,RUNNING", "-p", "main"});
    EXPECT_TRUE(options.request.with_filters());
    EXPECT_EQ(options.request.states_size(), 2);
    EXPECT_EQ(options.filters_text(), "job_name=foo partition=main state=PENDING,RUNNING ");
}

TEST(T05Queue, CancelRefusesWhatSlurmRefuses) {
    std::string error;
    cancel_options({}, &error);
    EXPECT_EQ(error, "No job identification provided");
    cancel_options({"abc"}, &error);
    EXPECT_EQ(error, "Invalid job id abc");
    cancel_options({"-s", "FOO", "1"}, &error);
    EXPECT_EQ(error, "Unknown job signal: FOO");
    cancel_options({"-t", "COMPLETED"}, &error);
    EXPECT_EQ(error, "Invalid job state specified: COMPLETED\nValid job states are PENDING, RUNNING, and SUSPENDED");
    cancel_options({"-u", "no such user"}, &error);
    EXPECT_EQ(error, "Invalid user name: no such user");
}

TEST(T05Queue, ASignalIsKnownByNameAndNumber) {
    EXPECT_EQ(cancel_options({"-s", "usr1", "1"}).signal, 10);
    EXPECT_EQ(cancel_options({"-s", "SIGTERM", "1"}).request.signal(), "TERM");
    EXPECT_EQ(cancel_options({"--signal=9", "1"}).request.signal(), "KILL");
    EXPECT_FALSE(cancel_options({"-s", "9", "1"}).is_plain());
}

}  // namespace
}  // namespace spur::cli
