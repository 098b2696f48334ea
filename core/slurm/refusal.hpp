// The sentences Slurm's commands have always printed when a request is refused; scripts look for them.
#pragma once

#include <string_view>

namespace spur::refusal {

inline constexpr std::string_view invalid_partition = "Invalid partition name specified";
inline constexpr std::string_view no_default_partition = "No partition specified or system default partition";
inline constexpr std::string_view denied = "Access/permission denied";
inline constexpr std::string_view group_denied = "User's group not permitted to use this partition";
inline constexpr std::string_view nodes_not_in_partition = "Requested nodes not in this partition";
inline constexpr std::string_view too_many_cpus = "More processors requested than permitted";
inline constexpr std::string_view node_count = "Node count specification invalid";
inline constexpr std::string_view no_record = "Unable to create job record, try again";
inline constexpr std::string_view no_script = "Job script not specified";
inline constexpr std::string_view path_too_long = "Pathname of a file, directory or other parameter too long";
inline constexpr std::string_view node_config = "Requested node configuration is not available";
inline constexpr std::string_view partition_config = "Requested partition configuration not available now";
inline constexpr std::string_view nodes_busy = "Requested nodes are busy";
inline constexpr std::string_view invalid_job_id = "Invalid job id specified";
inline constexpr std::string_view invalid_node = "Invalid node name specified";
inline constexpr std::string_view already_done = "Job/step already completing or completed";
inline constexpr std::string_view bad_distribution = "Task distribution specification invalid";
inline constexpr std::string_view job_pending = "Job is pending execution";
inline constexpr std::string_view bad_task_count = "Task count specification invalid";
inline constexpr std::string_view invalid_node_state = "Invalid node state specified";
inline constexpr std::string_view invalid_feature = "Invalid feature specification";
inline constexpr std::string_view not_supported = "Requested operation not supported on this system";
inline constexpr std::string_view disabled = "Requested operation is presently disabled";
inline constexpr std::string_view dependency_problem = "Job dependency problem";
inline constexpr std::string_view circular_dependency = "Circular job dependency";
inline constexpr std::string_view batch_only = "Only batch jobs are accepted or processed";
inline constexpr std::string_view too_many_tasks = "Requested more tasks than available processors";
inline constexpr std::string_view invalid_account = "Invalid account or account/partition combination specified";
inline constexpr std::string_view invalid_license = "Invalid license specification";
inline constexpr std::string_view policy =
    "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
inline constexpr std::string_view invalid_time_limit =
    "Requested time limit is invalid (missing or exceeds some limit)";
inline constexpr std::string_view reservation_denied = "Access denied to requested reservation";
inline constexpr std::string_view invalid_reservation = "Requested reservation is invalid";
inline constexpr std::string_view invalid_time = "Invalid time specified";
inline constexpr std::string_view reservation_busy = "Requested reservation is in use";
inline constexpr std::string_view reservation_overlap = "Requested reservation overlaps with another reservation";
inline constexpr std::string_view invalid_qos = "Invalid qos specification";
inline constexpr std::string_view node_not_available = "Required node not available (down, drained or reserved)";
inline constexpr std::string_view cpu_count = "CPU count specification invalid";
inline constexpr std::string_view partition_down = "Required partition not available (inactive or drain)";
inline constexpr std::string_view invalid_gres = "Invalid generic resource (gres) specification";
inline constexpr std::string_view not_pending = "Job is no longer pending execution";
inline constexpr std::string_view partition_in_use = "Partition is in use";
inline constexpr std::string_view step_limit = "Step limit reached for this job";
inline constexpr std::string_view job_suspended = "Job is current suspended, requested operation disabled";
inline constexpr std::string_view reservation_empty = "Reservation request lacks users, groups or accounts";
inline constexpr std::string_view invalid_array = "Invalid job array specification";
inline constexpr std::string_view duplicate_reservation = "Duplicate reservation name";
inline constexpr std::string_view finished = "Job has already finished";
inline constexpr std::string_view not_running = "Job is not running";
inline constexpr std::string_view not_suspended = "Job is not suspended";
inline constexpr std::string_view not_finished = "Job is not finished";
inline constexpr std::string_view het_component =
    "Operation not permitted on individual component of heterogeneous job";
inline constexpr std::string_view duplicate_step = "Duplicate job step id";
inline constexpr std::string_view invalid_nice = "Invalid --nice value";
inline constexpr std::string_view invalid_time_min =
    "Invalid time-min specification (exceeds job's time or other limits)";
inline constexpr std::string_view no_root_jobs =
    "root runs no jobs here (disable_root_jobs = false under [jobs] in spur.conf lets it)";
inline constexpr std::string_view no_gres_left = "Insufficient GRES available in allocation";

// What precedes some of them on lines of their own.
inline constexpr std::string_view memory_never = "Memory specification can not be satisfied";
inline constexpr std::string_view cpus_per_node_never = "CPU count per node can not be satisfied";
inline constexpr std::string_view tmp_never = "Temporary disk specification can not be satisfied";
inline constexpr std::string_view topology_never = "Socket, core and/or thread specification can not be satisfied";

}  // namespace spur::refusal
