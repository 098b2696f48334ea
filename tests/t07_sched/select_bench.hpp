// SelectBench: a picture of a cluster in a few lines, and a select plugin that is asked about it.
//
//     SelectBench bench;
//     bench.nodes(2, {.sockets = 2, .cores = 16, .gpus = 8, .links = nvlink_pairs()});
//     const auto job = bench.pending([&](Ask& ask) { ask.gres(bench.gpu, SPUR_GRES_PER_NODE, 2); });
//     const auto placed = bench.pick(job);          // placed.nodes[0].gpus == {0, 1}
#pragma once

#include <spur/plugin/select.h>
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

struct Link {
    std::uint32_t from, to, weight, kind;
};
std::vector<Link> nvlink_pairs(std::uint32_t gpus = 8);  // 0-1, 2-3, ...
std::vector<Link> xgmi_islands(std::uint32_t gpus = 8, std::uint32_t island = 8);

struct NodeShape {
    std::uint32_t sockets = 1, cores = 8, threads = 1;  // cores of each socket
    std::uint64_t memory_mib = 64 * 1024;
    std::uint32_t gpus = 0;
    std::vector<Link> links{};
    bool near_cores = false;  // each gpu is near the cores of its socket, by list
    std::uint32_t shards_per_gpu = 0;
    std::uint32_t weight = 1;
    std::uint64_t counted = 0;                                             // of the resource "bandwidth"
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counted_types{};  // the same, by type
    std::vector<std::uint32_t> gpu_types{};                                // empty: all of type 1
};

// A job being written: the ABI's record, and lists that live as long as the bench.
struct Ask {
    spur_job_view& job;
    std::vector<spur_gres_request>& requests;
    Ask& gres(std::uint32_t name, std::uint32_t scope, std::uint64_t count, std::uint32_t type = 0) {
        requests.push_back({name, type, scope, 0, count});
        return *this;
    }
};

struct Placed {
    struct OnNode {
        std::uint32_t node, cpus, tasks, flags;
        std::uint64_t memory_mib;
        std::set<std::uint32_t> cores, gpus;
        std::map<std::uint32_t, std::uint64_t> shards;  // by gpu
        std::uint64_t gres_count = 0;
        bool operator==(const OnNode&) const = default;
    };
    spur_status verdict = SPUR_NEVER;
    std::vector<OnNode> nodes;
    spur_span shares{};  // valid until the next pick
    bool fits() const { return verdict == SPUR_FITS; }
    bool operator==(const Placed& other) const { return verdict == other.verdict && nodes == other.nodes; }
};

class SelectBench {
public:
    static constexpr std::uint32_t gpu = 0, shard = 1, bandwidth = 2;  // numbers of names

    explicit SelectBench(const TestOptions& options = {}, const std::string& plugin = "select_gpu");
    ~SelectBench();

    SelectBench& nodes(std::uint32_t count, const NodeShape& shape);
    SelectBench& partition(const std::function<void(spur_partition_view&)>& change);  // of the only one
    std::uint32_t pending(const std::function<void(Ask&)>& write);
    SelectBench& leaf_switches(std::uint32_t nodes_each);
    spur_node_view& node(std::uint32_t i) { return nodes_[i]; }
    std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }
    const NodeShape& shape(std::uint32_t node) const { return shapes_[node]; }

    // A set of nodes that lives as long as the bench.
    spur_bits node_set(const std::set<std::uint32_t>& nodes);
    template <class T>
    spur_span keep(std::vector<T> items) {
        auto kept = std::make_shared<std::vector<T>>(std::move(items));
        kept_.push_back(kept);
        return plugin::span_of(*kept);
    }

    // Begins a cycle over what has been described so far, if none has begun.
    const spur_cluster_view& view();
    Placed pick(std::uint32_t job, std::uint32_t slot = 0, std::uint32_t flags = 0);
    Placed start(std::uint32_t job, std::uint32_t slot = 0);  // pick, and take what came
    void give(std::uint32_t slot, const spur_span& shares, std::uint32_t flags = 0);
    void take(std::uint32_t slot, const spur_span& shares, std::uint32_t flags = 0);
    void copy(std::uint32_t from, std::uint32_t to);
    const spur_select_ops& ops() const { return *ops_; }
    spur_select_cycle* cycle();
    void new_cycle();

private:
    TestHost host_;
    TestPlugin plugin_;
    TestInstance instance_;
    const spur_select_ops* ops_;
    spur_select_cycle* cycle_ = nullptr;

    std::vector<NodeShape> shapes_;
    std::vector<spur_node_view> nodes_;
    std::vector<spur_job_view> jobs_;
    std::deque<std::vector<spur_gres_request>> requests_;
    std::vector<std::uint32_t> order_, partition_list_{0};
    std::vector<spur_group_view> groups_;
    std::vector<std::shared_ptr<void>> kept_;
    spur_partition_view partition_{};
    std::vector<spur_str> gres_names_, gres_types_;
    spur_cluster_view view_{};
    std::vector<spur_node_share> shares_;
    std::vector<spur_gres_share> gres_;
    std::vector<std::uint64_t> words_;
};

}  // namespace spur::test
