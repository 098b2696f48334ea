// A job step as Slurm's users know it. One row a field.
#include "daemons/common/records/step.hpp"

#include <algorithm>

#include "core/model/array_spec.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/job_text.hpp"

namespace spur::records {
namespace {

constexpr auto cut = Cut::always;
constexpr auto whole = Cut::unless_right;
constexpr auto timed = Cut::value_unless_right;
constexpr bool sorts = true;

Value nothing(const StepView&) { return {}; }

template <auto Get>
Value of_step(const StepView& view) {
    return (view.step.*Get)();
}

// The batch script's and the like, which nobody laid out.
bool is_named(const StepView& view) { return view->step_id() >= step_interactive; }

// The time a step has used is its job's clock: it stands still while the job is suspended.
Value time_used_of(const StepView& view) {
    if (view->start_time() == 0) return 0;
    if (view->end_time() != 0) return view->end_time() - view->start_time();
    const auto before = view->start_time() - view.job.start_time();
    return std::max<std::int64_t>(0, run_time_s(view.job, view.in.now) - before);
}

Value gres_of(const StepView& view) {
    std::string text;
    for (const auto& one : view->gres()) text += (text.empty() ? "" : ",") + gres_as_tres(one);
    return text;
}

Value node_count_of(const StepView& view) {
    const auto nodes = HostList::parse(view->node_list());
    return nodes ? nodes->size() : 0;
}

Value srun_host_pid_of(const StepView& view) {
    const auto& host = view->submit_host();
    return fmt::format("{}:{}", host.empty() ? "(null)" : host, view->srun_pid());
}

Value user_name_of(const StepView& view) {
    return view->user_name().empty() ? Value{user_name(view.job)} : Value{view->user_name()};
}

// What its nodes measured; nothing before the first of them has reported.
template <auto Get>
Value usage_of(const StepView& view) {
    return present(view->has_usage(), (view->usage().*Get)());
}

std::uint64_t total_us(const StepView& view) { return view->usage().user_us() + view->usage().system_us(); }

// As sacct has it: "01:02.345", "1-02:03:04".
Value cpu_time(const StepView& view, std::uint64_t us) {
    if (!view->has_usage()) return {};
    if (us / 1'000'000 >= 3600) return print_long_duration(static_cast<std::int64_t>(us / 1'000'000));
    return fmt::format("{:02}:{:02}.{:03}", us / 60'000'000, us / 1'000'000 % 60, us / 1'000 % 1'000);
}

using enum StepFieldId;

// clang-format off
constexpr StepField rows[] = {
    {.id = array_job_id, .listing = {0, "arrayjobid", "ARRAY_JOB_ID"}, .member = "array_job_id", .type = Type::count,
     .get = [](const StepView& step) -> Value { return step.job.array_job_id(); }},
    {.id = array_task_id, .listing = {0, "arraytaskid", "ARRAY_TASK_ID"}, .member = "array_task_id",
     .type = Type::count, .absent = {"N/A"},
     .get = [](const StepView& step) { return present(step.job.has_array_task_id(), step.job.array_task_id()); }},
    {.id = cluster, .listing = {0, "cluster", "CLUSTER"}, .sacct = "Cluster", .member = "cluster",
     .get = [](const StepView& step) -> Value { return step.in.cluster; }},
    {.id = container, .listing = {0, "container", "CONTAINER"}, .sacct = "Container", .member = "container",
     .get = nothing},
    {.id = cpu_frequency, .listing = {0, "cpufreq", "CPU_FREQ"}, .member = "cpu_freq_min",
     .absent = {"Unknown-Unknown:Unknown"}, .get = nothing},
    {.id = cpu_frequency_requested, .name = "CPUFreqReq", .absent = {.record = "Default"}, .get = nothing},
    {.id = cpus, .name = "CPUs", .sacct = "NCPUS", .type = Type::count, .absent = {.record = "0"},
     .get = [](const StepView& step) { return present(!is_named(step), step->cpus()); }},
    {.id = cpus_listed, .listing = {0, "numcpus", "NUM_CPUS"}, .member = "num_cpus", .type = Type::count,
     .get = of_step<&v1::Step::cpus>},
    {.id = cpus_per_tres, .listing = {0, "cpus-per-tres", "CPUS_PER_TRES"}, .member = "cpus_per_tres", .get = nothing},
    {.id = distribution, .name = "Dist", .sacct = "Layout", .member = "task_dist", .absent = {.record = left_out},
     .get = [](const StepView& step) { return present(!is_named(step), step->distribution()); }},
    {.id = job_id, .listing = {0, "jobid", "JOB_ID"}, .type = Type::count,
     .get = [](const StepView& step) -> Value { return step.job.id(); }},
    {.id = memory_per_tres, .listing = {0, "mem-per-tres", "MEM_PER_TRES"}, .member = "mem_per_tres", .get = nothing},
    {.id = name, .name = "Name", .listing = {'j', "stepname", "NAME", cut, sorts}, .sacct = "JobName", .member = "name",
     .absent = {"", ""}, .get = of_step<&v1::Step::name>},
    {.id = network, .name = "Network", .listing = {0, "network", "NETWORK"}, .member = "network", .get = nothing},
    {.id = node_count, .name = "Nodes", .sacct = "NNodes", .type = Type::count, .get = node_count_of},
    {.id = nodes, .name = "NodeList", .listing = {'N', "nodes", "NODELIST", whole, sorts}, .sacct = "NodeList",
     .member = "nodes", .absent = {"", ""}, .get = of_step<&v1::Step::node_list>},
    {.id = partition, .name = "Partition", .listing = {'P', "partition", "PARTITION", cut, sorts}, .sacct = "Partition",
     .member = "partition", .absent = {"", ""},
     .get = [](const StepView& step) {
         return step->partition().empty() ? Value{step.job.partition()} : Value{step->partition()};
     },
     .sort = [](const StepView& step) -> Value { return step.job.partition(); }},
    {.id = reserved_ports, .name = "ResvPorts", .listing = {0, "resvport", "RESV_PORTS"}, .member = "resv_ports",
     .get = nothing},
    {.id = srun_host_pid, .name = "SrunHost:Pid", .member = "srun_pid", .get = srun_host_pid_of},
    {.id = start_time, .name = "StartTime", .listing = {'S', "starttime", "START_TIME", cut, sorts}, .sacct = "Start",
     .member = "start_time", .type = Type::time, .absent = {"N/A", "Unknown"},
     .get = [](const StepView& step) { return nonzero(step->start_time()); }},
    {.id = state, .name = "State", .listing = {0, "stepstate", "STATE"}, .sacct = "State", .member = "state",
     .absent = {"", ""}, .get = of_step<&v1::Step::state>},
    {.id = step_id, .name = "StepId", .listing = {'i', "stepid", "STEPID", cut, sorts}, .sacct = "JobID",
     .member = "step_id", .get = [](const StepView& step) -> Value { return step_id_text(step.job, step.step); }},
    {.id = tasks, .name = "Tasks", .listing = {'A', "numtasks", "TASKS", cut, sorts}, .sacct = "NTasks",
     .member = "num_tasks", .type = Type::count, .get = of_step<&v1::Step::tasks>},
    {.id = time_limit, .name = "TimeLimit", .listing = {'l', "timelimit", "TIME_LIMIT", timed, sorts},
     .sacct = "Timelimit", .member = "time_limit", .type = Type::minutes,
     .absent = {"UNLIMITED", "UNLIMITED", AbsentNumber::infinite},
     .get = [](const StepView& step) { return nonzero(step->time_limit_min()); }},
    {.id = time_used, .listing = {'M', "timeused", "TIME", timed, sorts}, .sacct = "Elapsed", .member = "run_time",
     .type = Type::seconds, .get = time_used_of, .sort = of_step<&v1::Step::start_time>},
    {.id = tres, .name = "TRES", .sacct = "AllocTRES", .member = "tres_alloc_str",
     .get = [](const StepView& step) { return present(!is_named(step), step->tres()); }},
    {.id = tres_bind, .listing = {0, "tres-bind", "TRES_BIND"}, .member = "tres_bind", .get = nothing},
    {.id = tres_freq, .listing = {0, "tres-freq", "TRES_FREQ"}, .member = "tres_freq", .get = nothing},
    {.id = tres_per_job, .listing = {0, "tres-per-job", "TRES_PER_STEP"}, .get = nothing},
    {.id = tres_per_node, .listing = {'b', "tres-per-node", "TRES_PER_JOB"}, .member = "tres_per_node", .get = gres_of},
    {.id = tres_per_socket, .listing = {0, "tres-per-socket", "TRES_PER_SOCKET"}, .member = "tres_per_socket",
     .get = nothing},
    {.id = tres_per_step, .listing = {0, "tres-per-step", "TRES_PER_STEP"}, .member = "tres_per_step", .get = nothing},
    {.id = tres_per_task, .listing = {0, "tres-per-task", "TRES_PER_TASK"}, .member = "tres_per_task", .get = nothing},
    {.id = user_id, .name = "UserId", .listing = {'U', "userid", "UID", cut, sorts}, .sacct = "UID",
     .member = "user_id", .type = Type::count, .get = of_step<&v1::Step::uid>},
    {.id = user_name, .listing = {'u', "username", "USER", cut, sorts}, .sacct = "User", .get = user_name_of,
     .sort = [](const StepView& step) -> Value { return records::user_name(step.job); }},
    {.id = system_cpu, .sacct = "SystemCPU", .absent = {""},
     .get = [](const StepView& step) { return cpu_time(step, step->usage().system_us()); },
     .sort = usage_of<&v1::StepUsage::system_us>},
    {.id = total_cpu, .sacct = "TotalCPU", .absent = {""},
     .get = [](const StepView& step) { return cpu_time(step, total_us(step)); },
     .sort = [](const StepView& step) -> Value { return total_us(step); }},
    {.id = user_cpu, .sacct = "UserCPU", .absent = {""},
     .get = [](const StepView& step) { return cpu_time(step, step->usage().user_us()); },
     .sort = usage_of<&v1::StepUsage::user_us>},
    {.id = max_memory, .sacct = "MaxRSS", .absent = {""},
     .get = [](const StepView& step) {
         return present(step->has_usage(), fmt::format("{}K", step->usage().max_rss_kib()));
     },
     .sort = usage_of<&v1::StepUsage::max_rss_kib>},
    {.id = usage_in, .sacct = "TRESUsageInTot", .absent = {""},
     .get = [](const StepView& step) {
         return present(step->has_usage(), fmt::format("cpu={},fs/disk={}", print_long_duration(static_cast<std::int64_t>(
                                                           total_us(step) / 1'000'000)), step->usage().read_bytes()));
     }},
    {.id = usage_out, .sacct = "TRESUsageOutTot", .absent = {""},
     .get = [](const StepView& step) {
         return present(step->has_usage(), fmt::format("fs/disk={}", step->usage().write_bytes()));
     }},
};
// clang-format on
static_assert(covers_all(rows), "a field without a row would be invisible");

}  // namespace

std::string step_id_text(const v1::Job& job, const v1::Step& step) {
    return fmt::format("{}.{}", job_id_text(job, 0), print_step_id(step.step_id()));
}

std::span<const StepField> step_fields() { return rows; }
const StepField& step_field(StepFieldId id) { return rows[static_cast<std::size_t>(id)]; }

}  // namespace spur::records
