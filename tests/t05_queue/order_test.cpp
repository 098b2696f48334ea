// The order of squeue's lines, as observed of Slurm 22.05.
#include "cli/common/job_text.hpp"
#include "cli/squeue/query.hpp"
#include "tests/support/queue_fixture.hpp"

#include <gtest/gtest.h>

namespace spur::cli::squeue {
namespace {

using test::listing_time;
using test::pending_job;
using test::running_job;

std::string sorted(std::vector<v1::Job> jobs, const char* keys) {
    std::vector<const v1::Job*> rows;
    for (const auto& job : jobs) rows.push_back(&job);
    const auto parsed = parse_sort(keys, job_sort_letters());
    if (!parsed) return parsed.error().text;
    sort_jobs(rows, *parsed, {.now = listing_time});
    std::string text;
    for (const auto* job : rows) text += (text.empty() ? "" : " ") + job_id_text(*job, 64);
    return text;
}

v1::Job held(std::uint32_t id) {
    auto job = pending_job(id);
    job.set_priority(0);
    return job;
}

TEST(T05Queue, ByDefaultPartitionsThenStatesThenPriorityDecide) {
    auto low = pending_job(9, "down"), gpu = running_job(6, "n4", 5, "gpu");
    EXPECT_EQ(sorted({running_job(1, "n1"), running_job(2, "n[2-3]"), pending_job(3), low, gpu, held(4)}, "P,t,-p"),
              "9 6 3 4 1 2");
}

TEST(T05Queue, WithoutAKeyTheLatestStartComesFirstAndJobsWithoutOneLastNewestFirst) {
    auto expected = pending_job(85);
    expected.set_start_time(listing_time + 3600);
    EXPECT_EQ(sorted({held(80), running_job(77, "n1", 30), running_job(78, "n1", 30), expected, held(84),
                      running_job(81, "n1", 20)},
                     ""),
              "85 81 77 78 84 80");
}

TEST(T05Queue, ByStartTimeTiesAreInOrderOfIdsInEitherDirection) {
    EXPECT_EQ(sorted({held(3), held(1), held(2)}, "S"), "1 2 3");
    EXPECT_EQ(sorted({held(3), held(1), held(2)}, "-S"), "1 2 3");
}

TEST(T05Queue, IdsSortByArrayAndTaskAndByLeaderAndOffset) {
    auto second = pending_job(53), first = pending_job(52);
    for (auto* job : {&first, &second}) job->set_het_job_id(52);
    second.set_het_offset(1);
    auto task = running_job(75, "n1");
    task.set_array_job_id(50);
    task.set_array_task_id(2);
    EXPECT_EQ(sorted({second, first, task, pending_job(51)}, "i"), "50_2 51 52+0 52+1");
    EXPECT_EQ(sorted({second, first, task, pending_job(51)}, "-i"), "52+1 52+0 51 50_2");
}

TEST(T05Queue, TimeUsedCpusAndNamesAreKeysToo) {
    auto big = pending_job(1), small = pending_job(2);
    big.set_cpus(16);
    big.mutable_spec()->set_name("zeta");
    EXPECT_EQ(sorted({big, small}, "C"), "2 1");
    EXPECT_EQ(sorted({big, small}, "-C"), "1 2");
    EXPECT_EQ(sorted({big, small}, "j"), "2 1");
    EXPECT_EQ(sorted({running_job(1, "n1", 10), running_job(2, "n1", 20)}, "-M"), "2 1");
}

TEST(T05Queue, ALetterNobodySortsByIsRefused) {
    EXPECT_EQ(sorted({}, "K"), "Invalid sort specification: K");
    EXPECT_EQ(sorted({}, "foo"), "Invalid sort specification: o");
}

}  // namespace
}  // namespace spur::cli::squeue
