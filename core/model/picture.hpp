// What can be asked of a cluster's records, whoever holds them: the state machine, or the read model that queries and
// plans use. Logic that both need is written once, against this.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/association.hpp"
#include "core/model/config.hpp"
#include "core/model/job.hpp"
#include "core/model/node.hpp"
#include "core/model/partition.hpp"
#include "core/model/reservation.hpp"
#include "core/model/step.hpp"

namespace spur {

template <class Record>
using ByName = std::map<Text, Record, std::less<>>;

struct LicensePool {
    std::uint32_t total{};
    std::uint32_t used{};
    bool operator==(const LicensePool&) const = default;
};

// Nodes of a partition that are alike in all a request can ask for. There are few of them however many nodes there are.
struct NodeClass {
    Topology topology;
    std::uint32_t cpus{};        // that jobs may have
    std::uint64_t memory_mib{};  // that jobs may have
    std::uint64_t tmp_mib{};
    std::vector<GresPool> gres;
    std::vector<Text> features;
    std::uint32_t count{};
};
using NodeClasses = ByName<std::vector<NodeClass>>;  // by partition

using AssociationNames = std::unordered_map<std::string, AssociationId>;  // by association_key()
std::string association_key(std::string_view account, std::string_view user, std::string_view partition);

class Picture {
public:
    // ---- jobs. A family is an array, with the tasks that have records of their own, or a heterogeneous job with its
    // components; each member has its number in it.
    virtual const Job* find_job(JobId id) const = 0;
    virtual const Array* find_array(JobId id) const = 0;
    virtual const Job* find_member(JobId family, std::uint32_t number) const = 0;
    virtual void for_each_member(JobId family, const std::function<void(const Job&)>& visit) const = 0;
    virtual std::size_t member_count(JobId family) const = 0;
    virtual void for_each_step(JobId job, const std::function<void(const Step&)>& visit) const = 0;

    // ---- nodes
    virtual const Node* find_node(NodeId id) const = 0;
    virtual const Node* find_node(std::string_view name) const = 0;
    virtual std::size_t node_count() const = 0;
    virtual const NodeClasses& node_classes() const = 0;

    // ---- what changes seldom
    virtual const Partition* find_partition(std::string_view name) const = 0;
    virtual const Partition* default_partition() const = 0;
    virtual const Reservation* find_reservation(std::string_view name) const = 0;
    virtual const ByName<LicensePool>& licenses() const = 0;
    virtual const ByName<Account>& accounts() const = 0;
    virtual const ByName<User>& users() const = 0;
    virtual const ByName<Qos>& qos() const = 0;
    virtual const std::map<AssociationId, Association>& associations() const = 0;
    virtual const AssociationNames& association_names() const = 0;
    virtual const Policies& policies() const = 0;
    virtual std::uint32_t state_version() const = 0;  // in force: core/store/state_version.hpp

    // ---- what follows from these
    // The record for a task: its own job once it has left the array's record, else that record.
    const Job* find_task(JobId array, std::uint32_t task) const;
    struct Named {
        const Job* job{};
        std::optional<TaskSet> tasks;  // only these of its array_pending; else all of it
    };
    // Every record that a reference means: "12" of an array is all its records, "12_[3-5]" those with such tasks.
    Result<std::vector<Named>> resolve(const JobRef& ref) const;
    const LicensePool* find_license(std::string_view name) const;
    const Account* find_account(std::string_view name) const;
    const User* find_user(std::string_view name) const;
    const Qos* find_qos(std::string_view name) const;
    const Association* find_association(AssociationId id) const;
    // The one for the partition, or else the one for all of them.
    const Association* find_association(std::string_view account, std::string_view user,
                                        std::string_view partition) const;
    bool is_below(AssociationId id, AssociationId top) const;  // or is it
    // Does this user coordinate `account`, or one of those above it, which begin at `entry`?
    bool coordinates(std::string_view user, std::string_view account, const Association* entry) const;
    // May `actor` change this job? Slurm's rule: the owner, operators, the account's coordinators.
    bool may_change(const Actor& actor, const Job& job) const;

protected:
    Picture() = default;
    Picture(const Picture&) = default;
    Picture(Picture&&) = default;
    Picture& operator=(const Picture&) = default;
    Picture& operator=(Picture&&) = default;
    ~Picture() = default;
};

}  // namespace spur
