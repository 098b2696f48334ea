// Everything that can change a cluster's state. Commands are what the log stores: they carry all they need, time
// included, and both their order here and the numbers of their fields (core/store/fields.hpp) are append-only.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/association.hpp"
#include "core/model/config.hpp"
#include "core/model/history.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/reason.hpp"
#include "core/model/reservation.hpp"
#include "core/model/resources.hpp"
#include "core/model/step.hpp"

namespace spur {

// The groups of a job's owner, by name, for a partition's AllowGroups.
struct OwnerGroups {
    std::vector<Text> names;
    bool exempt{false};  // the controller's own user: no partition asks for its groups
    bool operator==(const OwnerGroups&) const = default;
};

// ---- configuration and time ----------------------------------------------------------------------------------------

struct ApplyConfig {
    ClusterConfig config;
    Text digest{};  // of what the proposer's file says; a controller knows by it whether its own is the one in force
    bool operator==(const ApplyConfig&) const = default;
};

// Time has passed: begin times, time limits, deadlines, reservations and old records are looked at. Needed no
// earlier than Cluster::next_due().
struct Tick {
    bool operator==(const Tick&) const = default;
};

// Forget these finished jobs (older than MinJobAge). Tick does so by itself; this is for an operator's purge.
struct PruneJobs {
    UnixSeconds ended_before{};
    bool operator==(const PruneJobs&) const = default;
};

// ---- a job's life --------------------------------------------------------------------------------------------------

// More than one component: a heterogeneous job. The specs have been through validate().
struct SubmitJob {
    std::vector<JobSpec> components;
    Actor actor;
    Text request_id;  // the client's; the same one twice is one submission
    bool operator==(const SubmitJob&) const = default;
};

struct Placement {
    JobId job;
    std::optional<std::uint32_t> array_task;      // which task of the array record `job`; else the next one
    Text partition;                               // one of those it asked for
    std::vector<NodeShare> shares;                // in node order
    std::optional<std::uint32_t> time_limit_min;  // shortened down to --time-min by the scheduler
    bool operator==(const Placement&) const = default;
};
// Several placements only for the components of one heterogeneous job: all start or none.
struct StartJob {
    std::vector<Placement> parts;
    bool operator==(const StartJob&) const = default;
};

// Prologs done, tasks about to run: CONFIGURING ends.
struct JobLaunched {
    JobId job;
    std::uint32_t attempt{};
    bool operator==(const JobLaunched&) const = default;
};

struct FinishJob {
    JobId job;
    std::uint32_t attempt{};
    EndCause cause{EndCause::exited};
    std::uint32_t exit_status{};  // wait status
    std::optional<NodeId> node;   // who reports it
    bool node_done{false};        // that node has cleaned up too: saves a NodeJobDone
    Text detail;
    bool must_hold{false};  // refused unless the job has, or had, a share of `node`; older logs did not ask
    StepUsage usage{};      // of the batch script, if this is its end
    bool operator==(const FinishJob&) const = default;
};

// These nodes have nothing of the job left, epilog included.
struct NodeJobDone {
    JobId job;
    std::uint32_t attempt{};
    std::vector<NodeId> nodes;
    bool epilog_failed{false};  // there: nothing new is to start on them
    bool operator==(const NodeJobDone&) const = default;
};

// Ends jobs: pending ones at once, running ones through COMPLETING.
struct CancelJob {
    JobRef job;
    Actor actor;
    bool operator==(const CancelJob&) const = default;
};

// A signal for running jobs' processes; changes nothing but goes through the log to reach the agents in order.
struct SignalJob {
    JobRef job;
    std::uint32_t signal{};
    bool batch_only{false};
    bool full{false};
    Actor actor;
    bool operator==(const SignalJob&) const = default;
};

struct HoldJob {
    JobRef job;
    Actor actor;
    bool as_user{false};  // scontrol uhold
    bool operator==(const HoldJob&) const = default;
};
struct ReleaseJob {
    JobRef job;
    Actor actor;
    bool operator==(const ReleaseJob&) const = default;
};
struct RequeueJob {
    JobRef job;
    Actor actor;
    bool hold{false};
    bool special_exit{false};
    bool operator==(const RequeueJob&) const = default;
};
struct SuspendJob {
    JobRef job;
    Actor actor;
    bool operator==(const SuspendJob&) const = default;
};
struct ResumeJob {
    JobRef job;
    Actor actor;
    bool operator==(const ResumeJob&) const = default;
};

// Takes a running job's resources for another. The mode is already decided.
struct PreemptJob {
    JobId job;
    std::uint32_t attempt{};
    PreemptMode mode{PreemptMode::cancel};
    JobId preemptor;
    bool operator==(const PreemptJob&) const = default;
};

struct UpdateJob {
    JobRef job;
    JobChanges changes;
    Actor actor;
    // The changed request goes through the checks of a submission again. Older logs have updates that did not.
    bool recheck{false};
    OwnerGroups owner_groups;
    bool operator==(const UpdateJob&) const = default;
};

// Moves jobs to the front of their user's queue (scontrol top).
struct TopJob {
    JobRef job;
    Actor actor;
    bool operator==(const TopJob&) const = default;
};

// What the scheduler found out about waiting jobs; soft, and sent in batches. Jobs that no longer wait are skipped.
struct PendingNote {
    JobId job;
    std::optional<Reason> reason;
    std::optional<Text> reason_text;
    std::optional<std::uint32_t> priority;
    std::optional<UnixSeconds> expected_start;
    std::optional<Text> expected_nodes;
    bool operator==(const PendingNote&) const = default;
};
struct SetPending {
    std::vector<PendingNote> notes;
    bool operator==(const SetPending&) const = default;
};

// ---- steps ---------------------------------------------------------------------------------------------------------

// The layout was made by lay_out_step() from the state at the time; apply checks it again.
struct CreateStep {
    JobId job;
    std::uint32_t attempt{};
    std::optional<StepId> id;  // batch, extern, interactive; else the next number
    Text name;
    std::uint32_t tasks{};
    std::uint32_t cpus_per_task{1};
    std::uint32_t time_limit_min{unlimited};
    bool overlap{false};
    std::vector<NodeShare> shares;
    std::vector<std::vector<std::uint32_t>> task_ids;
    Text submit_host;
    std::uint32_t srun_pid{};
    Text distribution;
    Actor actor;
    bool operator==(const CreateStep&) const = default;
};
// Ends a step on all its nodes at once. How steps ended before version 3 of the state: by srun's word, or the report of
// the last node.
struct FinishStep {
    StepKey key;
    std::uint32_t attempt{};
    EndCause cause{EndCause::exited};
    std::uint32_t exit_status{};
    StepUsage usage;               // never kept
    std::optional<NodeId> node{};  // who reports it; refused unless the step has a share there
    bool operator==(const FinishStep&) const = default;
};
// These nodes have nothing of the step left, or it never began there. It ends with the last of its nodes.
struct StepNodeDone {
    StepKey key;
    std::uint32_t attempt{};
    std::vector<NodeId> nodes;
    EndCause cause{EndCause::exited};
    std::uint32_t exit_status{};  // the highest wait status there
    StepUsage usage;              // of all of them
    bool operator==(const StepNodeDone&) const = default;
};

// ---- nodes ---------------------------------------------------------------------------------------------------------

struct HeldStep {
    JobId job;
    std::uint32_t attempt{};
    StepId step;
    UnixSeconds start_time{};  // of the job's attempt; 0: the agent does not say
    bool operator==(const HeldStep&) const = default;
};
// An agent has joined. What it holds that the state does not know is to be ended (event EndUnknown). What the state has
// there and the agent does not hold never reached it (event LaunchAgain), unless it has lost its memory: then the job
// may have run, and is failed or requeued.
struct NodeRegistered {
    NodeId node;
    Topology topology;  // as found
    std::uint32_t cpus{};
    std::uint64_t memory_mib{};
    std::uint64_t tmp_mib{};
    std::vector<GresPool> gres;
    Text boot_id;
    UnixSeconds boot_time{};
    UnixSeconds start_time{};
    Text addr;  // where it serves, host:port
    Text hostname;
    Text architecture;
    Text os;
    Text software_version;
    std::vector<HeldStep> held;
    std::vector<DevicePlace> gpu_places;
    std::vector<DeviceLink> gpu_links;
    SeenHistory seen;
    Text spool_id;             // of what it remembers; another than last time: it may have forgotten jobs
    std::uint32_t enforced{};  // node_limit bits
    Text unfit;                // why it must not be given work, whatever it has; empty: it may
    bool operator==(const NodeRegistered&) const = default;
};
// Its session broke: NO_RESPOND, jobs live on.
struct NodeSilent {
    NodeId node;
    bool operator==(const NodeSilent&) const = default;
};
// Silent for longer than the timeout: DOWN, its jobs fail or are requeued.
struct NodeLost {
    NodeId node;
    Text reason;
    bool operator==(const NodeLost&) const = default;
};

enum class NodeAction : std::uint8_t {
    none,
    down,
    drain,
    undrain,
    resume,
    fail,
    idle,
    future,
    reboot,  // scontrol reboot
    reboot_asap,
    cancel_reboot,
    reboot_issued,
    power_down,
    power_up,
};
struct UpdateNode {
    std::vector<NodeId> nodes;
    NodeAction action{NodeAction::none};
    std::optional<Text> reason, comment, extra, addr, hostname;
    std::optional<std::vector<Text>> features, active_features;
    std::optional<std::uint32_t> weight;
    std::optional<std::vector<GresPool>> gres;
    Actor actor;
    AfterReboot after_reboot{AfterReboot::as_before};  // of NodeAction::reboot and reboot_asap
    bool operator==(const UpdateNode&) const = default;
};

// ---- partitions, reservations --------------------------------------------------------------------------------------

enum class Edit : std::uint8_t { create, update, remove };

struct EditPartition {
    Edit edit{Edit::update};
    Partition partition;  // the whole of it as it shall be; `nodes` is worked out from node_text
    bool operator==(const EditPartition&) const = default;
};
struct EditReservation {
    Edit edit{Edit::update};
    Reservation reservation;  // the whole of it as it shall be; without a name, create makes one up: alice_3
    Actor actor;
    bool operator==(const EditReservation&) const = default;
};

// ---- accounts ------------------------------------------------------------------------------------------------------

struct EditAccount {
    Edit edit{Edit::update};
    Account account;
    bool operator==(const EditAccount&) const = default;
};
struct EditUser {
    Edit edit{Edit::update};
    User user;
    bool operator==(const EditUser&) const = default;
};
// Keyed by (account, user, partition); `usage` is ignored, `parent` is worked out from `parent_account`.
struct EditAssociation {
    Edit edit{Edit::update};
    Association association;
    Text parent_account;  // for an account's own association; empty: root
    bool operator==(const EditAssociation&) const = default;
};
struct EditQos {
    Edit edit{Edit::update};
    Qos qos;
    bool operator==(const EditQos&) const = default;
};
// Charge running jobs and let old usage fade up to now.
struct DecayUsage {
    // What is left of usage since Cluster::usage_time(), as the leader's priority plugin has it: in [0, 1]. Absent: by
    // the half-life of the policies.
    std::optional<double> factor;
    bool operator==(const DecayUsage&) const = default;
};
struct ResetUsage {
    Text account, user, qos;
    bool operator==(const ResetUsage&) const = default;
};

// What one sacctmgr command does, in order: all of it happens or nothing. Each edit has one of these.
struct AccountsEdit {
    std::optional<EditAccount> account;
    std::optional<EditUser> user;
    std::optional<EditAssociation> association;
    std::optional<EditQos> qos;
    std::optional<ResetUsage> reset;
    bool operator==(const AccountsEdit&) const = default;
};
struct EditAccounts {
    std::vector<AccountsEdit> edits;
    Text actor;  // who asked, for the record
    bool operator==(const EditAccounts&) const = default;
};

// The accounting outbox has been delivered up to and including this sequence number. The first one (0: nothing yet)
// says that there is a reader: from then on it is filled.
struct OutboxDelivered {
    std::uint64_t sequence{};
    bool operator==(const OutboxDelivered&) const = default;
};

// ---- leaders -------------------------------------------------------------------------------------------------------

// A controller has begun to lead; see core/model/history.hpp. The first one founds the history.
struct BeginEra {
    Text history;  // its id, if it has none yet
    std::uint64_t mark{};
    bool operator==(const BeginEra&) const = default;
};
// The public key of whoever leads: agents accept the credentials of steps that were signed with it, from now on.
struct TrustStepKey {
    Text key;
    bool operator==(const TrustStepKey&) const = default;
};
// Every controller understands this version of the state (core/store/state_version.hpp): from here on it may be used.
struct SetStateVersion {
    std::uint32_t version{};
    bool operator==(const SetStateVersion&) const = default;
};

using Command =
    std::variant<ApplyConfig, Tick, PruneJobs, SubmitJob, StartJob, JobLaunched, FinishJob, NodeJobDone, CancelJob,
                 SignalJob, HoldJob, ReleaseJob, RequeueJob, SuspendJob, ResumeJob, PreemptJob, UpdateJob, TopJob,
                 SetPending, CreateStep, FinishStep, NodeRegistered, NodeSilent, NodeLost, UpdateNode, EditPartition,
                 EditReservation, EditAccount, EditUser, EditAssociation, EditQos, DecayUsage, ResetUsage,
                 OutboxDelivered, EditAccounts, BeginEra, TrustStepKey, SetStateVersion, StepNodeDone>;

template <class T>
struct Stamped {
    UnixSeconds at{};
    T what;
    bool operator==(const Stamped&) const = default;
};

}  // namespace spur
