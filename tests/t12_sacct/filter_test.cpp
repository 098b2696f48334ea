// Which runs of jobs a question to spurdbd means.
#include <gtest/gtest.h>

#include "core/model/job.hpp"
#include "daemons/spurdbd/history_filter.hpp"

namespace spur::dbd {
namespace {

// A job that was submitted at 100, could run from 110 on, ran from 120 to 140 and failed.
v1::Job failed_job() {
    v1::Job job;
    job.set_id(12);
    job.set_state_bits(static_cast<std::uint32_t>(JobState::failed));
    job.set_submit_time(100);
    job.set_eligible_time(110);
    job.set_start_time(120);
    job.set_end_time(140);
    job.set_node_list("n1");
    job.set_node_count(1);
    job.set_cpus(4);
    job.set_time_limit_min(5);
    return job;
}

v1::ListHistoryRequest between(std::int64_t start, std::int64_t end, std::initializer_list<const char*> states = {}) {
    v1::ListHistoryRequest request;
    request.set_start(start);
    request.set_end(end);
    for (const auto* state : states) request.add_states(state);
    return request;
}

TEST(T12Filter, AJobIsThereFromWhenItCouldRunUntilItEnded) {
    const auto job = failed_job();
    EXPECT_TRUE(lies_in_window(job, between(0, 0)));
    EXPECT_TRUE(lies_in_window(job, between(140, 200)));
    EXPECT_FALSE(lies_in_window(job, between(141, 200)));
    EXPECT_TRUE(lies_in_window(job, between(0, 111)));
    EXPECT_FALSE(lies_in_window(job, between(0, 110)));
}

TEST(T12Filter, AJobThatNeverCouldRunIsFoundByItsNumberOnly) {
    auto job = failed_job();
    job.set_eligible_time(0);
    auto request = between(0, 200);
    EXPECT_FALSE(lies_in_window(job, request));
    request.add_ids("12");
    EXPECT_TRUE(lies_in_window(job, request));
    EXPECT_FALSE(lies_in_window(job, between(0, 200, {"PENDING"})));
}

TEST(T12Filter, AFinishedStateIsWhereTheJobEnded) {
    const auto job = failed_job();
    EXPECT_TRUE(lies_in_window(job, between(130, 141, {"FAILED"})));
    EXPECT_FALSE(lies_in_window(job, between(130, 140, {"FAILED"})));
    EXPECT_FALSE(lies_in_window(job, between(0, 0, {"COMPLETED"})));
    EXPECT_TRUE(lies_in_window(job, between(0, 0, {"COMPLETED", "FAILED"})));
}

TEST(T12Filter, AJobWasRunningWhileItRanAndPendingBefore) {
    const auto job = failed_job();
    EXPECT_TRUE(lies_in_window(job, between(125, 126, {"RUNNING"})));
    EXPECT_FALSE(lies_in_window(job, between(110, 120, {"RUNNING"})));
    EXPECT_TRUE(lies_in_window(job, between(110, 120, {"PENDING"})));
    EXPECT_FALSE(lies_in_window(job, between(121, 130, {"PENDING"})));
}

TEST(T12Filter, ARunThatWasRequeuedIsRequeuedAndNothingElse) {
    auto job = failed_job();
    job.set_state_bits(static_cast<std::uint32_t>(JobState::pending) | job_flag::requeued);
    EXPECT_TRUE(lies_in_window(job, between(0, 0, {"REQUEUED"})));
    EXPECT_FALSE(lies_in_window(job, between(141, 200, {"PENDING"})));
}

TEST(T12Filter, RangesAreAboutWhatTheJobHad) {
    auto job = failed_job();
    v1::ListHistoryRequest request;
    request.mutable_cpus()->set_least(4);
    request.mutable_cpus()->set_most(4);
    EXPECT_TRUE(has_asked_properties(job, request));
    job.clear_node_list();
    EXPECT_FALSE(has_asked_properties(job, request)) << "it has not run";
    request.clear_cpus();
    request.mutable_time_limit_min()->set_least(1);
    request.mutable_time_limit_min()->set_most(10);
    EXPECT_TRUE(has_asked_properties(job, request));
    request.mutable_time_limit_min()->set_least(6);
    EXPECT_FALSE(has_asked_properties(job, request));
}

TEST(T12Filter, EveryConstraintThatIsNamedMustHaveBeenAskedFor) {
    auto job = failed_job();
    job.set_features("fast&amd");
    v1::ListHistoryRequest request;
    request.add_constraints("fast");
    EXPECT_TRUE(has_asked_properties(job, request));
    request.add_constraints("am");
    EXPECT_FALSE(has_asked_properties(job, request)) << "half of a name is another name";
}

TEST(T12Filter, NumbersMeanJobsArraysTasksAndComponents) {
    v1::ListHistoryRequest request;
    v1::Job task;
    task.set_id(14);
    task.set_array_job_id(12);
    task.set_array_task_id(2);
    EXPECT_TRUE(matches(*JobRef::parse("12"), task, request));
    EXPECT_TRUE(matches(*JobRef::parse("14"), task, request));
    EXPECT_TRUE(matches(*JobRef::parse("12_2"), task, request));
    EXPECT_TRUE(matches(*JobRef::parse("12_[1-3]"), task, request));
    EXPECT_FALSE(matches(*JobRef::parse("12_1"), task, request));
    v1::Job component;
    component.set_id(19);
    component.set_het_job_id(18);
    component.set_het_offset(1);
    EXPECT_TRUE(matches(*JobRef::parse("18"), component, request)) << "all of a job whose first is named";
    EXPECT_TRUE(matches(*JobRef::parse("18+1"), component, request));
    EXPECT_FALSE(matches(*JobRef::parse("18+0"), component, request));
    request.set_whole_het(false);
    EXPECT_FALSE(matches(*JobRef::parse("18"), component, request));
    request.set_whole_het(true);
    EXPECT_TRUE(matches(*JobRef::parse("18+0"), component, request));
}

}  // namespace
}  // namespace spur::dbd
