// Why Slurm refuses a request: its number and its sentence for each reason. Programs look for either, so both are
// Slurm's, and the number travels beside the sentence in every answer that refuses.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace spur {

struct Refusal {
    std::string_view name;  // in slurm_errno.h
    std::uint16_t number;
    ErrorCode code;
    std::string_view sentence;

    operator Error() const { return as(code); }  // fail(refusal::denied)
    // What follows the sentence, its punctuation included: refusal::denied.with(": {}", why).
    template <class... Args>
    [[nodiscard]] Error with(fmt::format_string<Args...> detail, Args&&... args) const {
        return as(code, detail, std::forward<Args>(args)...);
    }
    template <class... Args>
    [[nodiscard]] Error as(ErrorCode other, fmt::format_string<Args...> detail = "", Args&&... args) const {
        return {other, std::string{sentence} + fmt::format(detail, std::forward<Args>(args)...), number};
    }
    // A line of its own before the sentence, as Slurm's commands print it.
    [[nodiscard]] Error below(std::string_view detail) const {
        return {code, fmt::format("{}\n{}", detail, sentence), number};
    }
};

namespace refusal {

// our name, Slurm's name, its number, our code, Slurm's sentence
#define SPUR_REFUSALS(ROW)                                                                                             \
    ROW(not_authentic, SLURM_PROTOCOL_AUTHENTICATION_ERROR, 1007, denied, "Protocol authentication error")             \
    ROW(no_contact, SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, 1800, unavailable,                                      \
        "Unable to contact slurm controller (connect failure)")                                                        \
    ROW(invalid_partition, ESLURM_INVALID_PARTITION_NAME, 2000, invalid, "Invalid partition name specified")           \
    ROW(no_default_partition, ESLURM_DEFAULT_PARTITION_NOT_SET, 2001, invalid,                                         \
        "No partition specified or system default partition")                                                          \
    ROW(denied, ESLURM_ACCESS_DENIED, 2002, denied, "Access/permission denied")                                        \
    ROW(group_denied, ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP, 2003, denied,                                       \
        "User's group not permitted to use this partition")                                                            \
    ROW(too_many_cpus, ESLURM_TOO_MANY_REQUESTED_CPUS, 2005, invalid, "More processors requested than permitted")      \
    ROW(node_count, ESLURM_INVALID_NODE_COUNT, 2006, invalid, "Node count specification invalid")                      \
    ROW(no_record, ESLURM_ERROR_ON_DESC_TO_RECORD_COPY, 2007, invalid, "Unable to create job record, try again")       \
    ROW(no_script, ESLURM_JOB_SCRIPT_MISSING, 2009, invalid, "Job script not specified")                               \
    ROW(invalid_user, ESLURM_USER_ID_MISSING, 2010, denied, "Invalid user id")                                         \
    ROW(path_too_long, ESLURM_PATHNAME_TOO_LONG, 2012, invalid,                                                        \
        "Pathname of a file, directory or other parameter too long")                                                   \
    ROW(not_top_priority, ESLURM_NOT_TOP_PRIORITY, 2013, conflict,                                                     \
        "Immediate execution impossible, insufficient priority")                                                       \
    ROW(node_config, ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE, 2014, invalid,                                          \
        "Requested node configuration is not available")                                                               \
    ROW(partition_config, ESLURM_REQUESTED_PART_CONFIG_UNAVAILABLE, 2015, conflict,                                    \
        "Requested partition configuration not available now")                                                         \
    ROW(nodes_busy, ESLURM_NODES_BUSY, 2016, conflict, "Requested nodes are busy")                                     \
    ROW(invalid_job_id, ESLURM_INVALID_JOB_ID, 2017, not_found, "Invalid job id specified")                            \
    ROW(invalid_node, ESLURM_INVALID_NODE_NAME, 2018, invalid, "Invalid node name specified")                          \
    ROW(already_done, ESLURM_ALREADY_DONE, 2021, conflict, "Job/step already completing or completed")                 \
    ROW(bad_distribution, ESLURM_BAD_DIST, 2023, invalid, "Task distribution specification invalid")                   \
    ROW(job_pending, ESLURM_JOB_PENDING, 2024, conflict, "Job is pending execution")                                   \
    ROW(bad_task_count, ESLURM_BAD_TASK_COUNT, 2025, invalid, "Task count specification invalid")                      \
    ROW(invalid_node_state, ESLURM_INVALID_NODE_STATE, 2028, conflict, "Invalid node state specified")                 \
    ROW(invalid_feature, ESLURM_INVALID_FEATURE, 2029, invalid, "Invalid feature specification")                       \
    ROW(feature_not_available, ESLURM_ACTIVE_FEATURE_NOT_SUBSET, 2031, invalid,                                        \
        "Active features not subset of available features")                                                            \
    ROW(not_supported, ESLURM_NOT_SUPPORTED, 2036, invalid, "Requested operation not supported on this system")        \
    ROW(disabled, ESLURM_DISABLED, 2037, conflict, "Requested operation is presently disabled")                        \
    ROW(dependency_problem, ESLURM_DEPENDENCY, 2038, invalid, "Job dependency problem")                                \
    ROW(batch_only, ESLURM_BATCH_ONLY, 2039, conflict, "Only batch jobs are accepted or processed")                    \
    ROW(job_held, ESLURM_JOB_HELD, 2042, conflict, "Job is in held state, pending scheduler release")                  \
    ROW(no_memory_left, ESLURM_INVALID_TASK_MEMORY, 2044, invalid, "Memory required by task is not available")         \
    ROW(invalid_account, ESLURM_INVALID_ACCOUNT, 2045, invalid,                                                        \
        "Invalid account or account/partition combination specified")                                                  \
    ROW(invalid_license, ESLURM_INVALID_LICENSES, 2048, invalid, "Invalid license specification")                      \
    ROW(policy, ESLURM_ACCOUNTING_POLICY, 2050, limit,                                                                 \
        "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)")                       \
    ROW(invalid_time_limit, ESLURM_INVALID_TIME_LIMIT, 2051, invalid,                                                  \
        "Requested time limit is invalid (missing or exceeds some limit)")                                             \
    ROW(reservation_denied, ESLURM_RESERVATION_ACCESS, 2052, denied, "Access denied to requested reservation")         \
    ROW(invalid_reservation, ESLURM_RESERVATION_INVALID, 2053, not_found, "Requested reservation is invalid")          \
    ROW(invalid_time, ESLURM_INVALID_TIME_VALUE, 2054, invalid, "Invalid time specified")                              \
    ROW(reservation_busy, ESLURM_RESERVATION_BUSY, 2055, conflict, "Requested reservation is in use")                  \
    ROW(reservation_overlap, ESLURM_RESERVATION_OVERLAP, 2058, conflict,                                               \
        "Requested reservation overlaps with another reservation")                                                     \
    ROW(invalid_qos, ESLURM_INVALID_QOS, 2066, invalid, "Invalid qos specification")                                   \
    ROW(cpu_count, ESLURM_INVALID_CPU_COUNT, 2069, invalid, "CPU count specification invalid")                         \
    ROW(partition_down, ESLURM_PARTITION_NOT_AVAIL, 2070, conflict,                                                    \
        "Required partition not available (inactive or drain)")                                                        \
    ROW(circular_dependency, ESLURM_CIRCULAR_DEPENDENCY, 2071, invalid, "Circular job dependency")                     \
    ROW(invalid_gres, ESLURM_INVALID_GRES, 2072, invalid, "Invalid generic resource (gres) specification")             \
    ROW(not_pending, ESLURM_JOB_NOT_PENDING, 2073, conflict, "Job is no longer pending execution")                     \
    ROW(partition_in_use, ESLURM_PARTITION_IN_USE, 2075, conflict, "Partition is in use")                              \
    ROW(step_limit, ESLURM_STEP_LIMIT, 2076, limit, "Step limit reached for this job")                                 \
    ROW(job_suspended, ESLURM_JOB_SUSPENDED, 2077, conflict, "Job is current suspended, requested operation disabled") \
    ROW(reservation_empty, ESLURM_RESERVATION_EMPTY, 2080, invalid,                                                    \
        "Reservation request lacks users, groups or accounts")                                                         \
    ROW(invalid_array, ESLURM_INVALID_ARRAY, 2081, invalid, "Invalid job array specification")                         \
    ROW(duplicate_reservation, ESLURM_RESERVATION_NAME_DUP, 2082, conflict, "Duplicate reservation name")              \
    ROW(finished, ESLURM_JOB_FINISHED, 2084, conflict, "Job has already finished")                                     \
    ROW(not_running, ESLURM_JOB_NOT_RUNNING, 2085, conflict, "Job is not running")                                     \
    ROW(not_suspended, ESLURM_JOB_NOT_SUSPENDED, 2087, conflict, "Job is not suspended")                               \
    ROW(reservation_started, ESLURM_RSV_ALREADY_STARTED, 2104, invalid, "Reservation already started")                 \
    ROW(het_component, ESLURM_NOT_WHOLE_HET_JOB, 2108, conflict,                                                       \
        "Operation not permitted on individual component of heterogeneous job")                                        \
    ROW(core_reservation, ESLURM_CORE_RESERVATION_UPDATE, 2109, invalid, "Core-based reservation can not be updated")  \
    ROW(duplicate_step, ESLURM_DUPLICATE_STEP_ID, 2110, conflict, "Duplicate job step id")                             \
    ROW(invalid_group, ESLURM_GROUP_ID_MISSING, 2113, denied, "Invalid group id")                                      \
    ROW(invalid_tres, ESLURM_INVALID_TRES, 2115, invalid, "Invalid Trackable RESource (TRES) specification")           \
    ROW(gres_type_mixed, ESLURM_INVALID_GRES_TYPE, 2119, invalid,                                                      \
        "Invalid GRES specification (with and without type identification)")                                           \
    ROW(invalid_nice, ESLURM_INVALID_NICE, 2123, invalid, "Invalid --nice value")                                      \
    ROW(invalid_time_min, ESLURM_INVALID_TIME_MIN_LIMIT, 2124, invalid,                                                \
        "Invalid time-min specification (exceeds job's time or other limits)")                                         \
    ROW(users_and_groups, ESLURM_RESERVATION_USER_GROUP, 2129, invalid,                                                \
        "Reservations can't have users and groups specified, only one or the other")                                   \
    ROW(no_gres_left, ESLURM_INSUFFICIENT_GRES, 2134, invalid, "Insufficient GRES available in allocation")            \
    ROW(kill_failed, ESLURMD_KILL_TASK_FAILED, 4001, internal, "Kill task failed")                                     \
    ROW(prolog_failed, ESLURMD_PROLOG_FAILED, 4022, internal, "Job prolog failed")                                     \
    ROW(cpu_bind, ESLURMD_CPU_BIND_ERROR, 4032, invalid, "Unable to satisfy cpu bind request")                         \
    ROW(timed_out, SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, 5004, unavailable, "Socket timed out on send/recv operation")   \
    ROW(association_in_use, ESLURM_JOBS_RUNNING_ON_ASSOC, 7001, conflict,                                              \
        "Job(s) active, cancel job(s) before remove")                                                                  \
    ROW(default_account, ESLURM_NO_REMOVE_DEFAULT_ACCOUNT, 7009, conflict,                                             \
        "You can not remove the default account of a user")

#define SPUR_REFUSAL(ours, name, number, code, sentence) \
    inline constexpr Refusal ours{#name, number, ErrorCode::code, sentence};
SPUR_REFUSALS(SPUR_REFUSAL)
#undef SPUR_REFUSAL

#define SPUR_REFUSAL(ours, name, number, code, sentence) &ours,
inline constexpr const Refusal* all[] = {SPUR_REFUSALS(SPUR_REFUSAL)};
#undef SPUR_REFUSAL
#undef SPUR_REFUSALS

}  // namespace refusal
}  // namespace spur
