// What does not change during a cycle: the nodes' hardware, laid out for looking things up.
#pragma once

#include <spur/plugin/view.h>

#include <cstdint>
#include <vector>

#include "devices.hpp"

namespace spur::select_gpu {

// Devices behind the 64th of one resource on one node are never given out.
inline constexpr std::uint32_t most_devices = 64;
inline constexpr std::uint32_t page_nodes = 32;

// One generic resource of a node.
struct Gres {
    std::uint32_t name{};
    std::uint32_t devices{};       // 0: only counted
    std::uint32_t first_device{};  // in Picture::devices
    std::uint32_t offset{};        // of its part in the node's state, in words
    std::uint64_t total{};
    const Wiring* wiring{};
    std::int32_t parent{-1};  // shards: which of the node's resources they are parts of
    std::int32_t parts{-1};   // and the other way round
    bool by_units{};          // some device holds more than one unit
};

struct Device {
    std::uint32_t type{}, socket{SPUR_NONE};
    std::uint32_t units{1};
    std::uint32_t parent{SPUR_NONE};  // position among the parent's devices
    spur_bits cores{};
};

struct Node {
    const spur_node_view* view{};
    std::uint32_t cores{}, core_words{}, sockets{1}, cores_per_socket{1}, threads{1};
    std::uint64_t memory_mib{};
    std::uint32_t offered{};  // cores jobs may use
    std::uint32_t first_gres{}, gres_count{};
    std::int32_t gpu{-1};               // which of its resources is called "gpu"
    std::uint32_t offset{};             // of its state in its page, in words
    std::uint32_t only_uid{SPUR_NONE};  // whose the jobs there are, if they are all one user's
};

class Picture {
public:
    void build(const spur_cluster_view& view, DeviceChooser& chooser);

    const spur_cluster_view& view() const { return *view_; }
    std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }
    std::uint32_t width() const { return width_; }  // words of a node set
    const Node& node(std::uint32_t i) const { return nodes_[i]; }
    const Gres& gres(const Node& node, std::uint32_t i) const { return gres_[node.first_gres + i]; }
    const Device& device(const Gres& gres, std::uint32_t i) const { return devices_[gres.first_device + i]; }
    // CPUs that running jobs of a partition have on a node; counted only where the partition limits them.
    std::uint32_t partition_cpus(std::uint32_t partition, std::uint32_t node) const {
        return partition_cpus_.empty() ? 0 : partition_cpus_[std::size_t{partition} * nodes_.size() + node];
    }
    std::int32_t find_gres(const Node& node, std::uint32_t name) const;
    // Devices of `type` (0: any), as positions.
    std::uint64_t devices_of(const Gres& gres, std::uint32_t type) const;
    std::uint32_t gpu_name() const { return gpu_name_; }  // SPUR_NONE: nobody has any
    std::uint32_t shard_name() const { return shard_name_; }
    std::uint32_t most_threads() const { return most_threads_; }  // of any core
    bool shares_cores() const { return shares_cores_; }           // some partition lets jobs share cores
    const std::vector<std::uint64_t>& usable() const { return usable_; }
    // Nodes by weight, lightest first: sets of nodes.
    std::uint32_t weight_groups() const { return static_cast<std::uint32_t>(weights_.size()); }
    const std::uint64_t* weight_group(std::uint32_t i) const { return group_words_.data() + std::size_t{i} * width_; }
    std::uint32_t page_count() const { return static_cast<std::uint32_t>(page_words_.size()); }
    std::uint32_t page_words(std::uint32_t page) const { return page_words_[page]; }

private:
    void add_gres(Node& node, DeviceChooser& chooser);
    void add_devices(const spur_gres_view& view, std::uint32_t number, Gres& gres, DeviceChooser& chooser);
    void lay_out();
    void group_by_weight();
    void find_owners();
    void count_partition_cpus();

    const spur_cluster_view* view_{};
    std::uint32_t width_{}, gpu_name_{SPUR_NONE}, shard_name_{SPUR_NONE};
    std::uint32_t most_threads_{1};
    bool shares_cores_{};
    std::vector<Node> nodes_;
    std::vector<Gres> gres_;
    std::vector<Device> devices_;
    std::vector<std::uint64_t> usable_, group_words_;
    std::vector<std::uint32_t> weights_, page_words_;
    std::vector<std::uint32_t> partition_cpus_;
    std::vector<std::uint64_t> pairs_;  // scratch
};

}  // namespace spur::select_gpu
