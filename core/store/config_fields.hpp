// Which fields the configuration's records have in logs and snapshots, and under which numbers. See fields.hpp.
#pragma once

#include "core/model/config.hpp"
#include "core/store/fields.hpp"

namespace spur::archive {

template <>
inline constexpr auto fields_of<NodeConfig> =
    numbered(&NodeConfig::names, &NodeConfig::addr, &NodeConfig::hostname, &NodeConfig::port, &NodeConfig::topology,
             &NodeConfig::cpus, &NodeConfig::memory_mib, &NodeConfig::tmp_mib, &NodeConfig::gres, &NodeConfig::features,
             &NodeConfig::weight, &NodeConfig::core_spec, &NodeConfig::mem_spec_mib, &NodeConfig::state,
             &NodeConfig::state_flags, &NodeConfig::reason, &NodeConfig::comment);

template <>
inline constexpr auto fields_of<Policies> = numbered(
    &Policies::first_job_id, &Policies::max_job_id, &Policies::max_job_count, &Policies::max_array_size,
    &Policies::max_step_count, &Policies::max_tasks_per_node, &Policies::min_job_age_s, &Policies::over_time_limit_min,
    &Policies::kill_wait_s, &Policies::inactive_limit_s, &Policies::batch_start_timeout_s, &Policies::job_requeue,
    &Policies::max_batch_requeue, &Policies::kill_on_invalid_dependency, &Policies::return_to_service,
    &Policies::enforce_part_limits, &Policies::enforce, &Policies::preempt_mode, &Policies::preempt_exempt_time_s,
    &Policies::default_mem_per_cpu_mib, &Policies::default_mem_per_node_mib, &Policies::max_mem_per_cpu_mib,
    &Policies::max_mem_per_node_mib, &Policies::track_memory, &Policies::disable_root_jobs, &Policies::requeue_exit,
    &Policies::requeue_exit_hold, &Policies::default_time_min, &Policies::usage_half_life_s,
    &Policies::config_overrides, &Policies::keep_outbox, &Policies::bill_highest_only, &Policies::preempt_type,
    &Policies::max_switch_wait_s, &Policies::resv_over_run_min, since<2>(&Policies::max_stored_per_user_mib),
    since<2>(&Policies::private_data));

template <>
inline constexpr auto fields_of<SwitchConfig> =
    numbered(&SwitchConfig::name, &SwitchConfig::nodes, &SwitchConfig::switches);

template <>
inline constexpr auto fields_of<ClusterConfig> =
    numbered(&ClusterConfig::cluster_name, &ClusterConfig::nodes, &ClusterConfig::partitions, &ClusterConfig::licenses,
             &ClusterConfig::policies, &ClusterConfig::switches);

}  // namespace spur::archive
