// The numbers of every command's fields. Append with the next number; never change, reuse or remove one.
#pragma once

#include "core/machine/command.hpp"
#include "core/store/config_fields.hpp"
#include "core/store/fields.hpp"

namespace spur::archive {

template <>
struct Fields<JobRef> {
    static constexpr auto list =
        std::tuple{field<1>(&JobRef::job), field<2>(&JobRef::all_tasks), field<3>(&JobRef::tasks),
                   field<4>(&JobRef::component), field<5>(&JobRef::step)};
};

template <>
struct Fields<Actor> {
    static constexpr auto list = std::tuple{field<1>(&Actor::uid), field<2>(&Actor::level), field<3>(&Actor::name)};
};

template <>
struct Fields<OwnerGroups> {
    static constexpr auto list = std::tuple{field<1>(&OwnerGroups::names), field<2>(&OwnerGroups::exempt)};
};

template <>
struct Fields<ApplyConfig> {
    static constexpr auto list = std::tuple{field<1>(&ApplyConfig::config), field<2, 2>(&ApplyConfig::digest)};
};

template <>
struct Fields<Tick> {
    static constexpr auto list = std::tuple{};
};

template <>
struct Fields<PruneJobs> {
    static constexpr auto list = std::tuple{field<1>(&PruneJobs::ended_before)};
};

template <>
struct Fields<SubmitJob> {
    static constexpr auto list =
        std::tuple{field<1>(&SubmitJob::components), field<2>(&SubmitJob::actor), field<3>(&SubmitJob::request_id)};
};

template <>
struct Fields<Placement> {
    static constexpr auto list =
        std::tuple{field<1>(&Placement::job), field<2>(&Placement::array_task), field<3>(&Placement::partition),
                   field<4>(&Placement::shares), field<5>(&Placement::time_limit_min)};
};

template <>
struct Fields<StartJob> {
    static constexpr auto list = std::tuple{field<1>(&StartJob::parts)};
};

template <>
struct Fields<JobLaunched> {
    static constexpr auto list = std::tuple{field<1>(&JobLaunched::job), field<2>(&JobLaunched::attempt)};
};

template <>
struct Fields<FinishJob> {
    static constexpr auto list =
        std::tuple{field<1>(&FinishJob::job),         field<2>(&FinishJob::attempt),   field<3>(&FinishJob::cause),
                   field<4>(&FinishJob::exit_status), field<5>(&FinishJob::node),      field<6>(&FinishJob::node_done),
                   field<7>(&FinishJob::detail),      field<8>(&FinishJob::must_hold), field<9, 3>(&FinishJob::usage)};
};

template <>
struct Fields<NodeJobDone> {
    static constexpr auto list = std::tuple{field<1>(&NodeJobDone::job), field<2>(&NodeJobDone::attempt),
                                            field<3>(&NodeJobDone::nodes), field<4>(&NodeJobDone::epilog_failed)};
};

template <>
struct Fields<CancelJob> {
    static constexpr auto list = std::tuple{field<1>(&CancelJob::job), field<2>(&CancelJob::actor)};
};

template <>
struct Fields<SignalJob> {
    static constexpr auto list =
        std::tuple{field<1>(&SignalJob::job), field<2>(&SignalJob::signal), field<3>(&SignalJob::batch_only),
                   field<4>(&SignalJob::full), field<5>(&SignalJob::actor)};
};

template <>
struct Fields<HoldJob> {
    static constexpr auto list =
        std::tuple{field<1>(&HoldJob::job), field<2>(&HoldJob::actor), field<3>(&HoldJob::as_user)};
};

template <>
struct Fields<ReleaseJob> {
    static constexpr auto list = std::tuple{field<1>(&ReleaseJob::job), field<2>(&ReleaseJob::actor)};
};

template <>
struct Fields<RequeueJob> {
    static constexpr auto list = std::tuple{field<1>(&RequeueJob::job), field<2>(&RequeueJob::actor),
                                            field<3>(&RequeueJob::hold), field<4>(&RequeueJob::special_exit)};
};

template <>
struct Fields<SuspendJob> {
    static constexpr auto list = std::tuple{field<1>(&SuspendJob::job), field<2>(&SuspendJob::actor)};
};

template <>
struct Fields<ResumeJob> {
    static constexpr auto list = std::tuple{field<1>(&ResumeJob::job), field<2>(&ResumeJob::actor)};
};

template <>
struct Fields<PreemptJob> {
    static constexpr auto list = std::tuple{field<1>(&PreemptJob::job), field<2>(&PreemptJob::attempt),
                                            field<3>(&PreemptJob::mode), field<4>(&PreemptJob::preemptor)};
};

#define SPUR_FIELD(number, member, ...) field<number, since(number, &LastNumbers::job_changes)>(&JobChanges::member),
template <>
struct Fields<JobChanges> {
    static constexpr auto list = without_last(std::tuple{SPUR_JOB_CHANGES(SPUR_FIELD, SPUR_FIELD) 0});
};
#undef SPUR_FIELD

template <>
struct Fields<UpdateJob> {
    static constexpr auto list =
        std::tuple{field<1>(&UpdateJob::job), field<2>(&UpdateJob::changes), field<3>(&UpdateJob::actor),
                   field<4, 2>(&UpdateJob::recheck), field<5, 2>(&UpdateJob::owner_groups)};
};

template <>
struct Fields<TopJob> {
    static constexpr auto list = std::tuple{field<1>(&TopJob::job), field<2>(&TopJob::actor)};
};

template <>
struct Fields<PendingNote> {
    static constexpr auto list = std::tuple{field<1>(&PendingNote::job),
                                            field<2>(&PendingNote::reason),
                                            field<3>(&PendingNote::reason_text),
                                            field<4>(&PendingNote::priority),
                                            field<5>(&PendingNote::expected_start),
                                            field<6>(&PendingNote::expected_nodes)};
};

template <>
struct Fields<SetPending> {
    static constexpr auto list = std::tuple{field<1>(&SetPending::notes)};
};

template <>
struct Fields<CreateStep> {
    static constexpr auto list = std::tuple{field<1>(&CreateStep::job),
                                            field<2>(&CreateStep::attempt),
                                            field<3>(&CreateStep::id),
                                            field<4>(&CreateStep::name),
                                            field<5>(&CreateStep::tasks),
                                            field<6>(&CreateStep::cpus_per_task),
                                            field<7>(&CreateStep::time_limit_min),
                                            field<8>(&CreateStep::overlap),
                                            field<9>(&CreateStep::shares),
                                            field<10>(&CreateStep::task_ids),
                                            field<11>(&CreateStep::submit_host),
                                            field<12>(&CreateStep::actor),
                                            field<13, 3>(&CreateStep::srun_pid),
                                            field<14, 3>(&CreateStep::distribution)};
};

template <>
struct Fields<FinishStep> {
    static constexpr auto list =
        std::tuple{field<1>(&FinishStep::key),         field<2>(&FinishStep::attempt), field<3>(&FinishStep::cause),
                   field<4>(&FinishStep::exit_status), field<5>(&FinishStep::usage),   field<6>(&FinishStep::node)};
};

template <>
struct Fields<StepNodeDone> {
    static constexpr auto list = std::tuple{
        field<1, 3>(&StepNodeDone::key),   field<2, 3>(&StepNodeDone::attempt),     field<3, 3>(&StepNodeDone::nodes),
        field<4, 3>(&StepNodeDone::cause), field<5, 3>(&StepNodeDone::exit_status), field<6, 3>(&StepNodeDone::usage)};
};

template <>
struct Fields<HeldStep> {
    static constexpr auto list = std::tuple{field<1>(&HeldStep::job), field<2>(&HeldStep::attempt),
                                            field<3>(&HeldStep::step), field<4, 2>(&HeldStep::start_time)};
};

template <>
struct Fields<SeenHistory> {
    static constexpr auto list =
        std::tuple{field<1>(&SeenHistory::id), field<2>(&SeenHistory::era), field<3>(&SeenHistory::mark),
                   field<4>(&SeenHistory::version), field<5>(&SeenHistory::job)};
};

template <>
struct Fields<NodeRegistered> {
    static constexpr auto list =
        std::tuple{field<1>(&NodeRegistered::node),       field<2>(&NodeRegistered::topology),
                   field<3>(&NodeRegistered::cpus),       field<4>(&NodeRegistered::memory_mib),
                   field<5>(&NodeRegistered::tmp_mib),    field<6>(&NodeRegistered::gres),
                   field<7>(&NodeRegistered::boot_id),    field<8>(&NodeRegistered::boot_time),
                   field<9>(&NodeRegistered::start_time), field<10>(&NodeRegistered::addr),
                   field<11>(&NodeRegistered::hostname),  field<12>(&NodeRegistered::architecture),
                   field<13>(&NodeRegistered::os),        field<14>(&NodeRegistered::software_version),
                   field<15>(&NodeRegistered::held),      field<16>(&NodeRegistered::gpu_places),
                   field<17>(&NodeRegistered::gpu_links), field<18, 2>(&NodeRegistered::seen),
                   field<19>(&NodeRegistered::spool_id),  field<20>(&NodeRegistered::enforced),
                   field<21>(&NodeRegistered::unfit)};
};

template <>
struct Fields<NodeSilent> {
    static constexpr auto list = std::tuple{field<1>(&NodeSilent::node)};
};

template <>
struct Fields<NodeLost> {
    static constexpr auto list = std::tuple{field<1>(&NodeLost::node), field<2>(&NodeLost::reason)};
};

template <>
struct Fields<UpdateNode> {
    static constexpr auto list = std::tuple{
        field<1>(&UpdateNode::nodes),           field<2>(&UpdateNode::action),   field<3>(&UpdateNode::reason),
        field<4>(&UpdateNode::comment),         field<5>(&UpdateNode::extra),    field<6>(&UpdateNode::addr),
        field<7>(&UpdateNode::hostname),        field<8>(&UpdateNode::features), field<9>(&UpdateNode::active_features),
        field<10>(&UpdateNode::weight),         field<11>(&UpdateNode::gres),    field<12>(&UpdateNode::actor),
        field<13, 3>(&UpdateNode::after_reboot)};
};

template <>
struct Fields<EditPartition> {
    static constexpr auto list = std::tuple{field<1>(&EditPartition::edit), field<2>(&EditPartition::partition)};
};

template <>
struct Fields<EditReservation> {
    static constexpr auto list = std::tuple{field<1>(&EditReservation::edit), field<2>(&EditReservation::reservation),
                                            field<3>(&EditReservation::actor)};
};

template <>
struct Fields<EditAccount> {
    static constexpr auto list = std::tuple{field<1>(&EditAccount::edit), field<2>(&EditAccount::account)};
};

template <>
struct Fields<EditUser> {
    static constexpr auto list = std::tuple{field<1>(&EditUser::edit), field<2>(&EditUser::user)};
};

template <>
struct Fields<EditAssociation> {
    static constexpr auto list = std::tuple{field<1>(&EditAssociation::edit), field<2>(&EditAssociation::association),
                                            field<3>(&EditAssociation::parent_account)};
};

template <>
struct Fields<EditQos> {
    static constexpr auto list = std::tuple{field<1>(&EditQos::edit), field<2>(&EditQos::qos)};
};

template <>
struct Fields<DecayUsage> {
    static constexpr auto list = std::tuple{field<1>(&DecayUsage::factor)};
};

template <>
struct Fields<ResetUsage> {
    static constexpr auto list =
        std::tuple{field<1>(&ResetUsage::account), field<2>(&ResetUsage::user), field<3>(&ResetUsage::qos)};
};

template <>
struct Fields<AccountsEdit> {
    static constexpr auto list =
        std::tuple{field<1>(&AccountsEdit::account), field<2>(&AccountsEdit::user),
                   field<3>(&AccountsEdit::association), field<4>(&AccountsEdit::qos), field<5>(&AccountsEdit::reset)};
};

template <>
struct Fields<EditAccounts> {
    static constexpr auto list = std::tuple{field<1>(&EditAccounts::edits)};
};

template <>
struct Fields<OutboxDelivered> {
    static constexpr auto list = std::tuple{field<1>(&OutboxDelivered::sequence)};
};

template <>
struct Fields<BeginEra> {
    static constexpr auto list = std::tuple{field<1, 2>(&BeginEra::history), field<2, 2>(&BeginEra::mark)};
};

template <>
struct Fields<TrustStepKey> {
    static constexpr auto list = std::tuple{field<1, 2>(&TrustStepKey::key)};
};

template <>
struct Fields<SetStateVersion> {
    static constexpr auto list = std::tuple{field<1>(&SetStateVersion::version)};
};

}  // namespace spur::archive
