// squeue's formats, byte for byte as observed of Slurm 22.05.
#include "cli/squeue/listing.hpp"
#include "tests/support/queue_fixture.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace spur::cli::squeue {
namespace {

using test::listing;
using test::pending_job;
using test::running_job;

class T55Queue : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
        ::unsetenv("SLURM_TIME_FORMAT");
        ::unsetenv("SLURM_BITSTR_LEN");
    }
    std::string print(const v1::ListJobsReply& reply) {
        const auto printed = print_listing(options_, reply);
        if (!printed) return printed.error().text;
        complaints_ = printed->complaints;
        return printed->text;
    }
    std::string with(const char* format, const v1::ListJobsReply& reply) {
        options_.format = format;
        return print(reply);
    }
    std::string named(const char* format, const v1::ListJobsReply& reply) {
        options_.long_format = format;
        return print(reply);
    }
    Options options_;
    std::vector<std::string> complaints_;
};

v1::Job array_record() {
    auto job = pending_job(3);
    job.set_array_job_id(3);
    job.set_array_tasks("1,4,7,10");
    job.set_array_limit(2);
    return job;
}

TEST_F(T55Queue, TheDefaultListingLooksLikeSlurms) {
    auto gpu = running_job(6, "n4", 5, "gpu");
    auto long_name = running_job(1, "n1", 5);
    long_name.mutable_spec()->set_name("averylongjobname");
    EXPECT_EQ(print(listing({long_name, running_job(2, "n[2-3]"), array_record(), gpu, pending_job(5, "gpu,main")})),
              "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
              "                 6       gpu     wrap     root  R       0:05      1 n4\n"
              "                 5  gpu,main     wrap     root PD       0:00      1 (Resources)\n"
              "    3_[1,4,7,10%2]      main     wrap     root PD       0:00      1 (Resources)\n"
              "                 1      main averylon     root  R       0:05      1 n1\n"
              "                 2      main     wrap     root  R       0:05      1 n[2-3]\n");
}

TEST_F(T55Queue, TheLongListingBeginsWithTheDate) {
    options_.long_listing = true;
    auto job = running_job(6, "n4", 5, "gpu");
    job.set_time_limit_min(2880);
    EXPECT_EQ(print(listing({job})),
              "Mon Nov 16 21:34:32 2026\n"
              "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES NODELIST(REASON)\n"
              "                 6       gpu     wrap     root  RUNNING       0:05 2-00:00:00      1 n4\n");
}

TEST_F(T55Queue, ExpectedStartsAreListedWithTheirNodes) {
    options_.start = true;
    options_.sort = "S";
    auto soon = pending_job(8, "hid"), unknown = pending_job(4);
    soon.set_start_time(test::listing_time + 7168);
    soon.set_scheduled_nodes("n2");
    unknown.set_reason("JobHeldUser");
    EXPECT_EQ(print(listing({soon, unknown})),
              "             JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES           "
              "NODELIST(REASON)\n"
              "                 4      main     wrap     root PD                 N/A      1 (null)               "
              "(JobHeldUser)\n"
              "                 8       hid     wrap     root PD 2026-11-16T23:34:00      1 n2                   "
              "(Resources)\n");
}

TEST_F(T55Queue, StepsHaveAListingOfTheirOwn) {
    options_.steps = true;
    auto job = running_job(1, "n1");
    for (const std::uint32_t id : {0xfffffffbU, 0U}) {
        auto& step = *job.add_steps();
        step.set_step_id(id);
        step.set_name(id ? "batch" : "sleep");
        step.set_start_time(job.start_time());
        step.set_node_list("n1");
    }
    EXPECT_EQ(print(listing({job})),
              "         STEPID     NAME PARTITION     USER      TIME NODELIST\n"
              "            1.0    sleep      main     root      0:05 n1\n"
              "        1.batch    batch      main     root      0:05 n1\n");
}

TEST_F(T55Queue, LiteralTextAndControlCharactersStayAsTyped) {
    EXPECT_EQ(with("abc %i{\"a\":\"%j\"} xx\x1f", listing({pending_job(9)})),
              "abc JOBID{\"a\":\"NAME\"} xx\x1f\nabc 9{\"a\":\"wrap\"} xx\x1f\n");
    EXPECT_EQ(with("\\t%i\\n", listing({pending_job(9)})), "\\tJOBID\\n\n\\t9\\n\n");
}

TEST_F(T55Queue, ANewlineInAJobsNameForgesNoLine) {
    auto job = pending_job(7);
    job.mutable_spec()->set_name("a\n999 main forged\x1b[2J");
    EXPECT_EQ(with("%i|%j|%u", listing({job})), "JOBID|NAME|USER\n7|a\\n999 main forged\\x1b[2J|root\n");
}

TEST_F(T55Queue, WidthsCutAndPadOnEitherSide) {
    EXPECT_EQ(with("<%2j><%.2j><%6j><%.6j><%j>", listing({pending_job(9)})),
              "<NA><NA><NAME  ><  NAME><NAME>\n<wr><wr><wrap  ><  wrap><wrap>\n");
    EXPECT_EQ(with("<%.i><%0i><%.05i>", listing({pending_job(1)})), "<JOBID><JOBID><JOBID>\n<1><1><    1>\n");
}

TEST_F(T55Queue, RightJustifiedTimesAndNodeListsAreNeverCut) {
    EXPECT_EQ(with("<%2l><%.2l><%2N><%.2N><%2R><%.2R>", listing({running_job(1, "n[1-9]")})),
              "<TI><TI><NO><NODELIST><NO><NODELIST(REASON)>\n<1:><1:00:00><n[><n[1-9]><n[><n[1-9]>\n");
}

TEST_F(T55Queue, AMissingValueIsPrintedWholeOrNotAtAll) {
    EXPECT_EQ(with("<%2a><%.2a><%8a><%.8a><%a>", listing({pending_job(9)})),
              "<AC><AC><ACCOUNT >< ACCOUNT><ACCOUNT>\n<  ><(n><(null)  ><  (null)><(null)>\n");
}

TEST_F(T55Queue, AnUnknownLetterIsReportedAndPrintedAsTyped) {
    EXPECT_EQ(with("%1i %#i %y% %", listing({pending_job(1)})), "J %#i NICE% \n1 %#i 0% \n");
    EXPECT_EQ(complaints_,
              (std::vector<std::string>{"Invalid job format specification: #", "Invalid job format specification:  "}));
}

TEST_F(T55Queue, APendingJobSaysWhyAndARunningOneWhere) {
    auto failed = running_job(68, "n1");
    failed.set_state_bits(5);
    failed.set_reason("NonZeroExitCode");
    auto cancelled = running_job(69, "n1");
    cancelled.set_state_bits(4);
    options_.query.states = *JobStateFilter::parse("all");
    EXPECT_EQ(with("%i %t %r %R %B", listing({failed, cancelled, pending_job(7)})),
              "JOBID ST REASON NODELIST(REASON) EXEC_HOST\n"
              "69 CA None n1 n1\n"
              "68 F NonZeroExitCode (NonZeroExitCode) n1\n"
              "7 PD Resources (Resources) n/a\n");
}

TEST_F(T55Queue, SizesAreConvertedUnlessToldNotTo) {
    auto job = pending_job(92);
    job.mutable_spec()->set_mem_per_node_mib(1536);
    job.mutable_spec()->set_min_tmp_mib(2048);
    EXPECT_EQ(with("%m %d", listing({job})), "MIN_MEMORY MIN_TMP_DISK\n1.50G 2G\n");
    options_.convert_units = false;
    EXPECT_EQ(with("%m %d", listing({job})), "MIN_MEMORY MIN_TMP_DISK\n1536M 2048M\n");
}

TEST_F(T55Queue, TimeLeftCountsFromTheLimit) {
    EXPECT_EQ(with("%M %L %l", listing({running_job(1, "n1", 305)})),
              "TIME TIME_LEFT TIME_LIMIT\n5:05 54:55 1:00:00\n");
    auto unlimited = running_job(1, "n1", 5);
    unlimited.set_time_limit_min(0xffffffffU);
    EXPECT_EQ(with("%L %l", listing({unlimited})), "TIME_LEFT TIME_LIMIT\nUNLIMITED UNLIMITED\n");
}

TEST_F(T55Queue, TheClockStandsStillWhileAJobIsSuspended) {
    auto job = running_job(71, "n1", 100);
    job.set_state_bits(2);
    job.set_suspend_time(job.start_time() + 30);
    EXPECT_EQ(with("%t %M", listing({job})), "ST TIME\nS 0:30\n");
    job.set_state_bits(1);
    job.set_suspended_s(50);
    EXPECT_EQ(with("%t %M", listing({job})), "ST TIME\nR 0:50\n");
}

TEST_F(T55Queue, TimesFollowTheUsersFormat) {
    ::setenv("SLURM_TIME_FORMAT", "%H.%M", 1);
    EXPECT_EQ(with("%V", listing({pending_job(1)})), "SUBMIT_TIME\n21.34\n");
    ::setenv("SLURM_TIME_FORMAT", "standard", 1);
    EXPECT_EQ(with("%V", listing({pending_job(1)})), "SUBMIT_TIME\n2026-11-16T21:34:26\n");
    ::unsetenv("SLURM_TIME_FORMAT");
}

TEST_F(T55Queue, LongTaskListsAreCutShort) {
    auto job = array_record();
    std::string tasks;
    for (int i = 1; i < 40; ++i) tasks += (tasks.empty() ? "" : ",") + std::to_string(i * i);
    job.set_array_tasks(tasks);
    job.set_array_limit(0);
    options_.header = false;
    const auto text = with("%K", listing({job}));
    EXPECT_TRUE(text.ends_with("...\n")) << text;
    EXPECT_LE(text.size(), 68U);
    ::setenv("SLURM_BITSTR_LEN", "0", 1);
    EXPECT_EQ(with("%K", listing({job})), tasks + "\n");
}

TEST_F(T55Queue, NamedFieldsAreTwentyWideUnlessTheySayOtherwise) {
    EXPECT_EQ(named("jobid,name:5,,STATE", listing({pending_job(50)})),
              "JOBID               NAME STATE               \n50                  wrap PENDING             \n");
    EXPECT_EQ(named("jobid:.8", listing({pending_job(50)})), "   JOBID\n      50\n");
    EXPECT_EQ(named("jobid::,username:###x###,statecompact:\x1f", listing({pending_job(50)})),
              "JOBID:USER###x###ST\x1f\n50:root###x###PD\x1f\n");
}

TEST_F(T55Queue, AnUnknownNameIsReportedAndLeavesAGap) {
    EXPECT_EQ(named("jobid:|,nonsense:9|", listing({pending_job(50)})), "JOBID||\n50||\n");
    EXPECT_EQ(complaints_, std::vector<std::string>{"Invalid job format specification: nonsense"});
}

TEST_F(T55Queue, ArrayIdsOfPlainJobsAreNotAvailable) {
    EXPECT_EQ(named("JobArrayID:|,ArrayJobID:|,ArrayTaskID:|", listing({pending_job(6)})),
              "JOBID|ARRAY_JOB_ID|ARRAY_TASK_ID|\n6|6|N/A|\n");
    EXPECT_EQ(named("JobArrayID:|,ArrayJobID:|,ArrayTaskID:|", listing({array_record()})),
              "JOBID|ARRAY_JOB_ID|ARRAY_TASK_ID|\n3_[1,4,7,10%2]|3|1,4,7,10%2|\n");
}

TEST_F(T55Queue, EveryFieldOfTheManualHasAName) {
    for (const auto* name : {"Account",
                             "AccrueTime",
                             "admin_comment",
                             "AllocNodes",
                             "AllocSID",
                             "ArrayJobID",
                             "ArrayTaskID",
                             "AssocID",
                             "BatchFlag",
                             "BatchHost",
                             "BoardsPerNode",
                             "BurstBuffer",
                             "BurstBufferState",
                             "Cluster",
                             "ClusterFeature",
                             "Command",
                             "Comment",
                             "Contiguous",
                             "Container",
                             "Cores",
                             "CoreSpec",
                             "cpus-per-task",
                             "cpus-per-tres",
                             "Deadline",
                             "DelayBoot",
                             "Dependency",
                             "DerivedEC",
                             "EligibleTime",
                             "EndTime",
                             "exit_code",
                             "Feature",
                             "GroupID",
                             "GroupName",
                             "HetJobID",
                             "HetJobIDSet",
                             "HetJobOffset",
                             "JobArrayID",
                             "JobID",
                             "LastSchedEval",
                             "Licenses",
                             "MaxCPUs",
                             "MaxNodes",
                             "MCSLabel",
                             "mem-per-tres",
                             "MinCpus",
                             "MinMemory",
                             "MinTime",
                             "MinTmpDisk",
                             "Name",
                             "Network",
                             "Nice",
                             "NodeList",
                             "NTPerBoard",
                             "NTPerCore",
                             "NTPerNode",
                             "NTPerSocket",
                             "NumCPUs",
                             "NumNodes",
                             "NumTasks",
                             "Origin",
                             "OriginRaw",
                             "OverSubscribe",
                             "Partition",
                             "PendingTime",
                             "PreemptTime",
                             "Prefer",
                             "Priority",
                             "PriorityLong",
                             "Profile",
                             "QOS",
                             "Reason",
                             "ReasonList",
                             "Reboot",
                             "ReqNodes",
                             "ReqSwitch",
                             "Requeue",
                             "Reservation",
                             "ResizeTime",
                             "RestartCnt",
                             "SchedNodes",
                             "SCT",
                             "SelectJobInfo",
                             "SiblingsActive",
                             "SiblingsViable",
                             "Sockets",
                             "SPerBoard",
                             "StartTime",
                             "State",
                             "StateCompact",
                             "STDERR",
                             "STDIN",
                             "STDOUT",
                             "SubmitTime",
                             "system_comment",
                             "Threads",
                             "TimeLeft",
                             "TimeLimit",
                             "TimeUsed",
                             "tres-alloc",
                             "tres-bind",
                             "tres-freq",
                             "tres-per-job",
                             "tres-per-node",
                             "tres-per-socket",
                             "tres-per-task",
                             "UserID",
                             "UserName",
                             "Wait4Switch",
                             "WCKey",
                             "WorkDir"}) {
        named(name, listing({pending_job(1)}));
        EXPECT_TRUE(complaints_.empty()) << name;
    }
}

TEST_F(T55Queue, AllPrintsEveryLetterBetweenBars) {
    const auto text = with("%all", listing({pending_job(9)}));
    EXPECT_TRUE(
        text.starts_with("ACCOUNT|TRES_PER_NODE|MIN_CPUS|MIN_TMP_DISK|END_TIME|FEATURES|GROUP|OVER_SUBSCRIBE|"
                         "JOBID|NAME|COMMENT|TIME_LIMIT|MIN_MEMORY|REQ_NODES|COMMAND|PRIORITY|QOS|REASON||ST|"));
    EXPECT_NE(text.find("|SCHEDNODES|WORK_DIR\n(null)|N/A|1|0|N/A|(null)|root|OK|9|wrap|"), std::string::npos) << text;
}

}  // namespace
}  // namespace spur::cli::squeue
