// The fields of every stored record, numbered by their place: append, and never move, reuse or remove one. What follows
// from other records (counts, what is in use) has no number: it is worked out again after loading.
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

#define SPUR_FIELD(number, member, ...) field<number, version_of(number, &LastNumbers::job_spec)>(&JobSpec::member),
template <>
inline constexpr auto fields_of<JobSpec> = FieldList{SPUR_JOB_SPEC(SPUR_FIELD, SPUR_FIELD, SPUR_FIELD)};
#undef SPUR_FIELD

template <>
inline constexpr auto fields_of<ResourceLimit> =
    numbered(&ResourceLimit::name, &ResourceLimit::soft, &ResourceLimit::hard);

template <>
inline constexpr auto fields_of<Topology> =
    numbered(&Topology::boards, &Topology::sockets, &Topology::cores_per_socket, &Topology::threads_per_core);

template <>
inline constexpr auto fields_of<GresPool> =
    numbered(&GresPool::name, &GresPool::type, &GresPool::count, &GresPool::first_index, &GresPool::has_devices);

template <>
inline constexpr auto fields_of<DevicePlace> =
    numbered(&DevicePlace::index, &DevicePlace::socket, &DevicePlace::cores, &DevicePlace::failed);

template <>
inline constexpr auto fields_of<DeviceLink> =
    numbered(&DeviceLink::from, &DeviceLink::to, &DeviceLink::kind, &DeviceLink::weight);

template <>
inline constexpr auto fields_of<GresShare> =
    numbered(&GresShare::name, &GresShare::type, &GresShare::count, &GresShare::devices, &GresShare::per_device);

template <>
inline constexpr auto fields_of<NodeShare> = numbered(&NodeShare::node, &NodeShare::cores, &NodeShare::cpus,
                                                      &NodeShare::memory_mib, &NodeShare::gres, &NodeShare::tasks);

template <>
inline constexpr auto fields_of<Sharing> = numbered(&Sharing::jobs_per_core);

template <>
inline constexpr auto fields_of<LicenseCount> = numbered(&LicenseCount::name, &LicenseCount::count);

template <>
inline constexpr auto fields_of<Dependency> =
    numbered(&Dependency::type, &Dependency::job, &Dependency::task, &Dependency::all_tasks, &Dependency::delay_min,
             &Dependency::state);

template <>
inline constexpr auto fields_of<DependencyList> = numbered(&DependencyList::any, &DependencyList::entries);

template <>
inline constexpr auto fields_of<Allocation> =
    numbered(&Allocation::shares, &Allocation::licenses, &Allocation::partition, &Allocation::cpus,
             &Allocation::memory_mib, &Allocation::sharing, &Allocation::exclusive);

template <>
inline constexpr auto fields_of<Job> = numbered(
    &Job::id, &Job::attempt, &Job::state, &Job::hold, &Job::eligible, &Job::priority_set, &Job::reason, &Job::flags,
    &Job::priority, &Job::restarts, &Job::exit_status, &Job::derived_exit_status, &Job::time_limit_min,
    &Job::suspended_s, &Job::version, &Job::allocation, &Job::open_shares, &Job::submit_time, &Job::eligible_time,
    &Job::accrue_time, &Job::start_time, &Job::end_time, &Job::suspend_time, &Job::preempt_time, &Job::resize_time,
    &Job::last_sched_eval, &Job::pre_suspend_s, &Job::array_job, &Job::array_task, &Job::array_limit,
    &Job::array_pending, &Job::het_job, &Job::het_offset, &Job::dependencies, &Job::association, &Job::cancelled_by,
    &Job::failed_node, &Job::reason_text, &Job::scheduled_nodes, &Job::system_comment, &Job::cores_released,
    &Job::leaving, &Job::warned, &Job::next_step);

template <>
inline constexpr auto fields_of<Array> = numbered(&Array::id, &Array::max_running, &Array::size, &Array::active,
                                                  &Array::ended, &Array::failed, &Array::version);

template <>
inline constexpr auto fields_of<TaskExtreme> =
    numbered(since<3>(&TaskExtreme::value), since<3>(&TaskExtreme::node), since<3>(&TaskExtreme::task));

template <>
inline constexpr auto fields_of<MeasuredUse> =
    numbered(since<3>(&MeasuredUse::total), since<3>(&MeasuredUse::max), since<3>(&MeasuredUse::min));

template <>
inline constexpr auto fields_of<StepUsage> =
    numbered(&StepUsage::user_us, &StepUsage::system_us, &StepUsage::max_rss_kib, &StepUsage::read_bytes,
             &StepUsage::write_bytes, since<3>(&StepUsage::tasks), since<3>(&StepUsage::measured));

template <>
inline constexpr auto fields_of<Step> =
    numbered(&Step::key, &Step::attempt, &Step::state, &Step::overlap, &Step::name, &Step::tasks, &Step::cpus_per_task,
             &Step::time_limit_min, &Step::exit_status, &Step::start_time, &Step::end_time, &Step::shares,
             &Step::task_ids, &Step::submit_host, &Step::version, since<3>(&Step::open_shares), since<3>(&Step::cause),
             since<3>(&Step::usage), since<3>(&Step::srun_pid), since<3>(&Step::distribution));

template <>
inline constexpr auto fields_of<StepKey> = numbered(&StepKey::job, &StepKey::step);

template <>
inline constexpr auto fields_of<Node> = numbered(
    &Node::id, &Node::name, &Node::hostname, &Node::addr, &Node::port, &Node::configured, &Node::topology, &Node::cpus,
    &Node::memory_mib, &Node::tmp_mib, &Node::gres, &Node::features, &Node::active_features, &Node::weight,
    &Node::core_spec, &Node::mem_spec_mib, &Node::state, &Node::flags, &Node::reason, &Node::reason_uid,
    &Node::reason_time, &Node::boot_time, &Node::start_time, &Node::last_busy, &Node::boot_id, &Node::architecture,
    &Node::os, &Node::software_version, &Node::comment, &Node::extra, &Node::version, &Node::gpu_places,
    &Node::gpu_links, &Node::spool_id, &Node::enforced, since<3>(&Node::after_reboot));

template <>
inline constexpr auto fields_of<BillingWeight> = numbered(&BillingWeight::tres, &BillingWeight::weight);

template <>
inline constexpr auto fields_of<Partition> =
    numbered(&Partition::name, &Partition::is_default, &Partition::node_text, &Partition::nodes, &Partition::state,
             &Partition::max_time_min, &Partition::default_time_min, &Partition::min_nodes, &Partition::max_nodes,
             &Partition::max_cpus_per_node, &Partition::priority_tier, &Partition::priority_job_factor,
             &Partition::hidden, &Partition::root_only, &Partition::require_reservation, &Partition::exclusive_user,
             &Partition::disable_root_jobs, &Partition::lln, &Partition::oversubscribe, &Partition::oversubscribe_jobs,
             &Partition::preempt_mode, &Partition::grace_time_s, &Partition::over_time_limit_min,
             &Partition::allow_groups, &Partition::allow_accounts, &Partition::deny_accounts, &Partition::allow_qos,
             &Partition::deny_qos, &Partition::allow_alloc_nodes, &Partition::qos, &Partition::default_mem_per_cpu_mib,
             &Partition::default_mem_per_node_mib, &Partition::max_mem_per_cpu_mib, &Partition::max_mem_per_node_mib,
             &Partition::default_cpus_per_gpu, &Partition::default_mem_per_gpu_mib, &Partition::billing_weights,
             &Partition::alternate, &Partition::total_cpus, &Partition::version);

template <>
inline constexpr auto fields_of<Reservation> = numbered(
    &Reservation::name, &Reservation::start_time, &Reservation::end_time, &Reservation::nodes, &Reservation::cores,
    &Reservation::core_count, &Reservation::features, &Reservation::partition, &Reservation::users,
    &Reservation::accounts, &Reservation::deny_users, &Reservation::deny_accounts, &Reservation::licenses,
    &Reservation::flags, &Reservation::purge_comp_s, &Reservation::max_start_delay_s, &Reservation::comment,
    &Reservation::version, &Reservation::groups, &Reservation::group_members, &Reservation::idle_since);

template <>
inline constexpr auto fields_of<Account> =
    numbered(&Account::name, &Account::description, &Account::organization, &Account::coordinators);

template <>
inline constexpr auto fields_of<User> =
    numbered(&User::name, &User::default_account, &User::default_wckey, &User::admin_level);

template <>
inline constexpr auto fields_of<Limits> =
    numbered(&Limits::grp_jobs, &Limits::grp_jobs_accrue, &Limits::grp_submit_jobs, &Limits::grp_wall_min,
             &Limits::grp_tres, &Limits::grp_tres_mins, &Limits::grp_tres_run_mins, &Limits::max_jobs,
             &Limits::max_jobs_accrue, &Limits::max_submit_jobs, &Limits::max_wall_min, &Limits::max_tres_per_job,
             &Limits::max_tres_per_node, &Limits::max_tres_mins_per_job, &Limits::min_priority_threshold);

template <>
inline constexpr auto fields_of<TresSeconds> = numbered(&TresSeconds::name, &TresSeconds::seconds);

template <>
inline constexpr auto fields_of<Usage> = numbered(&Usage::raw, &Usage::grp_wall_s, &Usage::tres_seconds);

template <>
inline constexpr auto fields_of<Association> =
    numbered(&Association::id, &Association::parent, &Association::account, &Association::user, &Association::partition,
             &Association::shares, &Association::shares_parent, &Association::priority, &Association::limits,
             &Association::qos, &Association::default_qos, &Association::is_default, &Association::comment,
             &Association::usage, &Association::version);

template <>
inline constexpr auto fields_of<Qos> =
    numbered(&Qos::id, &Qos::name, &Qos::description, &Qos::priority, &Qos::flags, &Qos::grace_time_s,
             &Qos::preempt_exempt_time_s, &Qos::preempt, &Qos::preempt_mode, &Qos::usage_factor, &Qos::usage_threshold,
             &Qos::limits, &Qos::max_tres_per_user, &Qos::max_tres_per_account, &Qos::max_jobs_per_account,
             &Qos::max_submit_jobs_per_account, &Qos::min_tres_per_job, &Qos::usage, &Qos::version, &Qos::limit_factor,
             &Qos::max_jobs_accrue_per_account);

template <>
inline constexpr auto fields_of<Era> = numbered(&Era::number, &Era::mark, &Era::version);

template <>
inline constexpr auto fields_of<History> = numbered(&History::id, &History::eras, &History::step_keys);

}  // namespace spur::archive
