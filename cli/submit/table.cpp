// The options of sbatch, srun and salloc, every one of Slurm 22.05's. What is not built yet says so when it is used.
#include "cli/submit/options.hpp"
#include "cli/submit/setters.hpp"

#include "core/base/ids.hpp"
#include "core/text/lexical.hpp"
#include "core/text/quantity.hpp"

namespace spur::cli::submit {
namespace {

using Spec = v1::JobSpec;

template <std::string* (Spec::*Member)()>
Set text(SubmitOptions& options, const char* value) {
    *(options.spec.*Member)() = value;
    return {};
}
template <void (Spec::*Member)(bool), bool Value = true>
Set flag(SubmitOptions& options, const char*) {
    (options.spec.*Member)(Value);
    return {};
}
template <auto Member, bool Value = true>
Set own_flag(SubmitOptions& options, const char*) {
    options.*Member = Value;
    return {};
}
template <auto Member>
Set own_text(SubmitOptions& options, const char* value) {
    options.*Member = value;
    return {};
}
template <auto Member>
Set step_flag(SubmitOptions& options, const char*) {
    options.step.*Member = true;
    return {};
}
template <auto Member>
Set step_text(SubmitOptions& options, const char* value) {
    options.step.*Member = value;
    return {};
}

// A positive number, with Slurm's words when it is none.
template <void (Spec::*Member)(std::uint32_t)>
Set count_into(SubmitOptions& options, const char* option, const char* value, std::uint32_t least) {
    const auto number = find_scaled(value);
    if (!number || *number < least || *number >= no_value)
        return fail(ErrorCode::limit, "Invalid numeric value \"{}\" for {}.", value, option);
    (options.spec.*Member)(static_cast<std::uint32_t>(*number));
    return {};
}
#define COUNT(member, option) \
    [](SubmitOptions& options, const char* value) { return count_into<&Spec::member>(options, option, value, 1); }
#define COUNT_OR_ZERO(member, option) \
    [](SubmitOptions& options, const char* value) { return count_into<&Spec::member>(options, option, value, 0); }
#define NOT_YET(option)                                                                             \
    [](SubmitOptions&, const char*) -> Set {                                                        \
        return fail(ErrorCode::limit, "--" option " is not supported yet by this release of Spur"); \
    }

Set relative(SubmitOptions& options, const char* value) {
    const auto number = find_unsigned(value);
    if (!number || *number > 0xffffff)
        return fail(ErrorCode::limit, "Invalid numeric value \"{}\" for --relative.", value);
    options.step.relative = static_cast<std::uint32_t>(*number);
    return {};
}
Set overcommit(SubmitOptions& options, const char*) { return options.spec.set_overcommit(true), Set{}; }
Set accepted(SubmitOptions&, const char*) { return {}; }  // tunes what Spur has no need to tune
Set stdin_of(SubmitOptions& options, const char* value) {
    options.spec.set_std_in(value);
    options.step.std_in = value;
    return {};
}
Set stdout_of(SubmitOptions& options, const char* value) {
    options.spec.set_std_out(value);
    options.step.std_out = value;
    return {};
}
Set stderr_of(SubmitOptions& options, const char* value) {
    options.spec.set_std_err(value);
    options.step.std_err = value;
    return {};
}

constexpr auto none = Argument::none;
constexpr auto required = Argument::required;
constexpr auto optional = Argument::optional;
constexpr auto with_streams = sbatch | srun;
constexpr auto interactive_tools = srun | salloc;

// clang-format off
// name, letter, argument, who knows it, what it does, variables of sbatch, srun and salloc, value, help
constexpr SubmitRow rows[] = {
    {"accel-bind", 0, required, srun, NOT_YET("accel-bind")},
    {"account", 'A', required, all_tools, text<&Spec::mutable_account>, "SBATCH_ACCOUNT", "SLURM_ACCOUNT", "SALLOC_ACCOUNT", "name", "charge the job to this account"},
    {"acctg-freq", 0, required, all_tools, set::acctg_freq, "SBATCH_ACCTG_FREQ", "SLURM_ACCTG_FREQ", "SALLOC_ACCTG_FREQ", "task=seconds", "how often what tasks use is measured; 0: when they end"},
    {"array", 'a', required, sbatch, set::array, "SBATCH_ARRAY_INX", nullptr, nullptr, "indexes", "a job array: 0-15, 1,3,5, 0-99:10, 0-99%8"},
    {"batch", 0, required, sbatch, NOT_YET("batch"), "SBATCH_BATCH"},
    {"bb", 0, required, all_tools, NOT_YET("bb"), nullptr, "SLURM_BURST_BUFFER", "SALLOC_BURST_BUFFER"},
    {"bbf", 0, required, all_tools, NOT_YET("bbf")},
    {"bcast", 0, optional, srun, NOT_YET("bcast"), nullptr, "SLURM_BCAST"},
    {"bcast-exclude", 0, required, srun, NOT_YET("bcast-exclude"), nullptr, "SLURM_BCAST_EXCLUDE"},
    {"begin", 'b', required, with_streams, set::begin, nullptr, nullptr, nullptr, "time", "not before this time: 16:00, now+1hour, 2026-01-20T12:34:00"},
    {"begin", 0, required, salloc, set::begin, nullptr, nullptr, nullptr, "time", "not before this time: 16:00, now+1hour"},
    {"bell", 0, none, salloc, own_flag<&SubmitOptions::bell>, nullptr, nullptr, "SALLOC_BELL", nullptr, "ring the bell when the allocation is granted"},
    {"chdir", 'D', required, all_tools, own_text<&SubmitOptions::chdir>, nullptr, "SLURM_REMOTE_CWD SLURM_WORKING_DIR", nullptr, "directory", "working directory of the job"},
    {"cluster", 0, required, all_tools, set::clusters},
    {"cluster-constraint", 0, required, all_tools, NOT_YET("cluster-constraint")},
    {"clusters", 'M', required, all_tools, set::clusters, "SBATCH_CLUSTERS SLURM_CLUSTERS", "SLURM_CLUSTERS", "SALLOC_CLUSTERS SLURM_CLUSTERS"},
    {"comment", 0, required, all_tools, text<&Spec::mutable_comment>, nullptr, nullptr, nullptr, "text", "any text to keep with the job"},
    {"compress", 0, optional, srun, NOT_YET("compress"), nullptr, "SLURM_COMPRESS"},
    {"constraint", 'C', required, all_tools, set::constraint, "SBATCH_CONSTRAINT", "SLURM_CONSTRAINT", "SALLOC_CONSTRAINT", "list", "features the nodes must have: \"intel&ib\", \"[rack1|rack2]\""},
    {"container", 0, required, all_tools, NOT_YET("container"), "SBATCH_CONTAINER", "SRUN_CONTAINER", "SALLOC_CONTAINER"},
    {"contiguous", 0, none, all_tools, flag<&Spec::set_contiguous>, nullptr, nullptr, nullptr, nullptr, "nodes next to each other"},
    {"core-spec", 'S', required, all_tools, COUNT_OR_ZERO(set_core_spec, "--core-spec"), "SBATCH_CORE_SPEC", "SLURM_CORE_SPEC", "SALLOC_CORE_SPEC", "cores", "cores to leave to the system"},
    {"cores-per-socket", 0, required, all_tools, COUNT(set_cores_per_socket, "--cores-per-socket"), nullptr, nullptr, nullptr, "n", "at least so many cores per socket"},
    {"cpu-bind", 0, required, srun, set::cpu_bind, nullptr, "SLURM_CPU_BIND", nullptr, "type", "bind tasks to CPUs: none, cores, sockets, threads, map_cpu:..., mask_cpu:..."},
    {"cpu-freq", 0, required, all_tools, NOT_YET("cpu-freq"), nullptr, "SLURM_CPU_FREQ_REQ"},
    {"cpus-per-gpu", 0, required, all_tools, COUNT(set_cpus_per_gpu, "--cpus-per-gpu"), "SBATCH_CPUS_PER_GPU", "SLURM_CPUS_PER_GPU", "SALLOC_CPUS_PER_GPU", "n", "CPUs for each GPU"},
    {"cpus-per-task", 'c', required, all_tools, COUNT(set_cpus_per_task, "--cpus-per-task"), nullptr, "SRUN_CPUS_PER_TASK", nullptr, "n", "CPUs for each task"},
    {"deadline", 0, required, all_tools, set::deadline, nullptr, nullptr, nullptr, "time", "remove the job if it cannot end by then"},
    {"delay-boot", 0, required, all_tools, set::delay_boot, "SBATCH_DELAY_BOOT", "SLURM_DELAY_BOOT", "SALLOC_DELAY_BOOT", "minutes", "wait so long before rebooting nodes for features"},
    {"dependency", 'd', required, all_tools, text<&Spec::mutable_dependency>, nullptr, "SLURM_DEPENDENCY", nullptr, "type:job[:job]", "afterok:12:13, afterany:5, singleton, ..."},
    {"disable-status", 'X', none, srun, step_flag<&StepOptions::disable_status>, nullptr, "SLURM_DISABLE_STATUS", nullptr, nullptr, "a single interrupt is forwarded at once"},
    {"distribution", 'm', required, all_tools, set::distribution, "SBATCH_DISTRIBUTION", "SLURM_DISTRIBUTION", nullptr, "type", "tasks over nodes: block, cyclic, plane=n, arbitrary"},
    {"epilog", 0, required, srun, step_text<&StepOptions::epilog>, nullptr, "SLURM_EPILOG", nullptr, "program", "run here after the step"},
    {"error", 'e', required, with_streams, stderr_of, "SBATCH_ERROR", "SLURM_STDERRMODE", nullptr, "file", "standard error; patterns %j %x %N %t ... are filled in"},
    {"exact", 0, none, srun, step_flag<&StepOptions::exact>, nullptr, "SLURM_EXACT", nullptr, nullptr, "give the step only what it asks for"},
    {"exclude", 'x', required, all_tools, set::exclude, nullptr, nullptr, nullptr, "nodes", "not on these nodes"},
    {"exclusive", 0, optional, all_tools, set::exclusive, "SBATCH_EXCLUSIVE", "SLURM_EXCLUSIVE", "SALLOC_EXCLUSIVE", "user", "do not share nodes (user: only with my own jobs)"},
    {"export", 0, required, with_streams, own_text<&SubmitOptions::export_list>, "SBATCH_EXPORT", "SLURM_EXPORT_ENV SRUN_EXPORT_ENV", nullptr, "names|ALL|NONE", "environment to pass on: ALL,X=1"},
    {"export-file", 0, required, sbatch, own_text<&SubmitOptions::export_file>, nullptr, nullptr, nullptr, "file|fd", "environment from a file of NUL-separated NAME=value"},
    {"extra", 0, required, all_tools, text<&Spec::mutable_extra>, nullptr, nullptr, nullptr, "text", "any text, for site tools"},
    {"extra-node-info", 'B', required, all_tools, set::extra_node_info, nullptr, nullptr, nullptr, "S[:C[:T]]", "sockets, cores and threads per node"},
    {"get-user-env", 0, optional, sbatch, set::get_user_env, "SBATCH_GET_USER_ENV", nullptr, nullptr, "seconds", "also what the user's login shell sets"},
    {"get-user-env", 0, optional, salloc, NOT_YET("get-user-env")},
    {"gid", 0, required, all_tools, set::gid, nullptr, nullptr, nullptr, "group", "run under this group"},
    {"gpu-bind", 0, required, all_tools, set::gpu_bind, "SBATCH_GPU_BIND", "SLURM_GPU_BIND", "SALLOC_GPU_BIND", "type", "bind tasks to GPUs: closest, single:n, per_task:n, map_gpu:..."},
    {"gpu-freq", 0, required, all_tools, NOT_YET("gpu-freq"), "SBATCH_GPU_FREQ", "SLURM_GPU_FREQ", "SALLOC_GPU_FREQ"},
    {"gpus", 'G', required, all_tools, set::gpus, "SBATCH_GPUS", "SLURM_GPUS", "SALLOC_GPUS", "[type:]n", "GPUs for the whole job"},
    {"gpus-per-node", 0, required, all_tools, set::gpus_per_node, "SBATCH_GPUS_PER_NODE", "SLURM_GPUS_PER_NODE", "SALLOC_GPUS_PER_NODE", "[type:]n", "GPUs on each node"},
    {"gpus-per-socket", 0, required, all_tools, set::gpus_per_socket, nullptr, nullptr, nullptr, "[type:]n", "GPUs for each socket"},
    {"gpus-per-task", 0, required, all_tools, set::gpus_per_task, "SBATCH_GPUS_PER_TASK", "SLURM_GPUS_PER_TASK", "SALLOC_GPUS_PER_TASK", "[type:]n", "GPUs for each task"},
    {"gres", 0, required, all_tools, set::gres, "SBATCH_GRES", "SLURM_GRES SLURM_STEP_GRES", "SALLOC_GRES", "name[:type][:n]", "generic resources on each node"},
    {"gres-flags", 0, required, all_tools, set::gres_flags, "SBATCH_GRES_FLAGS", "SLURM_GRES_FLAGS", "SALLOC_GRES_FLAGS", "type", "enforce-binding or disable-binding"},
    {"het-group", 0, required, srun, step_text<&StepOptions::het_group>, nullptr, nullptr, nullptr, "expr", "components of a heterogeneous job to run on"},
    {"hint", 0, required, all_tools, set::hint, "SLURM_HINT SBATCH_HINT", "SLURM_HINT", "SLURM_HINT SALLOC_HINT", "type", "compute_bound, memory_bound, multithread, nomultithread"},
    {"hold", 'H', none, all_tools, flag<&Spec::set_hold>, nullptr, nullptr, nullptr, nullptr, "submit in held state"},
    {"ignore-pbs", 0, none, sbatch, own_flag<&SubmitOptions::ignore_pbs>, "SBATCH_IGNORE_PBS", nullptr, nullptr, nullptr, "leave #PBS and #BSUB lines alone"},
    {"immediate", 'I', optional, interactive_tools, set::immediate, nullptr, "SLURM_IMMEDIATE", "SALLOC_IMMEDIATE", "seconds", "give up if resources are not there in time"},
    {"input", 'i', required, with_streams, stdin_of, "SBATCH_INPUT", "SLURM_STDINMODE", nullptr, "file", "standard input"},
    {"interactive", 0, none, srun, step_flag<&StepOptions::interactive>},
    {"job-name", 'J', required, all_tools, text<&Spec::mutable_name>, "SBATCH_JOB_NAME", "SLURM_JOB_NAME", "SALLOC_JOB_NAME", "name", "name of the job"},
    {"jobid", 0, required, srun, set::job_id, nullptr, "SLURM_JOB_ID", nullptr, "id", "run in this allocation"},
    {"kill-command", 'K', optional, salloc, set::kill_command, nullptr, nullptr, "SALLOC_KILL_CMD", "signal", "signal for the command when time is up"},
    {"kill-on-bad-exit", 'K', optional, srun, set::kill_on_bad_exit, nullptr, "SLURM_KILL_BAD_EXIT", nullptr, "0|1", "end the step when a task fails"},
    {"kill-on-invalid-dep", 0, required, sbatch, set::kill_on_invalid_dep, nullptr, nullptr, nullptr, "yes|no", "remove the job if its dependency can never be met"},
    {"label", 'l', none, srun, step_flag<&StepOptions::label>, nullptr, "SLURM_LABELIO", nullptr, nullptr, "put the task's number before each line"},
    {"licenses", 'L', required, all_tools, text<&Spec::mutable_licenses>, nullptr, nullptr, nullptr, "names", "licences: matlab:2,fluent"},
    {"mail-type", 0, required, all_tools, set::mail_type, nullptr, nullptr, nullptr, "types", "mail on BEGIN, END, FAIL, ALL, TIME_LIMIT_80, ..."},
    {"mail-user", 0, required, all_tools, text<&Spec::mutable_mail_user>, nullptr, nullptr, nullptr, "user", "who gets the mail"},
    {"mcs-label", 0, required, all_tools, NOT_YET("mcs-label")},
    {"mem", 0, required, all_tools, set::mem, "SBATCH_MEM_PER_NODE", "SLURM_MEM_PER_NODE", "SALLOC_MEM_PER_NODE", "size[KMGT]", "memory on each node; 0: all of it"},
    {"mem-bind", 0, required, all_tools, set::mem_bind, "SBATCH_MEM_BIND", "SLURM_MEM_BIND", "SALLOC_MEM_BIND"},
    {"mem-per-cpu", 0, required, all_tools, set::mem_per_cpu, "SBATCH_MEM_PER_CPU", "SLURM_MEM_PER_CPU", "SALLOC_MEM_PER_CPU", "size[KMGT]", "memory for each CPU"},
    {"mem-per-gpu", 0, required, all_tools, set::mem_per_gpu, "SBATCH_MEM_PER_GPU", "SLURM_MEM_PER_GPU", "SALLOC_MEM_PER_GPU", "size[KMGT]", "memory for each GPU"},
    {"mincpus", 0, required, all_tools, COUNT(set_min_cpus_per_node, "--mincpus"), nullptr, nullptr, nullptr, "n", "at least so many CPUs on each node"},
    {"mpi", 0, required, srun, set::mpi, nullptr, "SLURM_MPI_TYPE", nullptr, "type", "MPI launcher: none"},
    {"msg-timeout", 0, required, srun, accepted},
    {"multi-prog", 0, none, srun, step_flag<&StepOptions::multi_prog>, nullptr, nullptr, nullptr, nullptr, "the program is a file: which task runs what"},
    {"network", 0, required, all_tools, NOT_YET("network"), "SBATCH_NETWORK", "SLURM_NETWORK", "SALLOC_NETWORK"},
    {"nice", 0, optional, all_tools, set::nice, nullptr, nullptr, nullptr, "n", "lower the priority"},
    {"no-allocate", 'Z', none, srun, NOT_YET("no-allocate")},
    {"no-bell", 0, none, salloc, own_flag<&SubmitOptions::no_bell>, nullptr, nullptr, "SALLOC_NO_BELL", nullptr, "never ring the bell"},
    {"no-kill", 'k', optional, all_tools, set::no_kill, "SBATCH_NO_KILL", "SLURM_NO_KILL", "SALLOC_NO_KILL", "off", "go on if a node fails"},
    {"no-requeue", 0, none, sbatch, flag<&Spec::set_requeue, false>, "SBATCH_NO_REQUEUE", nullptr, nullptr, nullptr, "never start the job again"},
    {"no-shell", 0, none, salloc, own_flag<&SubmitOptions::no_shell>, nullptr, nullptr, nullptr, nullptr, "leave when the allocation is granted"},
    {"nodefile", 'F', required, all_tools, set::node_file, nullptr, nullptr, nullptr, "file", "these nodes, from a file"},
    {"nodelist", 'w', required, all_tools, set::node_list, nullptr, nullptr, nullptr, "nodes", "these nodes, and others if needed"},
    {"nodes", 'N', required, all_tools, set::nodes, nullptr, "SLURM_NNODES SLURM_JOB_NUM_NODES", nullptr, "min[-max]", "number of nodes"},
    {"ntasks", 'n', required, all_tools, COUNT(set_tasks, "--ntasks"), nullptr, "SLURM_NPROCS SLURM_NTASKS", nullptr, "n", "number of tasks"},
    {"ntasks-per-core", 0, required, all_tools, COUNT(set_tasks_per_core, "--ntasks-per-core"), nullptr, "SLURM_NTASKS_PER_CORE", nullptr, "n", "at most so many tasks on a core"},
    {"ntasks-per-gpu", 0, required, all_tools, COUNT(set_tasks_per_gpu, "--ntasks-per-gpu"), nullptr, "SLURM_NTASKS_PER_GPU", nullptr, "n", "tasks for each GPU"},
    {"ntasks-per-node", 0, required, all_tools, COUNT(set_tasks_per_node, "--ntasks-per-node"), nullptr, "SLURM_NTASKS_PER_NODE", nullptr, "n", "tasks on each node"},
    {"ntasks-per-socket", 0, required, all_tools, COUNT(set_tasks_per_socket, "--ntasks-per-socket"), nullptr, "SLURM_NTASKS_PER_SOCKET", nullptr, "n", "at most so many tasks on a socket"},
    {"open-mode", 0, required, with_streams, set::open_mode, "SBATCH_OPEN_MODE", "SLURM_OPEN_MODE", nullptr, "append|truncate", "how output files are opened"},
    {"output", 'o', required, with_streams, stdout_of, "SBATCH_OUTPUT", "SLURM_STDOUTMODE", nullptr, "file", "standard output; patterns %j %x %N %t ... are filled in"},
    {"overcommit", 'O', none, all_tools, overcommit, "SBATCH_OVERCOMMIT", "SLURM_OVERCOMMIT", "SALLOC_OVERCOMMIT", nullptr, "more than one task on a CPU"},
    {"overlap", 0, none, srun, step_flag<&StepOptions::overlap>, nullptr, "SLURM_OVERLAP", nullptr, nullptr, "share what other steps of the job use"},
    {"oversubscribe", 's', none, all_tools, flag<&Spec::set_oversubscribe>, nullptr, nullptr, nullptr, nullptr, "share resources with other jobs"},
    {"parsable", 0, none, sbatch, own_flag<&SubmitOptions::parsable>, nullptr, nullptr, nullptr, nullptr, "print only the job's id"},
    {"partition", 'p', required, all_tools, set::partition, "SBATCH_PARTITION", "SLURM_PARTITION", "SALLOC_PARTITION", "names", "partition, or several"},
    {"power", 0, required, all_tools, NOT_YET("power"), "SBATCH_POWER", "SLURM_POWER", "SALLOC_POWER"},
    {"prefer", 0, required, all_tools, text<&Spec::mutable_prefer>, nullptr, nullptr, nullptr, "list", "features to have if possible"},
    {"preserve-env", 'E', none, srun, step_flag<&StepOptions::preserve_env>, nullptr, nullptr, nullptr, nullptr, "leave SLURM_NNODES and SLURM_NTASKS as they are"},
    {"priority", 0, required, all_tools, set::priority, nullptr, nullptr, nullptr, "n", "priority (operators)"},
    {"profile", 0, required, all_tools, set::profile, "SBATCH_PROFILE", "SLURM_PROFILE", "SALLOC_PROFILE"},
    {"prolog", 0, required, srun, step_text<&StepOptions::prolog>, nullptr, "SLURM_PROLOG", nullptr, "program", "run here before the step"},
    {"propagate", 0, optional, with_streams, set::propagate, nullptr, nullptr, nullptr, "limits", "resource limits to pass on: ALL, NONE, NOFILE,STACK"},
    {"pty", 0, none, srun, set::pty, nullptr, nullptr, nullptr, nullptr, "task 0 gets a terminal"},
    {"qos", 'q', required, all_tools, text<&Spec::mutable_qos>, "SBATCH_QOS", "SLURM_QOS", "SALLOC_QOS", "qos", "quality of service"},
    {"quiet", 'Q', none, all_tools, own_flag<&SubmitOptions::quiet>, nullptr, nullptr, nullptr, nullptr, "no messages but errors"},
    {"quit-on-interrupt", 0, none, srun, step_flag<&StepOptions::quit_on_interrupt>, nullptr, nullptr, nullptr, nullptr, "a single interrupt ends the step"},
    {"reboot", 0, none, all_tools, flag<&Spec::set_reboot>, nullptr, nullptr, nullptr, nullptr, "reboot the nodes first"},
    {"relative", 'r', required, srun, relative, nullptr, nullptr, nullptr, "n", "start at node n of the allocation"},
    {"requeue", 0, none, sbatch, flag<&Spec::set_requeue>, "SBATCH_REQUEUE", nullptr, nullptr, nullptr, "the job may be started again"},
    {"reservation", 0, required, all_tools, text<&Spec::mutable_reservation>, "SBATCH_RESERVATION", "SLURM_RESERVATION", "SALLOC_RESERVATION", "name", "use this reservation"},
    {"resv-ports", 0, optional, srun, NOT_YET("resv-ports"), nullptr, "SLURM_RESV_PORTS"},
    {"send-libs", 0, optional, srun, NOT_YET("send-libs"), nullptr, "SLURM_SEND_LIBS"},
    {"share", 0, none, all_tools, flag<&Spec::set_oversubscribe>},
    {"signal", 0, required, all_tools, set::signal, "SBATCH_SIGNAL", "SLURM_SIGNAL", "SALLOC_SIGNAL", "[B:]sig[@s]", "signal before the time limit"},
    {"slurmd-debug", 0, required, srun, NOT_YET("slurmd-debug")},
    {"sockets-per-node", 0, required, all_tools, COUNT(set_sockets_per_node, "--sockets-per-node"), nullptr, nullptr, nullptr, "n", "at least so many sockets per node"},
    {"spread-job", 0, none, all_tools, flag<&Spec::set_spread>, "SBATCH_SPREAD_JOB", "SLURM_SPREAD_JOB", "SALLOC_SPREAD_JOB", nullptr, "over as many nodes as possible"},
    {"switches", 0, required, all_tools, set::switches, "SBATCH_REQ_SWITCH", "SLURM_REQ_SWITCH", "SALLOC_REQ_SWITCH", "n[@time]", "at most so many switches, and how long to wait for that"},
    {"task-epilog", 0, required, srun, step_text<&StepOptions::task_epilog>, nullptr, "SLURM_TASK_EPILOG", nullptr, "program", "run after each task"},
    {"task-prolog", 0, required, srun, step_text<&StepOptions::task_prolog>, nullptr, "SLURM_TASK_PROLOG", nullptr, "program", "run before each task"},
    {"test-only", 0, none, with_streams, own_flag<&SubmitOptions::test_only>, nullptr, nullptr, nullptr, nullptr, "check, and say when it would start"},
    {"thread-spec", 0, required, all_tools, NOT_YET("thread-spec"), "SBATCH_THREAD_SPEC", "SLURM_THREAD_SPEC", "SALLOC_THREAD_SPEC"},
    {"threads", 'T', required, srun, accepted, nullptr, "SLURM_THREADS"},
    {"threads-per-core", 0, required, all_tools, COUNT(set_threads_per_core, "--threads-per-core"), "SBATCH_THREADS_PER_CORE", "SLURM_THREADS_PER_CORE", "SALLOC_THREADS_PER_CORE", "n", "use so many threads of each core"},
    {"time", 't', required, all_tools, set::time, "SBATCH_TIMELIMIT", "SLURM_TIMELIMIT", "SALLOC_TIMELIMIT", "time", "time limit: minutes, h:mm:ss, d-h"},
    {"time-min", 0, required, all_tools, set::time_min, nullptr, nullptr, nullptr, "time", "a shorter limit to start sooner"},
    {"tmp", 0, required, all_tools, set::tmp, nullptr, nullptr, nullptr, "size[KMGT]", "temporary disk on each node"},
    {"uid", 0, required, all_tools, set::uid, nullptr, nullptr, nullptr, "user", "run as this user (root)"},
    {"unbuffered", 'u', none, srun, step_flag<&StepOptions::unbuffered>, nullptr, "SLURM_UNBUFFEREDIO", nullptr, nullptr, "do not wait for whole lines"},
    {"use-min-nodes", 0, none, all_tools, flag<&Spec::set_use_min_nodes>, "SBATCH_USE_MIN_NODES", "SLURM_USE_MIN_NODES", "SALLOC_USE_MIN_NODES", nullptr, "prefer the smaller node count"},
    {"verbose", 'v', none, all_tools, set::verbose_variable, "SBATCH_DEBUG", "SLURM_DEBUG", "SALLOC_DEBUG", nullptr, "say more"},
    {"wait", 'W', none, sbatch, own_flag<&SubmitOptions::wait>, "SBATCH_WAIT", nullptr, nullptr, nullptr, "until the job has ended; exit with its code"},
    {"wait", 'W', required, srun, set::wait_seconds, nullptr, "SLURM_WAIT", nullptr, "seconds", "end the step so long after its first task"},
    {"wait-all-nodes", 0, required, sbatch | salloc, set::wait_all_nodes, "SBATCH_WAIT_ALL_NODES", nullptr, "SALLOC_WAIT_ALL_NODES", "0|1", "begin when every node is ready"},
    {"wait-for-switch", 0, required, 0, set::switches_wait, "SBATCH_WAIT4SWITCH", "SLURM_WAIT4SWITCH", "SALLOC_WAIT4SWITCH"},
    {"wckey", 0, required, all_tools, text<&Spec::mutable_wckey>, "SBATCH_WCKEY", "SLURM_WCKEY", "SALLOC_WCKEY", "key", "workload characterization key"},
    {"wrap", 0, required, sbatch, own_text<&SubmitOptions::wrap>, nullptr, nullptr, nullptr, "command", "submit a command instead of a script"},
    {"x11", 0, optional, interactive_tools, NOT_YET("x11")},
};
// clang-format on
#undef COUNT
#undef COUNT_OR_ZERO
#undef NOT_YET

}  // namespace

std::span<const SubmitRow> option_rows() { return rows; }

}  // namespace spur::cli::submit
