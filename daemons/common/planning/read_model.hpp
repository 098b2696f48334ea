// What queries are answered from: an immutable picture of the cluster, made anew after every batch of commands by
// copying only what changed. Readers take the latest one and never wait for the engine, nor it for them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/machine/cluster.hpp"
#include "core/model/switches.hpp"
#include "daemons/common/planning/persistent_map.hpp"

namespace spur::planning {

// Records that change seldom, shared whole between models until one of them changes.
struct Directory {
    std::vector<Partition> partitions;  // in name order
    std::vector<Reservation> reservations;
    ByName<LicensePool> licenses;
    ByName<Account> accounts;
    ByName<User> users;
    std::map<AssociationId, Association> associations;
    ByName<Qos> qos;
    Policies policies;
    Text cluster_name;
    History history;
    std::uint32_t state_version{};
    bool is_configured{false};  // a configuration has been in force: the state is not one that has just been founded
};

using StepList = std::vector<Step>;
using Family = PersistentMap<JobId>;  // by the numbers of its members

struct ReadModel final : Picture {
    std::uint64_t version{};
    UnixSeconds now{};
    JobId next_job;                                        // what the next one would be called if it were submitted now
    PersistentMap<std::shared_ptr<const Job>> jobs;        // by job id
    PersistentMap<std::shared_ptr<const StepList>> steps;  // by job id
    PersistentMap<std::shared_ptr<const Array>> arrays;    // by array job id
    PersistentMap<Family> families;                        // by array job id or the leader of a heterogeneous job
    PersistentMap<std::shared_ptr<const Node>> nodes;      // by node id
    std::shared_ptr<const std::map<std::string, NodeId, std::less<>>> node_ids;
    std::shared_ptr<const Directory> directory;
    std::shared_ptr<const SwitchTree> switches;  // never null
    std::shared_ptr<const NodeClasses> classes;
    std::shared_ptr<const AssociationNames> names;

    const Job* find_job(JobId id) const override { return jobs.get(id.value).get(); }
    const Array* find_array(JobId id) const override { return arrays.get(id.value).get(); }
    const Job* find_member(JobId family, std::uint32_t number) const override;
    void for_each_member(JobId family, const std::function<void(const Job&)>& visit) const override;
    std::size_t member_count(JobId family) const override { return families.get(family.value).size(); }
    const Step* find_step(StepKey key) const;
    void for_each_step(JobId job, const std::function<void(const Step&)>& visit) const override;
    const Node* find_node(NodeId id) const override { return nodes.get(id.value).get(); }
    const Node* find_node(std::string_view name) const override;
    std::size_t node_count() const override { return nodes.size(); }
    const NodeClasses& node_classes() const override { return *classes; }
    const Partition* find_partition(std::string_view name) const override;
    const Partition* default_partition() const override;
    const Reservation* find_reservation(std::string_view name) const override;
    const ByName<LicensePool>& licenses() const override { return directory->licenses; }
    const ByName<Account>& accounts() const override { return directory->accounts; }
    const ByName<User>& users() const override { return directory->users; }
    const ByName<Qos>& qos() const override { return directory->qos; }
    const std::map<AssociationId, Association>& associations() const override { return directory->associations; }
    const AssociationNames& association_names() const override { return *names; }
    const Policies& policies() const override { return directory->policies; }
    std::uint32_t state_version() const override { return directory->state_version; }
};

// What one batch of commands touched.
struct Changes {
    std::vector<JobId> jobs;
    std::vector<JobId> forgotten;
    std::vector<NodeId> nodes;
    bool directory{false};
    bool everything{false};  // a new configuration or a restored snapshot
    bool empty() const { return jobs.empty() && forgotten.empty() && nodes.empty() && !directory && !everything; }
    void clear() { *this = {}; }
};

// Adds what another batch touched.
void merge(Changes& into, const Changes& from);

// Adds what `events` name to `changes`.
void note_changes(const Events& events, Changes& changes);

// [engine thread] Keeps the next model up to date with the cluster.
class ReadModelBuilder {
public:
    // The model after `changes`, each record copied once.
    std::shared_ptr<const ReadModel> publish(const Cluster& cluster, Changes& changes);

private:
    void copy_job(const Cluster& cluster, JobId id);
    void copy_array(const Cluster& cluster, JobId id);
    void forget_job(const Cluster& cluster, JobId id);
    void copy_node(const Node& node);
    void copy_directory(const Cluster& cluster);
    ReadModel next_;
};

}  // namespace spur::planning
