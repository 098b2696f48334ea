// Requests: components of heterogeneous jobs, directives, environment, the script itself.
#include "cli/submit/request.hpp"
#include "cli/submit/allocation.hpp"
#include "cli/submit/script_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace spur::cli::submit {
namespace {

using Words = std::vector<std::string>;

ComponentsOutcome read(Words words, std::string_view script) {
    words.insert(words.begin(), "sbatch");
    const auto split = split_command_line(sbatch, words);
    EXPECT_EQ(split.outcome.end, ParseEnd::go_on) << split.outcome.error;
    return read_components(sbatch, split.line, script, false);
}

constexpr std::string_view two_components = "#!/bin/bash\n#SBATCH -n2 -J both\n#SBATCH hetjob\n#SBATCH -n3\ntrue\n";

TEST(T17Submit, DirectivesAreOptionsAndTheCommandLineOverridesThem) {
    const auto outcome = read({"-n7", "x.sh"}, "#!/bin/sh\n#SBATCH -n 2 --comment='x y'\n#SBATCH -t 5\ntrue\n");
    ASSERT_EQ(outcome.components.size(), 1U);
    EXPECT_EQ(outcome.components[0].spec.tasks(), 7U);
    EXPECT_EQ(outcome.components[0].spec.comment(), "x y");
    EXPECT_EQ(outcome.components[0].spec.time_limit_min(), 5U);
}

TEST(T17Submit, AWordThatIsNoOptionIsNoDirective) {
    const auto outcome = read({"x.sh"}, "#!/bin/sh\n#SBATCH -n1 foo\ntrue\n");
    EXPECT_EQ(outcome.outcome.error, "Invalid directive found in batch script: foo");
    EXPECT_EQ(outcome.outcome.exit_code, 255);
}

TEST(T17Submit, PbsDirectivesAreTranslated) {
    const auto outcome = read({"x.sh"}, "#!/bin/sh\n#PBS -N pbs -l nodes=2:ppn=3,walltime=1:00:00 -q gpu\ntrue\n");
    ASSERT_EQ(outcome.components.size(), 1U) << outcome.outcome.error;
    const auto& spec = outcome.components[0].spec;
    EXPECT_EQ(spec.name(), "pbs");
    EXPECT_EQ(spec.min_nodes(), 2U);
    EXPECT_EQ(spec.partitions(0), "gpu");
    EXPECT_EQ(spec.time_limit_min(), 60U);
}

TEST(T17Submit, AScriptMayDescribeSeveralComponents) {
    const auto outcome = read({"x.sh"}, two_components);
    ASSERT_EQ(outcome.components.size(), 2U);
    EXPECT_EQ(outcome.components[0].spec.tasks(), 2U);
    EXPECT_EQ(outcome.components[1].spec.tasks(), 3U);
    EXPECT_EQ(outcome.components[1].spec.name(), "both");
}

TEST(T17Submit, ColonsOnTheCommandLineSeparateComponentsThatStartFromTheFirst) {
    const auto outcome = read({"-n2", "-t", "7", "-A", "foo", ":", "-n3", "x.sh"}, "#!/bin/sh\ntrue\n");
    ASSERT_EQ(outcome.components.size(), 2U);
    EXPECT_EQ(outcome.components[0].spec.tasks(), 2U);
    EXPECT_EQ(outcome.components[1].spec.tasks(), 3U);
    EXPECT_EQ(outcome.components[1].spec.account(), "foo");
    EXPECT_EQ(outcome.components[1].spec.time_limit_min(), 7U);
}

TEST(T17Submit, OneSetOfOptionsAppliesToAllComponentsOfAScript) {
    const auto outcome = read({"-n5", "x.sh"}, two_components);
    ASSERT_EQ(outcome.components.size(), 2U);
    EXPECT_EQ(outcome.components[0].spec.tasks(), 5U);
    EXPECT_EQ(outcome.components[1].spec.tasks(), 5U);
}

TEST(T17Submit, TheCommandIsWhatIsLeft) {
    const auto split = split_command_line(srun, {"srun", "-n2", "--", ":", "-x"});
    EXPECT_EQ(split.line.components.size(), 1U);
    EXPECT_EQ(split.line.command, (Words{":", "-x"}));
}

Words exports(const char* list, const Words& all) {
    SubmitOptions options;
    if (list) options.export_list = list;
    auto result = exported(options, all);
    EXPECT_TRUE(result);
    std::sort(result->begin(), result->end());
    return *result;
}

TEST(T17Submit, TheWholeEnvironmentTravelsUnlessExportSaysOtherwise) {
    const Words all{"A=1", "B=2 3", "SLURM_CONF=/x", "PATH=/bin"};
    EXPECT_EQ(exports(nullptr, all), (Words{"A=1", "B=2 3", "PATH=/bin", "SLURM_CONF=/x"}));
    EXPECT_EQ(exports("ALL,C=5,A=9", all), (Words{"A=9", "B=2 3", "C=5", "PATH=/bin", "SLURM_CONF=/x"}));
    EXPECT_EQ(exports("NONE", all), (Words{"SLURM_CONF=/x"}));
    EXPECT_EQ(exports("B,C=5,MISSING", all), (Words{"B=2 3", "C=5", "SLURM_CONF=/x"}));
}

TEST(T17Submit, ExportFilesHoldEntriesEndedByNul) {
    char name[] = "/tmp/spur-export-XXXXXX";
    const int fd = ::mkstemp(name);
    const std::string_view text("A=1\0B=2 3\0", 10);
    ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    SubmitOptions options;
    options.export_file = name;
    const auto result = exported(options, {"C=4"});
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, (Words{"A=1", "B=2 3"}));
    ::close(fd);
    ::unlink(name);
    options.export_file = "/nope";
    EXPECT_EQ(exported(options, {}).error().text, "Could not open user environment file /nope");
}

TEST(T17Submit, TheRequestCarriesWhereItCameFrom) {
    SubmitOptions options;
    options.chdir = "sub";
    options.export_list = "NONE";
    Submitter submitter{"login1", "/home/me", "sbatch x.sh", 42, 027, {"A=1"}, 3};
    ASSERT_TRUE(complete(sbatch, options, submitter));
    EXPECT_EQ(options.spec.work_dir(), "/home/me/sub");
    EXPECT_EQ(options.spec.alloc_node(), "login1");
    EXPECT_EQ(options.spec.alloc_sid(), 42U);
    EXPECT_EQ(options.spec.umask(), 027U);
    EXPECT_EQ(options.spec.submit_line(), "sbatch x.sh");
    EXPECT_GT(options.spec.rlimits_size(), 5);
    const Words environment(options.spec.environment().begin(), options.spec.environment().end());
    for (const auto* pair : {"SLURM_SUBMIT_DIR=/home/me", "SLURM_SUBMIT_HOST=login1", "SLURM_PRIO_PROCESS=3",
                             "SLURM_EXPORT_ENV=NONE", "SLURM_GET_USER_ENV=1"})
        EXPECT_NE(std::find(environment.begin(), environment.end(), pair), environment.end()) << pair;
}

TEST(T17Submit, LimitsArePropagatedAsAsked) {
    SubmitOptions options;
    options.propagate = "NOFILE,STACK";
    v1::JobSpec spec;
    add_limits(options, spec);
    ASSERT_EQ(spec.rlimits_size(), 2);
    options.propagate = "NONE";
    v1::JobSpec bare;
    add_limits(options, bare);
    EXPECT_EQ(bare.rlimits_size(), 0);
}

TEST(T17Submit, WrapMakesAScript) {
    SubmitOptions options;
    options.wrap = "echo \"hi\" $x";
    const auto script = load_script(options, {});
    ASSERT_TRUE(script);
    EXPECT_EQ(script->text, "#!/bin/sh\n# This script was created by sbatch --wrap.\n\necho \"hi\" $x\n");
    EXPECT_EQ(script->default_name, "wrap");
    EXPECT_EQ(load_script(options, {"x.sh"}).error().text, "Script arguments not permitted with --wrap option");
}

TEST(T17Submit, AScriptThatIsNotThereIsNamed) {
    EXPECT_EQ(load_script({}, {"/no/such/file"}).error().text, "Unable to open file /no/such/file");
}

TEST(T17Submit, ACommaWithinQuotesIsPartOfTheValue) {
    SubmitOptions options;
    options.export_list = "A='x,y',B";
    EXPECT_EQ(*exported(options, {"B=2", "C=3"}), (std::vector<std::string>{"A='x,y'", "B=2"}));
}

TEST(T17Submit, AnEnvironmentFromAFileIsAllThereIs) {
    char name[] = "/tmp/spur-environment-XXXXXX";
    const int fd = ::mkstemp(name);
    const std::string text("A=1\0B=two words\0", 16);
    EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(fd);
    SubmitOptions options;
    options.export_file = name;
    options.export_list = "ALL";
    EXPECT_EQ(*exported(options, {"C=3", "SLURM_X=4"}), (std::vector<std::string>{"A=1", "B=two words", "SLURM_X=4"}));
    ::unlink(name);
}

TEST(T17Submit, TheEnvironmentOfALoginShellIsAskedForByAVariable) {
    SubmitOptions options;
    options.login_environment = true;
    ASSERT_TRUE(complete(sbatch, options, Submitter{}));
    const auto& variables = options.spec.environment();
    EXPECT_NE(std::find(variables.begin(), variables.end(), "SLURM_GET_USER_ENV=1"), variables.end());
}

TEST(T17Submit, AnAllocationIsDescribedByTheVariablesOfSalloc) {
    v1::Job job;
    job.set_id(154);
    job.mutable_spec()->set_name("interactive");
    job.mutable_spec()->set_tasks(4);
    job.set_node_list("n[1-2]");
    job.set_node_count(2);
    job.set_task_count(4);
    job.set_partition("main");
    for (int i = 0; i < 2; ++i) {
        auto& share = *job.add_shares();
        share.set_cpus(4);
        share.set_tasks(2);
    }
    SubmitOptions options;
    options.spec.set_tasks(4);
    options.spec.set_cpus_per_task(2);
    options.spec.set_mem_per_node_mib(10);
    options.spec.set_tasks_per_node(2);
    std::string text;
    auto variables = allocation_variables(job, options, "bench", "/w", "vm").pairs();
    std::sort(variables.begin(), variables.end());
    for (const auto& [name, value] : variables) text += name + "=" + value + "\n";
    EXPECT_EQ(text,
              "SLURM_CLUSTER_NAME=bench\nSLURM_CPUS_PER_TASK=2\nSLURM_JOBID=154\nSLURM_JOB_CPUS_PER_NODE=4(x2)\n"
              "SLURM_JOB_ID=154\nSLURM_JOB_NAME=interactive\nSLURM_JOB_NODELIST=n[1-2]\nSLURM_JOB_NUM_NODES=2\n"
              "SLURM_JOB_PARTITION=main\nSLURM_MEM_PER_NODE=10\nSLURM_NNODES=2\nSLURM_NODELIST=n[1-2]\n"
              "SLURM_NODE_ALIASES=(null)\nSLURM_NPROCS=4\nSLURM_NTASKS=4\nSLURM_NTASKS_PER_NODE=2\n"
              "SLURM_SUBMIT_DIR=/w\nSLURM_SUBMIT_HOST=vm\nSLURM_TASKS_PER_NODE=2(x2)\n");
}

}  // namespace
}  // namespace spur::cli::submit
