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
    std::map<Text, LicensePool, std::less<>> licenses;
    std::map<Text, Account, std::less<>> accounts;
    std::map<Text, User, std::less<>> users;
    std::map<AssociationId, Association> associations;
    std::map<Text, Qos, std::less<>> qos;
    Policies policies;
    Text cluster_name;
    History history;
    std::uint32_t state_version{};

    const Partition* find_partition(std::string_view name) const;
};

using StepList = std::vector<Step>;

struct ReadModel final : Picture {
    std::uint64_t version{};
    UnixSeconds now{};
    PersistentMap<std::shared_ptr<const Job>> jobs;        // by job id
    PersistentMap<std::shared_ptr<const StepList>> steps;  // by job id
    PersistentMap<std::shared_ptr<const Array>> arrays;    // by array job id
    PersistentMap<std::shared_ptr<const Node>> nodes;      // by node id
    std::shared_ptr<const std::map<std::string, NodeId, std::less<>>> node_ids;
    std::shared_ptr<const Directory> directory;
    std::shared_ptr<const SwitchTree> switches;  // never null

    const Node* find_node(std::string_view name) const;
    const Node* find_node(NodeId id) const override { return nodes.get(id.value).get(); }
    const Partition* find_partition(std::string_view name) const override { return directory->find_partition(name); }
    const Policies& policies() const override { return directory->policies; }
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
    void copy_node(const Node& node);
    void copy_directory(const Cluster& cluster);
    ReadModel next_;
};

}  // namespace spur::planning
