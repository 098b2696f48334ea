// Which jobs squeue shows.
#include "cli/common/job_text.hpp"
#include "cli/squeue/query.hpp"
#include "core/model/job.hpp"
#include "tests/support/queue_fixture.hpp"

#include <gtest/gtest.h>

namespace spur::cli::squeue {
namespace {

using test::pending_job;
using test::running_job;

v1::Job with_state(std::uint32_t bits) {
    auto job = running_job(7, "n1");
    job.set_state_bits(bits);
    return job;
}

Query named(const char* ids) {
    Query query;
    query.jobs = *parse_job_refs(ids);
    return query;
}

v1::Job array_record(std::uint32_t id, const std::string& tasks) {
    auto job = pending_job(id);
    job.set_array_job_id(id);
    job.set_array_tasks(tasks);
    return job;
}

TEST(T05Queue, EndedJobsAreLeftOutUnlessTheirStateIsAskedFor) {
    const auto completed = with_state(3);
    EXPECT_FALSE(Query{}.accepts(completed));
    Query query;
    query.states = *JobStateFilter::parse("CD,F");
    EXPECT_TRUE(query.accepts(completed));
    query.states = *JobStateFilter::parse("all");
    EXPECT_TRUE(query.accepts(completed));
}

TEST(T05Queue, AJobThatIsCompletingIsStillShown) {
    EXPECT_TRUE(Query{}.accepts(with_state(3 | job_flag::completing)));
    Query query;
    query.states = *JobStateFilter::parse("cg");
    EXPECT_TRUE(query.accepts(with_state(5 | job_flag::completing)));
    EXPECT_FALSE(query.accepts(with_state(1)));
}

TEST(T05Queue, EveryStateCodeOfSlurmIsAccepted) {
    for (const auto* list :
         {"PD,CF,RF,RH,RQ,SE", "R,S,CG,RS,SI,SO,ST", "BF,CA,CD,DL,F,NF,OOM,PR,RD,RV,TO", "pending,Running,NODE_FAIL"})
        EXPECT_TRUE(JobStateFilter::parse(list)) << list;
}

TEST(T05Queue, AnUnknownStateIsRefusedWithTheListOfThoseThereAre) {
    const auto filter = JobStateFilter::parse("R,foo");
    ASSERT_FALSE(filter);
    EXPECT_EQ(filter.error().text,
              "Invalid job state specified: foo\nValid job states include: "
              "PENDING,RUNNING,SUSPENDED,COMPLETED,CANCELLED,FAILED,TIMEOUT,NODE_FAIL,PREEMPTED,BOOT_FAIL,DEADLINE,"
              "OUT_OF_MEMORY,COMPLETING,CONFIGURING,RESIZING,RESV_DEL_HOLD,REQUEUED,REQUEUE_FED,REQUEUE_HOLD,REVOKED,"
              "SIGNALING,SPECIAL_EXIT,STAGE_OUT,STOPPED\n");
}

TEST(T05Queue, AJobForSeveralPartitionsIsFoundUnderEach) {
    auto job = pending_job(5, "gpu,main");
    Query query;
    query.partitions = {"main"};
    EXPECT_TRUE(query.accepts(job));
    query.partitions = {"debug"};
    EXPECT_FALSE(query.accepts(job));
}

TEST(T05Queue, LicensesAreFoundByNameWithoutTheirCount) {
    auto job = pending_job(5);
    job.mutable_spec()->set_licenses("matlab:2,fluent@db:1");
    Query query;
    query.licenses = {"fluent"};
    EXPECT_TRUE(query.accepts(job));
    query.licenses = {"mat"};
    EXPECT_FALSE(query.accepts(job));
}

TEST(T05Queue, NodesSelectTheJobsThatRunOnThem) {
    Query query;
    query.nodes = *HostSet::parse("n[2-4]");
    EXPECT_TRUE(query.accepts(running_job(1, "n[1-2]")));
    EXPECT_FALSE(query.accepts(running_job(2, "n1")));
    EXPECT_FALSE(query.accepts(pending_job(3)));
}

TEST(T05Queue, AnArrayIsNamedByItsIdATaskOrAnySetOfTasks) {
    const auto record = array_record(95, "1-4");
    EXPECT_TRUE(named("95").accepts(record));
    EXPECT_TRUE(named("95_2").accepts(record));
    EXPECT_TRUE(named("95_[4-9]").accepts(record));
    EXPECT_FALSE(named("95_9").accepts(record));
    EXPECT_FALSE(named("94").accepts(record));
}

TEST(T05Queue, ATaskNamedByItselfIsShownByItself) {
    const auto record = array_record(95, "1-4");
    const auto rows = split_arrays({&record}, named("95_2"));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].array_task_id(), 2U);
}

TEST(T05Queue, TheArrayOptionShowsATaskALine) {
    const auto record = array_record(3, "1,4,7,10");
    Query query;
    query.split_arrays = true;
    EXPECT_EQ(split_arrays({&record}, query).size(), 4U);
    EXPECT_EQ(split_arrays({&record}, Query{}).size(), 1U);
}

TEST(T05Queue, WaitingTasksThatLeftTheirArrayAreShownInItsLineWithTheReasonsOfAll) {
    auto record = array_record(4, "4-6");
    record.set_array_limit(2);
    auto held = pending_job(5);
    held.set_array_job_id(4);
    held.set_array_task_id(1);
    held.set_reason("JobHeldUser");
    auto alike = held;
    alike.set_array_task_id(9);
    auto running = running_job(7, "n1");
    running.set_array_job_id(4);
    running.set_array_task_id(3);
    const auto rows = merge_waiting_tasks({&record, &held, &alike, &running});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(job_id_text(rows[0], 64), "4_[1,4-6,9]");
    EXPECT_EQ(reason_text(rows[0]), "Resources,JobHeldUser");
    EXPECT_EQ(job_id_text(rows[1], 64), "4_3");
    EXPECT_TRUE(merge_waiting_tasks({&record, &running}).empty()) << "nothing to merge";
    EXPECT_TRUE(merge_waiting_tasks({&held, &running}).empty()) << "no record to merge into";
}

TEST(T05Queue, ComponentsOfAHeterogeneousJobAreFoundByTheLeaderAndByOffset) {
    auto second = pending_job(53);
    second.set_het_job_id(52);
    second.set_het_offset(1);
    EXPECT_TRUE(named("52").accepts(second));
    EXPECT_TRUE(named("52+1").accepts(second));
    EXPECT_TRUE(named("53").accepts(second));
    EXPECT_FALSE(named("52+0").accepts(second));
}

TEST(T05Queue, AStepIsNamedByJobAndStep) {
    const auto job = running_job(87, "n1");
    v1::Step step;
    step.set_step_id(0);
    step.set_node_list("n1");
    EXPECT_TRUE(named("87.0").accepts_step(job, step));
    EXPECT_TRUE(named("87").accepts_step(job, step));
    EXPECT_FALSE(named("87.1").accepts_step(job, step));
    EXPECT_FALSE(named("87.batch").accepts_step(job, step));
}

}  // namespace
}  // namespace spur::cli::squeue
