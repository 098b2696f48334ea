// The numbers of every stored record's fields. Append with the next number; never change, reuse or remove one.
// What follows from other records (counts, what is in use) has no number: it is worked out again after loading.
#pragma once

#include "core/model/association.hpp"
#include "core/model/config.hpp"
#include "core/model/history.hpp"
#include "core/model/job.hpp"
#include "core/model/node.hpp"
#include "core/model/partition.hpp"
#include "core/model/reservation.hpp"
#include "core/model/step.hpp"
#include "core/store/archive.hpp"

namespace spur::archive {

#define SPUR_FIELD(number, member, ...) field<number, since(number, &LastNumbers::job_spec)>(&JobSpec::member),
template <>
struct Fields<JobSpec> {
    static constexpr auto list = without_last(std::tuple{SPUR_JOB_SPEC(SPUR_FIELD, SPUR_FIELD, SPUR_FIELD) 0});
};
#undef SPUR_FIELD

template <>
struct Fields<ResourceLimit> {
    static constexpr auto list =
        std::tuple{field<1>(&ResourceLimit::name), field<2>(&ResourceLimit::soft), field<3>(&ResourceLimit::hard)};
};

template <>
struct Fields<Topology> {
    static constexpr auto list =
        std::tuple{field<1>(&Topology::boards), field<2>(&Topology::sockets), field<3>(&Topology::cores_per_socket),
                   field<4>(&Topology::threads_per_core)};
};

template <>
struct Fields<GresPool> {
    static constexpr auto list =
        std::tuple{field<1>(&GresPool::name), field<2>(&GresPool::type), field<3>(&GresPool::count),
                   field<4>(&GresPool::first_index), field<5>(&GresPool::has_devices)};
};

template <>
struct Fields<DevicePlace> {
    static constexpr auto list = std::tuple{field<1>(&DevicePlace::index), field<2>(&DevicePlace::socket),
                                            field<3>(&DevicePlace::cores), field<4>(&DevicePlace::failed)};
};

template <>
struct Fields<DeviceLink> {
    static constexpr auto list = std::tuple{field<1>(&DeviceLink::from), field<2>(&DeviceLink::to),
                                            field<3>(&DeviceLink::kind), field<4>(&DeviceLink::weight)};
};

template <>
struct Fields<GresShare> {
    static constexpr auto list =
        std::tuple{field<1>(&GresShare::name), field<2>(&GresShare::type), field<3>(&GresShare::count),
                   field<4>(&GresShare::devices), field<5>(&GresShare::per_device)};
};

template <>
struct Fields<NodeShare> {
    static constexpr auto list =
        std::tuple{field<1>(&NodeShare::node),       field<2>(&NodeShare::cores), field<3>(&NodeShare::cpus),
                   field<4>(&NodeShare::memory_mib), field<5>(&NodeShare::gres),  field<6>(&NodeShare::tasks)};
};

template <>
struct Fields<Sharing> {
    static constexpr auto list = std::tuple{field<1>(&Sharing::jobs_per_core)};
};

template <>
struct Fields<LicenseCount> {
    static constexpr auto list = std::tuple{field<1>(&LicenseCount::name), field<2>(&LicenseCount::count)};
};

template <>
struct Fields<Dependency> {
    static constexpr auto list =
        std::tuple{field<1>(&Dependency::type),      field<2>(&Dependency::job),       field<3>(&Dependency::task),
                   field<4>(&Dependency::all_tasks), field<5>(&Dependency::delay_min), field<6>(&Dependency::state)};
};

template <>
struct Fields<DependencyList> {
    static constexpr auto list = std::tuple{field<1>(&DependencyList::any), field<2>(&DependencyList::entries)};
};

template <>
struct Fields<Allocation> {
    static constexpr auto list =
        std::tuple{field<1>(&Allocation::shares),   field<2>(&Allocation::licenses),   field<3>(&Allocation::partition),
                   field<4>(&Allocation::cpus),     field<5>(&Allocation::memory_mib), field<6>(&Allocation::sharing),
                   field<7>(&Allocation::exclusive)};
};

template <>
struct Fields<Job> {
    static constexpr auto list = std::tuple{field<1>(&Job::id),
                                            field<2>(&Job::attempt),
                                            field<3>(&Job::state),
                                            field<4>(&Job::hold),
                                            field<5>(&Job::eligible),
                                            field<6>(&Job::priority_set),
                                            field<7>(&Job::reason),
                                            field<8>(&Job::flags),
                                            field<9>(&Job::priority),
                                            field<10>(&Job::restarts),
                                            field<11>(&Job::exit_status),
                                            field<12>(&Job::derived_exit_status),
                                            field<13>(&Job::time_limit_min),
                                            field<14>(&Job::suspended_s),
                                            field<15>(&Job::version),
                                            field<16>(&Job::allocation),
                                            field<17>(&Job::open_shares),
                                            field<18>(&Job::submit_time),
                                            field<19>(&Job::eligible_time),
                                            field<20>(&Job::accrue_time),
                                            field<21>(&Job::start_time),
                                            field<22>(&Job::end_time),
                                            field<23>(&Job::suspend_time),
                                            field<24>(&Job::preempt_time),
                                            field<25>(&Job::resize_time),
                                            field<26>(&Job::last_sched_eval),
                                            field<27>(&Job::pre_suspend_s),
                                            field<28>(&Job::array_job),
                                            field<29>(&Job::array_task),
                                            field<30>(&Job::array_limit),
                                            field<31>(&Job::array_pending),
                                            field<32>(&Job::het_job),
                                            field<33>(&Job::het_offset),
                                            field<34>(&Job::dependencies),
                                            field<35>(&Job::association),
                                            field<36>(&Job::cancelled_by),
                                            field<37>(&Job::failed_node),
                                            field<38>(&Job::reason_text),
                                            field<39>(&Job::scheduled_nodes),
                                            field<40>(&Job::system_comment),
                                            field<41>(&Job::cores_released),
                                            field<42>(&Job::leaving),
                                            field<43>(&Job::warned),
                                            field<44>(&Job::next_step)};
};

template <>
struct Fields<Array> {
    static constexpr auto list = std::tuple{
        field<1>(&Array::id),    field<2>(&Array::max_running), field<3>(&Array::size),   field<4>(&Array::active),
        field<5>(&Array::ended), field<6>(&Array::failed),      field<7>(&Array::version)};
};

template <>
struct Fields<StepUsage> {
    static constexpr auto list =
        std::tuple{field<1>(&StepUsage::user_us), field<2>(&StepUsage::system_us), field<3>(&StepUsage::max_rss_kib),
                   field<4>(&StepUsage::read_bytes), field<5>(&StepUsage::write_bytes)};
};

template <>
struct Fields<Step> {
    static constexpr auto list = std::tuple{field<1>(&Step::key),           field<2>(&Step::attempt),
                                            field<3>(&Step::state),         field<4>(&Step::overlap),
                                            field<5>(&Step::name),          field<6>(&Step::tasks),
                                            field<7>(&Step::cpus_per_task), field<8>(&Step::time_limit_min),
                                            field<9>(&Step::exit_status),   field<10>(&Step::start_time),
                                            field<11>(&Step::end_time),     field<12>(&Step::shares),
                                            field<13>(&Step::task_ids),     field<14>(&Step::submit_host),
                                            field<15>(&Step::version),      field<16, 3>(&Step::open_shares),
                                            field<17, 3>(&Step::cause),     field<18, 3>(&Step::usage),
                                            field<19, 3>(&Step::srun_pid),  field<20, 3>(&Step::distribution)};
};

template <>
struct Fields<StepKey> {
    static constexpr auto list = std::tuple{field<1>(&StepKey::job), field<2>(&StepKey::step)};
};

template <>
struct Fields<Node> {
    static constexpr auto list = std::tuple{field<1>(&Node::id),
                                            field<2>(&Node::name),
                                            field<3>(&Node::hostname),
                                            field<4>(&Node::addr),
                                            field<5>(&Node::port),
                                            field<6>(&Node::configured),
                                            field<7>(&Node::topology),
                                            field<8>(&Node::cpus),
                                            field<9>(&Node::memory_mib),
                                            field<10>(&Node::tmp_mib),
                                            field<11>(&Node::gres),
                                            field<12>(&Node::features),
                                            field<13>(&Node::active_features),
                                            field<14>(&Node::weight),
                                            field<15>(&Node::core_spec),
                                            field<16>(&Node::mem_spec_mib),
                                            field<17>(&Node::state),
                                            field<18>(&Node::flags),
                                            field<19>(&Node::reason),
                                            field<20>(&Node::reason_uid),
                                            field<21>(&Node::reason_time),
                                            field<22>(&Node::boot_time),
                                            field<23>(&Node::start_time),
                                            field<24>(&Node::last_busy),
                                            field<25>(&Node::boot_id),
                                            field<26>(&Node::architecture),
                                            field<27>(&Node::os),
                                            field<28>(&Node::software_version),
                                            field<29>(&Node::comment),
                                            field<30>(&Node::extra),
                                            field<31>(&Node::version),
                                            field<32>(&Node::gpu_places),
                                            field<33>(&Node::gpu_links),
                                            field<34>(&Node::spool_id),
                                            field<35>(&Node::enforced),
                                            field<36, 3>(&Node::after_reboot)};
};

template <>
struct Fields<BillingWeight> {
    static constexpr auto list = std::tuple{field<1>(&BillingWeight::tres), field<2>(&BillingWeight::weight)};
};

template <>
struct Fields<Partition> {
    static constexpr auto list = std::tuple{field<1>(&Partition::name),
                                            field<2>(&Partition::is_default),
                                            field<3>(&Partition::node_text),
                                            field<4>(&Partition::nodes),
                                            field<5>(&Partition::state),
                                            field<6>(&Partition::max_time_min),
                                            field<7>(&Partition::default_time_min),
                                            field<8>(&Partition::min_nodes),
                                            field<9>(&Partition::max_nodes),
                                            field<10>(&Partition::max_cpus_per_node),
                                            field<11>(&Partition::priority_tier),
                                            field<12>(&Partition::priority_job_factor),
                                            field<13>(&Partition::hidden),
                                            field<14>(&Partition::root_only),
                                            field<15>(&Partition::require_reservation),
                                            field<16>(&Partition::exclusive_user),
                                            field<17>(&Partition::disable_root_jobs),
                                            field<18>(&Partition::lln),
                                            field<19>(&Partition::oversubscribe),
                                            field<20>(&Partition::oversubscribe_jobs),
                                            field<21>(&Partition::preempt_mode),
                                            field<22>(&Partition::grace_time_s),
                                            field<23>(&Partition::over_time_limit_min),
                                            field<24>(&Partition::allow_groups),
                                            field<25>(&Partition::allow_accounts),
                                            field<26>(&Partition::deny_accounts),
                                            field<27>(&Partition::allow_qos),
                                            field<28>(&Partition::deny_qos),
                                            field<29>(&Partition::allow_alloc_nodes),
                                            field<30>(&Partition::qos),
                                            field<31>(&Partition::default_mem_per_cpu_mib),
                                            field<32>(&Partition::default_mem_per_node_mib),
                                            field<33>(&Partition::max_mem_per_cpu_mib),
                                            field<34>(&Partition::max_mem_per_node_mib),
                                            field<35>(&Partition::default_cpus_per_gpu),
                                            field<36>(&Partition::default_mem_per_gpu_mib),
                                            field<37>(&Partition::billing_weights),
                                            field<38>(&Partition::alternate),
                                            field<39>(&Partition::total_cpus),
                                            field<40>(&Partition::version)};
};

template <>
struct Fields<Reservation> {
    static constexpr auto list =
        std::tuple{field<1>(&Reservation::name),          field<2>(&Reservation::start_time),
                   field<3>(&Reservation::end_time),      field<4>(&Reservation::nodes),
                   field<5>(&Reservation::cores),         field<6>(&Reservation::core_count),
                   field<7>(&Reservation::features),      field<8>(&Reservation::partition),
                   field<9>(&Reservation::users),         field<10>(&Reservation::accounts),
                   field<11>(&Reservation::deny_users),   field<12>(&Reservation::deny_accounts),
                   field<13>(&Reservation::licenses),     field<14>(&Reservation::flags),
                   field<15>(&Reservation::purge_comp_s), field<16>(&Reservation::max_start_delay_s),
                   field<17>(&Reservation::comment),      field<18>(&Reservation::version),
                   field<19>(&Reservation::groups),       field<20>(&Reservation::group_members),
                   field<21>(&Reservation::idle_since)};
};

template <>
struct Fields<Account> {
    static constexpr auto list = std::tuple{field<1>(&Account::name), field<2>(&Account::description),
                                            field<3>(&Account::organization), field<4>(&Account::coordinators)};
};

template <>
struct Fields<User> {
    static constexpr auto list = std::tuple{field<1>(&User::name), field<2>(&User::default_account),
                                            field<3>(&User::default_wckey), field<4>(&User::admin_level)};
};

template <>
struct Fields<Limits> {
    static constexpr auto list = std::tuple{field<1>(&Limits::grp_jobs),
                                            field<2>(&Limits::grp_jobs_accrue),
                                            field<3>(&Limits::grp_submit_jobs),
                                            field<4>(&Limits::grp_wall_min),
                                            field<5>(&Limits::grp_tres),
                                            field<6>(&Limits::grp_tres_mins),
                                            field<7>(&Limits::grp_tres_run_mins),
                                            field<8>(&Limits::max_jobs),
                                            field<9>(&Limits::max_jobs_accrue),
                                            field<10>(&Limits::max_submit_jobs),
                                            field<11>(&Limits::max_wall_min),
                                            field<12>(&Limits::max_tres_per_job),
                                            field<13>(&Limits::max_tres_per_node),
                                            field<14>(&Limits::max_tres_mins_per_job),
                                            field<15>(&Limits::min_priority_threshold)};
};

template <>
struct Fields<TresSeconds> {
    static constexpr auto list = std::tuple{field<1>(&TresSeconds::name), field<2>(&TresSeconds::seconds)};
};

template <>
struct Fields<Usage> {
    static constexpr auto list =
        std::tuple{field<1>(&Usage::raw), field<2>(&Usage::grp_wall_s), field<3>(&Usage::tres_seconds)};
};

template <>
struct Fields<Association> {
    static constexpr auto list = std::tuple{field<1>(&Association::id),
                                            field<2>(&Association::parent),
                                            field<3>(&Association::account),
                                            field<4>(&Association::user),
                                            field<5>(&Association::partition),
                                            field<6>(&Association::shares),
                                            field<7>(&Association::shares_parent),
                                            field<8>(&Association::priority),
                                            field<9>(&Association::limits),
                                            field<10>(&Association::qos),
                                            field<11>(&Association::default_qos),
                                            field<12>(&Association::is_default),
                                            field<13>(&Association::comment),
                                            field<14>(&Association::usage),
                                            field<15>(&Association::version)};
};

template <>
struct Fields<Qos> {
    static constexpr auto list = std::tuple{field<1>(&Qos::id),
                                            field<2>(&Qos::name),
                                            field<3>(&Qos::description),
                                            field<4>(&Qos::priority),
                                            field<5>(&Qos::flags),
                                            field<6>(&Qos::grace_time_s),
                                            field<7>(&Qos::preempt_exempt_time_s),
                                            field<8>(&Qos::preempt),
                                            field<9>(&Qos::preempt_mode),
                                            field<10>(&Qos::usage_factor),
                                            field<11>(&Qos::usage_threshold),
                                            field<12>(&Qos::limits),
                                            field<13>(&Qos::max_tres_per_user),
                                            field<14>(&Qos::max_tres_per_account),
                                            field<15>(&Qos::max_jobs_per_account),
                                            field<16>(&Qos::max_submit_jobs_per_account),
                                            field<17>(&Qos::min_tres_per_job),
                                            field<18>(&Qos::usage),
                                            field<19>(&Qos::version),
                                            field<20>(&Qos::limit_factor),
                                            field<21>(&Qos::max_jobs_accrue_per_account)};
};

template <>
struct Fields<Era> {
    static constexpr auto list = std::tuple{field<1>(&Era::number), field<2>(&Era::mark), field<3>(&Era::version)};
};

template <>
struct Fields<History> {
    static constexpr auto list =
        std::tuple{field<1>(&History::id), field<2>(&History::eras), field<3>(&History::step_keys)};
};

}  // namespace spur::archive
