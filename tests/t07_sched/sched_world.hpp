// SchedWorld: a cluster and its queue in the terms of the ABI, planned by loaded plugins. What a plan starts can be
// carried out, and time moved on.
//
//     SchedWorld world;
//     world.nodes(4);
//     world.running("a", {0, 1}, until(100));
//     world.pending("big", width(4)).pending("small", limit_s(50));
//     const auto plan = world.plan();               // plan.started("small"), plan.expected.at("big").at == world.now +
//     100
//
// Nodes have 8 cores and 64 GiB. Times are seconds after `now`. Jobs wait in the order in which they were written.
#pragma once

#include <spur/plugin/sched.h>
#include <spur/plugin/plugin.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/test_host.hpp"

namespace spur::test {

using NodeSet = std::set<std::uint32_t>;

// A deep copy of a placement.
struct KeptShares {
    explicit KeptShares(spur_span shares);
    const spur_placement& placement() const { return placement_; }
    spur_span shares() const { return spur_shares(&placement_); }
    NodeSet nodes() const;

private:
    std::vector<spur_node_share> shares_;
    std::deque<std::vector<spur_gres_share>> gres_;
    std::deque<std::vector<std::uint64_t>> words_;
    spur_placement placement_{};
};

// A job being written: the ABI's record and what it points to.
struct Work {
    std::string name;
    spur_job_view view{};
    std::vector<std::uint32_t> partitions{0};
    std::vector<spur_license_request> licenses;
    std::vector<spur_gres_request> gres;
    std::vector<std::uint64_t> eligible, required;
    std::shared_ptr<const KeptShares> held;  // running
};
using Change = std::function<void(Work&)>;
Change width(std::uint32_t nodes);
Change limit_s(std::uint32_t seconds);
Change until(std::int64_t seconds);  // running: when its limit strikes
Change in(std::vector<std::uint32_t> partitions);
Change on_nodes(NodeSet nodes);  // required
Change among(NodeSet nodes);     // eligible
Change licenses(std::uint32_t count, std::uint32_t license = 0);
Change with(std::function<void(spur_job_view&)> change);

struct WorldPlan {
    struct Start {
        std::string job;
        std::uint32_t slot, partition, limit_s;
        std::shared_ptr<const KeptShares> shares;
        NodeSet nodes() const { return shares->nodes(); }
    };
    struct Expected {
        std::int64_t at;
        NodeSet nodes;
    };
    struct Preemption {
        std::string job;
        std::vector<std::uint32_t> victims;  // slots
        std::set<std::string> names;
        NodeSet nodes;
    };
    std::vector<Start> starts;
    std::map<std::string, std::uint32_t> reasons;
    std::map<std::string, std::string> texts;
    std::map<std::string, Expected> expected;
    std::vector<Preemption> preemptions;
    std::string text;  // every call, in order: equal texts are equal plans
    std::set<std::string> names() const;
    const Start* find(const std::string& job) const;
    bool started(const std::string& job) const { return find(job) != nullptr; }
};

class SchedWorld {
public:
    explicit SchedWorld(const TestOptions& options = {}, const std::string& select = "select_linear");
    ~SchedWorld();

    std::int64_t now = 1'000'000;

    SchedWorld& nodes(std::uint32_t count, std::uint32_t cores = 8, std::uint32_t gpus = 0);
    // The first call names partition 0; without one, it has all nodes.
    SchedWorld& partition(const NodeSet& nodes, const std::function<void(spur_partition_view&)>& change = {});
    SchedWorld& license(std::uint32_t total);
    SchedWorld& reservation(std::int64_t start, std::int64_t end, const NodeSet& nodes, std::uint32_t flags = 0);
    SchedWorld& qos(std::set<std::uint32_t> preempts = {});
    SchedWorld& leaf_switches(std::uint32_t nodes_each);
    spur_node_view& node(std::uint32_t i) { return nodes_[i].view; }

    template <class... Changes>
    SchedWorld& pending(const std::string& name, const Changes&... changes) {
        return add_pending(name, {changes...});
    }
    template <class... Changes>
    SchedWorld& running(const std::string& name, const NodeSet& nodes, const Changes&... changes) {
        return add_running(name, nodes, {changes...});
    }

    // ---- one cycle
    std::function<bool(const std::string& job)> may_start;  // unset: always
    std::uint64_t stop_after = UINT64_MAX;                  // questions
    WorldPlan plan();
    // The plan of an instance that has seen nothing before.
    WorldPlan fresh_plan();

    // ---- what follows
    void carry_out(const WorldPlan& plan);
    void end(const std::string& job);
    void advance(std::int64_t seconds);  // whoever is over its limit by then is gone
    std::size_t waiting() const { return pending_slots_.size(); }
    bool is_running(const std::string& job) const;
    bool is_waiting(const std::string& job) const;
    std::vector<std::string> running_names() const;
    // What is held twice, as a sentence; "" if nothing is.
    std::string oversubscribed();
    // Would it fit if these were gone?
    bool fits_without(const std::string& job, const std::vector<std::uint32_t>& running_slots);
    const spur_cluster_view& view();

private:
    struct Node {
        spur_node_view view{};
        std::string name;
        std::vector<std::uint64_t> used, offered;
        std::vector<spur_device_view> devices;
        std::vector<std::uint32_t> groups;
        std::vector<spur_gres_view> gres;
        std::uint32_t gpus = 0;
    };
    SchedWorld& add_pending(const std::string& name, const std::vector<Change>& changes);
    SchedWorld& add_running(const std::string& name, const NodeSet& nodes, const std::vector<Change>& changes);
    void bind(Work& work);
    void use_nodes();
    WorldPlan plan_with(spur_plugin* sched, const spur_sched_ops& ops);
    std::uint32_t put(std::vector<std::unique_ptr<Work>>& table, std::unique_ptr<Work> work);

    TestHost host_;
    TestOptions options_;
    TestPlugin sched_plugin_, select_plugin_;
    TestInstance sched_, select_;
    std::deque<Node> nodes_;
    std::vector<spur_partition_view> partitions_;
    std::deque<std::vector<std::uint64_t>> sets_;
    std::vector<spur_license_view> licenses_;
    std::vector<spur_reservation_view> reservations_;
    std::vector<spur_qos_view> qos_;
    std::vector<spur_group_view> groups_;
    std::deque<std::string> texts_;
    std::vector<std::unique_ptr<Work>> pending_, running_;  // by slot; may be empty
    std::vector<std::uint32_t> pending_slots_;              // in order
    std::uint32_t next_id_ = 1;

    std::vector<std::uint32_t> new_pending_, gone_pending_, new_running_, gone_running_;
    bool knows_changes_ = false;
    // the view and what it points to
    std::vector<spur_node_view> node_views_;
    std::vector<spur_job_view> pending_views_, running_views_;
    std::vector<std::uint32_t> running_order_;
    std::vector<std::uint32_t> all_nodes_;
    std::vector<spur_str> gres_names_, gres_types_;
    spur_view_changes changes_{};
    spur_cluster_view view_{};
    std::uint64_t seen_ = 0;
};

}  // namespace spur::test
