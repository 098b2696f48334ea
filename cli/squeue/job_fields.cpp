// squeue's columns for jobs: letter, long name, header, what it shows.
#include "cli/common/job_text.hpp"
#include "cli/squeue/rows.hpp"
#include "core/slurm/signal.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

#include <fmt/format.h>

namespace spur::cli::squeue {
namespace {

std::string number(std::uint64_t value) { return fmt::format("{}", value); }
std::string flag(bool value) { return value ? "1" : "0"; }

std::string memory(const JobRow& row, std::uint64_t mib) {
    if (mib == 0) return "0";
    return row.listing->convert_units ? print_mib(mib) : print_mib_unconverted(mib);
}
std::string moment(const JobRow& row, std::int64_t time) { return time_text(time, row.listing->now, "N/A"); }
std::string or_star(bool present, std::uint32_t value) { return present ? number(value) : "*"; }
Value or_not_available(std::string_view text) { return text.empty() ? Value{"N/A"} : Value{text}; }

Value nodes_or_reason(const JobRow& row) {
    switch (job_state(*row.job).state) {
        case JobState::pending:
        case JobState::failed:
        case JobState::timeout:
        case JobState::deadline:
        case JobState::out_of_memory:
            return fmt::format("({})", reason_text(*row.job));
        default:
            return row.job->node_list();
    }
}

std::string time_left(const JobRow& row) {
    const auto limit = row.job->time_limit_min();
    if (limit == unlimited || limit == unset_min) return print_limit(limit);
    return print_duration(std::int64_t{limit} * 60 - run_time_s(*row.job, row.listing->now));
}

Value sockets_cores_threads(const JobRow& row) {
    const auto& spec = row.job->spec();
    return fmt::format("{}:{}:{}", or_star(spec.has_sockets_per_node(), spec.sockets_per_node()),
                       or_star(spec.has_cores_per_socket(), spec.cores_per_socket()),
                       or_star(spec.has_threads_per_core(), spec.threads_per_core()));
}

Value pending_time(const JobRow& row) {
    const auto& job = *row.job;
    const bool started = job.start_time() != 0 && job_state(job).state != JobState::pending;
    return number(static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, (started ? job.start_time() : row.listing->now) - job.submit_time())));
}

Value max_nodes(const JobRow& row) {
    const auto& job = *row.job;
    if (job_state(job).state == JobState::pending && job.spec().max_nodes() > node_count(job))
        return number(job.spec().max_nodes());
    return number(node_count(job));
}

Value priority_share(const JobRow& row) {
    return fmt::format("{:.14f}", static_cast<double>(row.job->priority()) / static_cast<double>(0xffffffffU));
}

Value array_tasks(const JobRow& row) {
    return or_not_available(array_task_text(*row.job, row.listing->array_text_limit));
}

Value het_set(const JobRow& row) { return row.job->het_job_id() ? or_null(row.job->het_set()) : Value{"N/A"}; }

Value standard_error(const JobRow& row) {
    return or_null(row.job->std_err_path().empty() ? row.job->std_out_path() : row.job->std_err_path());
}

std::string exit_code(std::uint32_t wait_status) { return number((wait_status >> 8) & 0xff); }

using JobField = Field<JobRow>;
constexpr auto cut = Cut::always;
constexpr auto whole = Cut::unless_right;
constexpr auto timed = Cut::value_unless_right;

#define SHOW(...) []([[maybe_unused]] const JobRow& row) -> Value { return __VA_ARGS__; }
#define JOB (*row.job)
#define SPEC (row.job->spec())

constexpr JobField table[] = {
    {'a', "account", "ACCOUNT", cut, SHOW(or_null(JOB.account().empty() ? SPEC.account() : JOB.account()))},
    {0, "accruetime", "ACCRUE_TIME", cut, SHOW(moment(row, JOB.accrue_time()))},
    {0, "admin_comment", "ADMIN_COMMENT", cut, SHOW(or_null(SPEC.admin_comment()))},
    {0, "allocnodes", "ALLOC_NODES", cut, SHOW(or_null(SPEC.alloc_node()))},
    {0, "allocsid", "ALLOC_SID", cut, SHOW(number(SPEC.alloc_sid()))},
    {'A', "jobid", "JOBID", cut, SHOW(number(JOB.id()))},
    {'F', "arrayjobid", "ARRAY_JOB_ID", cut, SHOW(number(JOB.array_job_id() ? JOB.array_job_id() : JOB.id()))},
    {'K', "arraytaskid", "ARRAY_TASK_ID", cut, array_tasks},
    {0, "associd", "ASSOC_ID", cut, SHOW("0")},
    {0, "batchflag", "BATCH_FLAG", cut, SHOW(flag(SPEC.kind() == v1::JobSpec::BATCH))},
    {'B', "batchhost", "EXEC_HOST", cut, SHOW(batch_host(JOB).empty() ? "n/a" : batch_host(JOB))},
    {0, "boardspernode", "BOARDS_PER_NODE", cut, SHOW("0")},
    {0, "burstbuffer", "BURST_BUFFER", cut, SHOW(or_null(SPEC.burst_buffer()))},
    {0, "burstbufferstate", "BURST_BUFFER_STATE", cut, SHOW(Value::null())},
    {0, "cluster", "CLUSTER", cut, SHOW(or_null(row.listing->cluster))},
    {0, "clusterfeature", "CLUSTER_FEATURES", cut, SHOW(Value::null())},
    {'o', "command", "COMMAND", cut, SHOW(or_null(command_text(JOB)))},
    {'k', "comment", "COMMENT", cut, SHOW(or_null(SPEC.comment()))},
    {'O', "contiguous", "CONTIGUOUS", cut, SHOW(flag(SPEC.contiguous()))},
    {0, "container", "CONTAINER", cut, SHOW(or_null(SPEC.container()))},
    {'I', "cores", "CORES_PER_SOCKET", cut, SHOW(or_star(SPEC.has_cores_per_socket(), SPEC.cores_per_socket()))},
    {'X', "corespec", "CORE_SPEC", cut, SHOW(SPEC.has_core_spec() ? number(SPEC.core_spec()) : "N/A")},
    {0, "cpus-per-task", "CPUS_PER_TASK", cut, SHOW(number(std::max(1U, SPEC.cpus_per_task())))},
    {0, "cpuspertask", "CPUS_PER_TASK", cut, SHOW(number(std::max(1U, SPEC.cpus_per_task())))},
    {0, "cpus-per-tres", "CPUS_PER_TRES", cut,
     SHOW(SPEC.has_cpus_per_gpu() ? fmt::format("gres:gpu:{}", SPEC.cpus_per_gpu()) : "N/A")},
    {0, "deadline", "DEADLINE", cut, SHOW(moment(row, SPEC.deadline()))},
    {0, "delayboot", "DELAY_BOOT", cut, SHOW(print_duration(SPEC.delay_boot_s()))},
    {'E', "dependency", "DEPENDENCY", cut, SHOW(or_null(JOB.dependency()))},
    {0, "derivedec", "DERIVED_EC", cut, SHOW(exit_code(JOB.derived_exit_status()))},
    {0, "eligibletime", "ELIGIBLE_TIME", cut, SHOW(moment(row, JOB.eligible_time()))},
    {'e', "endtime", "END_TIME", cut, SHOW(moment(row, JOB.end_time()))},
    {0, "exit_code", "EXIT_CODE", cut, SHOW(exit_code(JOB.exit_status()))},
    {'f', "feature", "FEATURES", cut, SHOW(or_null(JOB.features().empty() ? SPEC.features() : JOB.features()))},
    {'G', "groupid", "GROUP", cut, SHOW(number(SPEC.gid()))},
    {'g', "groupname", "GROUP", cut, SHOW(group_name(JOB))},
    {0, "hetjobid", "HET_JOB_ID", cut, SHOW(JOB.het_job_id() ? number(JOB.het_job_id()) : "N/A")},
    {0, "hetjobidset", "HET_JOB_ID_SET", cut, het_set},
    {0, "hetjoboffset", "HET_JOB_OFFSET", cut, SHOW(JOB.het_job_id() ? number(JOB.het_offset()) : "N/A")},
    {'i', "jobarrayid", "JOBID", cut, SHOW(job_id_text(JOB, row.listing->array_text_limit))},
    {0, "lastschedeval", "LAST_SCHED_EVAL", cut, SHOW(moment(row, JOB.last_sched_eval()))},
    {'W', "licenses", "LICENSES", cut, SHOW(or_null(SPEC.licenses()))},
    {0, "maxcpus", "MAX_CPUS", cut, SHOW(number(cpu_count(JOB)))},
    {0, "maxnodes", "MAX_NODES", cut, max_nodes},
    {0, "mcslabel", "MCSLABEL", cut, SHOW(or_null(SPEC.mcs_label()))},
    {0, "mem-per-tres", "MEM_PER_TRES", cut,
     SHOW(SPEC.has_mem_per_gpu_mib() ? fmt::format("gres:gpu:{}", SPEC.mem_per_gpu_mib()) : "N/A")},
    {'c', "mincpus", "MIN_CPUS", cut, SHOW(number(min_cpus_per_node(JOB)))},
    {'m', "minmemory", "MIN_MEMORY", cut, SHOW(memory(row, min_memory_mib(JOB).value_or(0)))},
    {0, "mintime", "TIME_MIN", cut, SHOW(print_duration(std::int64_t{SPEC.time_min_min()} * 60))},
    {'d', "mintmpdisk", "MIN_TMP_DISK", cut, SHOW(memory(row, SPEC.min_tmp_mib()))},
    {'j', "name", "NAME", cut, SHOW(SPEC.name())},
    {0, "network", "NETWORK", cut, SHOW(or_null(SPEC.network()))},
    {'y', "nice", "NICE", cut, SHOW(fmt::format("{}", SPEC.nice()))},
    {'N', "nodelist", "NODELIST", whole, SHOW(JOB.node_list())},
    {0, "ntperboard", "NTASKS_PER_BOARD", cut, SHOW("0")},
    {0, "ntpercore", "NTASKS_PER_CORE", cut, SHOW(SPEC.has_tasks_per_core() ? number(SPEC.tasks_per_core()) : "N/A")},
    {0, "ntpernode", "NTASKS_PER_NODE", cut, SHOW(number(SPEC.tasks_per_node()))},
    {0, "ntpersocket", "NTASKS_PER_SOCKET", cut,
     SHOW(SPEC.has_tasks_per_socket() ? number(SPEC.tasks_per_socket()) : "N/A")},
    {'C', "numcpus", "CPUS", cut, SHOW(number(cpu_count(JOB)))},
    {'D', "numnodes", "NODES", cut, SHOW(number(node_count(JOB)))},
    {0, "numtasks", "TASKS", cut, SHOW(number(task_count(JOB)))},
    {0, "origin", "ORIGIN", cut, SHOW("NA")},
    {0, "originraw", "ORIGIN_RAW", cut, SHOW("NA")},
    {'h', "oversubscribe", "OVER_SUBSCRIBE", cut, SHOW(oversubscribe_text(JOB))},
    {'P', "partition", "PARTITION", cut, SHOW(JOB.partition())},
    {0, "pendingtime", "PENDING_TIME", cut, pending_time},
    {0, "preempttime", "PREEMPT_TIME", cut, SHOW(moment(row, JOB.preempt_time()))},
    {0, "prefer", "PREFER", cut, SHOW(or_null(SPEC.prefer()))},
    {'p', "priority", "PRIORITY", cut, priority_share},
    {'Q', "prioritylong", "PRIORITY", cut, SHOW(number(JOB.priority()))},
    {0, "profile", "PROFILE", cut, SHOW(SPEC.profile().empty() ? "NotSet" : SPEC.profile())},
    {'q', "qos", "QOS", cut, SHOW(or_null(JOB.qos().empty() ? SPEC.qos() : JOB.qos()))},
    {'r', "reason", "REASON", cut, SHOW(reason_text(JOB))},
    {'R', "reasonlist", "NODELIST(REASON)", whole, nodes_or_reason},
    {0, "reboot", "REBOOT", cut, SHOW(flag(SPEC.reboot()))},
    {'n', "reqnodes", "REQ_NODES", cut, SHOW(SPEC.node_list())},
    {0, "reqswitch", "REQ_SWITCH", cut, SHOW(number(SPEC.switches()))},
    {0, "requeue", "REQUEUE", cut, SHOW(flag(!SPEC.has_requeue() || SPEC.requeue()))},
    {'v', "reservation", "RESERVATION", cut, SHOW(or_null(SPEC.reservation()))},
    {0, "resizetime", "RESIZE_TIME", timed, SHOW(moment(row, JOB.resize_time()))},
    {0, "restartcnt", "RESTART_COUNT", cut, SHOW(number(JOB.restarts()))},
    {'Y', "schednodes", "SCHEDNODES", whole, SHOW(or_null(JOB.scheduled_nodes()))},
    {'z', "sct", "S:C:T", cut, sockets_cores_threads},
    {'s', "selectjobinfo", "", cut, SHOW("")},
    {0, "siblingsactive", "ACTIVE_SIBLINGS", cut, SHOW("NA")},
    {0, "siblingsactiveraw", "ACTIVE_SIBLINGS_RAW", cut, SHOW("NA")},
    {0, "siblingsviable", "VIABLE_SIBLINGS", cut, SHOW("NA")},
    {0, "siblingsviableraw", "VIALBLE_SIBLINGS_RAW", cut, SHOW("NA")},
    {'H', "sockets", "SOCKETS_PER_NODE", cut, SHOW(or_star(SPEC.has_sockets_per_node(), SPEC.sockets_per_node()))},
    {0, "sperboard", "SOCKETS_PER_BOARD", cut, SHOW("0")},
    {'S', "starttime", "START_TIME", cut, SHOW(moment(row, JOB.start_time()))},
    {'T', "state", "STATE", cut, SHOW(display_state(job_state(JOB).state, job_state(JOB).flags))},
    {'t', "statecompact", "ST", cut, SHOW(display_compact_state(job_state(JOB).state, job_state(JOB).flags))},
    {0, "stderr", "STDERR", cut, standard_error},
    {0, "stdin", "STDIN", cut, SHOW(JOB.std_in_path().empty() ? "/dev/null" : JOB.std_in_path())},
    {0, "stdout", "STDOUT", cut, SHOW(or_null(JOB.std_out_path()))},
    {'V', "submittime", "SUBMIT_TIME", cut, SHOW(moment(row, JOB.submit_time()))},
    {0, "system_comment", "SYSTEM_COMMENT", cut, SHOW(or_null(JOB.system_comment()))},
    {'J', "threads", "THREADS_PER_CORE", cut, SHOW(or_star(SPEC.has_threads_per_core(), SPEC.threads_per_core()))},
    {'L', "timeleft", "TIME_LEFT", timed, SHOW(time_left(row))},
    {'l', "timelimit", "TIME_LIMIT", timed, SHOW(print_limit(JOB.time_limit_min()))},
    {'M', "timeused", "TIME", timed, SHOW(print_duration(run_time_s(JOB, row.listing->now)))},
    {0, "tres-alloc", "TRES_ALLOC", cut,
     SHOW(or_not_available(JOB.tres_allocated().empty() ? JOB.tres_requested() : JOB.tres_allocated()))},
    {0, "tres-bind", "TRES_BIND", cut, SHOW(or_not_available(SPEC.gpu_bind()))},
    {0, "tres-freq", "TRES_FREQ", cut, SHOW("N/A")},
    {0, "tres-per-job", "TRES_PER_JOB", cut, SHOW(or_not_available(gres_as_tres(SPEC.gres_per_job())))},
    {'b', "tres-per-node", "TRES_PER_NODE", cut, SHOW(or_not_available(gres_as_tres(SPEC.gres_per_node())))},
    {0, "tres-per-socket", "TRES_PER_SOCKET", cut, SHOW(or_not_available(gres_as_tres(SPEC.gres_per_socket())))},
    {0, "tres-per-task", "TRES_PER_TASK", cut, SHOW(or_not_available(gres_as_tres(SPEC.gres_per_task())))},
    {'U', "userid", "UID", cut, SHOW(number(SPEC.uid()))},
    {'u', "username", "USER", cut, SHOW(user_name(JOB))},
    {0, "wait4switch", "WAIT4SWITCH", cut, SHOW(print_duration(SPEC.switches_wait_s()))},
    {'w', "wckey", "WCKEY", cut, SHOW(or_null(SPEC.wckey()))},
    {'Z', "workdir", "WORK_DIR", cut, SHOW(SPEC.work_dir())},
    {'x', nullptr, "EXC_NODES", cut, SHOW(SPEC.exclude_nodes())},
    // Older spellings that scripts still use.
    {0, "gres", "TRES_PER_NODE", cut, SHOW(or_not_available(gres_as_tres(SPEC.gres_per_node())))},
    {0, "shared", "OVER_SUBSCRIBE", cut, SHOW(oversubscribe_text(JOB))},
    {0, "tres", "TRES_ALLOC", cut,
     SHOW(or_not_available(JOB.tres_allocated().empty() ? JOB.tres_requested() : JOB.tres_allocated()))},
};

#undef SHOW
#undef JOB
#undef SPEC

}  // namespace

std::span<const Field<JobRow>> job_fields() { return table; }

}  // namespace spur::cli::squeue
