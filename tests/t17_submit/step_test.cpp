// srun: what it asks for, where streams go, what it says of tasks.
#include "cli/srun/step_environment.hpp"
#include "cli/srun/step_request.hpp"
#include "cli/srun/task_output.hpp"
#include "cli/srun/task_states.hpp"

#include <gtest/gtest.h>

#include <stdlib.h>
#include <unistd.h>
#include <csignal>

#include <cstdio>

namespace spur::cli::srun {
namespace {

using Words = std::vector<std::string>;

v1::Job job_of(std::uint32_t nodes) {
    v1::Job job;
    job.set_id(7);
    job.set_node_count(nodes);
    return job;
}
submit::SubmitOptions options_of(Words words) {
    submit::SubmitOptions options;
    words.insert(words.begin(), "srun");
    const auto outcome = submit::apply_words(submit::srun, words, submit::Source::command_line, options);
    EXPECT_EQ(outcome.end, ParseEnd::go_on) << outcome.error;
    EXPECT_TRUE(submit::combine(submit::srun, options));
    return options;
}

TEST(T17Step, OptionsBecomeTheStepsRequest) {
    const auto made = step_request(options_of({"-n4", "-N2", "-c3", "-w", "n[1-2]", "-r0", "-m", "cyclic", "--overlap",
                                               "-J", "nm", "-t", "5", "--mem=100", "--gpus=2", "--gpus-per-task=1"}),
                                   job_of(2), false, "/bin/true");
    ASSERT_TRUE(made);
    const auto& request = made->request;
    EXPECT_EQ(request.tasks(), 4U);
    EXPECT_EQ(request.min_nodes(), 2U);
    EXPECT_EQ(request.cpus_per_task(), 3U);
    EXPECT_TRUE(request.exact());  // CPUs per task mean exactly those
    EXPECT_TRUE(request.overlap());
    EXPECT_EQ(request.node_list(), "n[1-2]");
    EXPECT_TRUE(request.has_relative());
    EXPECT_EQ(request.name(), "nm");
    EXPECT_EQ(request.time_limit_min(), 5U);
    EXPECT_EQ(request.mem_per_node_mib(), 100U);
    EXPECT_EQ(request.gres_per_step(), "gpu:2");
    EXPECT_EQ(request.gres_per_task(), "gpu:1");
}

TEST(T17Step, AStepIsNamedAfterItsProgram) {
    EXPECT_EQ(step_request(options_of({}), job_of(1), false, "/usr/bin/hostname")->request.name(), "hostname");
}

TEST(T17Step, FewerTasksThanNodesMeansFewerNodesAndAWarning) {
    const auto made = step_request(options_of({"-n1", "-N2"}), job_of(2), false, "x");
    ASSERT_TRUE(made);
    EXPECT_EQ(made->request.min_nodes(), 1U);
    EXPECT_EQ(made->warnings, Words{"Warning: can't run 1 processes on 2 nodes, setting nnodes to 1"});
}

TEST(T17Step, MoreNodesThanTheJobHasAreRefused) {
    EXPECT_EQ(step_request(options_of({"-N3"}), job_of(1), false, "x").error().text,
              "Only allocated 1 nodes asked for 3");
    EXPECT_EQ(step_request(options_of({"-r5"}), job_of(1), false, "x").error().text,
              "--relative and SLURM_JOB_NUM_NODES option incompatible with count of allocated nodes (5+1>1)");
}

TEST(T17Step, StreamsGoWhereTheirOptionSays) {
    using Kind = StreamPlan::Kind;
    EXPECT_EQ(stream_plan("").kind, Kind::streamed);
    EXPECT_EQ(stream_plan("all").kind, Kind::streamed);
    EXPECT_EQ(stream_plan("none").kind, Kind::none);
    EXPECT_EQ(stream_plan("3").kind, Kind::one_task);
    EXPECT_EQ(stream_plan("3").task, 3U);
    EXPECT_EQ(stream_plan("out.%j").kind, Kind::local_file);
    EXPECT_EQ(stream_plan("out.%t").kind, Kind::remote_files);
    EXPECT_EQ(stream_plan("out.%N").kind, Kind::remote_files);
}

TEST(T17Step, ProgramsByTaskAreReadFromAFile) {
    const auto commands =
        multi_prog_commands("# comment\n0     hostname\n1-2   echo t:%t o:%o \"a b\"\n*  echo rest %t\n", 5, "mp.conf");
    ASSERT_TRUE(commands) << commands.error().text;
    EXPECT_EQ(*commands, (Words{"'hostname'", "'echo' 't:1' 'o:0' '\"a' 'b\"'", "'echo' 't:2' 'o:1' '\"a' 'b\"'",
                                "'echo' 'rest' '3'", "'echo' 'rest' '4'"}));
}

TEST(T17Step, WhatFollowsTheFileGoesToEveryProgram) {
    const Words more{"a b", "c"};
    EXPECT_EQ(*multi_prog_commands("0-1 echo\n", 2, "mp.conf", more), (Words{"'echo' 'a b' 'c'", "'echo' 'a b' 'c'"}));
}

TEST(T17Step, ATaskHasOneProgram) {
    EXPECT_EQ(multi_prog_commands("0-1 true\n1 false\n", 2, "mp.conf").error().text,
              "Duplicate record for task 1\nLine 2 of configuration file mp.conf invalid");
}

TEST(T17Step, AProgramForEveryTaskIsNeeded) {
    EXPECT_EQ(multi_prog_commands("0 true\n", 2, "mp.conf").error().text,
              "Configuration file mp.conf invalid, no record for task id 1");
    EXPECT_EQ(multi_prog_commands("x true\n", 1, "mp.conf").error().text, "mp.conf:1: bad task ranks \"x\"");
    EXPECT_EQ(multi_prog_commands("\n0\n", 1, "mp.conf").error().text, "mp.conf:2: no program for task ranks 0");
}

google::protobuf::RepeatedPtrField<v1::TaskLayout> layout() {
    google::protobuf::RepeatedPtrField<v1::TaskLayout> nodes;
    for (std::uint32_t i = 0; i < 2; ++i) {
        auto& node = *nodes.Add();
        node.set_node("n" + std::to_string(i + 1));
        node.add_tasks(2 * i);
        node.add_tasks(2 * i + 1);
    }
    return nodes;
}

TEST(T17Step, EndsAreToldTogetherByNodeAndKind) {
    TaskStates tasks(layout());
    tasks.exited(0, 3 << 8, false);
    tasks.exited(1, 3 << 8, false);
    tasks.exited(2, 9, false);
    tasks.exited(3, 0, false);
    EXPECT_EQ(tasks.take_messages(), (Words{"n1: tasks 0-1: Exited with exit code 3", "n2: task 2: Killed"}));
    EXPECT_TRUE(tasks.take_messages().empty());
    EXPECT_TRUE(tasks.all_over());
    EXPECT_EQ(tasks.exit_code(), 137);
    EXPECT_EQ(tasks.wait_status(), 9U);
}

TEST(T17Step, TheHighestExitCodeWins) {
    TaskStates tasks(layout());
    for (std::uint32_t task = 0; task < 4; ++task) tasks.exited(task, task << 8, false);
    EXPECT_EQ(tasks.exit_code(), 3);
    TaskStates fine(layout());
    for (std::uint32_t task = 0; task < 4; ++task) fine.exited(task, 0, false);
    EXPECT_EQ(fine.exit_code(), 0);
    EXPECT_FALSE(fine.any_failed());
}

TEST(T17Step, TasksOutOfMemorySaySo) {
    TaskStates tasks(layout());
    tasks.exited(0, 9, true);
    EXPECT_EQ(tasks.take_messages(), Words{"n1: task 0: Out Of Memory"});
}

TEST(T17Step, ALostNodeEndsItsTasks) {
    TaskStates tasks(layout());
    tasks.started(0);
    tasks.lost("n1", 137);
    EXPECT_FALSE(tasks.all_over());
    tasks.exited(2, 0, false);
    tasks.exited(3, 0, false);
    EXPECT_TRUE(tasks.all_over());
    EXPECT_NE(tasks.exit_code(), 0);
}

TEST(T17Step, ANodeThatCouldNotStartItsTasksIsAnErrorLikeAnother) {
    TaskStates tasks(layout());
    tasks.lost("n1", 1);
    EXPECT_EQ(tasks.exit_code(), 1);
    EXPECT_EQ(tasks.wait_status(), 1U << 8);
}

TEST(T17Step, OnlyTheSignalsOfTheEndCountAsKilled) {
    TaskStates crashed(layout());
    crashed.exited(0, SIGSEGV, false);
    EXPECT_FALSE(crashed.was_killed());
    crashed.exited(1, SIGTERM, false);
    EXPECT_TRUE(crashed.was_killed());
}

TEST(T17Step, AfterCtrlCOnlyExitCodesAreTold) {
    TaskStates tasks(layout());
    tasks.exited(0, SIGINT, false);
    tasks.exited(1, 6 << 8, false);
    EXPECT_EQ(tasks.take_messages(false), Words{"n1: task 1: Exited with exit code 6"});
    EXPECT_TRUE(tasks.take_messages().empty());
}

v1::CreateStepReply made_step(std::uint32_t tasks) {
    v1::CreateStepReply made;
    made.mutable_step()->set_tasks(tasks);
    *made.mutable_layout() = layout();
    return made;
}

TEST(T17Step, TasksAreToldWhatWasAskedFor) {
    submit::SubmitOptions options;
    EXPECT_EQ(option_variables(options, made_step(2), true), Words{"SLURM_DISTRIBUTION=cyclic"});
    EXPECT_EQ(option_variables(options, made_step(3), true), Words{"SLURM_DISTRIBUTION=block"});
    options.spec.set_cpus_per_task(2);
    options.spec.set_tasks_per_node(3);
    options.spec.set_overcommit(true);
    options.spec.set_distribution("plane=2");
    EXPECT_EQ(option_variables(options, made_step(2), false),
              (Words{"SLURM_CPUS_PER_TASK=2", "SLURM_NTASKS_PER_NODE=3", "SLURM_OVERCOMMIT=1",
                     "SLURM_DISTRIBUTION=plane", "SLURM_DIST_PLANESIZE=2"}));
}

TEST(T17Step, TheStatesOfTasksAreSummedUp) {
    TaskStates tasks(layout());
    for (std::uint32_t task = 0; task < 3; ++task) tasks.started(task);
    tasks.exited(0, 0, false);
    EXPECT_EQ(tasks.states(), (Words{"task 3: unknown", "tasks 1-2: running", "task 0: exited"}));
}

class T17Output : public testing::Test {
protected:
    void SetUp() override { ::close(::mkstemp(name_)); }
    void TearDown() override { ::unlink(name_); }
    // What ends up in the file after `write` has been called with the output.
    template <class Write>
    std::string written(TaskOutput::Settings settings, Write write) {
        settings.out = {StreamPlan::Kind::local_file, 0, name_};
        {
            auto output = TaskOutput::open(settings, {}, "/");
            EXPECT_TRUE(output) << output.error().text;
            write(*output);
            output->flush();
        }
        std::FILE* file = std::fopen(name_, "r");
        char buffer[4096];
        const auto size = std::fread(buffer, 1, sizeof buffer, file);
        std::fclose(file);
        return {buffer, size};
    }
    char name_[32] = "/tmp/spur-output-XXXXXX";
};

TEST_F(T17Output, LinesOfDifferentTasksAreNotMixed) {
    EXPECT_EQ(written({.tasks = 2},
                      [](TaskOutput& output) {
                          output.write(0, false, "abc", false);
                          output.write(1, false, "xyz\n", false);
                          output.write(0, false, "def\nrest", false);
                      }),
              "xyz\nabcdef\nrest");
}

TEST_F(T17Output, UnbufferedPassesPiecesOn) {
    EXPECT_EQ(written({.unbuffered = true, .tasks = 2},
                      [](TaskOutput& output) {
                          output.write(0, false, "abc", false);
                          output.write(1, false, "abc", false);
                          output.write(0, false, "def\n", false);
                      }),
              "abcabcdef\n");
}

TEST_F(T17Output, LabelsStandBeforeEachLineAlignedToTheLargest) {
    EXPECT_EQ(written({.label = true, .tasks = 12},
                      [](TaskOutput& output) {
                          output.write(0, false, "a\n\nb\nc", false);
                          output.write(11, true, "e\n", false);
                          output.write(0, false, "", true);
                      }),
              " 0: a\n 0: \n 0: b\n11: e\n 0: c\n");
}

TEST_F(T17Output, OnlyTheChosenTaskIsShown) {
    TaskOutput::Settings settings;
    settings.tasks = 2;
    settings.err = {StreamPlan::Kind::none, 0, "none"};
    EXPECT_EQ(written(settings,
                      [](TaskOutput& output) {
                          output.write(1, true, "not this\n", false);
                          output.write(0, false, "this\n", false);
                      }),
              "this\n");
}

TEST_F(T17Output, AFileThatCannotBeOpenedIsAnError) {
    TaskOutput::Settings settings;
    settings.out = {StreamPlan::Kind::local_file, 0, "/nope/x"};
    EXPECT_EQ(TaskOutput::open(settings, {}, "/").error().text,
              "Could not open stdout file: No such file or directory");
}

}  // namespace
}  // namespace spur::cli::srun
