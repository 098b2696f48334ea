// Which fields the configuration's records have in logs and snapshots, and under which numbers. See fields.hpp.
#pragma once

#include "core/model/config.hpp"
#include "core/store/fields.hpp"

namespace spur::archive {

template <>
struct Fields<NodeConfig> {
    static constexpr auto list = std::tuple{
        field<1>(&NodeConfig::names),         field<2>(&NodeConfig::addr),     field<3>(&NodeConfig::hostname),
        field<4>(&NodeConfig::port),          field<5>(&NodeConfig::topology), field<6>(&NodeConfig::cpus),
        field<7>(&NodeConfig::memory_mib),    field<8>(&NodeConfig::tmp_mib),  field<9>(&NodeConfig::gres),
        field<10>(&NodeConfig::features),     field<11>(&NodeConfig::weight),  field<12>(&NodeConfig::core_spec),
        field<13>(&NodeConfig::mem_spec_mib), field<14>(&NodeConfig::state),   field<15>(&NodeConfig::state_flags),
        field<16>(&NodeConfig::reason),       field<17>(&NodeConfig::comment)};
};

template <>
struct Fields<Policies> {
    static constexpr auto list = std::tuple{field<1>(&Policies::first_job_id),
                                            field<2>(&Policies::max_job_id),
                                            field<3>(&Policies::max_job_count),
                                            field<4>(&Policies::max_array_size),
                                            field<5>(&Policies::max_step_count),
                                            field<6>(&Policies::max_tasks_per_node),
                                            field<7>(&Policies::min_job_age_s),
                                            field<8>(&Policies::over_time_limit_min),
                                            field<9>(&Policies::kill_wait_s),
                                            field<10>(&Policies::inactive_limit_s),
                                            field<11>(&Policies::batch_start_timeout_s),
                                            field<12>(&Policies::job_requeue),
                                            field<13>(&Policies::max_batch_requeue),
                                            field<14>(&Policies::kill_on_invalid_dependency),
                                            field<15>(&Policies::return_to_service),
                                            field<16>(&Policies::enforce_part_limits),
                                            field<17>(&Policies::enforce),
                                            field<18>(&Policies::preempt_mode),
                                            field<19>(&Policies::preempt_exempt_time_s),
                                            field<20>(&Policies::default_mem_per_cpu_mib),
                                            field<21>(&Policies::default_mem_per_node_mib),
                                            field<22>(&Policies::max_mem_per_cpu_mib),
                                            field<23>(&Policies::max_mem_per_node_mib),
                                            field<24>(&Policies::track_memory),
                                            field<25>(&Policies::disable_root_jobs),
                                            field<26>(&Policies::requeue_exit),
                                            field<27>(&Policies::requeue_exit_hold),
                                            field<28>(&Policies::default_time_min),
                                            field<29>(&Policies::usage_half_life_s),
                                            field<30>(&Policies::config_overrides),
                                            field<31>(&Policies::keep_outbox),
                                            field<32>(&Policies::bill_highest_only),
                                            field<33>(&Policies::preempt_type),
                                            field<34>(&Policies::max_switch_wait_s),
                                            field<35>(&Policies::resv_over_run_min),
                                            field<36, 2>(&Policies::max_stored_per_user_mib),
                                            field<37, 2>(&Policies::private_data)};
};

template <>
struct Fields<SwitchConfig> {
    static constexpr auto list =
        std::tuple{field<1>(&SwitchConfig::name), field<2>(&SwitchConfig::nodes), field<3>(&SwitchConfig::switches)};
};

template <>
struct Fields<ClusterConfig> {
    static constexpr auto list = std::tuple{field<1>(&ClusterConfig::cluster_name), field<2>(&ClusterConfig::nodes),
                                            field<3>(&ClusterConfig::partitions),   field<4>(&ClusterConfig::licenses),
                                            field<5>(&ClusterConfig::policies),     field<6>(&ClusterConfig::switches)};
};

}  // namespace spur::archive
