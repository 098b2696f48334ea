// A key that Slurm has too bears Slurm's name: the one that `scontrol show config` of 22.05 prints, and the member of
// slurm.h's slurm_conf_t.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "daemons/common/config/config.hpp"

namespace spur::config {
namespace {

// Of a running 22.05, with priority/multifactor and with memory limits per node and per CPU.
constexpr const char* shown_by_slurm =
    "AccountingStorageBackupHost AccountingStorageEnforce AccountingStorageExternalHost AccountingStorageHost "
    "AccountingStorageParameters AccountingStoragePort AccountingStorageTRES AccountingStorageType "
    "AccountingStorageUser AccountingStoreFlags AcctGatherEnergyType AcctGatherFilesystemType "
    "AcctGatherInterconnectType AcctGatherNodeFreq AcctGatherProfileType AllowSpecResourcesUsage AuthAltParameters "
    "AuthAltTypes AuthInfo AuthType BOOT_TIME BatchStartTimeout BcastExclude BcastParameters BurstBufferType "
    "CliFilterPlugins ClusterName CommunicationParameters CompleteWait CoreSpecPlugin CpuFreqDef CpuFreqGovernors "
    "CredType DebugFlags DefMemPerCPU DefMemPerNode DependencyParameters DisableRootJobs EioTimeout EnforcePartLimits "
    "Epilog EpilogMsgTime EpilogSlurmctld ExtSensorsFreq ExtSensorsType FairShareDampeningFactor FederationParameters "
    "FirstJobId GetEnvTimeout GpuFreqDef GresTypes GroupUpdateForce GroupUpdateTime HASH_VAL HealthCheckInterval "
    "HealthCheckNodeState HealthCheckProgram InactiveLimit InteractiveStepOptions JobAcctGatherFrequency "
    "JobAcctGatherParams JobAcctGatherType JobCompHost JobCompLoc JobCompPort JobCompType JobCompUser "
    "JobContainerType JobCredentialPrivateKey JobCredentialPublicCertificate JobDefaults JobFileAppend JobRequeue "
    "JobSubmitPlugins KillOnBadExit KillWait LaunchParameters LaunchType Licenses LogTimeFormat MCSParameters "
    "MCSPlugin MULTIPLE_SLURMD MailDomain MailProg MaxArraySize MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU "
    "MaxMemPerNode MaxNodeCount MaxStepCount MaxTasksPerNode MessageTimeout MinJobAge MpiDefault MpiParams "
    "NEXT_JOB_ID NodeFeaturesPlugins OverTimeLimit PlugStackConfig PluginDir PowerParameters PowerPlugin "
    "PrEpParameters PrEpPlugins PreemptExemptTime PreemptMode PreemptType PriorityCalcPeriod PriorityDecayHalfLife "
    "PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityParameters PrioritySiteFactorParameters "
    "PrioritySiteFactorPlugin PriorityType PriorityUsageResetPeriod PriorityWeightAge PriorityWeightAssoc "
    "PriorityWeightFairShare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS PriorityWeightTRES "
    "PrivateData ProctrackType Prolog PrologEpilogTimeout PrologFlags PrologSlurmctld PropagatePrioProcess "
    "PropagateResourceLimits PropagateResourceLimitsExcept RebootProgram ReconfigFlags RequeueExit RequeueExitHold "
    "ResumeFailProgram ResumeProgram ResumeRate ResumeTimeout ResvEpilog ResvOverRun ResvProlog ReturnToService "
    "RoutePlugin SLURM_CONF SLURM_VERSION SchedulerParameters SchedulerTimeSlice SchedulerType ScronParameters "
    "SelectType SelectTypeParameters SlurmSchedLogFile SlurmSchedLogLevel SlurmUser SlurmctldAddr SlurmctldDebug "
    "SlurmctldHost[0] SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPlugstack SlurmctldPort "
    "SlurmctldPrimaryOffProg SlurmctldPrimaryOnProg SlurmctldSyslogDebug SlurmctldTimeout SlurmdDebug SlurmdLogFile "
    "SlurmdParameters SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdSyslogDebug SlurmdTimeout SlurmdUser SrunEpilog "
    "SrunPortRange SrunProlog StateSaveLocation SuspendExcNodes SuspendExcParts SuspendProgram SuspendRate "
    "SuspendTime SuspendTimeout SwitchParameters SwitchType TCPTimeout TaskEpilog TaskPlugin TaskPluginParam "
    "TaskProlog TmpFS TopologyParam TopologyPlugin TrackWCKey TreeWidth UnkillableStepProgram UnkillableStepTimeout "
    "UsePam VSizeFactor WaitTime X11Parameters ";

TEST(T52SlurmNames, SlurmShowsEveryNameThatAKeySaysItHasThere) {
    std::istringstream in{shown_by_slurm};
    const std::set<std::string> known{std::istream_iterator<std::string>{in}, {}};
    EXPECT_TRUE(known.contains("KillWait"));
    std::set<std::string> seen;
    for (const auto& key : config_keys()) {
        if (key.slurm.empty()) {
            EXPECT_TRUE(key.show == nullptr && key.member.empty()) << key.key;
            continue;
        }
        EXPECT_TRUE(known.contains(std::string{key.slurm})) << key.slurm;
        EXPECT_TRUE(seen.emplace(key.slurm).second) << key.slurm << " is the name of two keys";
        EXPECT_FALSE(key.member.empty()) << key.slurm;
    }
    EXPECT_GE(seen.size(), 40U);
}

TEST(T52SlurmNames, EveryMemberIsOneOfSlurmConf) {
    if (!std::filesystem::exists("/usr/include/slurm/slurm.h"))
        GTEST_SKIP() << "no slurm/slurm.h here; libslurm-dev has it";
    const auto file = std::filesystem::path{::testing::TempDir()} / "spur_slurm_conf_members.c";
    {
        std::ofstream out{file};
        out << "#include <slurm/slurm.h>\nvoid members(void) {\n";
        for (const auto& key : config_keys())
            if (!key.member.empty()) out << "(void)sizeof(((slurm_conf_t*)0)->" << key.member << ");\n";
        out << "}\n";
    }
    EXPECT_EQ(std::system(("cc -fsyntax-only -w " + file.string()).c_str()), 0) << "see the compiler's words above";
    std::filesystem::remove(file);
}

TEST(T52SlurmNames, ValuesAreWrittenAsSlurmWritesThem) {
    Config config;
    config.agent.prolog = "/p";
    config.cluster.policies.private_data = private_data::jobs | private_data::users;
    config.cluster.policies.resv_over_run_min = unlimited;
    const auto shown = [&](std::string_view name) {
        for (const auto& key : config_keys())
            if (key.slurm == name) return key.show(config);
        return std::string{"there is no such key"};
    };
    EXPECT_EQ(shown("KillWait"), "30 sec");
    EXPECT_EQ(shown("OverTimeLimit"), "0 min");
    EXPECT_EQ(shown("ResvOverRun"), "UNLIMITED");
    EXPECT_EQ(shown("JobRequeue"), "1");
    EXPECT_EQ(shown("Prolog"), "/p");
    EXPECT_EQ(shown("PrivateData"), "jobs,users");
    config.cluster.policies.private_data = 0xff;
    EXPECT_EQ(shown("PrivateData"), "accounts,events,jobs,nodes,partitions,reservations,usage,users");
    EXPECT_EQ(shown("PreemptType"), "preempt/any");
    EXPECT_EQ(shown("PreemptExemptTime"), "00:00:00");
    EXPECT_EQ(shown("EnforcePartLimits"), "NO");
}

}  // namespace
}  // namespace spur::config
