// squeue's columns for job steps.
#include "cli/common/job_text.hpp"
#include "cli/common/users.hpp"
#include "cli/squeue/rows.hpp"
#include "core/model/array_spec.hpp"
#include "core/text/timefmt.hpp"

#include <fmt/format.h>

namespace spur::cli::squeue {
namespace {

std::string number(std::uint64_t value) { return fmt::format("{}", value); }

std::string array_task(const StepRow& row) {
    return row.job->has_array_task_id() ? number(row.job->array_task_id()) : "N/A";
}

// The time a step has used is its job's clock: it stands still while the job is suspended.
std::string time_used(const StepRow& row) {
    const auto& step = *row.step;
    if (step.start_time() == 0) return print_duration(0);
    if (step.end_time() != 0) return print_duration(step.end_time() - step.start_time());
    const auto job_used = run_time_s(*row.job, row.listing->now);
    const auto before = step.start_time() - row.job->start_time();
    return print_duration(std::max<std::int64_t>(0, job_used - before));
}

std::string user(const StepRow& row) {
    return row.step->user_name().empty() ? user_name(*row.job) : row.step->user_name();
}

std::string limit(const StepRow& row) {
    return print_limit(row.step->time_limit_min() == 0 ? unlimited : row.step->time_limit_min());
}

Value gres(const StepRow& row) {
    std::string text;
    for (const auto& one : row.step->gres()) text += (text.empty() ? "" : ",") + gres_as_tres(one);
    return or_null(text);
}

using StepField = Field<StepRow>;
constexpr auto cut = Cut::always;
constexpr auto whole = Cut::unless_right;
constexpr auto timed = Cut::value_unless_right;

#define SHOW(...) []([[maybe_unused]] const StepRow& row) -> Value { return __VA_ARGS__; }
#define STEP (*row.step)

constexpr StepField table[] = {
    {0, "arrayjobid", "ARRAY_JOB_ID", cut, SHOW(number(row.job->array_job_id()))},
    {0, "arraytaskid", "ARRAY_TASK_ID", cut, SHOW(array_task(row))},
    {0, "cluster", "CLUSTER", cut, SHOW(or_null(row.listing->cluster))},
    {0, "container", "CONTAINER", cut, SHOW(Value::null())},
    {0, "cpufreq", "CPU_FREQ", cut, SHOW("Unknown-Unknown:Unknown")},
    {0, "cpus-per-tres", "CPUS_PER_TRES", cut, SHOW(Value::null())},
    {0, "jobid", "JOB_ID", cut, SHOW(number(row.job->id()))},
    {0, "mem-per-tres", "MEM_PER_TRES", cut, SHOW(Value::null())},
    {0, "network", "NETWORK", cut, SHOW(Value::null())},
    {'N', "nodes", "NODELIST", whole, SHOW(STEP.node_list())},
    {0, "numcpus", "NUM_CPUS", cut, SHOW(number(STEP.cpus()))},
    {'A', "numtasks", "TASKS", cut, SHOW(number(STEP.tasks()))},
    {'P', "partition", "PARTITION", cut, SHOW(STEP.partition().empty() ? row.job->partition() : STEP.partition())},
    {0, "resvport", "RESV_PORTS", cut, SHOW(Value::null())},
    {'S', "starttime", "START_TIME", cut, SHOW(time_text(STEP.start_time(), row.listing->now, "N/A"))},
    {'i', "stepid", "STEPID", cut, SHOW(step_id_text(*row.job, STEP))},
    {'j', "stepname", "NAME", cut, SHOW(STEP.name())},
    {0, "stepstate", "STATE", cut, SHOW(STEP.state())},
    {'l', "timelimit", "TIME_LIMIT", timed, SHOW(limit(row))},
    {'M', "timeused", "TIME", timed, SHOW(time_used(row))},
    {0, "tres-bind", "TRES_BIND", cut, SHOW(Value::null())},
    {0, "tres-freq", "TRES_FREQ", cut, SHOW(Value::null())},
    {0, "tres-per-job", "TRES_PER_STEP", cut, SHOW(Value::null())},
    {'b', "tres-per-node", "TRES_PER_JOB", cut, gres},
    {0, "tres-per-socket", "TRES_PER_SOCKET", cut, SHOW(Value::null())},
    {0, "tres-per-step", "TRES_PER_STEP", cut, SHOW(Value::null())},
    {0, "tres-per-task", "TRES_PER_TASK", cut, SHOW(Value::null())},
    {'U', "userid", "UID", cut, SHOW(number(STEP.uid()))},
    {'u', "username", "USER", cut, SHOW(user(row))},
};

#undef SHOW
#undef STEP

}  // namespace

std::string step_id_text(const v1::Job& job, const v1::Step& step) {
    return fmt::format("{}.{}", job_id_text(job, 0), print_step_id(step.step_id()));
}

std::span<const Field<StepRow>> step_fields() { return table; }

}  // namespace spur::cli::squeue
