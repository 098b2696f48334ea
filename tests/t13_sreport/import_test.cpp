// What Slurm's commands print, as rows.
#include "daemons/spurdbd/import.hpp"

#include <gtest/gtest.h>
#include <spur/plugin/draft/accounting.h>

#include <fstream>

#include "core/model/gres.hpp"
#include "daemons/common/history/row_message.hpp"

namespace spur::dbd {
namespace {

using history::number_in;
using history::text_in;

std::string content_of(const std::string& name) {
    std::ifstream file{SPUR_TEST_DATA "/" + name};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<v1::HistoryRow> rows_of(const std::string& content, std::uint32_t table) {
    const auto imported = read_import(content, "here");
    EXPECT_TRUE(imported) << imported.error().text;
    std::vector<v1::HistoryRow> found;
    if (imported)
        for (const auto& [cluster, rows] : imported->rows)
            for (const auto& row : rows)
                if (row.table() == table) found.push_back(row);
    return found;
}

TEST(T13Import, JobsAndStepsOfSacct) {
    const auto content = content_of("sacct.txt");
    const auto jobs = rows_of(content, SPUR_ROW_JOB);
    ASSERT_EQ(jobs.size(), 7U);
    EXPECT_EQ(text_in(jobs[0], "account"), "physics");
    EXPECT_EQ(text_in(jobs[0], "wckey"), "alpha");
    EXPECT_EQ(number_in(jobs[0], "end_time") - number_in(jobs[0], "start_time"), 5400);
    EXPECT_EQ(history::tres_in(jobs[0], "tres_allocated").get("cpu"), 2U);
    EXPECT_GE(rows_of(content, SPUR_ROW_STEP).size(), 6U);
    EXPECT_EQ(rows_of(content, SPUR_ROW_WCKEY).size(), 2U);
}

TEST(T13Import, AJobThatRanTwiceHasTwoRuns) {
    const auto jobs = rows_of(
        "JobID|JobIDRaw|Submit|Start|End|State|ExitCode\n"
        "7|7|2026-01-02T03:04:05|2026-01-02T03:05:00|2026-01-02T03:06:00|NODE_FAIL|0:0\n"
        "7|7|2026-01-02T03:04:05|2026-01-02T03:07:00|2026-01-02T03:08:00|CANCELLED by 1000|0:15\n"
        "8_3|9|2026-01-02T03:04:05|Unknown|2026-01-02T03:08:00|FAILED|3:0\n",
        SPUR_ROW_JOB);
    ASSERT_EQ(jobs.size(), 3U);
    EXPECT_EQ(number_in(jobs[0], "attempt"), 1);
    EXPECT_EQ(number_in(jobs[1], "attempt"), 2);
    EXPECT_EQ(number_in(jobs[1], "cancelled_by"), 1000);
    EXPECT_EQ(number_in(jobs[1], "exit_code"), 15);
    EXPECT_EQ(number_in(jobs[2], "array_job_id"), 8);
    EXPECT_EQ(number_in(jobs[2], "array_task_id"), 3);
    EXPECT_EQ(number_in(jobs[2], "exit_code"), 3 << 8);
    EXPECT_EQ(history::find_field(jobs[2], "start_time"), nullptr);
}

TEST(T13Import, AccountsOfADump) {
    const auto content = content_of("dump.cfg");
    EXPECT_EQ(rows_of(content, SPUR_ROW_ACCOUNT).size(), 4U);
    const auto links = rows_of(content, SPUR_ROW_ASSOCIATION);
    ASSERT_EQ(links.size(), 11U);
    EXPECT_EQ(text_in(links.back(), "account"), "optics");
    EXPECT_EQ(text_in(links.back(), "user_name"), "games");
}

TEST(T13Import, EventsAndReservations) {
    const auto events = rows_of(content_of("event.txt"), SPUR_ROW_EVENT);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(history::tres_in(events[0], "tres").get("cpu"), 32U);
    EXPECT_EQ(text_in(events[1], "reason"), "disk broke");
    const auto reserved = rows_of(content_of("reservation.txt"), SPUR_ROW_RESERVATION);
    ASSERT_EQ(reserved.size(), 2U);
    EXPECT_EQ(text_in(reserved[1], "flags"), "MAINT,SPEC_NODES");
}

TEST(T13Import, AMistakeIsNamedWithItsLine) {
    const auto imported = read_import("JobIDRaw|Submit|State\n7|2026-01-02T03:04:05|DONE\n", "here");
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().text, "line 2: \"DONE\" is no state of a job");
    EXPECT_FALSE(read_import("a|b|c\n1|2|3\n", "here"));
    EXPECT_FALSE(read_import("JobIDRaw|Submit|State\n7|2026-01-02T03:04:05\n", "here"));
}

}  // namespace
}  // namespace spur::dbd
