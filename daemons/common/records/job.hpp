// A job as Slurm's users know it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/machine/command.hpp"
#include "core/model/job.hpp"
#include "daemons/common/records/change.hpp"
#include "daemons/common/records/record.hpp"
#include "spur/v1/job.pb.h"

namespace spur::records {

// clang-format off
enum class JobFieldId : std::uint16_t {
    account, accrue_time, admin_comment, alloc_node, alloc_sid, alloc_node_sid, array_job_id, array_or_job_id,
    array_task_id, array_max_tasks, array_task_string, array_tasks, association_id, batch_features, batch_flag, batch_host, exec_host,
    boards_per_node, flags, burst_buffer, burst_buffer_state, cluster, cluster_features, command, comment, container, contiguous,
    core_spec, thread_spec, cores_per_socket, billable_tres, cpus_per_task, cpu_frequency_minimum, cpu_frequency_maximum,
    cpu_frequency_governor, cpus_per_tres, deadline, delay_boot, dependency, derived_exit_code, eligible_time, end_time, excluded_nodes, exit_code,
    extra, failed_node, features, federation_origin, federation_origin_raw, federation_siblings_active, federation_siblings_active_raw,
    federation_siblings_viable, federation_siblings_viable_raw, gres_detail, gres_enforce_bind, group_id, group_name, group,
    job_id, job_array_id, job_resources, job_state, job_state_compact, kill_on_invalid_dependency, last_sched_evaluation, licenses, mail_user, mail_type, max_cpus,
    max_cpus_listed, max_nodes, max_nodes_listed, mcs_label, memory_per_tres, name, network, nodes, nodes_or_reason, nice, tasks_per_core,
    tasks_per_node, tasks_per_socket, tasks_per_board, tasks_per, tasks_per_tres, cpus, node_count, node_range, tasks, het_job_id,
    het_job_id_set, het_job_offset, oversubscribe, partition, pending_time, power, prefer, memory_per_node, memory_per_cpu, minimum_memory, minimum_cpus_per_node,
    minimum_tmp_disk_per_node, preempt_time, preempt_eligible_time, pre_sus_time, priority, priority_share, profile, qos, reason, reboot, requested_sct, required_nodes,
    requeue, reset_accrue_time, resize_time, restart_cnt, resv_name, run_time, scheduled_nodes, scheduled_nodes_expected, scheduler, select_job_info, shared, sockets_per_board, sockets_per_node,
    sockets_cores_threads, spread, start_time, state_description, state_reason, standard_error, standard_input, standard_output, submit_time, suspend_time, switches,
    switches_wait, switches_shown, system_comment, time_left, time_limit, time_minimum, threads_per_core, tres, tres_bind, tres_freq, tres_per_job, tres_per_node, tres_per_socket,
    tres_per_task, tres_req_str, tres_alloc_str, user_id, user_name, user, wckey, current_working_directory,
    count_
};
// clang-format on

struct JobView {
    const v1::Job& job;
    const Context& in;
    const v1::Job* operator->() const { return &job; }
    const v1::JobSpec& spec() const { return job.spec(); }
};

// A change of one job as somebody typed it, on its way into the state machine's terms.
struct JobChange {
    JobChanges& changes;
    const Job& job;
    UnixSeconds now;
    const std::function<Result<std::vector<NodeId>>(std::string_view names)>& nodes;
};

inline JobChanges& members(JobChange& change) { return change.changes; }

using JobField = Field<JobView, JobFieldId, JobChange>;

std::span<const JobField> job_fields();  // by id: job_fields()[id]
const JobField& job_field(JobFieldId id);

}  // namespace spur::records
