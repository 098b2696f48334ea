// A job's field is nowhere forgotten: what can be asked for travels over the wire and shows in a record, and what the
// log can change can be typed. The archive's list is checked where it is compiled (service/convert_spec.cpp).
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "daemons/common/records/job.hpp"
#include "daemons/common/records/step.hpp"
#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/updates.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur::ctld {
namespace {

using namespace spur::testing;
using planning::ReadModel;

constexpr JobDetail all_of_it{.environment = true, .spank_environment = true, .script = true};

void fill(Text& text) { text = "KEY=gpu:2"; }
void fill(std::vector<Text>& texts) { texts = {"gpu:2"}; }
void fill(std::vector<ResourceLimit>& limits) { limits = {{"NOFILE", 1, 2}}; }
void fill(std::uint32_t& number) { number = 3; }
void fill(JobKind& kind) { kind = JobKind::allocation; }
void fill(std::optional<Exclusive>& exclusive) { exclusive = Exclusive::user; }
void fill(std::optional<bool>& flag) { flag = true; }
template <class T>
void fill(std::optional<T>& number) {
    number = 7;
}

class JobRecord : public ::testing::Test {
protected:
    JobRecord() {
        b.nodes("n[1-4]", cpus(4));
        b.pending("waits");
        Changes all;
        all.everything = true;
        model = planning::ReadModelBuilder{}.publish(b.cluster(), all);
    }
    using Changes = planning::Changes;

    // Every row of a job that asks for `spec`.
    std::vector<std::string> rows_of(const JobSpec& spec) {
        Job job = *b.cluster().find_job(b.id("waits"));
        set_spec(job, std::make_shared<JobSpec>(spec));
        v1::Job wire;
        job_to_wire(*model, job, {}, wire);
        const records::Context context{.now = 1, .cluster = "c"};
        std::vector<std::string> rows;
        std::string scratch;
        for (const auto& field : records::job_fields()) {
            const auto value = field.get({wire, context});
            rows.emplace_back(records::write(value, field.type, records::Look::record, "", context, scratch));
        }
        return rows;
    }

    ClusterBuilder b;
    std::shared_ptr<const ReadModel> model;
};

TEST_F(JobRecord, EveryMemberOfARequestTravelsOverTheWireAndBack) {
    const std::set<std::string> only_the_controllers{"user_name", "group_name"};  // from the credential, not the wire
#define SPUR_TRAVELS(number, member, ...)                                                           \
    {                                                                                               \
        JobSpec spec;                                                                               \
        fill(spec.member);                                                                          \
        v1::JobSpec wire;                                                                           \
        spec_to_wire(spec, all_of_it, wire);                                                        \
        if (spec.environment == "KEY=gpu:2") spec.environment = std::string("KEY=gpu:2\0", 10);     \
        const auto back = spec_from_wire(wire);                                                     \
        ASSERT_TRUE(back) << #member << ": " << back.error().text;                                  \
        EXPECT_EQ(back->member == spec.member, !only_the_controllers.contains(#member)) << #member; \
    }
    SPUR_JOB_SPEC(SPUR_TRAVELS, SPUR_TRAVELS, SPUR_TRAVELS)
}

TEST_F(JobRecord, EveryMemberOfARequestShowsInARowOrIsLeftOutForAReason) {
    const std::map<std::string, std::string> left_out{
        {"script", "large; `scontrol write batch_script` has it"},
        {"environment", "large, and nobody else's business"},
        {"spank_environment", "nobody else's business"},
        {"open_mode_append", "only the node needs it"},
        {"umask", "only the node needs it"},
        {"rlimits", "only the node needs it"},
        {"std_out_mode", "only the node needs it"},
        {"sample_s", "Slurm shows it nowhere"},
        {"cpu_bind", "only steps are bound"},
        {"mem_bind", "only steps are bound"},
        {"kill_on_bad_exit", "only srun needs it"},
        {"wait_all_nodes", "only the node needs it"},
        {"no_kill", "Slurm shows it nowhere"},
        {"immediate_s", "over before anybody could look"},
        {"overcommit", "Slurm shows it nowhere"},
        {"use_min_nodes", "Slurm shows it nowhere"},
        {"distribution", "Slurm shows a step's"},
        {"hint", "shows as what it means: threads and cores"},
        {"signal", "Slurm shows it nowhere"},
        {"submit_line", "sacct's, which there is not yet"},
        {"begin", "shows as the start that is expected"},
        {"time_limit_min", "the job's own, in force, is shown"},
        {"priority", "the job's own, in force, is shown"},
        {"hold", "shows as priority and reason"},
        {"array", "the job's own tasks are shown"},
        {"dependency", "what is left of it is shown"},
        {"mail_user", "shown where mail is asked for"},
        {"gres_flags", "enforce-binding alone is shown"},
        {"tres_per_task", "gres_per_task is shown"},
    };
    JobSpec asked;
    asked.command = "run";  // arguments are shown behind a script's name
    asked.requeue = false;  // yes is what nobody asked for shows as
    const auto plain = rows_of(asked);
#define SPUR_SHOWS(number, member, ...)                                            \
    {                                                                              \
        JobSpec spec = asked;                                                      \
        fill(spec.member);                                                         \
        EXPECT_EQ(rows_of(spec) != plain, !left_out.contains(#member)) << #member; \
    }
    SPUR_JOB_SPEC(SPUR_SHOWS, SPUR_SHOWS, SPUR_SHOWS)
}

TEST_F(JobRecord, EveryChangeThatTheLogKnowsCanBeTyped) {
    Job waiting = *b.cluster().find_job(b.id("waits"));
    Job running = waiting;
    running.state = JobState::running;
    running.allocation = std::make_shared<Allocation>(Allocation{.shares = {NodeShare{}}});
    JobChanges seen;
    for (const auto* job : {&waiting, &running})
        for (const auto& field : records::job_fields())
            for (const auto* value : {"1", "yes", "n1", "2030-01-01T00:00:00", "1@5"}) {
                if (field.change.set == nullptr) continue;
                Settings settings;
                settings[field.change.name] = value;
                const auto changes = job_changes(settings, *job, *model, 1000);
                if (!changes) continue;
#define SPUR_SEE(number, member, ...) \
    if (changes->member) seen.member = changes->member;
                SPUR_JOB_CHANGES(SPUR_SEE, SPUR_SEE)
            }
#define SPUR_TYPED(number, member, ...) \
    EXPECT_EQ(seen.member.has_value(), std::string_view(#member) != "exclusive") << #member;
    SPUR_JOB_CHANGES(SPUR_TYPED, SPUR_TYPED)  // OverSubscribe=EXCLUSIVE was never a word of scontrol's
}

TEST(StepRecord, WhatAStepUsedReadsAsInSacctAndIsAbsentUntilANodeHasReported) {
    v1::Job job;
    v1::Step step;
    const records::Context here{};
    const records::StepView view{step, job, here};
    const auto text = [&](records::StepFieldId id) { return std::string{records::step_field(id).get(view).text()}; };
    using enum records::StepFieldId;
    for (const auto id : {user_cpu, system_cpu, total_cpu, max_memory, usage_in, usage_out})
        EXPECT_TRUE(records::step_field(id).get(view).is_absent());
    step.mutable_usage()->set_user_us(61'234'567);
    step.mutable_usage()->set_system_us(2'000);
    step.mutable_usage()->set_max_rss_kib(2048);
    step.mutable_usage()->set_read_bytes(10);
    step.mutable_usage()->set_write_bytes(20);
    EXPECT_EQ(text(user_cpu), "01:01.234");
    EXPECT_EQ(text(system_cpu), "00:00.002");
    EXPECT_EQ(text(total_cpu), "01:01.236");
    EXPECT_EQ(text(max_memory), "2048K");
    EXPECT_EQ(text(usage_in), "cpu=00:01:01,fs/disk=10");
    EXPECT_EQ(text(usage_out), "fs/disk=20");
    step.mutable_usage()->set_user_us(90'000'000'000);
    EXPECT_EQ(text(user_cpu), "1-01:00:00");
}

TEST_F(JobRecord, APartitionNamedAllIsAName) {
    Settings settings;
    settings["partition"] = "ALL";
    const auto changes = job_changes(settings, *b.cluster().find_job(b.id("waits")), *model, 1000);
    ASSERT_TRUE(changes);
    EXPECT_EQ(changes->partitions, std::vector<Text>{"ALL"});
}

TEST_F(JobRecord, WhatCannotBeChangedIsRefusedByName) {
    Settings settings;
    settings["network"] = "x";
    const auto changes = job_changes(settings, *b.cluster().find_job(b.id("waits")), *model, 1000);
    ASSERT_FALSE(changes);
    EXPECT_EQ(changes.error().text, "network cannot be changed: a job has no such setting in this release");
    settings.clear();
    settings["numtasks"] = "many";
    EXPECT_EQ(job_changes(settings, *b.cluster().find_job(b.id("waits")), *model, 1000).error().text,
              "numtasks=many is not a number");
}

}  // namespace
}  // namespace spur::ctld
