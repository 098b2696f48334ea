// `spur history`: words for times, bars, and nothing but plain text in a pipe.
#include "cli/sacct/history.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/model/job.hpp"

namespace spur::cli::sacct {
namespace {

constexpr UnixSeconds afternoon = 1'794'787'200 + 3600 * 15;  // of 2026-11-16, UTC

v1::HistoryJob done_job() {
    v1::HistoryJob run;
    auto& job = *run.mutable_job();
    job.set_id(12);
    job.set_user_name("alice");
    job.mutable_spec()->set_name("train");
    job.set_state_bits(static_cast<std::uint32_t>(JobState::completed));
    job.set_submit_time(afternoon - 500);
    job.set_start_time(afternoon - 400);
    job.set_end_time(afternoon - 300);
    job.set_cpus(2);
    job.set_node_list("n1");
    job.set_tres_allocated("cpu=2,mem=1000M,node=1");
    auto& usage = *job.add_steps()->mutable_usage();
    usage.set_user_us(140'000'000);
    usage.set_system_us(10'000'000);
    usage.set_max_rss_kib(256'000);
    return run;
}

TEST(T12History, TimesAreToldAsPeopleTellThem) {
    setenv("TZ", "UTC", 1);
    EXPECT_EQ(ago(afternoon - 30, afternoon), "just now");
    EXPECT_EQ(ago(afternoon - 300, afternoon), "5 min ago");
    EXPECT_EQ(ago(afternoon - 7300, afternoon), "2 h ago");
    EXPECT_EQ(ago(afternoon - 86400, afternoon), "yesterday 15:00");
    EXPECT_EQ(ago(afternoon - 86400 * 13, afternoon), "3 Nov 15:00");
    EXPECT_EQ(ago(afternoon - 86400 * 365, afternoon), "16 Nov 2025");
}

TEST(T12History, AJobIsMeasuredByWhatItHad) {
    const auto run = done_job();
    EXPECT_EQ(efficiency_of(run, afternoon).cpu, 75);
    EXPECT_EQ(efficiency_of(run, afternoon).memory, 25);
    auto unmeasured = run;
    unmeasured.mutable_job()->clear_steps();
    EXPECT_FALSE(efficiency_of(unmeasured, afternoon).cpu);
}

TEST(T12History, BarsAndColoursAreForTerminalsOnly) {
    EXPECT_EQ(bar(0), "░░░░░░░░░░");
    EXPECT_EQ(bar(75), "████████░░");
    EXPECT_EQ(bar(1), "█░░░░░░░░░") << "a little is not nothing";
    EXPECT_EQ(bar(250), "██████████");
    EXPECT_EQ(history_of({done_job()}, false, false, afternoon),
              "JOB  NAME   USER   STATE      WHEN       RAN    CPUS  CPU USED  MEMORY USED\n"
              "12   train  alice  COMPLETED  5 min ago  1 min  2     75%       25%\n");
    const auto shown = history_of({done_job()}, false, true, afternoon);
    EXPECT_NE(shown.find("\x1b[32mCOMPLETED\x1b[0m"), std::string::npos);
    EXPECT_NE(shown.find("████████░░  75%"), std::string::npos);
}

}  // namespace
}  // namespace spur::cli::sacct
