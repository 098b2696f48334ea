// What a live job's record becomes in a trace.
#include <gtest/gtest.h>

#include "cli/sim/recorded.hpp"
#include "core/model/job.hpp"

namespace spur::cli::sim {
namespace {

v1::Job ended(JobState state) {
    v1::Job job;
    job.set_id(12);
    job.set_attempt(1);
    job.set_state_bits(static_cast<std::uint32_t>(state));
    job.set_submit_time(1100);
    job.set_eligible_time(1100);
    job.set_start_time(1200);
    job.set_end_time(1260);
    job.set_time_limit_min(5);
    job.set_user_name("alice");
    job.mutable_spec()->set_tasks(4);
    job.mutable_spec()->set_gres_per_node("gpu:2");
    job.mutable_spec()->add_partitions("main");
    return job;
}

TEST(SimRecorded, AJobThatIsOverBecomesALine) {
    const auto job = recorded_job(ended(JobState::completed), 1000);
    ASSERT_TRUE(job);
    EXPECT_EQ(job->id, "12");
    EXPECT_EQ(job->submit_s, 100);
    EXPECT_EQ(job->run_s, 60);
    EXPECT_EQ(job->limit_s, 300);
    EXPECT_EQ(job->tasks, 4);
    EXPECT_EQ(job->gres, "gpu:2");
    EXPECT_EQ(job->partition, "main");
    EXPECT_EQ(job->user, "alice");
    EXPECT_FALSE(job->begin_s);
    EXPECT_FALSE(job->min_nodes);
}

TEST(SimRecorded, AJobThatRunsStillOrNeverRanDoesNot) {
    EXPECT_FALSE(recorded_job(ended(JobState::running), 1000));
    auto completing = ended(JobState::completed);
    completing.set_state_bits(completing.state_bits() | job_flag::completing);
    EXPECT_FALSE(recorded_job(completing, 1000));
    auto cancelled = ended(JobState::cancelled);
    cancelled.set_attempt(0);
    EXPECT_FALSE(recorded_job(cancelled, 1000));
}

TEST(SimRecorded, AJobThatItsLimitEndedWouldHaveGoneOn) {
    EXPECT_EQ(recorded_job(ended(JobState::timeout), 1000)->run_s, 360);
}

TEST(SimRecorded, ADependencyBecomesTheTimeAtWhichItWasMet) {
    auto job = ended(JobState::failed);
    job.set_eligible_time(1150);
    EXPECT_EQ(recorded_job(job, 1000)->begin_s, 150);
    EXPECT_TRUE(recorded_job(job, 1000)->fails);
}

TEST(SimRecorded, ATaskOfAnArrayIsAJobOfItsOwn) {
    auto job = ended(JobState::completed);
    job.set_array_job_id(10);
    job.set_array_task_id(3);
    EXPECT_EQ(recorded_job(job, 1000)->id, "10_3");
    EXPECT_TRUE(recorded_job(job, 1000)->array.empty());
}

}  // namespace
}  // namespace spur::cli::sim
