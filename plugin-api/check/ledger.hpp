// What is in use on each node, kept by the checker itself: every placement is held against it.
#pragma once

#include <spur/plugin/view.h>
#include <spur/plugin/plugin.hpp>

#include <optional>
#include <string>
#include <vector>

namespace spur::check {

class Ledger {
public:
    explicit Ledger(const spur_cluster_view& view);

    // Why `share` cannot be held on top of what is held, as a sentence.
    std::optional<std::string> objection(const spur_node_share& share) const;
    void take(const spur_node_share& share) { book(share, +1); }
    void give(const spur_node_share& share) { book(share, -1); }
    bool is_idle(std::uint32_t node) const { return nodes_[node].jobs == 0; }
    bool operator==(const Ledger& other) const { return nodes_ == other.nodes_; }

private:
    struct Gres {
        std::uint64_t used = 0;
        std::vector<std::int64_t> units;  // by device position
        bool operator==(const Gres&) const = default;
    };
    struct Node {
        std::vector<std::int32_t> cores;  // how many hold each
        std::int64_t cpus = 0, memory_mib = 0;
        std::int32_t jobs = 0, whole = 0;
        std::vector<Gres> gres;  // as in the node's gres span
        bool operator==(const Node&) const = default;
    };
    void book(const spur_node_share& share, std::int32_t sign);
    std::optional<std::string> gres_objection(const spur_node_view& node, const Node& held,
                                              const spur_gres_share& share) const;

    const spur_cluster_view& view_;
    std::vector<Node> nodes_;
};

// Why `shares` are not what `job` asked for in `partition`, as a sentence; nothing about what is free.
std::optional<std::string> unmet(const spur_cluster_view& view, const spur_job_view& job, std::uint32_t partition,
                                 spur_span shares);

// All of it: the shares are what the job asked for, on usable nodes, and free.
std::optional<std::string> objection(const spur_cluster_view& view, const Ledger& ledger, const spur_job_view& job,
                                     std::uint32_t partition, spur_span shares);

}  // namespace spur::check
