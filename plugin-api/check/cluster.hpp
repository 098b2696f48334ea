// Random clusters: nodes of a few kinds with jobs running on them, a queue, partitions, reservations, licenses and the
// account tree, as the host would hand them over. The same dice give the same cluster.
#pragma once

#include "dice.hpp"
#include "memory.hpp"

#include <spur/plugin/view.h>

#include <string>
#include <vector>

namespace spur::check {

struct ClusterWishes {
    std::uint32_t nodes = 24;                      // at most
    std::uint32_t running = 16;                    // at most
    std::uint32_t pending = 40;                    // at most
    bool exactly = false;                          // not at most: exactly
    bool placement_rules = true;                   // alternatives, quotas, contiguous nodes: matters for selectors only
    std::uint64_t understood = ~std::uint64_t{0};  // SPUR_WISH_*: jobs with others are not in the queue
};

class Cluster {
public:
    Cluster(Dice& dice, const ClusterWishes& wishes, Shape shape = {});

    const spur_cluster_view& view() const { return *view_; }
    spur_cluster_view& edit() { return *view_; }
    spur_job_view& edit_pending(std::uint32_t slot) {
        return *const_cast<spur_job_view*>(SPUR_AT(spur_job_view, view_->pending, slot));
    }

private:
    struct NodeKind {
        std::uint32_t sockets, cores_per_socket, threads_per_core;
        std::uint64_t memory_mib;
        std::uint32_t gpus, gpu_type;  // type 0: untyped
        std::uint64_t counted;         // of the resource that has no devices
        std::uint32_t weight;
        bool spare_core;  // core 0 is not offered to jobs
        std::uint32_t cores() const { return sockets * cores_per_socket; }
    };

    struct Node {
        std::string name;
        std::uint32_t kind;
        std::uint32_t flags = SPUR_NODE_USABLE;
        std::uint64_t memory_used = 0, counted_used = 0;
        std::vector<bool> cores_used, cores_offered, gpus_used;
        std::uint32_t cpus_used = 0, jobs = 0;
    };

    void make_kinds();
    void make_nodes(std::uint32_t count);
    void make_partitions();
    void make_running(std::uint32_t count);
    bool run_on(Node& node, bool whole, std::vector<spur_node_share>& shares);
    void make_accounts();
    void make_reservations();
    void make_licenses();
    void make_pending(std::uint32_t count);
    spur_job_view make_request(std::uint32_t id);
    static std::uint64_t wishes_of(const spur_job_view& job);
    void ask_for_size(spur_job_view& job);
    void ask_for_memory(spur_job_view& job);
    void ask_for_gres(spur_job_view& job);
    void ask_for_nodes(spur_job_view& job);
    void ask_for_placement(spur_job_view& job);
    void lay_out();
    spur_node_view record_of(const Node& node, std::uint32_t number);
    std::vector<spur_group_view> groups();
    std::vector<bool> some_nodes(std::uint32_t one_in);

    Dice& dice_;
    ClusterWishes wishes_;
    Memory memory_;
    std::uint32_t unknown_flag_;  // that hosts to come may set in flags: ignored by who does not know it
    std::int64_t now_ = 1'800'000'000;
    std::vector<NodeKind> kinds_;
    std::vector<Node> nodes_;
    std::vector<spur_partition_view> partitions_;
    std::vector<spur_job_view> running_, pending_;
    std::vector<std::uint32_t> running_order_, pending_order_;
    std::vector<spur_reservation_view> reservations_;
    std::vector<spur_license_view> licenses_;
    std::vector<spur_association_view> associations_;
    std::vector<spur_qos_view> qos_;
    spur_cluster_view* view_ = nullptr;
};

// Numbers of the generic resources in every random cluster.
inline constexpr std::uint32_t gpu_name = 0, counted_name = 1;

}  // namespace spur::check
