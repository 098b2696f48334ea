// The workbench of the handlers behind Cluster::apply, one file per topic: cluster_*.cpp.
// A handler first finds out whether it can do all of its command, then does it; nothing is changed before that point.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/machine/cluster.hpp"
#include "core/slurm/refusal.hpp"

namespace spur {

// Ways to find records. None of it is stored: load() builds it again from the records.
struct Cluster::Indexes {
    std::map<Text, NodeId, std::less<>> node_by_name;
    std::vector<std::set<JobId>> jobs_on;      // by node: jobs with something open there
    std::map<JobId, std::set<JobId>> waiters;  // job or array -> jobs whose dependencies name it
    using NameKey = std::pair<Uid, Text>;
    std::map<NameKey, std::set<JobId>> unfinished;  // by user and job name, for singleton
    std::map<NameKey, std::set<JobId>> singletons;  // of those, the ones that wait for the others
    std::set<std::pair<UnixSeconds, JobId>> due;    // when a Tick must look at a job; may hold more than needed
    std::unordered_map<JobId, UnixSeconds> due_of;
    std::set<std::pair<UnixSeconds, JobId>> done;              // by end time, for forgetting
    std::map<JobId, std::map<std::uint32_t, JobId>> families;  // members by their numbers, see Job::family()
    // What each user asked for last, to share texts and the request with.
    std::unordered_map<Uid, std::pair<std::shared_ptr<const JobSpec>, std::shared_ptr<const Request>>> last_asked;
    std::set<std::pair<UnixSeconds, Text>> request_times;
    std::map<std::pair<Text, Uid>, Usage> qos_users;      // of a QOS, per user
    std::map<std::pair<Text, Text>, Usage> qos_accounts;  // of a QOS, per account
    std::set<JobId> suspended_by_preemption;              // suspended for others; they go on by themselves
    std::unordered_map<Uid, std::uint64_t> long_texts;    // bytes of one user's jobs, beyond what every job may have
    std::uint64_t task_total{};                           // jobs held in memory, array tasks counted one by one
};

struct StartPlan;

struct AccrualCounts;

struct JobLimits;

struct ClusterOps {
    Cluster& c;
    UnixSeconds at;
    std::uint64_t version;  // what changed records are stamped with
    Events events;

    // ---- the handlers
    Result<void> on(const ApplyConfig& cmd);
    Result<void> on(const Tick& cmd);
    Result<void> on(const PruneJobs& cmd);
    Result<void> on(const SubmitJob& cmd);
    Result<void> on(const StartJob& cmd);
    Result<void> on(const JobLaunched& cmd);
    Result<void> on(const FinishJob& cmd);
    Result<void> on(const NodeJobDone& cmd);
    Result<void> on(const CancelJob& cmd);
    Result<void> on(const SignalJob& cmd);
    Result<void> on(const HoldJob& cmd);
    Result<void> on(const ReleaseJob& cmd);
    Result<void> on(const RequeueJob& cmd);
    Result<void> on(const SuspendJob& cmd);
    Result<void> on(const ResumeJob& cmd);
    Result<void> on(const PreemptJob& cmd);
    Result<void> on(const UpdateJob& cmd);
    Result<void> on(const TopJob& cmd);
    Result<void> on(const SetPending& cmd);
    Result<void> on(const CreateStep& cmd);
    Result<void> on(const FinishStep& cmd);
    Result<void> on(const StepNodeDone& cmd);
    Result<void> on(const NodeRegistered& cmd);
    Result<void> on(const NodeSilent& cmd);
    Result<void> on(const NodeLost& cmd);
    Result<void> on(const UpdateNode& cmd);
    Result<void> on(const EditPartition& cmd);
    Result<void> on(const EditReservation& cmd);
    Result<void> on(const EditAccount& cmd);
    Result<void> on(const EditUser& cmd);
    Result<void> on(const EditAssociation& cmd);
    Result<void> on(const EditQos& cmd);
    Result<void> on(const DecayUsage& cmd);
    Result<void> on(const ResetUsage& cmd);
    Result<void> on(const OutboxDelivered& cmd);
    Result<void> on(const EditAccounts& cmd);
    Result<void> on(const BeginEra& cmd);
    Result<void> on(const TrustStepKey& cmd);
    Result<void> on(const SetStateVersion& cmd);

    // ---- finding (cluster.cpp)
    Cluster::Indexes& index() { return *c.index_; }
    Job* job(JobId id);
    Node* node(NodeId id);
    // The job, at this very attempt; a stale report is refused.
    Result<Job*> job_at(JobId id, std::uint32_t attempt);

    // What a reference means, with what of each record: all tasks of an array's record, or some of them.
    struct Target {
        Job* job{};
        std::optional<TaskSet> tasks;  // only these of its array_pending
    };
    Result<std::vector<Target>> targets(const JobRef& ref);
    // The same, after checking that `actor` may change them all.
    Result<std::vector<Target>> own_targets(const JobRef& ref, const Actor& actor);
    // The record a target means, split from its array's where it is only a part of it.
    std::vector<Job*> separate(const Target& target);

    // ---- keeping indexes (cluster_index.cpp)
    // Change a job only while one of these lives: its end brings all indexes and the version up to date.
    class Change {
    public:
        Change(ClusterOps& ops, Job& job);
        ~Change();
        Change(const Change&) = delete;
        Change& operator=(const Change&) = delete;
        Job* operator->() { return &job_; }
        Job& operator*() { return job_; }

    private:
        ClusterOps& ops_;
        Job& job_;
        bool pending_, active_, done_, unfinished_, singleton_;
        UnixSeconds ended_;
        Text name_;
    };
    Job& add_job(Job job);  // a new record, indexed
    void forget(JobId id);  // a finished one, out of records and indexes
    void index_job(Job& job);
    void set_due(const Job& job);
    void index_waiting(const Job& job, bool waits);
    void count_texts(const Job& job, bool is_new);
    std::uint32_t new_job_id();
    bool is_id_used(JobId id) const;

    // ---- submitting (cluster_submit.cpp)
    Result<Job> make_job(JobSpec spec, const Actor& actor) const;
    void enqueue(Job job);
    Result<void> check_stored(const std::vector<Job>& jobs, const Actor& actor) const;

    // ---- starting (cluster_start.cpp)
    Result<StartPlan> plan_start(const Placement& part);
    Result<void> check_startable(const Job& job, const Placement& part) const;
    Result<void> check_nodes(const Job& job, const Placement& part, const StartPlan& plan) const;
    Result<void> check_grant(const Job& job, const Placement& part) const;  // after check_nodes()
    Result<void> check_together(const std::vector<StartPlan>& plans) const;
    void begin(const StartPlan& plan);
    void begin_batch_step(const Job& job);

    // ---- the life of a job (cluster_life.cpp)
    void end_active(Job& job, JobState state, Reason reason);  // running or suspended: through COMPLETING
    void end_alone(Job& job, JobState state, Reason reason);   // the same for one component of a heterogeneous job
    void end_pending(Job& job, JobState state, Reason reason);
    void begin_requeue(Job& job, std::uint32_t flag);   // running: back to the queue once its nodes are done
    void release_share(Job& job, std::uint32_t share);  // one node is done with it
    void release_leaving(Job& job, NodeId node);
    void leave_node(const Job& job, Node& left);
    void drain_for(NodeId id, std::string_view why);
    void end_failed_launch(Job& job, const FinishJob& cmd);
    void requeue_finished(Job& job, std::uint32_t flag);
    void suspend(Job& job);
    std::optional<std::string> resume_lack(const Allocation& allocation, const NodeShare& share) const;
    void resume(Job& job);
    void finish_release(Job& job);  // after that: the last one makes it final
    void enter_queue(Job& job);     // pending once more
    void fail_on_node(Job& job, NodeId node, std::string_view why);
    bool can_requeue(const Job& job) const;

    // ---- steps (cluster_steps.cpp)
    template <class F>
    void for_active_components(JobId het_job, F&& f) {
        if (const auto family = index().families.find(het_job); family != index().families.end())
            for (const auto& [number, id] : family->second)
                if (Job* component = job(id); component && component->is_active()) f(*component);
    }
    template <class F>
    void for_steps(JobId job, F&& f) {
        for (auto place = c.steps_.lower_bound({job, {0}}); place != c.steps_.end() && place->first.job == job; ++place)
            f(place->second);
    }
    void open_step(Step& step) const;  // its nodes have its end to report from now on
    void leave_step(Step& step, const StepNodeDone& done);
    void leave_steps(const Job& job, NodeId node);  // the node has nothing of the job left
    void end_step(Step& step, EndCause cause);
    void end_steps(const Job& job, JobState state);  // the job is over: what its nodes report later is only added up
    void say_step_ended(const Step& step);
    void count_end(const Job& job, std::uint32_t tasks, bool ok);

    // ---- preemption (cluster_preempt.cpp)
    void preempt(Job& job, PreemptMode mode);
    void resume_preempted();

    // ---- time (cluster_time.cpp), reservations (cluster_reservations.cpp)
    void check_times(Job& job);
    void forget_older(UnixSeconds ended_before);
    void note_use(Reservation& entry);
    void follow_reservations();
    void replace_nodes(Reservation& entry);
    void end_reserved_jobs(const Reservation& entry);
    void turn_reservations();  // those that begin or end now
    void mark_reserved(const std::vector<NodeId>& ids);
    void end_reservation(const Text& name);
    Result<void> check_reservation(const Reservation& wanted) const;
    Text new_reservation_name(const Reservation& wanted) const;

    // ---- waiting (cluster_waiting.cpp)
    void refresh(Job& job);  // hold, dependencies, begin time: is it eligible, and if not, why?
    DependencyState judge(const Job& waiter, const Dependency& dependency) const;
    void update_dependencies(Job& job);  // drops what is fulfilled, marks what never will be
    void update_corresponding(Job& record, std::optional<std::uint32_t> ended_task);
    void wake_waiters(const Job& job);  // after `job` started or ended

    // ---- arrays (cluster_arrays.cpp)
    Job& split_task(Job& record, std::uint32_t task);

    // ---- limits (cluster_limits.cpp)
    static JobLimits limits_of(const Cluster& c, const JobSpec& spec, AssociationId association);
    void update_accrual();
    bool may_get_older(const Job& job) const;
    bool may_get_older(const Job& job, const AccrualCounts& counts) const;
    void end_spent();
    void count_submitted(const Job& job, std::int64_t tasks);
    void count_running(const Job& job, int sign);
    void count_all(const Job& job, int jobs, std::int64_t submitted, const TresList& tres);
    void recount();
    void charge(const Job& job);  // up to now, for what has not been charged yet (cluster_usage.cpp)
    Result<void> check_submit_limits(const JobSpec& spec, const Request& request, AssociationId association,
                                     std::uint32_t tasks) const;

    // ---- changing (cluster_update.cpp)
    Result<void> check_update(const Job& job, const UpdateJob& cmd);
    Result<void> check_rights(const Job& job, const UpdateJob& cmd) const;
    // The request as the update leaves it, or why it may not be so.
    Result<JobSpec> changed_request(const Job& job, const UpdateJob& cmd) const;
    Result<void> check_new_place(const Job& job, const JobSpec& changed);
    Result<void> check_growth(const JobSpec& changed, const JobSpec& old) const;
    Result<void> check_shrink(const Job& job, const std::vector<NodeId>& keep) const;
    Result<void> check_no_circle(const Job& job, const Text& dependency) const;
    static JobChanges only_array_limit(const JobChanges& changes);
    void change_job(Job& job, const UpdateJob& cmd);
    void set_priority(Job& job, std::uint32_t priority, const Actor& actor);
    void set_limit(Job& job, std::uint32_t minutes);
    void shrink(Job& job, const std::vector<NodeId>& keep);

    // ---- steps (cluster_steps.cpp)
    Result<void> check_step(const Job& job, const CreateStep& cmd) const;
    void trim_steps(const Job& job);

    // ---- configuration (cluster_config.cpp)
    Result<std::vector<Node>> plan_nodes(const ClusterConfig& config) const;
    void remember_digest(const Text& digest);
    Result<std::vector<NodeId>> nodes_of(const Partition& partition, const std::vector<Node>& nodes) const;
    Result<void> check_jobs_fit(Node node) const;
    std::optional<std::string> retake(Node& node, const Job& job) const;

    // ---- nodes (cluster_nodes.cpp)
    void touch(Node& node);
    void set_reason(Node& node, std::string_view reason, Uid by);
    void fail_jobs_on(Node& node, std::string_view why);
    void bring_back(Node& node, bool expected);
    void judge_hardware(Node& node, const NodeRegistered& found);
    bool follows_reboots() const;
    void request_reboot(Node& node, const UpdateNode& cmd);
    void issue_reboot(Node& node);
    bool end_reboot(Node& node);
    void cancel_reboot(Node& node);
    void forget_reboot(Node& node);
    void add_to_reason(Node& node, std::string_view more);
    void reconcile(Node& node, const std::vector<HeldStep>& held, bool forgot);
    void follow_seen(Node& node, const SeenHistory& seen);  // cluster_history.cpp
    Result<void> check_node_update(const UpdateNode& cmd) const;
    void act_on(Node& node, NodeAction action, const UpdateNode& cmd);
    void set_node_down(Node& node, std::string_view reason, Uid by);
    void index_nodes();  // names, and the classes of each partition
    void mark_exclusive(Node& node);
    void rebuild_use(Node& node);  // from the jobs on it

    // ---- accounting (cluster_outbox.cpp)
    OutboxEntry& post(OutboxKind kind);
    void post(OutboxKind kind, const Job& job, const Step* step);
    void post(OutboxKind kind, std::shared_ptr<const Job> job, const Step* step);
    void post_event(const NodeEvent& event);
    bool keeps_outbox() const;
    bool posts_events() const;
    void post_jobs();     // what this command's events mean for accounting
    void post_changes();  // of nodes, reservations and accounts
    void follow_node(const Node& node);
    void follow_capacity();
    void post_edits(std::vector<AccountsChange> changes);

    // ---- accounts (cluster_accounts.cpp)
    void ensure_root();
    void index_associations();
    Result<void> remove_association(AssociationId id);
    bool is_association_used(const Association& entry) const;
};

}  // namespace spur
