// Rows of history are what the plugins' header lists, and a message comes back from its row as it was.
#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include <set>
#include <string>

#include "core/model/job.hpp"
#include "daemons/common/history/row_buffer.hpp"

namespace spur::history {
namespace {

#define SPUR_NAME(name, kind, role) #name,
const std::set<std::string> job_names{SPUR_JOB_FIELDS(SPUR_NAME)};
const std::set<std::string> step_names{SPUR_STEP_FIELDS(SPUR_NAME)};

template <class Columns>
std::set<std::string> names_of(const Columns& columns) {
    std::set<std::string> names;
    for (const auto& column : columns) EXPECT_TRUE(names.emplace(column.name).second) << column.name;
    return names;
}

TEST(T12Columns, EveryFieldOfTheHeaderIsFilled) {
    const auto jobs = names_of(job_columns()), steps = names_of(step_columns());
    for (const auto& name : job_names) EXPECT_TRUE(jobs.contains(name)) << name;
    EXPECT_EQ(steps, step_names);
}

v1::HistoryEntry job_entry() {
    v1::HistoryEntry entry;
    entry.set_sequence(7);
    auto& run = *entry.mutable_job();
    run.set_run(2);
    run.set_cancelled_by(1000);
    auto& job = *run.mutable_job();
    job.set_id(12);
    job.set_array_job_id(10);
    job.set_array_task_id(0);
    job.set_state_bits(static_cast<std::uint32_t>(JobState::cancelled));
    job.set_submit_time(100);
    job.set_start_time(110);
    job.set_end_time(130);
    job.set_time_limit_min(unlimited);
    job.set_node_list("n1");
    job.set_account("physics");
    job.set_tres_allocated("cpu=4,mem=2G,node=1,billing=4,gres/gpu=2");
    job.mutable_spec()->set_name("a name");
    job.mutable_spec()->set_uid(1000);
    job.mutable_spec()->set_mem_per_cpu_mib(512);
    return entry;
}

TEST(T12Columns, AJobComesBackAsItWas) {
    const auto entry = job_entry();
    RowBuffer rows;
    rows.add(entry);
    const auto span = rows.rows();
    ASSERT_EQ(span.count, 1U);
    const auto& row = *SPUR_AT(spur_row, span, 0);
    EXPECT_EQ(row.table, SPUR_ROW_JOB);
    EXPECT_EQ(row.sequence, 7U);
    auto back = read_job(row);
    EXPECT_EQ(back.SerializeAsString(), entry.job().SerializeAsString());
}

void add_measured(v1::StepUsage& usage, std::uint64_t max, std::uint32_t max_task, const char* max_node,
                  std::uint64_t min, std::uint32_t min_task, const char* min_node, std::uint64_t total) {
    auto& use = *usage.add_measured();
    use.set_max(max);
    use.set_max_task(max_task);
    use.set_max_node(max_node);
    use.set_min(min);
    use.set_min_task(min_task);
    use.set_min_node(min_node);
    use.set_total(total);
}

// What comes back from the row of a step that used this, and how many fields the row has.
std::pair<v1::StepUsage, std::size_t> from_its_row(const v1::StepUsage& usage) {
    v1::HistoryEntry entry;
    entry.mutable_step()->mutable_step()->set_job_id(12);
    *entry.mutable_step()->mutable_step()->mutable_usage() = usage;
    RowBuffer rows;
    rows.add(entry);
    const auto& row = *SPUR_AT(spur_row, rows.rows(), 0);
    return {read_step(row).step().usage(), row.fields.count};
}

TEST(T12Columns, WhatTheTasksOfAStepUsedComesBackAsItWas) {
    v1::StepUsage several;
    several.set_user_us(5);
    several.set_tasks(3);
    add_measured(several, 900, 2, "n2", 100, 0, "n1", 1500);
    add_measured(several, 7000, 1, "n1", 10, 2, "n2", 7100);
    const auto [back, fields] = from_its_row(several);
    EXPECT_EQ(back.SerializeAsString(), several.SerializeAsString());

    v1::StepUsage one;
    one.set_tasks(1);
    for (int i = 0; i < 6; ++i) add_measured(one, 10, 0, "n1", 10, 0, "n1", 10);
    const auto [same, fewer] = from_its_row(one);
    EXPECT_EQ(same.SerializeAsString(), one.SerializeAsString());
    EXPECT_LT(fewer, fields) << "of one task the most says it all";

    v1::StepUsage none;
    none.set_user_us(5);
    EXPECT_EQ(from_its_row(none).first.SerializeAsString(), none.SerializeAsString());
}

TEST(T12Columns, ExpectedTimesOfAJobThatWaitsAreNoHistory) {
    auto entry = job_entry();
    entry.mutable_job()->mutable_job()->set_state_bits(static_cast<std::uint32_t>(JobState::pending));
    RowBuffer rows;
    rows.add(entry);
    const auto back = read_job(*SPUR_AT(spur_row, rows.rows(), 0));
    EXPECT_EQ(back.job().start_time(), 0);
    EXPECT_EQ(back.job().end_time(), 0);
    entry.mutable_job()->mutable_job()->set_state_bits(static_cast<std::uint32_t>(JobState::pending) | job_flag::requeued);
    RowBuffer requeued;
    requeued.add(entry);
    EXPECT_EQ(read_job(*SPUR_AT(spur_row, requeued.rows(), 0)).job().end_time(), 130) << "that run is over";
}

}  // namespace
}  // namespace spur::history
