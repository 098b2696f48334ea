// Why a job waits or has failed: Slurm's numbers and exact spellings, so that scripts reading them keep working.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace spur {

// enumerator, spelling as squeue prints it. The position is the number on the wire and in stored state: append only.
#define SPUR_REASONS(X)                                                         \
    X(none, "None")                                                             \
    X(priority, "Priority")                                                     \
    X(dependency, "Dependency")                                                 \
    X(resources, "Resources")                                                   \
    X(partition_node_limit, "PartitionNodeLimit")                               \
    X(partition_time_limit, "PartitionTimeLimit")                               \
    X(partition_down, "PartitionDown")                                          \
    X(partition_inactive, "PartitionInactive")                                  \
    X(job_held_admin, "JobHeldAdmin")                                           \
    X(begin_time, "BeginTime")                                                  \
    X(licenses, "Licenses")                                                     \
    X(association_job_limit, "AssociationJobLimit")                             \
    X(association_resource_limit, "AssociationResourceLimit")                   \
    X(association_time_limit, "AssociationTimeLimit")                           \
    X(reservation, "Reservation")                                               \
    X(req_node_not_avail, "ReqNodeNotAvail")                                    \
    X(job_held_user, "JobHeldUser")                                             \
    X(front_end_down, "FrontEndDown")                                           \
    X(sched_defer, "SchedDefer")                                                \
    X(fail_partition_down, "PartitionDown")                                     \
    X(node_down, "NodeDown")                                                    \
    X(bad_constraints, "BadConstraints")                                        \
    X(system_failure, "SystemFailure")                                          \
    X(job_launch_failure, "JobLaunchFailure")                                   \
    X(non_zero_exit_code, "NonZeroExitCode")                                    \
    X(time_limit, "TimeLimit")                                                  \
    X(inactive_limit, "InactiveLimit")                                          \
    X(invalid_account, "InvalidAccount")                                        \
    X(invalid_qos, "InvalidQOS")                                                \
    X(qos_usage_threshold, "QOSUsageThreshold")                                 \
    X(qos_job_limit, "QOSJobLimit")                                             \
    X(qos_resource_limit, "QOSResourceLimit")                                   \
    X(qos_time_limit, "QOSTimeLimit")                                           \
    X(block_max_error, "BlockMaxError")                                         \
    X(block_free_action, "BlockFreeAction")                                     \
    X(cleaning, "Cleaning")                                                     \
    X(prolog, "Prolog")                                                         \
    X(qos_not_allowed, "QOSNotAllowed")                                         \
    X(account_not_allowed, "AccountNotAllowed")                                 \
    X(dependency_never_satisfied, "DependencyNeverSatisfied")                   \
    X(qos_grp_cpu_limit, "QOSGrpCpuLimit")                                      \
    X(qos_grp_cpu_minutes_limit, "QOSGrpCPUMinutesLimit")                       \
    X(qos_grp_cpu_run_minutes_limit, "QOSGrpCPURunMinutesLimit")                \
    X(qos_grp_jobs_limit, "QOSGrpJobsLimit")                                    \
    X(qos_grp_mem_limit, "QOSGrpMemLimit")                                      \
    X(qos_grp_node_limit, "QOSGrpNodeLimit")                                    \
    X(qos_grp_submit_jobs_limit, "QOSGrpSubmitJobsLimit")                       \
    X(qos_grp_wall_limit, "QOSGrpWallLimit")                                    \
    X(qos_max_cpu_per_job_limit, "QOSMaxCpuPerJobLimit")                        \
    X(qos_max_cpu_minutes_per_job_limit, "QOSMaxCpuMinutesPerJobLimit")         \
    X(qos_max_node_per_job_limit, "QOSMaxNodePerJobLimit")                      \
    X(qos_max_wall_duration_per_job_limit, "QOSMaxWallDurationPerJobLimit")     \
    X(qos_max_cpu_per_user_limit, "QOSMaxCpuPerUserLimit")                      \
    X(qos_max_jobs_per_user_limit, "QOSMaxJobsPerUserLimit")                    \
    X(qos_max_node_per_user_limit, "QOSMaxNodePerUserLimit")                    \
    X(qos_max_submit_job_per_user_limit, "QOSMaxSubmitJobPerUserLimit")         \
    X(qos_min_cpu_not_satisfied, "QOSMinCpuNotSatisfied")                       \
    X(assoc_grp_cpu_limit, "AssocGrpCpuLimit")                                  \
    X(assoc_grp_cpu_minutes_limit, "AssocGrpCPUMinutesLimit")                   \
    X(assoc_grp_cpu_run_minutes_limit, "AssocGrpCPURunMinutesLimit")            \
    X(assoc_grp_jobs_limit, "AssocGrpJobsLimit")                                \
    X(assoc_grp_mem_limit, "AssocGrpMemLimit")                                  \
    X(assoc_grp_node_limit, "AssocGrpNodeLimit")                                \
    X(assoc_grp_submit_jobs_limit, "AssocGrpSubmitJobsLimit")                   \
    X(assoc_grp_wall_limit, "AssocGrpWallLimit")                                \
    X(assoc_max_jobs_limit, "AssocMaxJobsLimit")                                \
    X(assoc_max_cpu_per_job_limit, "AssocMaxCpuPerJobLimit")                    \
    X(assoc_max_cpu_minutes_per_job_limit, "AssocMaxCpuMinutesPerJobLimit")     \
    X(assoc_max_node_per_job_limit, "AssocMaxNodePerJobLimit")                  \
    X(assoc_max_wall_duration_per_job_limit, "AssocMaxWallDurationPerJobLimit") \
    X(assoc_max_submit_job_limit, "AssocMaxSubmitJobLimit")                     \
    X(job_hold_max_requeue, "JobHoldMaxRequeue")                                \
    X(job_array_task_limit, "JobArrayTaskLimit")                                \
    X(burst_buffer_resources, "BurstBufferResources")                           \
    X(burst_buffer_stage_in, "BurstBufferStageIn")                              \
    X(burst_buffer_operation, "BurstBufferOperation")                           \
    X(power_not_avail, "PowerNotAvail")                                         \
    X(power_reserved, "PowerReserved")                                          \
    X(assoc_grp_unknown, "AssocGrpUnknown")                                     \
    X(assoc_grp_unknown_minutes, "AssocGrpUnknownMinutes")                      \
    X(assoc_grp_unknown_run_minutes, "AssocGrpUnknownRunMinutes")               \
    X(assoc_max_unknown_per_job, "AssocMaxUnknownPerJob")                       \
    X(assoc_max_unknown_per_node, "AssocMaxUnknownPerNode")                     \
    X(assoc_max_unknown_minutes_per_job, "AssocMaxUnknownMinutesPerJob")        \
    X(assoc_max_cpu_per_node, "AssocMaxCpuPerNode")                             \
    X(assoc_grp_mem_minutes, "AssocGrpMemMinutes")                              \
    X(assoc_grp_mem_run_minutes, "AssocGrpMemRunMinutes")                       \
    X(assoc_max_mem_per_job, "AssocMaxMemPerJob")                               \
    X(assoc_max_mem_per_node, "AssocMaxMemPerNode")                             \
    X(assoc_max_mem_minutes_per_job, "AssocMaxMemMinutesPerJob")                \
    X(assoc_grp_node_minutes, "AssocGrpNodeMinutes")                            \
    X(assoc_grp_node_run_minutes, "AssocGrpNodeRunMinutes")                     \
    X(assoc_max_node_minutes_per_job, "AssocMaxNodeMinutesPerJob")              \
    X(assoc_grp_energy, "AssocGrpEnergy")                                       \
    X(assoc_grp_energy_minutes, "AssocGrpEnergyMinutes")                        \
    X(assoc_grp_energy_run_minutes, "AssocGrpEnergyRunMinutes")                 \
    X(assoc_max_energy_per_job, "AssocMaxEnergyPerJob")                         \
    X(assoc_max_energy_per_node, "AssocMaxEnergyPerNode")                       \
    X(assoc_max_energy_minutes_per_job, "AssocMaxEnergyMinutesPerJob")          \
    X(assoc_grp_gres, "AssocGrpGRES")                                           \
    X(assoc_grp_gres_minutes, "AssocGrpGRESMinutes")                            \
    X(assoc_grp_gres_run_minutes, "AssocGrpGRESRunMinutes")                     \
    X(assoc_max_gres_per_job, "AssocMaxGRESPerJob")                             \
    X(assoc_max_gres_per_node, "AssocMaxGRESPerNode")                           \
    X(assoc_max_gres_minutes_per_job, "AssocMaxGRESMinutesPerJob")              \
    X(assoc_grp_license, "AssocGrpLicense")                                     \
    X(assoc_grp_license_minutes, "AssocGrpLicenseMinutes")                      \
    X(assoc_grp_license_run_minutes, "AssocGrpLicenseRunMinutes")               \
    X(assoc_max_license_per_job, "AssocMaxLicensePerJob")                       \
    X(assoc_max_license_minutes_per_job, "AssocMaxLicenseMinutesPerJob")        \
    X(assoc_grp_bb, "AssocGrpBB")                                               \
    X(assoc_grp_bb_minutes, "AssocGrpBBMinutes")                                \
    X(assoc_grp_bb_run_minutes, "AssocGrpBBRunMinutes")                         \
    X(assoc_max_bb_per_job, "AssocMaxBBPerJob")                                 \
    X(assoc_max_bb_per_node, "AssocMaxBBPerNode")                               \
    X(assoc_max_bb_minutes_per_job, "AssocMaxBBMinutesPerJob")                  \
    X(qos_grp_unknown, "QOSGrpUnknown")                                         \
    X(qos_grp_unknown_minutes, "QOSGrpUnknownMinutes")                          \
    X(qos_grp_unknown_run_minutes, "QOSGrpUnknownRunMinutes")                   \
    X(qos_max_unknown_per_job, "QOSMaxUnknownPerJob")                           \
    X(qos_max_unknown_per_node, "QOSMaxUnknownPerNode")                         \
    X(qos_max_unknown_per_user, "QOSMaxUnknownPerUser")                         \
    X(qos_max_unknown_minutes_per_job, "QOSMaxUnknownMinutesPerJob")            \
    X(qos_min_unknown, "QOSMinUnknown")                                         \
    X(qos_max_cpu_per_node, "QOSMaxCpuPerNode")                                 \
    X(qos_grp_memory_minutes, "QOSGrpMemoryMinutes")                            \
    X(qos_grp_memory_run_minutes, "QOSGrpMemoryRunMinutes")                     \
    X(qos_max_memory_minutes_per_job, "QOSMaxMemoryMinutesPerJob")              \
    X(qos_max_memory_per_job, "QOSMaxMemoryPerJob")                             \
    X(qos_max_memory_per_node, "QOSMaxMemoryPerNode")                           \
    X(qos_max_memory_per_user, "QOSMaxMemoryPerUser")                           \
    X(qos_min_memory, "QOSMinMemory")                                           \
    X(qos_grp_energy, "QOSGrpEnergy")                                           \
    X(qos_grp_energy_minutes, "QOSGrpEnergyMinutes")                            \
    X(qos_grp_energy_run_minutes, "QOSGrpEnergyRunMinutes")                     \
    X(qos_max_energy_per_job, "QOSMaxEnergyPerJob")                             \
    X(qos_max_energy_per_node, "QOSMaxEnergyPerNode")                           \
    X(qos_max_energy_per_user, "QOSMaxEnergyPerUser")                           \
    X(qos_max_energy_minutes_per_job, "QOSMaxEnergyMinutesPerJob")              \
    X(qos_min_energy, "QOSMinEnergy")                                           \
    X(qos_grp_node_minutes, "QOSGrpNodeMinutes")                                \
    X(qos_grp_node_run_minutes, "QOSGrpNodeRunMinutes")                         \
    X(qos_max_node_minutes_per_job, "QOSMaxNodeMinutesPerJob")                  \
    X(qos_min_node, "QOSMinNode")                                               \
    X(qos_grp_gres, "QOSGrpGRES")                                               \
    X(qos_grp_gres_minutes, "QOSGrpGRESMinutes")                                \
    X(qos_grp_gres_run_minutes, "QOSGrpGRESRunMinutes")                         \
    X(qos_max_gres_per_job, "QOSMaxGRESPerJob")                                 \
    X(qos_max_gres_per_node, "QOSMaxGRESPerNode")                               \
    X(qos_max_gres_per_user, "QOSMaxGRESPerUser")                               \
    X(qos_max_gres_minutes_per_job, "QOSMaxGRESMinutesPerJob")                  \
    X(qos_min_gres, "QOSMinGRES")                                               \
    X(qos_grp_license, "QOSGrpLicense")                                         \
    X(qos_grp_license_minutes, "QOSGrpLicenseMinutes")                          \
    X(qos_grp_license_run_minutes, "QOSGrpLicenseRunMinutes")                   \
    X(qos_max_license_per_job, "QOSMaxLicensePerJob")                           \
    X(qos_max_license_per_user, "QOSMaxLicensePerUser")                         \
    X(qos_max_license_minutes_per_job, "QOSMaxLicenseMinutesPerJob")            \
    X(qos_min_license, "QOSMinLicense")                                         \
    X(qos_grp_bb, "QOSGrpBB")                                                   \
    X(qos_grp_bb_minutes, "QOSGrpBBMinutes")                                    \
    X(qos_grp_bb_run_minutes, "QOSGrpBBRunMinutes")                             \
    X(qos_max_bb_per_job, "QOSMaxBBPerJob")                                     \
    X(qos_max_bb_per_node, "QOSMaxBBPerNode")                                   \
    X(qos_max_bb_per_user, "QOSMaxBBPerUser")                                   \
    X(qos_max_bb_minutes_per_job, "AssocMaxBBMinutesPerJob")                    \
    X(qos_min_bb, "QOSMinBB")                                                   \
    X(deadline, "DeadLine")                                                     \
    X(max_bb_per_account, "MaxBBPerAccount")                                    \
    X(max_cpu_per_account, "MaxCpuPerAccount")                                  \
    X(max_energy_per_account, "MaxEnergyPerAccount")                            \
    X(max_gres_per_account, "MaxGRESPerAccount")                                \
    X(max_node_per_account, "MaxNodePerAccount")                                \
    X(max_license_per_account, "MaxLicensePerAccount")                          \
    X(max_memory_per_account, "MaxMemoryPerAccount")                            \
    X(max_unknown_per_account, "MaxUnknownPerAccount")                          \
    X(max_jobs_per_account, "MaxJobsPerAccount")                                \
    X(max_submit_jobs_per_account, "MaxSubmitJobsPerAccount")                   \
    X(partition_config, "PartitionConfig")                                      \
    X(accounting_policy, "AccountingPolicy")                                    \
    X(fed_job_lock, "FedJobLock")                                               \
    X(out_of_memory, "OutOfMemory")                                             \
    X(max_mem_per_limit, "MaxMemPerLimit")                                      \
    X(assoc_grp_billing, "AssocGrpBilling")                                     \
    X(assoc_grp_billing_minutes, "AssocGrpBillingMinutes")                      \
    X(assoc_grp_billing_run_minutes, "AssocGrpBillingRunMinutes")               \
    X(assoc_max_billing_per_job, "AssocMaxBillingPerJob")                       \
    X(assoc_max_billing_per_node, "AssocMaxBillingPerNode")                     \
    X(assoc_max_billing_minutes_per_job, "AssocMaxBillingMinutesPerJob")        \
    X(qos_grp_billing, "QOSGrpBilling")                                         \
    X(qos_grp_billing_minutes, "QOSGrpBillingMinutes")                          \
    X(qos_grp_billing_run_minutes, "QOSGrpBillingRunMinutes")                   \
    X(qos_max_billing_per_job, "QOSMaxBillingPerJob")                           \
    X(qos_max_billing_per_node, "QOSMaxBillingPerNode")                         \
    X(qos_max_billing_per_user, "QOSMaxBillingPerUser")                         \
    X(qos_max_billing_minutes_per_job, "QOSMaxBillingMinutesPerJob")            \
    X(max_billing_per_account, "MaxBillingPerAccount")                          \
    X(qos_min_billing, "QOSMinBilling")                                         \
    X(reservation_deleted, "ReservationDeleted")

enum class Reason : std::uint16_t {
#define SPUR_REASON_ENUMERATOR(name, text) name,
    SPUR_REASONS(SPUR_REASON_ENUMERATOR)
#undef SPUR_REASON_ENUMERATOR
};

inline constexpr std::string_view reason_names[] = {
#define SPUR_REASON_NAME(name, text) text,
    SPUR_REASONS(SPUR_REASON_NAME)
#undef SPUR_REASON_NAME
};

// Sentences that Slurm shows in place of the reason itself.
inline constexpr std::string_view requeued_in_hold = "job requeued in held state";
inline constexpr std::string_view requeued_after_failure = "launch failed requeued held";
inline constexpr std::string_view nodes_are_down =
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";
constexpr bool stands_for_reason(std::string_view text) {
    return text == requeued_in_hold || text == requeued_after_failure || text == nodes_are_down;
}

// "Priority"; "None" for a number from a newer release.
constexpr std::string_view to_string(Reason reason) {
    const auto index = static_cast<std::size_t>(reason);
    return index < std::size(reason_names) ? reason_names[index] : reason_names[0];
}

// The reason spelled `text` (the first of that spelling), if there is one.
constexpr std::optional<Reason> find_reason(std::string_view text) {
    for (std::size_t i = 0; i < std::size(reason_names); ++i)
        if (reason_names[i] == text) return static_cast<Reason>(i);
    return std::nullopt;
}

}  // namespace spur
