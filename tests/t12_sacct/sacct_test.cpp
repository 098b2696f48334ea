// What sacct makes of its options, and how it writes jobs and steps.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/sacct/listing.hpp"
#include "core/model/job.hpp"

namespace spur::cli::sacct {
namespace {

constexpr UnixSeconds now = 1'794'787'200 + 3600 * 15;  // the afternoon of 2026-11-16, UTC

class T12Sacct : public testing::Test {
protected:
    T12Sacct() {
        setenv("TZ", "UTC", 1);
        auto& job = *run.mutable_job();
        run.set_cluster("test");
        job.set_id(12);
        job.set_state_bits(static_cast<std::uint32_t>(JobState::completed));
        job.set_submit_time(now - 100);
        job.set_eligible_time(now - 100);
        job.set_start_time(now - 90);
        job.set_end_time(now - 30);
        job.set_cpus(4);
        job.set_node_list("n[1-2]");
        job.set_node_count(2);
        job.set_time_limit_min(5);
        job.set_tres_requested("cpu=3,mem=2G,node=2,billing=3");
        job.set_tres_allocated("cpu=4,mem=500M,node=2,billing=4,gres/gpu=1");
        job.mutable_spec()->set_name("a-name-that-is-long");
        context.now = now;
    }
    std::string field(std::string_view name, const v1::Step* step = nullptr) {
        const auto* const found = find_field(name);
        return found ? text_of(*found, Line{run, step, context, look}) : "?";
    }
    void set_state(JobState state, std::uint32_t flags = 0) {
        run.mutable_job()->set_state_bits(static_cast<std::uint32_t>(state) | flags);
    }
    // A job of that number, submitted so many seconds after the first.
    static v1::HistoryJob job_of(std::uint32_t id, std::int64_t submit = 0, std::uint32_t number = 1) {
        v1::HistoryJob run;
        run.set_run(number);
        run.mutable_job()->set_id(id);
        run.mutable_job()->set_submit_time(1000 + submit);
        return run;
    }
    static std::vector<std::string> ids(const Runs& runs) {
        std::vector<std::string> texts;
        records::Context context;
        const Look look;
        for (const auto& run : runs) texts.push_back(text_of(*find_field("jobid"), Line{run, nullptr, context, look}));
        return texts;
    }
    v1::HistoryJob run;
    records::Context context;
    Look look;
};
using Texts = std::vector<std::string>;

TEST_F(T12Sacct, FieldsOfAJob) {
    EXPECT_EQ(field("JobID"), "12");
    EXPECT_EQ(field("elapsed"), "00:01:00");
    EXPECT_EQ(field("CPUTimeRAW"), "240");
    EXPECT_EQ(field("AllocCPUS"), "4");
    EXPECT_EQ(field("ReqCPUS"), "3");
    EXPECT_EQ(field("ReqMem"), "2G");
    EXPECT_EQ(field("Timelimit"), "00:05:00");
    EXPECT_EQ(field("Reserved"), "00:00:10");
    EXPECT_EQ(field("ResvCPURAW"), "30");
    EXPECT_EQ(field("NodeList"), "n[1-2]");
    EXPECT_EQ(field("AllocTRES"), "billing=4,cpu=4,gres/gpu=1,mem=500M,node=2") << "by name";
    EXPECT_EQ(field("Reason"), "None");
    EXPECT_EQ(field("State"), "COMPLETED");
    run.mutable_job()->set_exit_status(3 << 8);
    EXPECT_EQ(field("ExitCode"), "3:0");
}

TEST_F(T12Sacct, HowAJobWasEndedIsInItsStepsAndNotInItsExitCode) {
    run.mutable_job()->set_exit_status(15);
    EXPECT_EQ(field("ExitCode"), "0:15");
    set_state(JobState::cancelled);
    run.set_cancelled_by(1000);
    EXPECT_EQ(field("State"), "CANCELLED by 1000");
    EXPECT_EQ(field("ExitCode"), "0:0");
    set_state(JobState::pending, job_flag::requeued);
    EXPECT_EQ(field("State"), "REQUEUED");
    EXPECT_EQ(field("ExitCode"), "0:0");
}

TEST_F(T12Sacct, SizesAreWrittenInTheUnitThatWasAskedFor) {
    look.units = 'M';
    EXPECT_EQ(field("ReqMem"), "2048M");
    look.units = 'G';
    EXPECT_EQ(field("AllocTRES"), "billing=4,cpu=4,gres/gpu=1,mem=0.49G,node=2");
    look.units = 'K';
    EXPECT_EQ(field("ReqMem"), "2097152K");
    look.units = 'T';
    EXPECT_EQ(field("ReqMem"), "0.00T");
    look.units.reset();
    look.convert = false;
    EXPECT_EQ(field("ReqMem"), "2048M");
}

TEST_F(T12Sacct, FieldsOfAStep) {
    v1::Step step;
    step.set_step_id(0);
    step.set_name("inner");
    step.set_state("FAILED");
    step.set_exit_status(2 << 8);
    step.set_start_time(now - 80);
    step.set_end_time(now - 40);
    step.set_cpus(1);
    step.set_tasks(1);
    step.set_node_list("n2");
    step.set_tres("cpu=1,mem=100M,node=1");
    step.mutable_usage()->set_user_us(1'500'000);
    auto& measured = *step.mutable_usage();
    measured.set_tasks(1);
    for (const std::uint64_t most : {1'500'000U, 3'072'000U, 0U, 0U, 0U, 0U}) {  // CPU time, memory, and nothing else
        auto& one = *measured.add_measured();
        one.set_total(most);
        one.set_max(most);
        one.set_max_node("n2");
    }
    EXPECT_EQ(field("JobID", &step), "12.0");
    EXPECT_EQ(field("JobName", &step), "inner");
    EXPECT_EQ(field("State", &step), "FAILED");
    EXPECT_EQ(field("ExitCode", &step), "2:0");
    EXPECT_EQ(field("Elapsed", &step), "00:00:40");
    EXPECT_EQ(field("UserCPU", &step), "00:01.500");
    EXPECT_EQ(field("SystemCPU", &step), "00:00:00");
    EXPECT_EQ(field("NodeList", &step), "n2");
    EXPECT_EQ(field("MaxRSS", &step), "3000K");
    EXPECT_EQ(field("MaxRSSNode", &step), "n2");
    EXPECT_EQ(field("MaxRSS"), "") << "of steps only";
    EXPECT_EQ(field("AllocTRES", &step), "cpu=1,mem=100M,node=1");
    EXPECT_EQ(field("Layout", &step), "Unknown");
    for (const auto* name :
         {"Partition", "User", "QOS", "ReqMem", "Timelimit", "WorkDir", "Reserved", "DerivedExitCode"})
        EXPECT_EQ(field(name, &step), "") << name;
    *run.mutable_job()->add_steps() = step;
    EXPECT_EQ(field("TotalCPU"), "00:01.500") << "the job has what its steps used";
    look.with_steps = false;
    EXPECT_EQ(field("TotalCPU"), "00:00:00") << "and nothing without them";
}

TEST_F(T12Sacct, AStepThatRunsHasRunSinceItBegan) {
    v1::Step step;
    step.set_step_id(step_batch);
    step.set_state("RUNNING");
    step.set_start_time(now - 80);
    EXPECT_EQ(field("JobID", &step), "12.batch");
    EXPECT_EQ(field("Elapsed", &step), "00:01:20");
    EXPECT_EQ(field("End", &step), "Unknown");
    EXPECT_EQ(field("ReqCPUFreq", &step), "0");
}

TEST_F(T12Sacct, AJobThatWaitsHasNothingYet) {
    set_state(JobState::pending);
    auto& job = *run.mutable_job();
    job.set_node_list("");
    job.set_start_time(0);
    job.set_end_time(0);
    EXPECT_EQ(field("State"), "PENDING");
    EXPECT_EQ(field("Start"), "Unknown");
    EXPECT_EQ(field("End"), "Unknown");
    EXPECT_EQ(field("Elapsed"), "00:00:00");
    EXPECT_EQ(field("AllocCPUS"), "4") << "what it will get";
    EXPECT_EQ(field("AllocNodes"), "0");
    EXPECT_EQ(field("AllocTRES"), "");
    EXPECT_EQ(field("NodeList"), "None assigned");
    EXPECT_EQ(field("Reserved"), "00:01:40") << "so far";
    set_state(JobState::cancelled);
    job.set_end_time(now - 10);
    EXPECT_EQ(field("Start"), "None") << "and it never will";
    EXPECT_EQ(field("Reserved"), "INVALID");
}

TEST_F(T12Sacct, FieldsAreFoundByTheirBeginning) {
    EXPECT_STREQ(find_field("tresusageinmaxn")->name, "TRESUsageInMaxNode");
    EXPECT_STREQ(find_field("START")->name, "Start");
    EXPECT_STREQ(find_field("j")->name, "JobID");
    EXPECT_EQ(find_field("nonsense"), nullptr);
    EXPECT_EQ(columns_of("jobid,nonsense").error().text, "Invalid field requested: \"nonsense\"");
    EXPECT_EQ(columns_of("all%3")->size(), fields().size());
    EXPECT_EQ(columns_of("all%3")->front().width, 3);
}

TEST_F(T12Sacct, CellsThatDoNotFitAreCutAsSlurmCutsThem) {
    Options options;
    const auto columns = columns_of("jobid%5,jobname%-8,start%10,elapsed%5,state%4");
    ASSERT_TRUE(columns);
    EXPECT_EQ(table_of({run}, options, *columns, look, now),
              "JobID JobName       Start Elaps Stat \n"
              "----- -------- ---------- ----- ---- \n"
              "   12 a-name-+ 2026-11-16 00:01:00 COM+ \n");
    options.style = TableStyle::bars_between;
    options.delimiter = "::";
    options.header = false;
    EXPECT_EQ(table_of({run}, options, *columns, look, now),
              "12::a-name-that-is-long::2026-11-16T14:58:30::00:01:00::COMPLETED\n");
}

TEST_F(T12Sacct, OnlyStepsAreShownWhereOnlyTheyWereAskedFor) {
    auto& step = *run.mutable_job()->add_steps();
    step.set_step_id(3);
    run.set_steps_only(true);
    Options options;
    options.header = false;
    const auto columns = columns_of("jobid");
    EXPECT_EQ(table_of({run}, options, *columns, look, now), "12.3         \n");
    options.allocations = true;
    EXPECT_EQ(table_of({run}, options, *columns, look, now), "12           \n");
}

TEST_F(T12Sacct, JobsComeAsTheyWereSubmittedAndTasksByTheirNumber) {
    Runs runs{job_of(9, 5), job_of(3, 0), job_of(7, 5), job_of(8, 5), job_of(4, 1)};
    for (const auto i : {2, 3}) runs[static_cast<std::size_t>(i)].mutable_job()->set_array_job_id(7);
    runs[2].mutable_job()->set_array_task_id(2);  // the last task keeps the array's number
    runs[3].mutable_job()->set_array_task_id(1);
    put_in_order(runs, false);
    EXPECT_EQ(ids(runs), (Texts{"3", "4", "9", "7_1", "7_2"}));
}

TEST_F(T12Sacct, TheBatchScriptIsTheFirstStep) {
    Runs runs{job_of(3)};
    for (const auto step : {1U, 0U, step_batch, step_extern}) runs[0].mutable_job()->add_steps()->set_step_id(step);
    put_in_order(runs, false);
    std::vector<std::uint32_t> steps;
    for (const auto& step : runs[0].job().steps()) steps.push_back(step.step_id());
    EXPECT_EQ(steps, (std::vector<std::uint32_t>{step_batch, step_extern, 0, 1}));
}

TEST_F(T12Sacct, OnlyTheLastRunOfAJobIsShownUnlessAllAre) {
    Runs runs{job_of(3, 9, 2), job_of(3, 0, 1), job_of(4)};
    Runs all = runs;
    put_in_order(runs, false);
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[1].run(), 2U);
    put_in_order(all, true);
    EXPECT_EQ(ids(all), (Texts{"3", "4", "3"}));
}

TEST_F(T12Sacct, AnArrayThatWaitsIsOneLineUnlessItsTasksAreAskedFor) {
    Runs runs{job_of(7)};
    runs[0].mutable_job()->set_array_job_id(7);
    runs[0].mutable_job()->set_array_tasks("1-2,5");
    runs[0].mutable_job()->set_array_limit(2);
    EXPECT_EQ(ids(runs), (Texts{"7_[1-2,5%2]"}));
    expand_arrays(runs);
    EXPECT_EQ(ids(runs), (Texts{"7_1", "7_2", "7_5"}));
}

TEST_F(T12Sacct, TimeIsCutToTheWindow) {
    Window window{now - 80, now - 50};
    clip(*run.mutable_job(), window);
    EXPECT_EQ(field("Elapsed"), "00:00:30");
    run.mutable_job()->set_end_time(0);
    clip(*run.mutable_job(), window);
    EXPECT_EQ(field("Elapsed"), "00:00:30") << "also of a job that runs";
}

TEST_F(T12Sacct, ScriptsAreShownOneAfterTheOther) {
    run.mutable_job()->mutable_spec()->set_script("#!/bin/sh\nexit 3\n");
    const std::string line(80, '-');
    EXPECT_EQ(scripts_of({run}, Show::scripts), "Batch Script for 12\n" + line + "\n#!/bin/sh\nexit 3\n\n");
    EXPECT_EQ(scripts_of({run}, Show::environments),
              "Environment used for 12 (must be batch to display)\n" + line + "\nNONE\n\n");
}

TEST_F(T12Sacct, JsonHasWhatSlurmsHas) {
    run.mutable_job()->set_exit_status(9);
    const auto text = json_of({run}, now);
    for (const auto* part : {"\"type\": \"openapi\\/dbv0.0.38\"", "\"status\": \"SIGNALED\"", "\"signal_id\": 9",
                             "\"job_id\": 12", "\"current\": \"COMPLETED\"", "\"limit\": 5"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text.substr(0, 2000);
}

// ---- options -------------------------------------------------------------------------------------------------------

class T12SacctOptions : public testing::Test {
protected:
    T12SacctOptions() { setenv("TZ", "UTC", 1); }
    // What is wrong with them; nothing if they are good.
    std::string read(std::vector<std::string> words) {
        options = {};
        words.insert(words.begin(), "sacct");
        const auto outcome = apply_words(option_table(), options, words);
        if (!outcome.error.empty()) return outcome.error;
        const auto good = check(options);
        return good ? "" : good.error().text;
    }
    UnixSeconds start() { return window_of(options, now)->start; }
    UnixSeconds end() { return window_of(options, now)->end; }
    static constexpr UnixSeconds today = now / 86400 * 86400;
    Options options;
};

TEST_F(T12SacctOptions, WithoutTimesItIsAboutTodayOrAboutNowOrAboutAll) {
    EXPECT_EQ(read({}), "");
    EXPECT_EQ(start(), today);
    EXPECT_EQ(end(), now);
    EXPECT_EQ(read({"-j", "12"}), "");
    EXPECT_EQ(start(), 0);
    EXPECT_EQ(end(), 0) << "whatever is to come";
    EXPECT_EQ(read({"-s", "F"}), "");
    EXPECT_EQ(start(), now);
    EXPECT_EQ(end(), now);
    EXPECT_EQ(read({"-s", "F", "-S", "midnight"}), "");
    EXPECT_EQ(end(), today) << "that very moment";
    EXPECT_EQ(read({"-s", "F", "-j", "12"}), "");
    EXPECT_EQ(start(), 0);
    EXPECT_EQ(end(), now);
    EXPECT_EQ(read({"-S", "now-1hour", "-E", "now-2hours"}), "");
    EXPECT_FALSE(window_of(options, now)) << "it would end before it begins";
    EXPECT_EQ(read({"-j", "12", "-S", "1116"}), "");
    EXPECT_EQ(start(), today);
    EXPECT_EQ(window_text(options, {0, now}, now),
              "Jobs Eligible in the time window from Epoch 0 to Mon Nov 16 15:00:00 2026");
}

TEST_F(T12SacctOptions, JobsAreReadAsSlurmReadsThem) {
    EXPECT_EQ(read({"-j", "12,13_4,14.batch,15+1,16.0,"}), "");
    EXPECT_EQ(options.jobs, (Texts{"12", "13_4", "14.batch", "15+1", "16.0"}));
    EXPECT_EQ(read({"-j", "13_[1-3,7],4"}), "") << "ranges as well";
    EXPECT_EQ(options.jobs.size(), 2U);
    EXPECT_EQ(read({"-j", "abc"}), "Bad job/step specified: abc");
    EXPECT_TRUE(options.is_fatal);
    EXPECT_EQ(read({"-j", "2.abc"}), "Bad step specified: 2");
    EXPECT_EQ(read({"-j", "12_a"}), "Bad job array element specified: 12");
    EXPECT_EQ(read({"-j", "12+a"}), "Bad hetjob offset specified: 12");
}

TEST_F(T12SacctOptions, WhatIsWrongIsSaidAsSlurmSaysIt) {
    EXPECT_EQ(read({"-s", "r,bogus"}), "unrecognized job state value 'bogus'");
    EXPECT_EQ(read({"-s", "CG"}), "job state CG is not supported / accounted");
    EXPECT_EQ(read({"-i", "abc"}), "Invalid numeric value \"abc\" for requested node range.");
    EXPECT_EQ(read({"-I", "2-"}), "Invalid numeric value \"2-\" for requested cpu range.");
    EXPECT_EQ(read({"-k", "abc"}), "Invalid time limit specification");
    EXPECT_EQ(read({"--units=X"}), "Invalid unit type 'X'. Possible options are 'KMGTP'");
    EXPECT_EQ(read({"--whole-hetjob=maybe"}), "Invalid --whole-hetjob value \"maybe\". Valid values: [yes|no].");
    EXPECT_EQ(read({"-l", "-o", "jobid"}),
              "Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry.");
    EXPECT_EQ(read({"-B", "--env-vars", "-j", "3"}), "Options --batch-script and --env-vars are mutually exclusive");
    EXPECT_EQ(read({"-B"}), "When requesting job scripts you must also request specific jobs with the '-j' option.");
    EXPECT_EQ(read({"--yaml"}), "--yaml is not built: use --json");
}

TEST_F(T12SacctOptions, FormatsAddUp) {
    EXPECT_EQ(read({"-b", "-o", "user"}), "");
    EXPECT_EQ(options.format, "user,jobid,state,exitcode");
    EXPECT_EQ(read({"-o", "jobid", "-o", "state"}), "");
    EXPECT_EQ(options.format, "jobid,state,");
    setenv("SACCT_FORMAT", "user", 1);
    EXPECT_EQ(read({}), "");
    EXPECT_EQ(options.format, "user");
    EXPECT_EQ(read({"-b"}), "");
    EXPECT_EQ(options.format, "jobid,state,exitcode");
    unsetenv("SACCT_FORMAT");
}

TEST_F(T12SacctOptions, RangesAndLimits) {
    EXPECT_EQ(read({"-i", "2-4", "-I", "3", "-k", "5", "-K", "1:00:00", "--units=k"}), "");
    EXPECT_EQ(options.node_count->least, 2U);
    EXPECT_EQ(options.node_count->most, 4U);
    EXPECT_EQ(options.cpu_count->most, 3U);
    EXPECT_EQ(*options.limit_min, 5U);
    EXPECT_EQ(*options.limit_max, 60U);
    EXPECT_EQ(*options.units, 'K');
}

}  // namespace
}  // namespace spur::cli::sacct
