// Options of sbatch, srun and salloc: what each makes of the request, and how it refuses.
#include "cli/submit/options.hpp"

#include <gtest/gtest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <set>

namespace spur::cli::submit {
namespace {

using Words = std::vector<std::string>;

struct Parsed {
    SubmitOptions options;
    ParseOutcome outcome;
};
Parsed parse(Tool tool, Words words, Source source = Source::command_line) {
    Parsed parsed;
    words.insert(words.begin(), tool == sbatch ? "sbatch" : tool == srun ? "srun" : "salloc");
    parsed.outcome = apply_words(tool, std::move(words), source, parsed.options);
    return parsed;
}
v1::JobSpec spec_of(Tool tool, Words words) {
    auto parsed = parse(tool, std::move(words));
    EXPECT_EQ(parsed.outcome.end, ParseEnd::go_on) << parsed.outcome.error;
    const auto combined = combine(tool, parsed.options);
    EXPECT_TRUE(combined) << combined.error().text;
    return parsed.options.spec;
}
std::string refusal(Tool tool, Words words, int code) {
    const auto parsed = parse(tool, std::move(words));
    EXPECT_EQ(parsed.outcome.end, ParseEnd::wrong);
    EXPECT_EQ(parsed.outcome.exit_code, code);
    return parsed.outcome.error;
}

TEST(T17Submit, TheCommonOptionsOfScriptsAndWorkflowToolsAreUnderstood) {
    const auto spec = spec_of(sbatch, {"--parsable",
                                       "--job-name=a b",
                                       "--output",
                                       "%x.%j",
                                       "--export=ALL",
                                       "--comment",
                                       "c",
                                       "-A",
                                       "acct",
                                       "-p",
                                       "main,gpu",
                                       "-t",
                                       "1-02:03:04",
                                       "-C",
                                       "a&b",
                                       "--qos",
                                       "high",
                                       "--mem=4G",
                                       "-c",
                                       "2",
                                       "-n8",
                                       "-N2-4",
                                       "--gres=gpu:mi300x:2",
                                       "--signal",
                                       "B:USR2@30",
                                       "--no-requeue",
                                       "--array=0-9%3",
                                       "--dependency=singleton",
                                       "-H",
                                       "-i",
                                       "in",
                                       "-e",
                                       "err",
                                       "--mail-type=END,FAIL",
                                       "--mail-user",
                                       "me",
                                       "--reservation",
                                       "r",
                                       "--priority=7",
                                       "x.sh"});
    EXPECT_EQ(spec.name(), "a b");
    EXPECT_EQ(spec.std_out(), "%x.%j");
    EXPECT_EQ(spec.partitions_size(), 2);
    EXPECT_EQ(spec.time_limit_min(), 24U * 60 + 2 * 60 + 4);
    EXPECT_EQ(spec.mem_per_node_mib(), 4096U);
    EXPECT_EQ(spec.cpus_per_task(), 2U);
    EXPECT_EQ(spec.tasks(), 8U);
    EXPECT_EQ(spec.min_nodes(), 2U);
    EXPECT_EQ(spec.max_nodes(), 4U);
    EXPECT_EQ(spec.gres_per_node(), "gpu:mi300x:2");
    EXPECT_EQ(spec.signal(), "B:USR2@30");
    EXPECT_TRUE(spec.has_requeue());
    EXPECT_FALSE(spec.requeue());
    EXPECT_EQ(spec.array(), "0-9%3");
    EXPECT_TRUE(spec.hold());
    EXPECT_EQ(spec.mail_type(), 6U);
    EXPECT_EQ(spec.priority(), 7U);
}

TEST(T17Submit, OrderDoesNotMatterAndTheLastOfARepeatedOptionWins) {
    EXPECT_EQ(spec_of(sbatch, {"-n4", "-p", "a", "-n", "5", "-p", "b"}).tasks(), 5U);
    EXPECT_EQ(spec_of(sbatch, {"-p", "a", "-p", "b"}).partitions(0), "b");
    EXPECT_EQ(spec_of(sbatch, {"-N2-4", "-N3"}).max_nodes(), 3U);
}

TEST(T17Submit, LongNamesMayBeShortenedWhileTheyAreUnambiguous) {
    EXPECT_EQ(spec_of(sbatch, {"--part=x", "--cpus-per-t=3"}).cpus_per_task(), 3U);
    testing::internal::CaptureStderr();
    const auto parsed = parse(sbatch, {"--nod=1"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "sbatch: option '--nod=1' is ambiguous; possibilities: '--nodefile' '--nodelist' '--nodes'\n");
    EXPECT_EQ(parsed.outcome.exit_code, 255);
}

TEST(T17Submit, WhatFollowsTheScriptIsTheScripts) {
    const auto parsed = parse(sbatch, {"-n2", "run.sh", "-n", "9", "--mem=1"});
    EXPECT_EQ(parsed.outcome.rest, (Words{"run.sh", "-n", "9", "--mem=1"}));
    EXPECT_EQ(parsed.options.spec.tasks(), 2U);
}

TEST(T17Submit, RefusalsAreInSlurmsWordsWithItsExitCodes) {
    EXPECT_EQ(refusal(sbatch, {"-n", "abc"}, 1), "Invalid numeric value \"abc\" for --ntasks.");
    EXPECT_EQ(refusal(sbatch, {"-n", "0"}, 1), "Invalid numeric value \"0\" for --ntasks.");
    EXPECT_EQ(refusal(sbatch, {"-c", "-1"}, 1), "Invalid numeric value \"-1\" for --cpus-per-task.");
    EXPECT_EQ(refusal(sbatch, {"-N", "x"}, 255), "\"x\" is not a valid node count");
    EXPECT_EQ(refusal(sbatch, {"-N", "3-1"}, 255), "Maximum node count 1 is less than minimum node count 3");
    EXPECT_EQ(refusal(sbatch, {"-t", "foo"}, 255), "Invalid --time specification");
    EXPECT_EQ(refusal(sbatch, {"--mem=abc"}, 255), "Invalid --mem specification");
    EXPECT_EQ(refusal(sbatch, {"--signal=FOO"}, 255), "Invalid --signal specification");
    EXPECT_EQ(refusal(sbatch, {"--mail-type=FOO"}, 255), "Invalid --mail-type specification");
    EXPECT_EQ(refusal(sbatch, {"--exclusive=foo"}, 255), "Invalid --exclusive specification");
    EXPECT_EQ(refusal(sbatch, {"--uid=nobodyx"}, 255), "Invalid --uid specification");
    EXPECT_EQ(refusal(sbatch, {"--open-mode=x"}, 255), "Invalid --open-mode specification");
    EXPECT_EQ(refusal(sbatch, {"-m", "foo"}, 255), "Invalid --distribution specification");
    EXPECT_EQ(refusal(sbatch, {"--hint=foo"}, 1), "unrecognized --hint argument \"foo\", see --hint=help");
    EXPECT_EQ(refusal(sbatch, {"--propagate=foo"}, 1), "Bad rlimit name: foo\n--propagate=foo is not valid.");
    EXPECT_EQ(refusal(sbatch, {"--switches=a"}, 1), "Invalid numeric value \"a\" for --switches.");
    EXPECT_EQ(refusal(sbatch, {"--gpu-bind=foo"}, 255), "Invalid --gpu-bind argument: gpu:foo");
    EXPECT_EQ(refusal(sbatch, {"--gres=gpu:x:y:z"}, 1), "Invalid generic resource (gres) specification");
    EXPECT_EQ(refusal(sbatch, {"--kill-on-invalid-dep=foo"}, 255), "Invalid --kill-on-invalid-dep specification");
    EXPECT_EQ(refusal(sbatch, {"--wait-all-nodes=3"}, 255), "Invalid --wait-all-nodes specification");
    EXPECT_EQ(
        refusal(sbatch, {"-F", "/nope"}, 255),
        "slurm_allocate_resources error opening file /nope, No such file or directory\nInvalid --nodefile node file");
    EXPECT_EQ(refusal(srun, {"--cpu-bind=foo"}, 255), "unrecognized --cpu-bind argument \"foo\"");
}

TEST(T17Submit, WhatIsNotBuiltYetIsRefusedNeverIgnored) {
    for (const auto& words : {Words{"--container=x"}, Words{"--bb=x"}, Words{"--cpu-freq=low"}, Words{"--power=level"},
                              Words{"--network=x"}, Words{"--mcs-label=x"}, Words{"--thread-spec=1"}})
        EXPECT_NE(refusal(sbatch, words, 1).find("not supported yet"), std::string::npos) << words[0];
    EXPECT_NE(refusal(srun, {"--bcast=/tmp/x"}, 1).find("not supported yet"), std::string::npos);
    EXPECT_NE(refusal(srun, {"--mpi=pmix"}, 1).find("not supported yet"), std::string::npos);
}

TEST(T17Submit, EachCommandKnowsItsOwnLetters) {
    EXPECT_TRUE(parse(sbatch, {"-W"}).options.wait);
    EXPECT_EQ(parse(srun, {"-W", "30"}).options.step.wait_s, 30U);
    EXPECT_EQ(parse(srun, {"-K"}).options.step.kill_on_bad_exit, true);
    EXPECT_EQ(parse(srun, {"-K0"}).options.step.kill_on_bad_exit, false);
    EXPECT_EQ(parse(salloc, {"-K9"}).options.kill_command, 9);
    EXPECT_EQ(parse(srun, {"-l", "-u", "--pty", "-r2"}).options.step.relative, 2U);
    EXPECT_EQ(parse(salloc, {"-I5"}).options.immediate_s, 5U);
    testing::internal::CaptureStderr();
    EXPECT_EQ(parse(salloc, {"--wrap=x"}).outcome.exit_code, 255);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "salloc: unrecognized option '--wrap=x'\n");
}

TEST(T17Submit, HowOftenTasksAreMeasuredIsANumberOrNamed) {
    EXPECT_EQ(parse(sbatch, {"--acctg-freq=10"}).options.spec.sample_s(), 10U);
    EXPECT_EQ(parse(srun, {"--acctg-freq=task=5,energy=0"}).options.spec.sample_s(), 5U);
    EXPECT_TRUE(parse(salloc, {"--acctg-freq=task=0"}).options.spec.has_sample_s());
    for (const auto* wrong : {"foo", "task=x", "task=-1", "=3", "task=", "bogus=4", "task:5"})
        EXPECT_EQ(parse(sbatch, {fmt::format("--acctg-freq={}", wrong)}).outcome.error,
                  fmt::format("Invalid --acctg-freq specification: {}", wrong));
    EXPECT_EQ(parse(sbatch, {"--acctg-freq=task=5,energy=3"}).outcome.error,
              "--acctg-freq=task=5,energy=3: energy is not measured by this release of Spur: leave it out, or say "
              "energy=0");
}

TEST(T17Submit, EveryOptionOfTheManualsIsKnown) {
    const std::set<std::string_view> of_sbatch{"account",
                                               "acctg-freq",
                                               "array",
                                               "batch",
                                               "bb",
                                               "bbf",
                                               "begin",
                                               "chdir",
                                               "cluster-constraint",
                                               "clusters",
                                               "comment",
                                               "constraint",
                                               "container",
                                               "contiguous",
                                               "core-spec",
                                               "cores-per-socket",
                                               "cpu-freq",
                                               "cpus-per-gpu",
                                               "cpus-per-task",
                                               "deadline",
                                               "delay-boot",
                                               "dependency",
                                               "distribution",
                                               "error",
                                               "exclude",
                                               "exclusive",
                                               "export",
                                               "export-file",
                                               "extra-node-info",
                                               "get-user-env",
                                               "gid",
                                               "gpu-bind",
                                               "gpu-freq",
                                               "gpus",
                                               "gpus-per-node",
                                               "gpus-per-socket",
                                               "gpus-per-task",
                                               "gres",
                                               "gres-flags",
                                               "hint",
                                               "hold",
                                               "ignore-pbs",
                                               "input",
                                               "job-name",
                                               "kill-on-invalid-dep",
                                               "licenses",
                                               "mail-type",
                                               "mail-user",
                                               "mcs-label",
                                               "mem",
                                               "mem-bind",
                                               "mem-per-cpu",
                                               "mem-per-gpu",
                                               "mincpus",
                                               "network",
                                               "nice",
                                               "no-kill",
                                               "no-requeue",
                                               "nodefile",
                                               "nodelist",
                                               "nodes",
                                               "ntasks",
                                               "ntasks-per-core",
                                               "ntasks-per-gpu",
                                               "ntasks-per-node",
                                               "ntasks-per-socket",
                                               "open-mode",
                                               "output",
                                               "overcommit",
                                               "oversubscribe",
                                               "parsable",
                                               "partition",
                                               "power",
                                               "prefer",
                                               "priority",
                                               "profile",
                                               "propagate",
                                               "qos",
                                               "quiet",
                                               "reboot",
                                               "requeue",
                                               "reservation",
                                               "signal",
                                               "sockets-per-node",
                                               "spread-job",
                                               "switches",
                                               "test-only",
                                               "thread-spec",
                                               "threads-per-core",
                                               "time",
                                               "time-min",
                                               "tmp",
                                               "uid",
                                               "use-min-nodes",
                                               "verbose",
                                               "wait",
                                               "wait-all-nodes",
                                               "wckey",
                                               "wrap"};
    const std::set<std::string_view> only_srun{
        "accel-bind",   "bcast",        "bcast-exclude", "compress",          "cpu-bind",    "disable-status",
        "epilog",       "exact",        "het-group",     "immediate",         "jobid",       "kill-on-bad-exit",
        "label",        "mpi",          "msg-timeout",   "multi-prog",        "no-allocate", "overlap",
        "preserve-env", "prolog",       "pty",           "quit-on-interrupt", "relative",    "resv-ports",
        "send-libs",    "slurmd-debug", "task-epilog",   "task-prolog",       "threads",     "unbuffered",
        "wait",         "x11"};
    const std::set<std::string_view> only_salloc{"bell", "no-bell", "no-shell", "kill-command", "immediate", "x11"};
    const auto known = [](Tool tool) {
        std::set<std::string_view> names;
        for (const auto& row : option_rows())
            if (row.tools & tool) names.insert(row.name);
        return names;
    };
    for (const auto name : of_sbatch) EXPECT_TRUE(known(sbatch).contains(name)) << name;
    for (const auto name : only_srun) EXPECT_TRUE(known(srun).contains(name)) << name;
    for (const auto name : only_salloc) EXPECT_TRUE(known(salloc).contains(name)) << name;
}

class T17Environment : public testing::Test {
protected:
    void set(const char* name, const char* value) {
        ::setenv(name, value, 1);
        names_.push_back(name);
    }
    void TearDown() override {
        for (const auto* name : names_) ::unsetenv(name);
    }
    std::vector<const char*> names_;
};

TEST_F(T17Environment, VariablesBeatTheScriptAndTheCommandLineBeatsBoth) {
    set("SBATCH_PARTITION", "env");
    set("SBATCH_TIMELIMIT", "5");
    SubmitOptions options;
    apply_words(sbatch, {"sbatch", "-p", "script", "-t", "1", "-A", "script"}, Source::script, options);
    EXPECT_EQ(apply_environment(sbatch, options).end, ParseEnd::go_on);
    apply_words(sbatch, {"sbatch", "-t", "9"}, Source::command_line, options);
    EXPECT_EQ(options.spec.partitions(0), "env");
    EXPECT_EQ(options.spec.time_limit_min(), 9U);
    EXPECT_EQ(options.spec.account(), "script");
    EXPECT_EQ(source_of(options, "partition"), Source::environment);
    EXPECT_EQ(source_of(options, "account"), Source::script);
}

TEST_F(T17Environment, AVariableForAFlagMustMeanYes) {
    set("SBATCH_OVERCOMMIT", "0");
    set("SBATCH_SPREAD_JOB", "");
    set("SBATCH_USE_MIN_NODES", "yes");
    SubmitOptions options;
    apply_environment(sbatch, options);
    EXPECT_FALSE(options.spec.has_overcommit());
    EXPECT_TRUE(options.spec.spread());
    EXPECT_TRUE(options.spec.use_min_nodes());
}

TEST_F(T17Environment, TheVariablesOfAJobReachTheStepsOfSrun) {
    set("SLURM_JOB_ID", "77");
    set("SLURM_NTASKS", "4");
    set("SLURM_JOB_NUM_NODES", "2");
    set("SLURM_CPUS_PER_TASK", "8");  // not inherited since 22.05
    SubmitOptions options;
    apply_environment(srun, options);
    EXPECT_EQ(options.step.job_id, 77U);
    EXPECT_EQ(options.spec.tasks(), 4U);
    EXPECT_EQ(options.spec.min_nodes(), 2U);
    EXPECT_FALSE(options.spec.has_cpus_per_task());
}

TEST_F(T17Environment, AWrongVariableIsNamed) {
    set("SBATCH_TIMELIMIT", "soon");
    SubmitOptions options;
    EXPECT_EQ(apply_environment(sbatch, options).error,
              "Invalid --time specification (from the variable SBATCH_TIMELIMIT)");
}

TEST_F(T17Environment, MemoryIsAskedForInOneWayOnly) {
    SubmitOptions options;
    apply_words(sbatch, {"sbatch", "--mem=1G"}, Source::script, options);
    apply_words(sbatch, {"sbatch", "--mem-per-cpu=100"}, Source::command_line, options);
    EXPECT_EQ(combine(sbatch, options).error().text, "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
}

TEST_F(T17Environment, AMemoryVariableGivesWayToWhatWasTyped) {
    set("SBATCH_MEM_PER_NODE", "3");
    SubmitOptions options;
    apply_environment(sbatch, options);
    apply_words(sbatch, {"sbatch", "--mem-per-cpu=4"}, Source::command_line, options);
    ASSERT_TRUE(combine(sbatch, options));
    EXPECT_FALSE(options.spec.has_mem_per_node_mib());
    EXPECT_EQ(options.spec.mem_per_cpu_mib(), 4U);
}

TEST(T17Submit, GpusPerNodeAndGresAddUp) {
    EXPECT_EQ(spec_of(sbatch, {"--gres=shard:2", "--gpus-per-node=a100:1"}).gres_per_node(), "shard:2,gpu:a100:1");
    EXPECT_EQ(spec_of(sbatch, {"-G", "4"}).gres_per_job(), "gpu:4");
    EXPECT_EQ(spec_of(sbatch, {"--gpus-per-task=a100:1,v100:2"}).gres_per_task(), "gpu:a100:1,gpu:v100:2");
    EXPECT_EQ(spec_of(sbatch, {"--gres=none"}).gres_per_node(), "");
}

TEST(T17Submit, SocketsCoresAndThreadsMayBeGivenTogether) {
    const auto spec = spec_of(sbatch, {"-B", "2:*:1"});
    EXPECT_EQ(spec.sockets_per_node(), 2U);
    EXPECT_FALSE(spec.has_cores_per_socket());
    EXPECT_EQ(spec.threads_per_core(), 1U);
}

TEST(T17Submit, NoTimeLimitIsAskedForWithZeroOrUnlimited) {
    EXPECT_EQ(spec_of(sbatch, {"-t", "0"}).time_limit_min(), 0xffffffffU);
    EXPECT_EQ(spec_of(sbatch, {"-t", "UNLIMITED"}).time_limit_min(), 0xffffffffU);
}

TEST(T17Submit, NiceMayBeLeftToTheUsualHundred) {
    EXPECT_EQ(spec_of(sbatch, {"--nice"}).nice(), 100);
    EXPECT_EQ(spec_of(sbatch, {"--nice=-5"}).nice(), -5);
}

}  // namespace
}  // namespace spur::cli::submit
