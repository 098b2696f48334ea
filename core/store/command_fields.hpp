// The fields of every command, numbered by their place: append, and never move, reuse or remove one.
#pragma once

#include "core/machine/command.hpp"
#include "core/store/config_fields.hpp"
#include "core/store/fields.hpp"

namespace spur::archive {

template <>
inline constexpr auto fields_of<JobRef> =
    numbered(&JobRef::job, &JobRef::all_tasks, &JobRef::tasks, &JobRef::component, &JobRef::step);

template <>
inline constexpr auto fields_of<Actor> = numbered(&Actor::uid, &Actor::level, &Actor::name);

template <>
inline constexpr auto fields_of<OwnerGroups> = numbered(&OwnerGroups::names, &OwnerGroups::exempt);

template <>
inline constexpr auto fields_of<ApplyConfig> = numbered(&ApplyConfig::config, since<2>(&ApplyConfig::digest));

template <>
inline constexpr auto fields_of<Tick> = numbered();

template <>
inline constexpr auto fields_of<PruneJobs> = numbered(&PruneJobs::ended_before);

template <>
inline constexpr auto fields_of<SubmitJob> =
    numbered(&SubmitJob::components, &SubmitJob::actor, &SubmitJob::request_id);

template <>
inline constexpr auto fields_of<Placement> = numbered(&Placement::job, &Placement::array_task, &Placement::partition,
                                                      &Placement::shares, &Placement::time_limit_min);

template <>
inline constexpr auto fields_of<StartJob> = numbered(&StartJob::parts);

template <>
inline constexpr auto fields_of<JobLaunched> = numbered(&JobLaunched::job, &JobLaunched::attempt);

template <>
inline constexpr auto fields_of<FinishJob> =
    numbered(&FinishJob::job, &FinishJob::attempt, &FinishJob::cause, &FinishJob::exit_status, &FinishJob::node,
             &FinishJob::node_done, &FinishJob::detail, &FinishJob::must_hold, since<3>(&FinishJob::usage));

template <>
inline constexpr auto fields_of<NodeJobDone> =
    numbered(&NodeJobDone::job, &NodeJobDone::attempt, &NodeJobDone::nodes, &NodeJobDone::epilog_failed);

template <>
inline constexpr auto fields_of<CancelJob> = numbered(&CancelJob::job, &CancelJob::actor);

template <>
inline constexpr auto fields_of<SignalJob> =
    numbered(&SignalJob::job, &SignalJob::signal, &SignalJob::batch_only, &SignalJob::full, &SignalJob::actor);

template <>
inline constexpr auto fields_of<HoldJob> = numbered(&HoldJob::job, &HoldJob::actor, &HoldJob::as_user);

template <>
inline constexpr auto fields_of<ReleaseJob> = numbered(&ReleaseJob::job, &ReleaseJob::actor);

template <>
inline constexpr auto fields_of<RequeueJob> =
    numbered(&RequeueJob::job, &RequeueJob::actor, &RequeueJob::hold, &RequeueJob::special_exit);

template <>
inline constexpr auto fields_of<SuspendJob> = numbered(&SuspendJob::job, &SuspendJob::actor);

template <>
inline constexpr auto fields_of<ResumeJob> = numbered(&ResumeJob::job, &ResumeJob::actor);

template <>
inline constexpr auto fields_of<PreemptJob> =
    numbered(&PreemptJob::job, &PreemptJob::attempt, &PreemptJob::mode, &PreemptJob::preemptor);

#define SPUR_FIELD(number, member, ...) \
    field<number, version_of(number, &LastNumbers::job_changes)>(&JobChanges::member),
template <>
inline constexpr auto fields_of<JobChanges> = FieldList{SPUR_JOB_CHANGES(SPUR_FIELD, SPUR_FIELD)};
#undef SPUR_FIELD

template <>
inline constexpr auto fields_of<UpdateJob> =
    numbered(&UpdateJob::job, &UpdateJob::changes, &UpdateJob::actor, since<2>(&UpdateJob::recheck),
             since<2>(&UpdateJob::owner_groups));

template <>
inline constexpr auto fields_of<TopJob> = numbered(&TopJob::job, &TopJob::actor);

template <>
inline constexpr auto fields_of<PendingNote> =
    numbered(&PendingNote::job, &PendingNote::reason, &PendingNote::reason_text, &PendingNote::priority,
             &PendingNote::expected_start, &PendingNote::expected_nodes);

template <>
inline constexpr auto fields_of<SetPending> = numbered(&SetPending::notes);

template <>
inline constexpr auto fields_of<CreateStep> =
    numbered(&CreateStep::job, &CreateStep::attempt, &CreateStep::id, &CreateStep::name, &CreateStep::tasks,
             &CreateStep::cpus_per_task, &CreateStep::time_limit_min, &CreateStep::overlap, &CreateStep::shares,
             &CreateStep::task_ids, &CreateStep::submit_host, &CreateStep::actor, since<3>(&CreateStep::srun_pid),
             since<3>(&CreateStep::distribution));

template <>
inline constexpr auto fields_of<FinishStep> = numbered(&FinishStep::key, &FinishStep::attempt, &FinishStep::cause,
                                                       &FinishStep::exit_status, &FinishStep::usage, &FinishStep::node);

template <>
inline constexpr auto fields_of<StepNodeDone> =
    numbered(since<3>(&StepNodeDone::key), since<3>(&StepNodeDone::attempt), since<3>(&StepNodeDone::nodes),
             since<3>(&StepNodeDone::cause), since<3>(&StepNodeDone::exit_status), since<3>(&StepNodeDone::usage));

template <>
inline constexpr auto fields_of<HeldStep> =
    numbered(&HeldStep::job, &HeldStep::attempt, &HeldStep::step, since<2>(&HeldStep::start_time));

template <>
inline constexpr auto fields_of<SeenHistory> =
    numbered(&SeenHistory::id, &SeenHistory::era, &SeenHistory::mark, &SeenHistory::version, &SeenHistory::job);

template <>
inline constexpr auto fields_of<NodeRegistered> = numbered(
    &NodeRegistered::node, &NodeRegistered::topology, &NodeRegistered::cpus, &NodeRegistered::memory_mib,
    &NodeRegistered::tmp_mib, &NodeRegistered::gres, &NodeRegistered::boot_id, &NodeRegistered::boot_time,
    &NodeRegistered::start_time, &NodeRegistered::addr, &NodeRegistered::hostname, &NodeRegistered::architecture,
    &NodeRegistered::os, &NodeRegistered::software_version, &NodeRegistered::held, &NodeRegistered::gpu_places,
    &NodeRegistered::gpu_links, since<2>(&NodeRegistered::seen), &NodeRegistered::spool_id, &NodeRegistered::enforced,
    &NodeRegistered::unfit);

template <>
inline constexpr auto fields_of<NodeSilent> = numbered(&NodeSilent::node);

template <>
inline constexpr auto fields_of<NodeLost> = numbered(&NodeLost::node, &NodeLost::reason);

template <>
inline constexpr auto fields_of<UpdateNode> =
    numbered(&UpdateNode::nodes, &UpdateNode::action, &UpdateNode::reason, &UpdateNode::comment, &UpdateNode::extra,
             &UpdateNode::addr, &UpdateNode::hostname, &UpdateNode::features, &UpdateNode::active_features,
             &UpdateNode::weight, &UpdateNode::gres, &UpdateNode::actor, since<3>(&UpdateNode::after_reboot));

template <>
inline constexpr auto fields_of<EditPartition> = numbered(&EditPartition::edit, &EditPartition::partition);

template <>
inline constexpr auto fields_of<EditReservation> =
    numbered(&EditReservation::edit, &EditReservation::reservation, &EditReservation::actor);

template <>
inline constexpr auto fields_of<EditAccount> = numbered(&EditAccount::edit, &EditAccount::account);

template <>
inline constexpr auto fields_of<EditUser> = numbered(&EditUser::edit, &EditUser::user);

template <>
inline constexpr auto fields_of<EditAssociation> =
    numbered(&EditAssociation::edit, &EditAssociation::association, &EditAssociation::parent_account);

template <>
inline constexpr auto fields_of<EditQos> = numbered(&EditQos::edit, &EditQos::qos);

template <>
inline constexpr auto fields_of<DecayUsage> = numbered(&DecayUsage::factor);

template <>
inline constexpr auto fields_of<ResetUsage> = numbered(&ResetUsage::account, &ResetUsage::user, &ResetUsage::qos);

template <>
inline constexpr auto fields_of<AccountsEdit> = numbered(
    &AccountsEdit::account, &AccountsEdit::user, &AccountsEdit::association, &AccountsEdit::qos, &AccountsEdit::reset);

template <>
inline constexpr auto fields_of<EditAccounts> = numbered(&EditAccounts::edits, since<3>(&EditAccounts::actor));

template <>
inline constexpr auto fields_of<OutboxDelivered> = numbered(&OutboxDelivered::sequence);

template <>
inline constexpr auto fields_of<BeginEra> = numbered(since<2>(&BeginEra::history), since<2>(&BeginEra::mark));

template <>
inline constexpr auto fields_of<TrustStepKey> = numbered(since<2>(&TrustStepKey::key));

template <>
inline constexpr auto fields_of<SetStateVersion> = numbered(&SetStateVersion::version);

}  // namespace spur::archive
