// Every section but [[nodes]] and [[partitions]]: what may be written, and where it goes.
#include "daemons/common/config/section_keys.hpp"

#include <algorithm>
#include <array>

#include "core/text/timefmt.hpp"
#include "daemons/common/config/section_values.hpp"

namespace spur::config {
namespace {

using K = Key<Draft>;
using In = const Reading&;
using To = Draft&;
using P = Policies;

constexpr std::array<std::string_view, 10> axes{"state", "sched", "select", "priority", "accounting",
                                                "auth",  "net",   "gpu",    "cgroup",   "job_submit"};
constexpr auto own_preempt_modes = std::span{preempt_modes}.subspan(1);  // CLUSTER is for QOSes
// Slurm writes the plugin's whole name.
constexpr std::size_t preempt_type_count = 4;
constexpr std::array<std::string_view, 2 * preempt_type_count> preempt_types{
    "any", "none", "partition_prio", "qos", "preempt/any", "preempt/none", "preempt/partition_prio", "preempt/qos"};
constexpr std::array<std::string_view, 3> enforce_choices{"NO", "ANY", "ALL"};

constexpr std::array top_keys{
    K{"cluster_name", "text", "spur", "the name of this cluster, in accounting and in listings",
      [](In in, To to) {
          std::string name;
          if (in.value().find<std::string>() != nullptr && in.value().find<std::string>()->empty())
              return in.refuse("must not be empty: the cluster is known by it");
          in.text(name);
          if (name.empty()) return;
          if (!is_name(name))
              return in.refuse("must be made of letters, digits, - _ and ., not {}", spur::quoted(name));
          to.config.cluster.cluster_name = name;
      },
      "ClusterName", "cluster_name", [](const Config& c) { return c.cluster.cluster_name.str(); }},
    K{"licenses", "table or list", "", "cluster-wide licences: { fluent = 20 } or [\"fluent:20\"]",
      [](In in, To to) { read_licenses(in, to.config.cluster.licenses); }, "Licenses", "licenses"},
};

constexpr std::array controller_keys{
    K{"listen_addr", "address", "",
      "where spurctld listens; by default port 6817, on loopback only while auth is local",
      [](In in, To to) { in.address(to.config.controller.listen_addr); }, "SlurmctldPort", "slurmctld_port",
      [](const Config& c) { return c.controller.listen_addr.substr(c.controller.listen_addr.rfind(':') + 1); }},
    K{"state_dir", "path", "", "where the controller keeps its state; only its own user may enter",
      [](In in, To to) { in.path(to.config.controller.state_dir); }, "StateSaveLocation", "state_save_location",
      [](const Config& c) { return c.controller.state_dir; }},
    K{"hosts", "list of hosts", "", "the controllers, all of them voters: one, three or five; a hostlist will do",
      [](In in, To to) { in.hosts(to.config.controller.hosts); }, "SlurmctldHost[0]", "control_machine",
      [](const Config& c) {
          return c.controller.hosts.empty() ? c.controller.listen_addr : c.controller.hosts.front();
      }},
};

constexpr std::array job_keys{
    K{"first_job_id", "count", "1", "FirstJobId",
      [](In in, To to) { in.count(to.policies.first_job_id, 1, 0x03ff'0000); }, "FirstJobId", "first_job_id",
      number<&P::first_job_id>},
    K{"max_job_id", "count", "67043328", "MaxJobId: after it the numbers begin again",
      [](In in, To to) { in.count(to.policies.max_job_id, 2, 0x03ff'0000); }, "MaxJobId", "max_job_id",
      number<&P::max_job_id>},
    K{"max_job_count", "count", "1000000", "MaxJobCount: jobs the controller holds at most",
      [](In in, To to) { in.count(to.policies.max_job_count, 1); }, "MaxJobCount", "max_job_cnt",
      number<&P::max_job_count>},
    K{"max_array_size", "count", "1000001", "MaxArraySize: one more than the highest task number",
      [](In in, To to) { in.count(to.policies.max_array_size, 0, 4'000'001); }, "MaxArraySize", "max_array_sz",
      number<&P::max_array_size>},
    K{"max_step_count", "count", "40000", "MaxStepCount: steps of one job",
      [](In in, To to) { in.count(to.policies.max_step_count, 1); }, "MaxStepCount", "max_step_cnt",
      number<&P::max_step_count>},
    K{"max_tasks_per_node", "count", "512", "MaxTasksPerNode",
      [](In in, To to) { in.count(to.policies.max_tasks_per_node, 1, 65'533); }, "MaxTasksPerNode",
      "max_tasks_per_node", number<&P::max_tasks_per_node>},
    K{"min_job_age", "duration", "300", "MinJobAge: how long an ended job stays in listings",
      [](In in, To to) { in.seconds(to.policies.min_job_age_s); }, "MinJobAge", "min_job_age",
      seconds<&P::min_job_age_s>},
    K{"over_time_limit", "minutes", "0", "OverTimeLimit: how long a job may run on after its limit",
      [](In in, To to) { in.limit_minutes(to.policies.over_time_limit_min); }, "OverTimeLimit", "over_time_limit",
      minutes<&P::over_time_limit_min>},
    K{"resv_over_run", "minutes", "0", "ResvOverRun: how long a job may run on after the end of its reservation",
      [](In in, To to) { in.limit_minutes(to.policies.resv_over_run_min); }, "ResvOverRun", "resv_over_run",
      minutes<&P::resv_over_run_min>},
    K{"kill_wait", "duration", "30", "KillWait: from SIGTERM to SIGKILL",
      [](In in, To to) { in.seconds(to.policies.kill_wait_s); }, "KillWait", "kill_wait", seconds<&P::kill_wait_s>},
    K{"inactive_limit", "duration", "0", "InactiveLimit: salloc and srun that answer no more; 0: wait for ever",
      [](In in, To to) { in.seconds(to.policies.inactive_limit_s); }, "InactiveLimit", "inactive_limit",
      seconds<&P::inactive_limit_s>},
    K{"batch_start_timeout", "duration", "10",
      "BatchStartTimeout: from launch to the batch script's first sign of life",
      [](In in, To to) { in.seconds(to.policies.batch_start_timeout_s); }, "BatchStartTimeout", "batch_start_timeout",
      seconds<&P::batch_start_timeout_s>},
    K{"job_requeue", "yes or no", "true", "JobRequeue: may jobs that do not say be put back in the queue?",
      [](In in, To to) { in.yes_no(to.policies.job_requeue); }, "JobRequeue", "job_requeue", number<&P::job_requeue>},
    K{"max_batch_requeue", "count", "5", "requeues after failed launches before the job is held",
      [](In in, To to) { in.count(to.policies.max_batch_requeue, 1); }},
    K{"kill_on_invalid_dependency", "yes or no", "false", "end jobs whose dependency can never come true",
      [](In in, To to) { in.yes_no(to.policies.kill_on_invalid_dependency); }},
    K{"return_to_service", "count", "1", "ReturnToService: 0 by hand only, 1 if the node was not responding, 2 always",
      [](In in, To to) { in.count(to.policies.return_to_service, 0, 2); }, "ReturnToService", "ret2service",
      number<&P::return_to_service>},
    K{"enforce_part_limits", "choice", "NO", "EnforcePartLimits: NO, ANY or ALL",
      [](In in, To to) {
          if (const auto choice = in.choice(enforce_choices))
              to.policies.enforce_part_limits = static_cast<EnforcePartLimits>(*choice);
      },
      "EnforcePartLimits", "enforce_part_limits",
      [](const Config& c) {
          return std::string{enforce_choices[static_cast<std::size_t>(c.cluster.policies.enforce_part_limits)]};
      }},
    K{"default_time", "minutes", "0",
      "time limit where neither job nor partition gives one; 0: the partition's maximum",
      [](In in, To to) { in.limit_minutes(to.policies.default_time_min); }},
    K{"def_mem_per_cpu", "MiB", "0", "DefMemPerCPU", [](In in, To to) { in.mib(to.policies.default_mem_per_cpu_mib); },
      "DefMemPerCPU", "def_mem_per_cpu"},
    K{"def_mem_per_node", "MiB", "0", "DefMemPerNode",
      [](In in, To to) { in.mib(to.policies.default_mem_per_node_mib); }, "DefMemPerNode", "def_mem_per_cpu"},
    K{"max_mem_per_cpu", "MiB", "0", "MaxMemPerCPU", [](In in, To to) { in.mib(to.policies.max_mem_per_cpu_mib); },
      "MaxMemPerCPU", "max_mem_per_cpu"},
    K{"max_mem_per_node", "MiB", "0", "MaxMemPerNode", [](In in, To to) { in.mib(to.policies.max_mem_per_node_mib); },
      "MaxMemPerNode", "max_mem_per_cpu"},
    K{"track_memory", "yes or no", "true", "is memory a resource that runs out? no: only cores and gres are",
      [](In in, To to) { in.yes_no(to.policies.track_memory); }},
    K{"disable_root_jobs", "yes or no", "true",
      "DisableRootJobs: root submits nothing that runs as root; `spur up` as root writes false",
      [](In in, To to) { in.yes_no(to.policies.disable_root_jobs); }, "DisableRootJobs", "conf_flags",
      [](const Config& c) { return std::string{c.cluster.policies.disable_root_jobs ? "Yes" : "No"}; }},
    K{"max_stored_per_user", "MiB", "256",
      "what the scripts, environments and long texts of one user's jobs may take in the controller; 0: no limit",
      [](In in, To to) { in.mib(to.policies.max_stored_per_user_mib); }},
    K{"requeue_exit", "list of exit codes", "[]", "RequeueExit: batch scripts that end so are put back in the queue",
      [](In in, To to) { read_exit_codes(in, to.policies.requeue_exit); }, "RequeueExit", "requeue_exit"},
    K{"requeue_exit_hold", "list of exit codes", "[]", "RequeueExitHold: the same, and held",
      [](In in, To to) { read_exit_codes(in, to.policies.requeue_exit_hold); }, "RequeueExitHold", "requeue_exit_hold"},
};

constexpr std::array scheduler_keys{
    K{"plugin", "plugin", "sched/backfill", "the same as [plugins] sched; \"backfill\" will do",
      [](In in, To to) {
          std::string name;
          in.text(name);
          if (name.empty()) return;
          to.config.scheduler.plugin = full_type("sched", name);
          to.drafts.scheduler_line = in.line();
          if (!is_type_of("sched", to.config.scheduler.plugin))
              in.refuse("must name a sched plugin, not {}", spur::quoted(name));
      },
      "SchedulerType", "schedtype"},
    K{"interval_secs", "count", "60", "a backstop: events wake the scheduler at once",
      [](In in, To to) { in.count(to.config.scheduler.interval_s, 1, 86'400); }},
    K{"budget_secs", "number", "2", "what a planning cycle may take before the planner is told to stop",
      [](In in, To to) { in.real(to.config.scheduler.budget_s, 0.001, 3'600); }},
    K{"fairshare_halflife_days", "number", "7", "PriorityDecayHalfLife: how fast past usage fades; 0: never",
      [](In in, To to) { in.real(to.config.scheduler.fairshare_halflife_days, 0, 36'500); }, "PriorityDecayHalfLife",
      "priority_decay_hl"},
    K{"fairshare_interval_secs", "count", "300",
      "PriorityCalcPeriod: how often running jobs are charged and old usage fades",
      [](In in, To to) { in.count(to.config.scheduler.fairshare_interval_s, 1, 86'400); }, "PriorityCalcPeriod",
      "priority_calc_period"},
    K{"preempt_mode", "choice", "OFF", "PreemptMode: OFF, CANCEL, REQUEUE, SUSPEND or GANG",
      [](In in, To to) {
          if (const auto choice = in.choice(own_preempt_modes))
              to.policies.preempt_mode = static_cast<PreemptMode>(*choice + 1);
      },
      "PreemptMode", "preempt_mode",
      [](const Config& c) {
          return std::string{to_string(std::max(c.cluster.policies.preempt_mode, PreemptMode::off))};
      }},
    K{"preempt_type", "choice", "any",
      "PreemptType: partition_prio (by priority_tier), qos (by the QOS's preempt list), any of the two, or none",
      [](In in, To to) {
          if (const auto choice = in.choice(preempt_types))
              to.policies.preempt_type = static_cast<PreemptType>(*choice % preempt_type_count);
      },
      "PreemptType", "preempt_type",
      [](const Config& c) {
          return std::string{
              preempt_types[static_cast<std::size_t>(c.cluster.policies.preempt_type) + preempt_type_count]};
      }},
    K{"preempt_exempt_time", "duration", "0", "PreemptExemptTime: how long a job runs before it may be preempted",
      [](In in, To to) { in.seconds(to.policies.preempt_exempt_time_s); }, "PreemptExemptTime", "preempt_exempt_time",
      [](const Config& c) { return print_long_duration(c.cluster.policies.preempt_exempt_time_s); }},
    K{"max_switch_wait", "duration", "300",
      "SchedulerParameters=max_switch_wait: how long --switches may make a job wait at most",
      [](In in, To to) { in.seconds(to.policies.max_switch_wait_s); }},
};

template <auto Member>
void read_retention(In in, To to) {
    std::string text;
    in.text(text);
    if (text.empty()) return;
    if (const auto hours = parse_retention_h(text))
        to.config.accounting.*Member = *hours;
    else
        in.refuse("{}", hours.error().text);
}

constexpr std::array accounting_keys{
    K{"plugin", "plugin", "accounting/sqlite", "the same as [plugins] accounting",
      [](In in, To to) { read_choice(in, to, "accounting"); }, "AccountingStorageType", "accounting_storage_type"},
    K{"database_url", "text", "",
      "where spurdbd keeps history: postgresql://user@host/name, or the path of an SQLite file",
      [](In in, To to) { in.text(to.config.accounting.database_url); }},
    K{"host", "address", "", "spurdbd as the controller reaches it, host:port; without it no history is sent",
      [](In in, To to) { in.address(to.config.accounting.host); }, "AccountingStorageHost", "accounting_storage_host"},
    K{"listen_addr", "address", "", "where spurdbd listens; by default port 6819",
      [](In in, To to) { in.address(to.config.accounting.listen_addr); }},
    K{"bill_highest_only", "yes or no", "false",
      "PriorityFlags=MAX_TRES: bill the dearest of a job's resources, not the sum of them all",
      [](In in, To to) { in.yes_no(to.policies.bill_highest_only); }},
    K{"enforce", "list of texts", "[]", "AccountingStorageEnforce: associations, limits, qos, safe, wckeys, all",
      [](In in, To to) { read_enforce(in, to.policies.enforce); }, "AccountingStorageEnforce",
      "accounting_storage_enforce"},
    K{"store_flags", "list of texts", "[]",
      "AccountingStoreFlags: job_comment, job_env, job_script: what else of each job goes into history",
      [](In in, To to) { read_flags(in, to.config.accounting.store_flags, store_flags); }, "AccountingStoreFlags",
      "conf_flags", shown_store_flags},
    K{"archive_dir", "path", "", "ArchiveDir: spurdbd writes what it purges there first, for sacctmgr archive load",
      [](In in, To to) { in.path(to.config.accounting.archive_dir); }},
    K{"purge_job_after", "time", "", "PurgeJobAfter: how long jobs are kept after their end, such as 12months, 90days or 36hours",
      read_retention<&AccountingConfig::purge_job_h>},
    K{"purge_step_after", "time", "", "PurgeStepAfter: the same of steps", read_retention<&AccountingConfig::purge_step_h>},
    K{"purge_event_after", "time", "", "PurgeEventAfter: the same of nodes' events",
      read_retention<&AccountingConfig::purge_event_h>},
    K{"purge_resv_after", "time", "", "PurgeResvAfter: the same of reservations",
      read_retention<&AccountingConfig::purge_reservation_h>},
    K{"purge_usage_after", "time", "", "PurgeUsageAfter: the same of usage that was rolled up",
      read_retention<&AccountingConfig::purge_usage_h>},
    K{"purge_txn_after", "time", "", "PurgeTXNAfter: the same of what was changed through sacctmgr",
      read_retention<&AccountingConfig::purge_transaction_h>},
};

constexpr std::array auth_keys{
    K{"plugin", "plugin", "auth/local", "how callers prove who they are: local, munge or jwt",
      [](In in, To to) {
          read_choice(in, to, "auth");
          if (const auto chosen = to.config.plugins.find("auth"); chosen != to.config.plugins.end())
              to.config.auth.plugin = chosen->second.front();
      },
      "AuthType", "authtype"},
    K{"key_file", "path", "", "the shared secret, for plugins that have one: sets their option key_file",
      [](In in, To to) { keep_option(in, to, "key_file"); }},
    K{"administrators", "list of users", "[]", "who may change anything, besides root and the daemon's own user",
      [](In in, To to) { in.words(to.config.auth.administrators); }},
    K{"operators", "list of users", "[]", "who may change jobs and nodes of others",
      [](In in, To to) { in.words(to.config.auth.operators); }},
    K{"private_data", "list of words", "[]",
      "PrivateData: what users see only of their own: accounts, events, jobs, nodes, partitions, reservations, usage, "
      "users, or all",
      [](In in, To to) { read_flags(in, to.config.cluster.policies.private_data, private_data_flags); }, "PrivateData",
      "private_data", shown_private_data},
};

constexpr std::array tls_keys{
    K{"certificate", "path", "", "this daemon's certificate, PEM; all three keys or none",
      [](In in, To to) { in.path(to.config.tls.certificate); }},
    K{"cert", "path", "", "the same as certificate", [](In in, To to) { in.path(to.config.tls.certificate); }},
    K{"key", "path", "", "its private key, PEM, readable by the daemon's user only",
      [](In in, To to) { in.path(to.config.tls.key); }},
    K{"ca", "path", "", "the authority that signed the certificates of all daemons",
      [](In in, To to) { in.path(to.config.tls.ca); }},
    K{"agent_names", "list of names", "[\"%n\", \"%n.*\"]",
      "what the certificate of an agent may be made out to; %n is the name of its node, * is anything",
      [](In in, To to) { in.words(to.config.agent.certificate_names); }},
};

constexpr std::array agent_keys{
    K{"listen_addr", "address", "", "where spurd serves stdio and attach; by default port 6818",
      [](In in, To to) { in.address(to.config.agent.listen_addr); }, "SlurmdPort", "slurmd_port"},
    K{"spool_dir", "path", "", "where spurd keeps scripts and the sockets of its step daemons",
      [](In in, To to) { in.path(to.config.agent.spool_dir); }, "SlurmdSpoolDir", "slurmd_spooldir"},
    K{"prolog", "path", "", "Prolog: run by root before a job's first process on a node",
      [](In in, To to) { in.path(to.config.agent.prolog); }, "Prolog", "prolog",
      [](const Config& c) { return c.agent.prolog; }},
    K{"epilog", "path", "", "Epilog: run by root after a job's last process on a node",
      [](In in, To to) { in.path(to.config.agent.epilog); }, "Epilog", "epilog",
      [](const Config& c) { return c.agent.epilog; }},
    K{"task_prolog", "path", "", "TaskProlog: run as the user before each task; its output may export variables",
      [](In in, To to) { in.path(to.config.agent.task_prolog); }, "TaskProlog", "task_prolog",
      [](const Config& c) { return c.agent.task_prolog; }},
    K{"task_epilog", "path", "", "TaskEpilog: run as the user after each task",
      [](In in, To to) { in.path(to.config.agent.task_epilog); }, "TaskEpilog", "task_epilog",
      [](const Config& c) { return c.agent.task_epilog; }},
    K{"reboot_program", "path", "",
      "RebootProgram: run by root on a node that scontrol reboot names, once it has no jobs",
      [](In in, To to) { in.path(to.config.agent.reboot_program); }, "RebootProgram", "reboot_program",
      [](const Config& c) { return c.agent.reboot_program; }},
    K{"kill_wait", "duration", "30", "the same as [jobs] kill_wait",
      [](In in, To to) { in.seconds(to.policies.kill_wait_s); }},
    K{"sample_interval", "duration", "30",
      "JobAcctGatherFrequency: how often the tasks of a step are measured; 0: only when they end",
      [](In in, To to) { in.seconds(to.config.agent.sample_s); }, "JobAcctGatherFrequency", "job_acct_gather_freq",
      [](const Config& c) { return fmt::format("task={}", c.agent.sample_s); }},
    K{"over_memory_kill", "yes or no", "false",
      "JobAcctGatherParams=OverMemoryKill: a step that is measured to have more memory than it asked for is killed",
      [](In in, To to) { in.yes_no(to.config.agent.over_memory_kill); }, "JobAcctGatherParams", "job_acct_gather_params",
      [](const Config& c) { return std::string{c.agent.over_memory_kill ? "OverMemoryKill" : "(null)"}; }},
    K{"heartbeat_secs", "duration", "15", "how often an idle stream shows that it is alive",
      [](In in, To to) { in.seconds(to.config.agent.heartbeat_s); }},
    K{"timeout_secs", "duration", "300", "SlurmdTimeout: a node silent for so long is DOWN",
      [](In in, To to) { in.seconds(to.config.agent.timeout_s); }, "SlurmdTimeout", "slurmd_timeout",
      [](const Config& c) { return fmt::format("{} sec", c.agent.timeout_s); }},
    K{"step_key_secs", "duration", "2592000",
      "a leader replaces the key that it signs steps with after so long; 0: never",
      [](In in, To to) { in.seconds(to.config.agent.step_key_lifetime_s); }},
    K{"config_overrides", "yes or no", "false", "nodes are what [[nodes]] says, whatever hardware is found there",
      [](In in, To to) { in.yes_no(to.policies.config_overrides); }},
};

constexpr std::array<std::string_view, 5> levels{"error", "warning", "info", "debug", "trace"};
constexpr std::array<std::string_view, 2> formats{"text", "json"};
constexpr std::array logging_keys{
    K{"level", "choice", "info", "error, warning, info, debug or trace; each -v adds one",
      [](In in, To to) {
          if (const auto choice = in.choice(levels)) to.config.logging.level = levels[*choice];
      }},
    K{"file", "path", "", "instead of stderr; reopened on SIGHUP",
      [](In in, To to) { in.path(to.config.logging.file); }},
    K{"format", "choice", "text", "text or json",
      [](In in, To to) {
          if (const auto choice = in.choice(formats)) to.config.logging.json = *choice == 1;
      }},
};

constexpr std::array<std::string_view, 2> channels{"stable", "nightly"};
constexpr std::array update_keys{
    K{"check_on_startup", "yes or no", "false", "log a line at start if `feed` names a newer release",
      [](In in, To to) { in.yes_no(to.config.update.check_on_startup); }},
    K{"channel", "choice", "stable", "stable or nightly",
      [](In in, To to) {
          if (const auto choice = in.choice(channels)) to.config.update.channel = channels[*choice];
      }},
    K{"feed", "path", "", "a file with lines such as \"stable 1.2.0\", kept by whoever mirrors releases",
      [](In in, To to) { in.path(to.config.update.feed); }},
    K{"auto_update", "yes or no", "false", "only false: Spur never replaces its own files, the package manager does",
      [](In in, To) {
          bool wanted = false;
          in.yes_no(wanted);
          if (wanted) in.refuse("cannot be true: Spur never replaces its own files; let the package manager do it");
      }},
};

constexpr std::array plugins_keys{
    K{"dirs", "list of paths", "[]", "looked through in this order, before the directory Spur was installed with",
      [](In in, To to) {
          std::vector<std::string> dirs;
          in.words(dirs);
          for (const auto& dir : dirs)
              if (dir[0] != '/') return in.refuse("must be absolute paths, and {} is not", spur::quoted(dir));
          to.config.plugin_dirs = std::move(dirs);
      }},
    K{"state", "plugin", "state/raft", "makes commands durable and ordered",
      [](In in, To to) { read_choice(in, to, "state"); }},
    K{"sched", "plugin", "sched/backfill", "which pending jobs start now; a list names stand-ins, tried in order",
      [](In in, To to) {
          read_choice(in, to, "sched");
          to.drafts.plugins_sched_line = in.line();
      }},
    K{"select", "plugin", "select/gpu", "which nodes, cores and devices fit a job best",
      [](In in, To to) { read_choice(in, to, "select"); }, "SelectType", "select_type"},
    K{"priority", "plugin", "priority/fairshare", "what each pending job is worth now",
      [](In in, To to) { read_choice(in, to, "priority"); }, "PriorityType", "priority_type"},
    K{"accounting", "plugin", "accounting/sqlite", "history, for spurdbd",
      [](In in, To to) { read_choice(in, to, "accounting"); }},
    K{"auth", "plugin", "auth/local", "the same as [auth] plugin",
      [](In in, To to) {
          read_choice(in, to, "auth");
          if (const auto chosen = to.config.plugins.find("auth"); chosen != to.config.plugins.end())
              to.config.auth.plugin = chosen->second.front();
      }},
    K{"net", "plugin", "net/none", "how members reach each other privately",
      [](In in, To to) { read_choice(in, to, "net"); }},
    K{"gpu", "list of plugins", "gpu/nvml, gpu/rocm", "which devices are here; all of the list are active",
      [](In in, To to) { read_choice(in, to, "gpu"); }},
    K{"job_submit", "list of plugins", "",
      "JobSubmitPlugins: see, change or refuse jobs at submission, one after the other",
      [](In in, To to) { read_choice(in, to, "job_submit"); }, "JobSubmitPlugins", "job_submit_plugins"},
    K{"cgroup", "plugin", "cgroup/v2", "contains and limits the processes of a step",
      [](In in, To to) { read_choice(in, to, "cgroup"); }},
};

constexpr std::array<Section, 11> all_sections{{
    {"", top_keys},
    {"controller", controller_keys},
    {"jobs", job_keys},
    {"scheduler", scheduler_keys},
    {"accounting", accounting_keys},
    {"auth", auth_keys},
    {"tls", tls_keys},
    {"agent", agent_keys},
    {"logging", logging_keys},
    {"update", update_keys},
    {"plugins", plugins_keys},
}};

}  // namespace

std::span<const Section> sections() { return all_sections; }
std::span<const std::string_view> axis_names() { return axes; }

bool is_type_of(std::string_view axis, std::string_view type) {
    const auto slash = type.find('/');
    const auto is_word = [](std::string_view word) {
        return !word.empty() && word[0] >= 'a' && word[0] <= 'z' &&
               std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_'; });
    };
    return slash != std::string_view::npos && type.substr(0, slash) == axis && is_word(type.substr(slash + 1));
}

}  // namespace spur::config
