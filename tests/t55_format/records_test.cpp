// scontrol's records, byte for byte as observed of Slurm 22.05.
#include "cli/scontrol/show.hpp"
#include "cli/scontrol/update.hpp"
#include "core/model/node.hpp"
#include "tests/support/queue_fixture.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

namespace spur::cli::scontrol {
namespace {

using test::listing_time;

class T55Records : public testing::Test {
protected:
    void SetUp() override {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
        ::unsetenv("SLURM_TIME_FORMAT");
        style_.now = listing_time;
    }
    Style style_;
};

v1::Job running() {
    auto job = test::running_job(1, "n1", 5);
    job.set_time_limit_min(10);
    job.set_end_time(job.start_time() + 600);
    job.set_eligible_time(job.submit_time());
    job.set_accrue_time(job.submit_time());
    job.set_last_sched_eval(job.start_time());
    job.set_cpus(2);
    job.set_task_count(2);
    job.set_tres_allocated("cpu=2,mem=250G,node=1,billing=2");
    job.set_std_out_path("/home/root/slurm-1.out");
    job.set_std_err_path("/home/root/slurm-1.out");
    job.set_std_in_path("/dev/null");
    auto& spec = *job.mutable_spec();
    spec.set_name("myjob");
    spec.set_comment("hello world");
    spec.set_command("/home/root/j.sh");
    spec.set_alloc_node("login");
    spec.set_alloc_sid(3537);
    return job;
}

constexpr const char* running_text =
    "JobId=1 JobName=myjob\n"
    "   UserId=root(0) GroupId=root(0) MCS_label=N/A\n"
    "   Priority=4294901759 Nice=0 Account=(null) QOS=(null)\n"
    "   JobState=RUNNING Reason=None Dependency=(null)\n"
    "   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n"
    "   RunTime=00:00:05 TimeLimit=00:10:00 TimeMin=N/A\n"
    "   SubmitTime=2026-11-16T21:34:26 EligibleTime=2026-11-16T21:34:26\n"
    "   AccrueTime=2026-11-16T21:34:26\n"
    "   StartTime=2026-11-16T21:34:27 EndTime=2026-11-16T21:44:27 Deadline=N/A\n"
    "   SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-16T21:34:27 Scheduler=Main\n"
    "   Partition=main AllocNode:Sid=login:3537\n"
    "   ReqNodeList=(null) ExcNodeList=(null)\n"
    "   NodeList=n1\n"
    "   BatchHost=n1\n"
    "   NumNodes=1 NumCPUs=2 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n"
    "   TRES=cpu=2,mem=250G,node=1,billing=2\n"
    "   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*\n"
    "   MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0\n"
    "   Features=(null) DelayBoot=00:00:00\n"
    "   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)\n"
    "   Command=/home/root/j.sh\n"
    "   WorkDir=/home/root\n"
    "   Comment=hello world \n"
    "   StdErr=/home/root/slurm-1.out\n"
    "   StdIn=/dev/null\n"
    "   StdOut=/home/root/slurm-1.out\n"
    "   Power=\n"
    "   \n\n";

TEST_F(T55Records, AJobLooksLikeSlurms) { EXPECT_EQ(job_text(running(), style_), running_text); }

TEST_F(T55Records, WhatAUserCallsAJobStaysInItsLine) {
    auto job = running();
    job.mutable_spec()->set_name("mine\nJobId=2 JobName=yours\x1b[2J");
    const auto text = job_text(job, style_);
    EXPECT_TRUE(text.starts_with("JobId=1 JobName=mine\\nJobId=2 JobName=yours\\x1b[2J\n   UserId=root(0)")) << text;
}

TEST_F(T55Records, OnOneLineTheSameWordsFollowEachOther) {
    style_.one_line = true;
    std::string expected = running_text;
    for (std::size_t at = 0; (at = expected.find("\n   ", at)) != std::string::npos;) expected.replace(at, 4, " ");
    expected.resize(expected.size() - 1);
    EXPECT_EQ(job_text(running(), style_), expected);
}

TEST_F(T55Records, DetailsShowWhatEachNodeGives) {
    style_.details = 1;
    auto job = running();
    auto& share = *job.add_shares();
    share.set_node("n4");
    share.set_core_ids("0-1");
    share.set_memory_mib(1024);
    auto& gres = *share.add_gres();
    gres.set_name("gpu");
    gres.set_type("mi300x");
    gres.set_count(2);
    gres.add_index(0);
    gres.add_index(1);
    const auto text = job_text(job, style_);
    EXPECT_NE(text.find("\n   JOB_GRES=gpu:mi300x:2\n     Nodes=n4 CPU_IDs=0-1 Mem=1024 GRES=gpu:mi300x:2(IDX:0-1)\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\n   DerivedExitCode=0:0\n"), std::string::npos);
}

TEST_F(T55Records, AnArrayRecordNamesItsTasksAndThrottle) {
    auto job = test::pending_job(3);
    job.set_array_job_id(3);
    job.set_array_tasks("1,4,7,10");
    job.set_array_limit(2);
    EXPECT_TRUE(job_text(job, style_)
                    .starts_with("JobId=3 ArrayJobId=3 ArrayTaskId=1,4,7,10%2 ArrayTaskThrottle=2 JobName=wrap\n"));
}

TEST_F(T55Records, RequestsShowUpOnTheirLines) {
    auto job = test::pending_job(15);
    auto& spec = *job.mutable_spec();
    spec.set_min_nodes(1);
    spec.set_max_nodes(2);
    spec.set_mem_per_cpu_mib(1024);
    spec.set_gres_per_node("gpu:2");
    spec.set_gres_per_job("gpu:4");
    spec.set_mail_type(0x50f);
    spec.set_mail_user("me");
    spec.set_sockets_per_node(1);
    spec.set_cores_per_socket(2);
    spec.set_threads_per_core(1);
    spec.set_features("a&b");
    spec.set_prefer("a");
    spec.set_switches(2);
    spec.set_switches_wait_s(300);
    spec.set_spread(true);
    const auto text = job_text(job, style_);
    for (const auto* line :
         {"   NumNodes=1-2 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:2:1\n",
          "   Socks/Node=1 NtasksPerN:B:S:C=0:0:*:* CoreSpec=*\n",
          "   MinCPUsNode=1 MinMemoryCPU=1G MinTmpDiskNode=0\n", "   Features=a&b DelayBoot=00:00:00\n   Prefer=a\n",
          "   Switches=2@00:05:00\n   Power=\n   SpreadJob=Yes\n",
          "   TresPerJob=gres:gpu:4\n   TresPerNode=gres:gpu:2\n",
          "   MailUser=me MailType=INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST_F(T55Records, AStepLooksLikeSlurms) {
    const auto job = running();
    v1::Step step;
    step.set_step_id(0);
    step.set_start_time(job.start_time());
    step.set_state("RUNNING");
    step.set_node_list("n1");
    step.set_cpus(2);
    step.set_tasks(2);
    step.set_name("sleep");
    step.set_tres("cpu=2,mem=250G,node=1");
    step.set_submit_host("vm");
    step.set_srun_pid(10479);
    step.set_distribution("Block");
    EXPECT_EQ(step_text(job, step, style_),
              "StepId=1.0 UserId=0 StartTime=2026-11-16T21:34:27 TimeLimit=UNLIMITED\n"
              "   State=RUNNING Partition=main NodeList=n1\n"
              "   Nodes=1 CPUs=2 Tasks=2 Name=sleep Network=(null)\n"
              "   TRES=cpu=2,mem=250G,node=1\n"
              "   ResvPorts=(null)\n"
              "   CPUFreqReq=Default Dist=Block\n"
              "   SrunHost:Pid=vm:10479\n\n");
    step.clear_srun_pid();
    step.clear_distribution();
    EXPECT_TRUE(step_text(job, step, style_).ends_with("   CPUFreqReq=Default\n   SrunHost:Pid=vm:0\n\n"))
        << "what is not known is not made up";
}

TEST_F(T55Records, ANodeLooksLikeSlurms) {
    auto node = test::node("n3", "IDLE+DRAIN", {"main", "down"});
    node.set_architecture("x86_64");
    node.add_active_features("a");
    node.set_boards(1);
    node.set_load(0.2);
    node.set_free_memory_mib(23603);
    node.set_port(6818);
    node.set_os("Linux 6.1.0");
    node.set_boot_time(listing_time - 1000);
    node.set_start_time(listing_time - 100);
    node.set_last_busy(listing_time - 10);
    node.set_tres_configured("cpu=8,mem=250G,billing=8");
    node.set_reason("a b");
    node.set_reason_user("root");
    node.set_reason_time(listing_time);
    EXPECT_EQ(node_text(node, style_),
              "NodeName=n3 Arch=x86_64 CoresPerSocket=4 \n"
              "   CPUAlloc=0 CPUEfctv=8 CPUTot=8 CPULoad=0.20\n"
              "   AvailableFeatures=a,b\n"
              "   ActiveFeatures=a\n"
              "   Gres=(null)\n"
              "   NodeAddr=127.0.0.1 NodeHostName=n3 Port=6818 Version=22.05.8\n"
              "   OS=Linux 6.1.0 \n"
              "   RealMemory=256000 AllocMem=0 FreeMem=23603 Sockets=2 Boards=1\n"
              "   State=IDLE+DRAIN ThreadsPerCore=1 TmpDisk=1000 Weight=1 Owner=N/A MCS_label=N/A\n"
              "   Partitions=main,down \n"
              "   BootTime=2026-11-16T21:17:52 SlurmdStartTime=2026-11-16T21:32:52\n"
              "   LastBusyTime=2026-11-16T21:34:22\n"
              "   CfgTRES=cpu=8,mem=250G,billing=8\n"
              "   AllocTRES=\n"
              "   CapWatts=n/a\n"
              "   CurrentWatts=0 AveWatts=0\n"
              "   ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s\n"
              "   Reason=a b [root@2026-11-16T21:34:32]\n\n");
}

TEST_F(T55Records, APartitionLooksLikeSlurms) {
    auto partition = test::partition("main", 0xffffffffU, true);
    partition.set_default_time_min(60);
    partition.set_nodes("n[1-4]");
    partition.set_total_cpus(40);
    partition.set_total_nodes(4);
    partition.set_tres("cpu=40,mem=875G,node=4,billing=40");
    EXPECT_EQ(partition_text(partition, style_),
              "PartitionName=main\n"
              "   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL\n"
              "   AllocNodes=ALL Default=YES QoS=N/A\n"
              "   DefaultTime=01:00:00 DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO\n"
              "   MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED\n"
              "   Nodes=n[1-4]\n"
              "   PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO\n"
              "   OverTimeLimit=NONE PreemptMode=OFF\n"
              "   State=UP TotalCPUs=40 TotalNodes=4 SelectTypeParameters=NONE\n"
              "   JobDefaults=(null)\n"
              "   DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED\n"
              "   TRES=cpu=40,mem=875G,node=4,billing=40\n\n");
}

TEST_F(T55Records, ANodeThatNeverRegisteredSaysOnlyWhatIsConfigured) {
    v1::Node node;
    node.set_name("spec1");
    node.set_addr("127.0.0.1");
    node.set_hostname("spec1");
    node.set_port(29990);
    node.set_state("UNKNOWN");
    node.set_cpus(8);
    node.set_sockets(8);
    node.set_cores_per_socket(1);
    node.set_threads_per_core(1);
    node.set_memory_mib(1000);
    node.set_weight(1);
    node.set_core_spec(1);
    node.set_tres_configured("cpu=7,mem=1000M,billing=7");
    EXPECT_EQ(node_text(node, style_),
              "NodeName=spec1 CoresPerSocket=1 \n"
              "   CPUAlloc=0 CPUEfctv=7 CPUTot=8 CPULoad=N/A\n"
              "   AvailableFeatures=(null)\n"
              "   ActiveFeatures=(null)\n"
              "   Gres=(null)\n"
              "   NodeAddr=127.0.0.1 NodeHostName=spec1 Port=29990 \n"
              "   RealMemory=1000 AllocMem=0 FreeMem=N/A Sockets=8 Boards=1\n"
              "   CoreSpecCount=1 \n"
              "   State=UNKNOWN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n"
              "   BootTime=None SlurmdStartTime=None\n"
              "   LastBusyTime=Unknown\n"
              "   CfgTRES=cpu=7,mem=1000M,billing=7\n"
              "   AllocTRES=\n"
              "   CapWatts=n/a\n"
              "   CurrentWatts=0 AveWatts=0\n"
              "   ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s\n\n");
    node.clear_core_spec();
    node.set_mem_spec_mib(100);
    node.set_enforced(node_limit::known | node_limit::containment | node_limit::devices | node_limit::processes);
    const auto text = node_text(node, {.details = 1});
    for (const auto* line :
         {"\n   MemSpecLimit=100\n", "\n   GresDrain=N/A\n   GresUsed=(null)\n", "\n   Unenforced=memory,cores\n\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST_F(T55Records, APartitionsOwnRulesAreShown) {
    auto own = test::partition("own", 90);
    own.set_alloc_nodes("n[1-2]");
    own.set_disable_root_jobs(true);
    own.set_over_time_limit_min(5);
    own.set_job_defaults("DefCpuPerGPU=2,DefMemPerGPU=1000");
    own.set_default_time_min(0xffffffffU);
    own.set_preempt_mode("REQUEUE");
    own.set_deny_accounts("bad");
    own.set_deny_qos("low");
    own.set_default_mem_per_cpu_mib(100);
    own.set_max_mem_per_node_mib(2000);
    own.set_alternate("main");
    const auto text = partition_text(own, style_);
    for (const auto* line :
         {"   AllowGroups=ALL DenyAccounts=bad DenyQos=low\n",
          "   AllocNodes=n[1-2] Alternate=main Default=NO QoS=N/A\n",
          "   DefaultTime=UNLIMITED DisableRootJobs=YES ExclusiveUser=NO GraceTime=0 Hidden=NO\n", " MaxTime=01:30:00 ",
          "   OverTimeLimit=5 PreemptMode=REQUEUE\n", "   JobDefaults=DefCpuPerGPU=2,DefMemPerGPU=1000\n",
          "   DefMemPerCPU=100 MaxMemPerNode=2000\n\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    own.set_over_time_limit_min(0xffffffffU);
    EXPECT_NE(partition_text(own, style_).find("OverTimeLimit=UNLIMITED "), std::string::npos);
}

TEST_F(T55Records, ALicenseLooksLikeSlurms) {
    v1::License license;
    license.set_name("fluent");
    license.set_total(10);
    license.set_used(3);
    EXPECT_EQ(license_text(license, style_), "LicenseName=fluent\n    Total=10 Used=3 Free=7 Reserved=0 Remote=no\n");
    EXPECT_EQ(license_text(license, {.one_line = true}),
              "LicenseName=fluent Total=10 Used=3 Free=7 Reserved=0 Remote=no\n");
}

TEST_F(T55Records, AReservationLooksLikeSlurms) {
    v1::Reservation reservation;
    reservation.set_name("root_1");
    reservation.set_start_time(listing_time);
    reservation.set_end_time(listing_time + 600);
    reservation.set_nodes("n2");
    reservation.set_node_count(1);
    reservation.set_core_count(8);
    reservation.set_flags("SPEC_NODES");
    reservation.set_tres("cpu=8");
    reservation.set_users("root");
    reservation.set_state("ACTIVE");
    EXPECT_EQ(reservation_text(reservation, style_),
              "ReservationName=root_1 StartTime=2026-11-16T21:34:32 EndTime=2026-11-16T21:44:32 Duration=00:10:00\n"
              "   Nodes=n2 NodeCnt=1 CoreCnt=8 Features=(null) PartitionName=(null) Flags=SPEC_NODES\n"
              "   TRES=cpu=8\n"
              "   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a\n"
              "   MaxStartDelay=(null)\n\n");
    reservation.add_core_ids("NodeName=n2 CoreIDs=0-1");
    reservation.set_max_start_delay_s(5400);
    const auto text = reservation_text(reservation, style_);
    EXPECT_NE(text.find("Flags=SPEC_NODES\n     NodeName=n2 CoreIDs=0-1\n   TRES=cpu=8\n"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("   MaxStartDelay=01:30:00\n\n")) << text;
}

using Words = std::vector<std::string>;

std::string refusal(const Words& words) {
    const auto update = parse_update(words);
    return update ? "" : update.error().text;
}

TEST(T55Update, KeysAreKnownInAnyCaseAndShortened) {
    const auto update = parse_update(Words{"JobId=12,13_4", "TimeLimit+=5", "Name=foo", "Prio=7", "ReqNodeList=n1"});
    ASSERT_TRUE(update) << update.error().text;
    const auto& request = std::get<JobUpdate>(*update).request;
    EXPECT_EQ(request.ids_size(), 2);
    EXPECT_EQ(request.changes().at("timelimit"), "+5");
    EXPECT_EQ(request.changes().at("jobname"), "foo");
    EXPECT_EQ(request.changes().at("priority"), "7");
    EXPECT_EQ(request.changes().at("reqnodelist"), "n1");
}

TEST(T55Update, AJobMayBeNamedInTwoWordsOrByItsName) {
    EXPECT_EQ(std::get<JobUpdate>(*parse_update(Words{"job", "7", "nice=3"})).request.ids(0), "7");
    EXPECT_EQ(std::get<JobUpdate>(*parse_update(Words{"jobname=arr", "nice=3"})).by_name, "arr");
}

TEST(T55Update, NodesPartitionsAndReservationsHaveTheirOwnWords) {
    const auto node = std::get<v1::UpdateNodesRequest>(*parse_update(Words{"NodeName=n1", "Feat=a,b", "Weight=3"}));
    EXPECT_EQ(node.changes().at("availablefeatures"), "a,b");
    EXPECT_EQ(node.changes().at("weight"), "3");
    const auto part = std::get<v1::UpdatePartitionRequest>(
        *parse_update(Words{"PartitionName=main", "Shared=FORCE:2", "Priority=9", "MaxTime=10"}));
    EXPECT_EQ(part.changes().at("oversubscribe"), "FORCE:2");
    EXPECT_EQ(part.changes().at("prioritytier"), "9");
    EXPECT_EQ(part.changes().at("maxtime"), "10");
    const auto resv =
        std::get<v1::UpdateReservationRequest>(*parse_update(Words{"Res=x", "Users+=bob", "Dur=5", "Start=now"}));
    EXPECT_EQ(resv.changes().at("users+"), "bob");
    EXPECT_EQ(resv.changes().at("duration"), "5");
    EXPECT_EQ(resv.changes().at("starttime"), "now");
    EXPECT_EQ(refusal({"res=x", "comment=y"}), "scontrol: error: Unknown parameter comment=y.  No reservation update.");
    EXPECT_EQ(refusal({"res=x", "flags=nonsense"}).substr(0, 17), "scontrol: error: ");
    EXPECT_EQ(refusal({"nodename=n1", "resumeafter=3"}),
              "Update of this parameter is not supported: resumeafter=3\nRequest aborted");
}

TEST(T55Update, WhatSlurmRefusesIsRefusedInItsWords) {
    EXPECT_EQ(refusal({"jobid=74", "foo=3"}), "Update of this parameter is not supported: foo=3\nRequest aborted");
    EXPECT_EQ(refusal({"jobid=74"}), "No changes specified");
    EXPECT_EQ(refusal({"timelimit=3"}),
              "No valid entity in update command\nInput line must include \"NodeName\", \"PartitionName\", "
              "\"Reservation\", \"JobId\", or \"SlurmctldDebug\"");
    EXPECT_EQ(refusal({"nodename=n3", "state=drain"}),
              "You must specify a reason when DOWNING or DRAINING a node. Request denied");
    EXPECT_EQ(refusal({"nodename=n3", "state=drain", "reason=a b"}), "");
}

TEST(T55Update, ReservationsNeedAStartAndAnEnd) {
    EXPECT_EQ(parse_create(Words{"res=x", "duration=10"}).error().text,
              "scontrol: error: A start time must be given.  No reservation created.");
    EXPECT_EQ(parse_create(Words{"reservation", "starttime=now"}).error().text,
              "scontrol: error: An end time or duration must be given.  No reservation created.");
    EXPECT_TRUE(parse_create(Words{"res", "starttime=now", "duration=10", "users=root", "nodes=n2"}));
    EXPECT_EQ(parse_delete(Words{"foo=bar"}).error().text, "Invalid deletion entity: foo=bar");
}

}  // namespace
}  // namespace spur::cli::scontrol
