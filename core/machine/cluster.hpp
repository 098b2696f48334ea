// The state machine: the one place where a cluster's state changes. Commands in, events out; no clock, no dice, no
// I/O, and loops in key order, so the same commands give the same state to the last byte, on every controller.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/blob_store.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "core/machine/event.hpp"
#include "core/model/association.hpp"
#include "core/model/config.hpp"
#include "core/model/history.hpp"
#include "core/model/job.hpp"
#include "core/model/node.hpp"
#include "core/model/outbox.hpp"
#include "core/model/partition.hpp"
#include "core/model/picture.hpp"
#include "core/model/request.hpp"
#include "core/model/reservation.hpp"
#include "core/model/step.hpp"
#include "core/store/state_version.hpp"

namespace spur {

struct LimitHit;

// Takes the bytes of a snapshot piece by piece; a piece is at most about 64 KiB unless one record is larger.
using ByteSink = std::function<void(std::string_view)>;

// What PreemptType makes of the modes of the cluster, a job's partition and its QOS; either may be null.
PreemptMode preempt_mode_by(const Policies& policies, const Partition* partition, const Qos* qos);

class Cluster final : public Picture {
public:
    Cluster();
    ~Cluster();
    Cluster(Cluster&&) noexcept;
    Cluster& operator=(Cluster&&) noexcept;

    // Accepts the command and reports what changed, or refuses and changes nothing.
    Result<Events> apply(const Stamped<Command>& command);

    // ---- snapshots: the same state gives the same bytes
    Result<void> save(const ByteSink& sink) const;
    static Result<Cluster> load(std::string_view snapshot);

    // ---- reading. Pointers and references live until the next apply().
    // Grows with every accepted command; each record carries the version at which it last changed.
    std::uint64_t version() const { return version_; }
    UnixSeconds now() const { return now_; }                // of the last accepted command
    UnixSeconds usage_time() const { return usage_time_; }  // up to when running jobs have been charged
    // The earliest time at which a Tick would do something; 0: never.
    UnixSeconds next_due() const;

    // What happens to the job when it is preempted.
    PreemptMode preempt_mode_of(const Job& job) const;
    // What the next job would be called if it were submitted now.
    JobId next_job_id() const { return JobId{next_job_id_}; }

    const Job* find_job(JobId id) const override;
    const Array* find_array(JobId id) const override;
    const Job* find_member(JobId family, std::uint32_t number) const override;
    void for_each_member(JobId family, const std::function<void(const Job&)>& visit) const override;
    std::size_t member_count(JobId family) const override;
    const Step* find_step(StepKey key) const;
    void for_each_step(JobId job, const std::function<void(const Step&)>& visit) const override;
    const Node* find_node(NodeId id) const override;
    const Node* find_node(std::string_view name) const override;
    std::size_t node_count() const override { return nodes_.size(); }
    const Partition* find_partition(std::string_view name) const override;
    const Partition* default_partition() const override;
    const Reservation* find_reservation(std::string_view name) const override;

    const std::map<JobId, Job>& jobs() const { return jobs_; }
    const std::map<JobId, Array>& arrays() const { return arrays_; }
    const std::map<StepKey, Step>& steps() const { return steps_; }
    const std::vector<Node>& nodes() const { return nodes_; }  // indexed by NodeId
    const ByName<Partition>& partitions() const { return partitions_; }
    const ByName<Reservation>& reservations() const { return reservations_; }
    const ByName<LicensePool>& licenses() const override { return licenses_; }
    const ByName<Account>& accounts() const override { return accounts_; }
    const ByName<User>& users() const override { return users_; }
    const std::map<AssociationId, Association>& associations() const override { return associations_; }
    const ByName<Qos>& qos() const override { return qos_; }
    const Policies& policies() const override { return policies_; }
    const Text& cluster_name() const { return cluster_name_; }
    const History& history() const { return history_; }
    // The configuration last applied, changes by scontrol not included.
    const ClusterConfig& config() const { return *config_; }
    // How often a configuration was applied, and the digests of those that were, the one in force last. Empty in a
    // state whose configuration was applied before there were digests.
    std::uint64_t config_generation() const { return config_generation_; }
    const std::vector<Text>& config_digests() const { return config_digests_; }
    // The version of log and snapshots in force: core/store/state_version.hpp.
    std::uint32_t state_version() const override { return state_version_; }

    // What accounting has not confirmed yet, oldest first. Empty unless policies().keep_outbox, and until somebody has
    // said by OutboxDelivered that it reads them: nothing is kept for nobody.
    const std::deque<OutboxEntry>& outbox() const { return outbox_; }

    const std::set<JobId>& pending_jobs() const { return pending_; }  // an array record counts once
    const std::set<JobId>& active_jobs() const { return active_; }    // running, suspended or completing
    const std::set<JobId>& jobs_on(NodeId node) const;
    const NodeClasses& node_classes() const override { return *node_classes_; }
    const AssociationNames& association_names() const override { return *association_names_; }
    // The same to keep: a change makes a new one.
    const std::shared_ptr<const NodeClasses>& shared_node_classes() const { return node_classes_; }
    const std::shared_ptr<const AssociationNames>& shared_association_names() const { return association_names_; }

    // ---- judging, for callers that want the answer before proposing a command
    // Would limits by association and QOS let it start now? none: yes.
    Reason limit_reason(const Job& job, const TresList& would_use) const;
    LimitHit limit_hit(const Job& job, const TresList& would_use) const;  // the same with its numbers
    // What the jobs of one user keep here: scripts and environments once each, and texts beyond the ordinary.
    std::uint64_t stored_bytes(Uid owner) const;

private:
    friend struct ClusterOps;       // the handlers, one file per topic: cluster_*.cpp
    friend struct ClusterSnapshot;  // snapshot.cpp

    std::uint64_t version_{};
    UnixSeconds now_{};
    std::uint32_t next_job_id_{1};
    std::uint32_t next_association_id_{1};
    std::uint32_t next_qos_id_{1};
    Text cluster_name_;
    History history_;
    Policies policies_;
    std::unique_ptr<ClusterConfig> config_;
    std::uint64_t config_generation_{};
    std::vector<Text> config_digests_;
    std::uint32_t state_version_{first_state_version};

    // records
    std::map<JobId, Job> jobs_;
    std::map<JobId, Array> arrays_;
    std::map<StepKey, Step> steps_;
    std::vector<Node> nodes_;
    ByName<Partition> partitions_;
    ByName<Reservation> reservations_;
    ByName<LicensePool> licenses_;
    ByName<Account> accounts_;
    ByName<User> users_;
    std::map<AssociationId, Association> associations_;
    ByName<Qos> qos_;
    ByName<std::pair<JobId, UnixSeconds>> requests_;  // recent request ids, for exactly-once submits
    std::deque<OutboxEntry> outbox_;
    ByName<NodeEvent> open_events_;  // that accounting was told of and that are not over; "": what the cluster has
    std::uint64_t next_outbox_{1};
    bool outbox_is_read_{false};
    UnixSeconds usage_time_{};  // up to when running jobs have been charged

    // indexes: never stored, rebuilt by load()
    struct Indexes;
    std::unique_ptr<Indexes> index_;
    std::set<JobId> pending_;
    std::set<JobId> active_;
    std::shared_ptr<const NodeClasses> node_classes_{std::make_shared<NodeClasses>()};
    std::shared_ptr<const AssociationNames> association_names_{std::make_shared<AssociationNames>()};
    BlobStore blobs_;
};

}  // namespace spur
