// The variables of jobs, steps and tasks, against what a real Slurm 22.05 set for the same requests.
#include "daemons/spurd/environment.hpp"

#include <gtest/gtest.h>

#include <map>

#include "daemons/common/environment/environment.hpp"
#include "daemons/spurd/cpu_bind.hpp"
#include "daemons/spurd/hardware.hpp"
#include "daemons/spurd/step_plan.hpp"

namespace spur::agent {
namespace {

using Map = std::map<std::string, std::string>;

Map as_map(const Variables& variables) {
    Map map;
    for (const auto& variable : variables)
        map[variable.substr(0, variable.find('='))] = variable.substr(variable.find('=') + 1);
    return map;
}

const NodeFacts facts{"n1", "bench", "127.0.0.1:27100", ""};

v1::NodeShare share(const std::string& node, std::uint32_t cpus) {
    v1::NodeShare result;
    result.set_node(node);
    result.set_cpus(cpus);
    return result;
}

v1::JobLaunch job(std::uint32_t id, const std::vector<v1::NodeShare>& shares, const std::string& nodes) {
    v1::JobLaunch launch;
    launch.set_job_id(id);
    launch.set_attempt(1);
    launch.set_user_name("root");
    launch.set_work_dir("/tmp/orenv");
    for (const auto& each : shares) *launch.add_shares() = each;
    *launch.mutable_share() = shares.front();
    launch.mutable_job()->set_node_list(nodes);
    launch.mutable_job()->set_node_count(static_cast<std::uint32_t>(shares.size()));
    launch.mutable_job()->set_partition("main");
    launch.mutable_job()->mutable_spec()->set_name("wrap");
    launch.mutable_job()->mutable_spec()->set_alloc_node("vm");
    return launch;
}

std::vector<std::uint32_t> tasks_of(const v1::JobLaunch& launch) {
    return tasks_per_node(environment::Allocation{launch.job(), launch.shares()});
}

v1::LaunchBatch batch(const v1::JobLaunch& launch) {
    v1::LaunchBatch order;
    *order.mutable_job() = launch;
    for (const auto* variable :
         {"HOME=/root", "LOGNAME=root", "PATH=/usr/bin:/bin", "SHELL=/bin/bash", "TERM=dumb", "USER=root"})
        order.add_environment(variable);
    return order;
}

// Ours, that Slurm knows nothing of, and what only a running task has (SLURM_TASK_PID), left out.
Map comparable(Map map) {
    map.erase("SPUR_CONTROLLER_ADDR");
    return map;
}

// sbatch --wrap env
const Map plain_batch{{"ENVIRONMENT", "BATCH"},
                      {"HOME", "/root"},
                      {"HOSTNAME", "n1"},
                      {"LOGNAME", "root"},
                      {"PATH", "/usr/bin:/bin"},
                      {"SHELL", "/bin/bash"},
                      {"SLURMD_NODENAME", "n1"},
                      {"SLURM_CLUSTER_NAME", "bench"},
                      {"SLURM_CPUS_ON_NODE", "1"},
                      {"SLURM_GTIDS", "0"},
                      {"SLURM_JOBID", "1"},
                      {"SLURM_JOB_CPUS_PER_NODE", "1"},
                      {"SLURM_JOB_GID", "0"},
                      {"SLURM_JOB_ID", "1"},
                      {"SLURM_JOB_NAME", "wrap"},
                      {"SLURM_JOB_NODELIST", "n1"},
                      {"SLURM_JOB_NUM_NODES", "1"},
                      {"SLURM_JOB_PARTITION", "main"},
                      {"SLURM_JOB_UID", "0"},
                      {"SLURM_JOB_USER", "root"},
                      {"SLURM_LOCALID", "0"},
                      {"SLURM_NNODES", "1"},
                      {"SLURM_NODEID", "0"},
                      {"SLURM_NODELIST", "n1"},
                      {"SLURM_NODE_ALIASES", "(null)"},
                      {"SLURM_PRIO_PROCESS", "0"},
                      {"SLURM_PROCID", "0"},
                      {"SLURM_SUBMIT_DIR", "/tmp/orenv"},
                      {"SLURM_SUBMIT_HOST", "vm"},
                      {"SLURM_TASKS_PER_NODE", "1"},
                      {"SLURM_TOPOLOGY_ADDR", "n1"},
                      {"SLURM_TOPOLOGY_ADDR_PATTERN", "node"},
                      {"SLURM_WORKING_CLUSTER", "bench:127.0.0.1:27100:9728:109"},
                      {"TERM", "dumb"},
                      {"TMPDIR", "/tmp"},
                      {"USER", "root"}};

Map changed(Map map, const Map& changes) {
    for (const auto& [key, value] : changes) map[key] = value;
    return map;
}

TEST(AgentEnvironment, APlainBatchJobSeesWhatSlurmSets) {
    EXPECT_EQ(comparable(as_map(batch_environment(batch(job(1, {share("n1", 1)}, "n1")), facts, {}))), plain_batch);
}

TEST(AgentEnvironment, TwoNodesFourTasksOfTwoCpus) {  // -N2 -n4 -c2 --mem=1000
    auto launch = job(2, {share("n1", 6), share("n2", 2)}, "n[1-2]");
    auto& spec = *launch.mutable_job()->mutable_spec();
    spec.set_tasks(4);
    spec.set_cpus_per_task(2);
    spec.set_mem_per_node_mib(1000);
    EXPECT_EQ(comparable(as_map(batch_environment(batch(launch), facts, {}))),
              changed(plain_batch, {{"SLURM_CPUS_ON_NODE", "6"},
                                    {"SLURM_CPUS_PER_TASK", "2"},
                                    {"SLURM_JOBID", "2"},
                                    {"SLURM_JOB_CPUS_PER_NODE", "6,2"},
                                    {"SLURM_JOB_ID", "2"},
                                    {"SLURM_JOB_NODELIST", "n[1-2]"},
                                    {"SLURM_JOB_NUM_NODES", "2"},
                                    {"SLURM_MEM_PER_NODE", "1000"},
                                    {"SLURM_NNODES", "2"},
                                    {"SLURM_NODELIST", "n[1-2]"},
                                    {"SLURM_NPROCS", "4"},
                                    {"SLURM_NTASKS", "4"},
                                    {"SLURM_TASKS_PER_NODE", "3,1"}}));
}

TEST(AgentEnvironment, ArrayTasks) {  // -a 3-7:2 -J arr
    auto launch = job(4, {share("n1", 1)}, "n1");
    launch.mutable_job()->set_array_job_id(3);
    launch.mutable_job()->set_array_task_id(3);
    launch.mutable_job()->mutable_spec()->set_array("3-7:2");
    launch.mutable_job()->mutable_spec()->set_name("arr");
    EXPECT_EQ(comparable(as_map(batch_environment(batch(launch), facts, {}))),
              changed(plain_batch, {{"SLURM_ARRAY_JOB_ID", "3"},
                                    {"SLURM_ARRAY_TASK_COUNT", "3"},
                                    {"SLURM_ARRAY_TASK_ID", "3"},
                                    {"SLURM_ARRAY_TASK_MAX", "7"},
                                    {"SLURM_ARRAY_TASK_MIN", "3"},
                                    {"SLURM_ARRAY_TASK_STEP", "2"},
                                    {"SLURM_JOBID", "4"},
                                    {"SLURM_JOB_ID", "4"},
                                    {"SLURM_JOB_NAME", "arr"}}));
}

TEST(AgentEnvironment, TasksPerNodeAndMemoryPerCpu) {  // -N1 --ntasks-per-node=3 --mem-per-cpu=10
    auto launch = job(6, {share("n1", 3)}, "n1");
    launch.mutable_job()->set_task_count(3);
    launch.mutable_job()->mutable_spec()->set_tasks_per_node(3);
    launch.mutable_job()->mutable_spec()->set_mem_per_cpu_mib(10);
    EXPECT_EQ(comparable(as_map(batch_environment(batch(launch), facts, {}))),
              changed(plain_batch, {{"SLURM_CPUS_ON_NODE", "3"},
                                    {"SLURM_JOBID", "6"},
                                    {"SLURM_JOB_CPUS_PER_NODE", "3"},
                                    {"SLURM_JOB_ID", "6"},
                                    {"SLURM_MEM_PER_CPU", "10"},
                                    {"SLURM_NPROCS", "3"},
                                    {"SLURM_NTASKS", "3"},
                                    {"SLURM_NTASKS_PER_NODE", "3"},
                                    {"SLURM_TASKS_PER_NODE", "3"}}));
}

TEST(AgentEnvironment, WholeNodesOfAnAccount) {  // -N2 --exclusive -A foo
    auto launch = job(7, {share("n1", 64), share("n2", 64)}, "n[1-2]");
    launch.mutable_job()->set_account("foo");
    const auto map = as_map(batch_environment(batch(launch), facts, {}));
    EXPECT_EQ(map.at("SLURM_JOB_CPUS_PER_NODE"), "64(x2)");
    EXPECT_EQ(map.at("SLURM_TASKS_PER_NODE"), "64(x2)");
    EXPECT_EQ(map.at("SLURM_JOB_ACCOUNT"), "foo");
    EXPECT_FALSE(map.contains("SLURM_NTASKS"));
}

TEST(AgentEnvironment, GpusOfABatchJob) {  // --gpus=3 -n2 -m cyclic:block --ntasks-per-core=1 --open-mode=append
    auto node = share("n1", 2);
    auto& gres = *node.add_gres();
    gres.set_name("gpu");
    gres.set_count(3);
    for (const std::uint32_t index : {0, 1, 2}) gres.add_index(index);
    auto launch = job(21, {node}, "n1");
    auto& spec = *launch.mutable_job()->mutable_spec();
    spec.set_tasks(2);
    spec.set_gres_per_job("gpu:3");
    spec.set_distribution("cyclic:block");
    spec.set_tasks_per_core(1);
    spec.set_open_mode_append(true);
    EXPECT_EQ(comparable(as_map(batch_environment(batch(launch), facts, {"CUDA_VISIBLE_DEVICES=0,1,2"}))),
              changed(plain_batch, {{"CUDA_VISIBLE_DEVICES", "0,1,2"},
                                    {"SLURM_CPUS_ON_NODE", "2"},
                                    {"SLURM_DISTRIBUTION", "cyclic:block"},
                                    {"SLURM_GPUS", "3"},
                                    {"SLURM_GPUS_ON_NODE", "3"},
                                    {"SLURM_JOBID", "21"},
                                    {"SLURM_JOB_CPUS_PER_NODE", "2"},
                                    {"SLURM_JOB_GPUS", "0,1,2"},
                                    {"SLURM_JOB_ID", "21"},
                                    {"SLURM_NPROCS", "2"},
                                    {"SLURM_NTASKS", "2"},
                                    {"SLURM_NTASKS_PER_CORE", "1"},
                                    {"SLURM_OPEN_MODE", "a"},
                                    {"SLURM_TASKS_PER_NODE", "2"}}));
}

TEST(AgentEnvironment, WhatTheUserSetAboutTheSubmissionStays) {
    auto order = batch(job(1, {share("n1", 1)}, "n1"));
    order.add_environment("SLURM_SUBMIT_DIR=/elsewhere");
    order.add_environment("TMPDIR=/scratch");
    const auto map = as_map(batch_environment(order, facts, {}));
    EXPECT_EQ(map.at("SLURM_SUBMIT_DIR"), "/elsewhere");
    EXPECT_EQ(map.at("TMPDIR"), "/scratch");
}

TEST(AgentEnvironment, RestartsAreCounted) {
    auto launch = job(1, {share("n1", 1)}, "n1");
    EXPECT_FALSE(as_map(batch_environment(batch(launch), facts, {})).contains("SLURM_RESTART_COUNT"));
    launch.mutable_job()->set_restarts(1);
    EXPECT_EQ(as_map(batch_environment(batch(launch), facts, {})).at("SLURM_RESTART_COUNT"), "1");
}

// srun -l -N2 -n4 -c2 env, outside of a job; task 3 on the second node
TEST(AgentEnvironment, AStepOnTwoNodesSeesWhatSlurmSets) {
    v1::StepCredential credential;
    *credential.mutable_job() = job(9, {share("n1", 6), share("n2", 2)}, "n[1-2]");
    credential.mutable_job()->clear_share();
    credential.mutable_job()->mutable_job()->mutable_spec()->set_kind(v1::JobSpec::STEP_ALLOCATION);
    credential.mutable_job()->mutable_job()->mutable_spec()->set_name("env");
    auto& step = *credential.mutable_step();
    step.set_tasks(4);
    step.set_node_list("n[1-2]");
    *step.add_shares() = share("n1", 6);
    *step.add_shares() = share("n2", 2);
    for (const auto* name : {"n1", "n2"}) credential.add_layout()->set_node(name);
    for (const std::uint32_t task : {0, 1, 2}) credential.mutable_layout(0)->add_tasks(task);
    credential.mutable_layout(1)->add_tasks(3);
    v1::StepLaunch launch;
    launch.set_work_dir("/tmp/orenv");
    launch.set_label(true);
    for (const auto* variable :
         {"HOME=/root", "SLURM_CPUS_PER_TASK=2", "SLURM_DISTRIBUTION=block", "SLURM_SUBMIT_DIR=/tmp/orenv"})
        launch.add_environment(variable);

    const NodeFacts second{"n2", "bench", "127.0.0.1:27100", ""};
    auto variables = step_environment({credential, launch, 1, "127.0.0.1:32815", 022}, second, {});
    for (const auto& variable : task_environment(3, 0)) variables.push_back(variable);
    EXPECT_EQ(comparable(as_map(variables)), (Map{{"HOME", "/root"},
                                                  {"SLURMD_NODENAME", "n2"},
                                                  {"SLURM_CLUSTER_NAME", "bench"},
                                                  {"SLURM_CPUS_ON_NODE", "2"},
                                                  {"SLURM_CPUS_PER_TASK", "2"},
                                                  {"SLURM_DISTRIBUTION", "block"},
                                                  {"SLURM_GTIDS", "3"},
                                                  {"SLURM_JOBID", "9"},
                                                  {"SLURM_JOB_CPUS_PER_NODE", "6,2"},
                                                  {"SLURM_JOB_GID", "0"},
                                                  {"SLURM_JOB_ID", "9"},
                                                  {"SLURM_JOB_NAME", "env"},
                                                  {"SLURM_JOB_NODELIST", "n[1-2]"},
                                                  {"SLURM_JOB_NUM_NODES", "2"},
                                                  {"SLURM_JOB_PARTITION", "main"},
                                                  {"SLURM_JOB_UID", "0"},
                                                  {"SLURM_JOB_USER", "root"},
                                                  {"SLURM_LABELIO", "1"},
                                                  {"SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1"},
                                                  {"SLURM_LOCALID", "0"},
                                                  {"SLURM_NNODES", "2"},
                                                  {"SLURM_NODEID", "1"},
                                                  {"SLURM_NODELIST", "n[1-2]"},
                                                  {"SLURM_NPROCS", "4"},
                                                  {"SLURM_NTASKS", "4"},
                                                  {"SLURM_PRIO_PROCESS", "0"},
                                                  {"SLURM_PROCID", "3"},
                                                  {"SLURM_SRUN_COMM_HOST", "127.0.0.1"},
                                                  {"SLURM_SRUN_COMM_PORT", "32815"},
                                                  {"SLURM_STEPID", "0"},
                                                  {"SLURM_STEP_ID", "0"},
                                                  {"SLURM_STEP_LAUNCHER_PORT", "32815"},
                                                  {"SLURM_STEP_NODELIST", "n[1-2]"},
                                                  {"SLURM_STEP_NUM_NODES", "2"},
                                                  {"SLURM_STEP_NUM_TASKS", "4"},
                                                  {"SLURM_STEP_TASKS_PER_NODE", "3,1"},
                                                  {"SLURM_SUBMIT_DIR", "/tmp/orenv"},
                                                  {"SLURM_SUBMIT_HOST", "vm"},
                                                  {"SLURM_TASKS_PER_NODE", "3,1"},
                                                  {"SLURM_TOPOLOGY_ADDR", "n2"},
                                                  {"SLURM_TOPOLOGY_ADDR_PATTERN", "node"},
                                                  {"SLURM_UMASK", "0022"},
                                                  {"SLURM_WORKING_CLUSTER", "bench:127.0.0.1:27100:9728:109"},
                                                  {"SRUN_DEBUG", "3"},
                                                  {"TMPDIR", "/tmp"}}));
}

// What a job with two GPUs runs as a step with one of them, or with none.
v1::StepCredential step_in_a_gpu_job(std::uint32_t gpus) {
    const auto with = [](std::uint32_t count) {
        auto node = share("n1", 1);
        if (count == 0) return node;
        auto& gres = *node.add_gres();
        gres.set_name("gpu");
        gres.set_count(count);
        for (std::uint32_t index = 0; index < count; ++index) gres.add_index(index);
        return node;
    };
    v1::StepCredential credential;
    *credential.mutable_job() = job(5, {with(2)}, "n1");
    auto& step = *credential.mutable_step();
    step.set_tasks(1);
    step.set_node_list("n1");
    *step.add_shares() = with(gpus);
    credential.add_layout()->set_node("n1");
    credential.mutable_layout(0)->add_tasks(0);
    return credential;
}

TEST(AgentEnvironment, AStepIsToldOfItsOwnDevicesOnly) {
    v1::StepLaunch launch;
    for (const auto* variable : {"CUDA_VISIBLE_DEVICES=0,1", "SLURM_GPUS_ON_NODE=2", "SLURM_JOB_NAME=mine"})
        launch.add_environment(variable);
    const auto one = step_in_a_gpu_job(1), none = step_in_a_gpu_job(0);
    const auto with = as_map(step_environment({one, launch, 0, "", 022}, facts, {"CUDA_VISIBLE_DEVICES=0"}));
    EXPECT_EQ(with.at("CUDA_VISIBLE_DEVICES"), "0");
    EXPECT_EQ(with.at("SLURM_GPUS_ON_NODE"), "1");
    EXPECT_EQ(with.at("SLURM_STEP_GPUS"), "0");
    EXPECT_EQ(with.at("SLURM_JOB_GPUS"), "0,1");
    EXPECT_EQ(with.at("SLURM_JOB_NAME"), "mine");
    const auto without = as_map(step_environment({none, launch, 0, "", 022}, facts, {}));
    for (const auto* name : {"CUDA_VISIBLE_DEVICES", "SLURM_GPUS_ON_NODE", "SLURM_STEP_GPUS"})
        EXPECT_FALSE(without.contains(name)) << name;
    EXPECT_EQ(without.at("SLURM_JOB_GPUS"), "0,1");
}

TEST(AgentEnvironment, DevicesThatTheUserNamesStayWhereTheJobHasNone) {
    v1::StepLaunch launch;
    launch.add_environment("CUDA_VISIBLE_DEVICES=7");
    auto credential = step_in_a_gpu_job(0);
    credential.mutable_job()->mutable_shares(0)->clear_gres();
    EXPECT_EQ(as_map(step_environment({credential, launch, 0, "", 022}, facts, {})).at("CUDA_VISIBLE_DEVICES"), "7");
}

TEST(AgentEnvironment, CountsStayAsTheyWereIfSrunSaysSo) {  // srun -E
    v1::StepLaunch launch;
    for (const auto* variable : {"SLURM_NTASKS=4", "SLURM_NNODES=2"}) launch.add_environment(variable);
    const auto credential = step_in_a_gpu_job(0);
    EXPECT_EQ(as_map(step_environment({credential, launch, 0, "", 022}, facts, {})).at("SLURM_NTASKS"), "1");
    launch.set_preserve_size(true);
    const auto kept = as_map(step_environment({credential, launch, 0, "", 022}, facts, {}));
    EXPECT_EQ(kept.at("SLURM_NTASKS"), "4");
    EXPECT_EQ(kept.at("SLURM_NNODES"), "2");
    EXPECT_EQ(kept.at("SLURM_NPROCS"), "1");
    EXPECT_EQ(kept.at("SLURM_STEP_NUM_TASKS"), "1");
}

TEST(AgentEnvironment, TheStepOfAnArrayIsTheFirstThatWasTyped) {
    auto launch = job(4, {share("n1", 1)}, "n1");
    launch.mutable_job()->set_array_job_id(3);
    launch.mutable_job()->set_array_task_id(3);
    for (const auto& [typed, step] :
         Map{{"1,3,5", "1"}, {"0-4:2,9", "2"}, {"1-3,5", "1"}, {"1-9:4%2", "4"}, {"3", "1"}}) {
        launch.mutable_job()->mutable_spec()->set_array(typed);
        EXPECT_EQ(as_map(batch_environment(batch(launch), facts, {})).at("SLURM_ARRAY_TASK_STEP"), step) << typed;
    }
}

TEST(AgentEnvironment, WhereNobodyCountsTasksEveryCpuMayHaveOne) {  // --mincpus=4
    auto node = share("n1", 4);
    node.set_tasks(1);
    auto launch = job(1, {node}, "n1");
    EXPECT_EQ(tasks_of(launch), std::vector<std::uint32_t>{4});
    launch.mutable_job()->mutable_spec()->set_tasks(1);
    EXPECT_EQ(tasks_of(launch), std::vector<std::uint32_t>{1});
}

TEST(AgentEnvironment, AllOfANodesMemoryIsNoNumber) {  // --mem=0: no variable, in a script as in salloc
    auto launch = job(1, {share("n1", 4)}, "n1");
    launch.mutable_job()->mutable_spec()->set_mem_per_node_mib(0);
    EXPECT_FALSE(as_map(batch_environment(batch(launch), facts, {})).contains("SLURM_MEM_PER_NODE"));
    environment::Variables command;
    add_request(command, environment::command, {launch.job().spec(), 1, {}, {}});
    EXPECT_TRUE(command.pairs().empty());
}

TEST(AgentEnvironment, ADistributionIsToldInSmallLetters) {  // -m CYCLIC
    auto launch = job(1, {share("n1", 4)}, "n1");
    launch.mutable_job()->mutable_spec()->set_distribution("CYCLIC");
    EXPECT_EQ(as_map(batch_environment(batch(launch), facts, {})).at("SLURM_DISTRIBUTION"), "cyclic");
}

TEST(AgentEnvironment, CountsOfEqualNeighboursAreFolded) {
    EXPECT_EQ(environment::compress_counts({6, 2}), "6,2");
    EXPECT_EQ(environment::compress_counts({64, 64}), "64(x2)");
    EXPECT_EQ(environment::compress_counts({2, 2, 3, 3, 3, 1}), "2(x2),3(x3),1");
    EXPECT_EQ(environment::compress_counts({}), "");
}

TEST(AgentEnvironment, TasksAreDealtOutWhereThereIsMoreRoom) {
    auto launch = job(1, {share("n1", 8), share("n2", 8)}, "n[1-2]");
    launch.mutable_job()->mutable_spec()->set_tasks(3);
    EXPECT_EQ(tasks_of(launch), (std::vector<std::uint32_t>{2, 1}));
}

// ---- binding -------------------------------------------------------------------------------------------------------

TEST(AgentBinding, AutomaticBindingGivesEveryTaskAllCpusOfTheStep) {
    const auto binding = *bind_tasks({.cores = {{0}, {1}}, .tasks = 2});
    EXPECT_EQ(binding.cpu_lists, (std::vector<std::string>{"0-1", "0-1"}));
    EXPECT_EQ(binding.variables,
              (std::vector<std::string>{"SLURM_CPU_BIND=quiet,mask_cpu:0x3", "SLURM_CPU_BIND_LIST=0x3",
                                        "SLURM_CPU_BIND_TYPE=mask_cpu:", "SLURM_CPU_BIND_VERBOSE=quiet"}));
}

TEST(AgentBinding, CoresAreDealtOutInOrder) {
    const auto binding = *bind_tasks({.mode = "verbose,cores", .cores = {{0}, {1}}, .tasks = 2});
    EXPECT_TRUE(binding.verbose);
    EXPECT_EQ(binding.cpu_lists, (std::vector<std::string>{"0", "1"}));
    EXPECT_EQ(binding.variables.front(), "SLURM_CPU_BIND=verbose,mask_cpu:0x1,0x2");
    EXPECT_EQ(bind_tasks({.mode = "cores", .cores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}}, .tasks = 2, .cpus_per_task = 3})
                  ->cpu_lists,
              (std::vector<std::string>{"0-1,4-5", "2-3,6-7"}));
}

TEST(AgentBinding, MapsAndMasksAreTakenAsTheyAre) {
    EXPECT_EQ(bind_tasks({.mode = "map_cpu:3,1", .cores = {{0}}, .tasks = 3})->cpu_lists,
              (std::vector<std::string>{"3", "1", "3"}));
    EXPECT_EQ(bind_tasks({.mode = "mask_cpu:0x5,c", .cores = {{0}}, .tasks = 2})->cpu_lists,
              (std::vector<std::string>{"0,2", "2-3"}));
    EXPECT_EQ(bind_tasks({.mode = "rank", .cores = {{0, 2}, {1, 3}}, .tasks = 2})->cpu_lists,
              (std::vector<std::string>{"0", "1"}));
}

TEST(AgentBinding, NoneAndMadeUpNodesAreNotBound) {
    EXPECT_TRUE(bind_tasks({.mode = "none", .cores = {{0}}, .tasks = 1})->cpu_lists.empty());
    EXPECT_TRUE(bind_tasks({.mode = "cores", .cores = {}, .tasks = 1})->cpu_lists.empty());
    Hardware two;
    two.core_cpus = {{0, 2}, {1, 3}};
    EXPECT_EQ(cpus_of_cores(two, "0-1"), "0-3");
    EXPECT_EQ(cpus_of_cores(two, "1"), "1,3");
    EXPECT_EQ(cpus_of_cores(two, "0-2"), "") << "the machine has no third core";
    EXPECT_EQ(cpus_of_cores(two, "nonsense"), "");
}

using Cores = std::vector<std::vector<std::uint32_t>>;

TEST(AgentBinding, ASmallerNodeHasRealCores) {
    Hardware machine;
    machine.core_cpus = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    EXPECT_EQ(share_cores(machine, {}, {3, 3}, {3, 3}), (Cores{{0, 4}, {1, 5}, {2, 6}})) << "cpus = 3";
    EXPECT_EQ(share_cores(machine, {}, {4, 8}, {4, 8}), machine.core_cpus);
    EXPECT_EQ(share_cores(machine, {}, {8, 8}, {8, 8}), (Cores{{0}, {4}, {1}, {5}, {2}, {6}, {3}, {7}}))
        << "cpus = 8: each thread is configured as a core";
    EXPECT_EQ(share_cores(machine, {}, {9, 9}, {9, 9}), Cores{}) << "more than there is";
    EXPECT_EQ(share_cores(machine, {}, {2, 8}, {2, 8}), (Cores{{0, 4, 1, 5}, {2, 6, 3, 7}})) << "wider cores than here";
}

TEST(AgentBinding, VirtualNodesGetTheirPartOfTheMachineIfThereIsEnough) {
    Hardware machine;
    machine.core_cpus = {{0}, {1}, {2}, {3}};
    EXPECT_EQ(share_cores(machine, {0, 0}, {2, 2}, {4, 4}), (Cores{{0}, {1}}));
    EXPECT_EQ(share_cores(machine, {2, 2}, {2, 2}, {4, 4}), (Cores{{2}, {3}}));
    EXPECT_EQ(share_cores(machine, {4, 4}, {4, 4}, {8, 8}), Cores{}) << "each has the whole machine: none is bound";
}

TEST(AgentBinding, DevicesAreNearTheNodesOwnCores) {
    Hardware node;
    node.core_cpus = {{2}, {3}};
    EXPECT_EQ(cores_of_cpus(node, "3"), (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(cores_of_cpus(node, "0-1"), std::vector<std::uint32_t>{});
}

TEST(AgentLimits, TheSystemKeepsMemoryOfItsOwn) {
    EXPECT_EQ(jobs_memory_mib(64'000, 0), 60'000U);
    EXPECT_EQ(jobs_memory_mib(64'000, 8'000), 56'000U) << "what the configuration says";
    EXPECT_EQ(jobs_memory_mib(1'000'000, 0), 1'000'000U - 4096);
    EXPECT_EQ(jobs_memory_mib(256, 0), 192U);
    EXPECT_EQ(jobs_memory_mib(100, 200), 0U);
}

TEST(AgentBinding, MasksAreWrittenInHex) {
    EXPECT_EQ(cpu_mask({0}), "0x1");
    EXPECT_EQ(cpu_mask({0, 5}), "0x21");
    EXPECT_EQ(cpu_mask({64}), "0x10000000000000000");
}

TEST(AgentBinding, CpusThatTheNodeDoesNotHaveAreRefused) {
    for (const auto* mode : {"map_cpu:4294967295", "map_cpu:0,18446744073709551615", "map_cpu:8", "mask_cpu:0x100",
                             "mask_cpu:1,fffffffffffffffffffffffffffffffff", "verbose,mask_cpu:0x10000000000"}) {
        const auto refused = bind_tasks({.mode = mode, .cores = {{0}}, .tasks = 2, .cpu_count = 8});
        ASSERT_FALSE(refused) << mode;
        EXPECT_NE(refused.error().text.find("Unable to satisfy cpu bind request"), std::string::npos);
        EXPECT_LT(refused.error().text.size(), 200u);
    }
    EXPECT_FALSE(bind_tasks({.mode = "mask_cpu:" + std::string(1 << 20, 'f'), .cores = {{0}}, .tasks = 1}));
    EXPECT_EQ(bind_tasks({.mode = "map_cpu:7", .cores = {{0}}, .tasks = 1, .cpu_count = 8})->cpu_lists,
              std::vector<std::string>{"7"});
    EXPECT_EQ(bind_tasks({.mode = "mask_cpu:0x000000ff", .cores = {{0}}, .tasks = 1, .cpu_count = 8})->cpu_lists,
              std::vector<std::string>{"0-7"});
}

TEST(AgentBinding, ATaskCannotHaveMoreGpusThanItsStep) {
    NodeSetup setup;
    setup.facts.node = "n1";
    v1::StepCredential credential;
    credential.mutable_step()->set_tasks(1);
    auto& share = *credential.mutable_step()->add_shares();
    share.set_node("n1");
    auto& gres = *share.add_gres();
    gres.set_name("gpu");
    gres.add_index(0);
    gres.add_index(1);
    credential.add_layout()->add_tasks(0);
    v1::StepLaunch launch;
    launch.add_argv("true");
    const StepView view{.credential = credential, .launch = launch, .node = 0, .launcher_address = {}, .umask = 022};
    launch.set_gpus_per_task(2);
    EXPECT_TRUE(plan_step(view, setup, "/nowhere"));
    launch.set_gpus_per_task(UINT32_MAX);
    const auto refused = plan_step(view, setup, "/nowhere");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, "a task cannot have 4294967295 gpus: the step has 2 on this node");
    launch.set_gpus_per_task(0);
    launch.set_gpu_bind("per_task:18446744073709551615");
    EXPECT_FALSE(plan_step(view, setup, "/nowhere"));
    launch.set_gpu_bind("mask_gpu:" + std::string(1 << 20, '1'));
    EXPECT_FALSE(plan_step(view, setup, "/nowhere"));
}

}  // namespace
}  // namespace spur::agent
