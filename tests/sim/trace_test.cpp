// Spur's own traces: what is written is read back, and nothing malformed gets in or brings the reader down.
#include <gtest/gtest.h>

#include <random>

#include "cli/sim/request.hpp"
#include "cli/sim/synth.hpp"
#include "cli/sim/trace.hpp"

namespace spur::cli::sim {
namespace {

std::string refusal(const std::string& text) {
    const auto trace = parse_trace_lines(text, "t.jsonl");
    return trace ? "(accepted)" : trace.error().text;
}

TraceJob everything() {
    TraceJob job;
    job.id = "a";
    job.submit_s = 3;
    job.run_s = 40;
    job.task_runs = {40, 50};
    job.limit_s = 600;
    job.begin_s = 9;
    job.fails = true;
    job.exclusive = true;
    job.name = "na\"me";
    job.user = "u";
    job.account = "acc";
    job.qos = "high";
    job.partition = "p,q";
    job.features = "fast&big";
    job.gres = "shard:2";
    job.gres_per_job = "gpu:a100:4";
    job.licenses = "x:2";
    job.node_list = "n[1-2]";
    job.reservation = "r";
    job.array = "0-1%1";
    job.dependency = "afterok:z";
    job.min_nodes = 1;
    job.max_nodes = 2;
    job.tasks = 3;
    job.tasks_per_node = 4;
    job.cpus_per_task = 5;
    job.mem_per_node_mib = 6;
    job.mem_per_cpu_mib = 7;
    job.nice = -8;
    job.think_s = 0;
    return job;
}

TEST(SimTrace, WhatIsPrintedIsReadBack) {
    Trace trace;
    trace.source = "t.jsonl";
    trace.begins = 1234;
    trace.jobs = {everything()};
    trace.reservations = {{"maint", 10, 20, "n[1-4]", {"root"}, {"staff"}}};
    const auto again = parse_trace_lines(print_trace(trace), "t.jsonl");
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(*again, trace);
}

TEST(SimTrace, CommentsAndEmptyLinesAreSkipped) {
    const auto trace = parse_trace_lines("# hello\n\n{\"submit\": 1, \"run\": 2, \"gpus\": 4}\n", "t.jsonl");
    ASSERT_TRUE(trace) << trace.error().text;
    ASSERT_EQ(trace->jobs.size(), 1);
    EXPECT_EQ(trace->jobs[0].id, "3");  // its line
    EXPECT_EQ(trace->jobs[0].gres_per_job, "gpu:4");
    EXPECT_EQ(trace->begins, default_beginning);
}

TEST(SimTrace, MistakesAreToldWithFileAndLine) {
    EXPECT_EQ(refusal("\n{\"submit\": 1"), "t.jsonl:2: this is no JSON object: \"{\"submit\": 1\"");
    EXPECT_EQ(refusal("[1]"), "t.jsonl:1: this is no JSON object: \"[1]\"");
    EXPECT_EQ(refusal("{\"submit\": 1, \"run\": 2, \"user\": []}"), "t.jsonl:1: \"user\" must be a text");
    EXPECT_EQ(refusal("{\"submit\": 1.5, \"run\": 2}"), "t.jsonl:1: \"submit\" must be a whole number");
    EXPECT_EQ(refusal("{\"submit\": -1, \"run\": 2}"), "t.jsonl:1: \"submit\" is -1; it must be from 0 to 4000000000");
    EXPECT_EQ(refusal("{\"submit\": 1, \"run\": 18446744073709551615}"),
              "t.jsonl:1: \"run\" is 18446744073709551615; it must be from 0 to 4000000000");
    EXPECT_EQ(refusal("{\"run\": 2}"), "t.jsonl:1: the job does not say when it was submitted: \"submit\" is missing");
    EXPECT_EQ(refusal("{\"submit\": 2}"), "t.jsonl:1: the job does not say how long it runs: \"run\" is missing");
    EXPECT_EQ(refusal("{\"submit\": 1, \"run\": 2, \"time\": 0}"), "t.jsonl:1: \"time\" is 0: no job can run in that");
    EXPECT_EQ(refusal("{\"submit\": 1, \"run\": 2, \"ntask\": 0}"),
              "t.jsonl:1: a job has no key \"ntask\"; did you mean \"ntasks\"?; docs/simulator.md lists them");
    EXPECT_EQ(refusal("{\"trace\": 2}"), "t.jsonl:1: this Spur reads traces of version 1");
    EXPECT_EQ(refusal("{\"reserve\": \"m\", \"start\": 9, \"end\": 9, \"nodes\": \"n1\"}"),
              "t.jsonl:1: a reservation must end after it starts");
}

// Bytes flipped, cut and doubled at random: an answer each time, and never a crash.
TEST(SimTrace, DamagedTracesAreReadOrRefusedButNeverCrash) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 dice{seed};
    Trace trace = synthesize({.seed = 5, .jobs = 20});
    trace.jobs.push_back(everything());
    const auto lines = print_trace(trace);
    const std::string swf =
        "; Queue: 1 a\n1 0 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n2 5 -1 10 1 -1 -1 1 60 -1 1 1 1 1 1 1 1 30\n";
    for (int round = 0; round < 3000; ++round) {
        auto text = round % 2 ? swf : lines;
        for (auto changes = dice() % 8 + 1; changes > 0 && !text.empty(); --changes) {
            const auto at = dice() % text.size();
            switch (dice() % 3) {
                case 0:
                    text[at] = static_cast<char>(dice());
                    break;
                case 1:
                    text.erase(at, dice() % 20);
                    break;
                default:
                    text.insert(at, text.substr(dice() % text.size(), dice() % 20));
            }
        }
        const auto read = round % 2 ? parse_swf(text, "x") : parse_trace_lines(text, "x");
        if (read)
            for (const auto& job : read->jobs)
                static_cast<void>(make_spec(job, 0, [](std::string_view) { return std::optional<std::uint32_t>{1}; }));
        else
            EXPECT_TRUE(read.error().text.starts_with("x:")) << read.error().text;
    }
}

TEST(SimTrace, DependenciesGetTheNumbersOfTheSimulatedJobs) {
    const FindJob find = [](std::string_view id) -> std::optional<std::uint32_t> {
        if (id == "a") return 11;
        if (id == "b") return 22;
        return std::nullopt;
    };
    EXPECT_EQ(translate_dependency("afterok:a:b,afterany:b+5?singleton", find),
              "afterok:11:22,afterany:22+5?singleton");
    EXPECT_EQ(translate_dependency("aftercorr:a_7", find), "aftercorr:11_7");
    EXPECT_FALSE(translate_dependency("afterok:c", find));
}

}  // namespace
}  // namespace spur::cli::sim
