// Whole nodes. A slot is a count of holders per node, and the set of those that have none: choosing combines sets word
// by word, and looks at a node's hardware once for each class of nodes.
#pragma once

#include <spur/plugin/select.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace spur::linear {

class Cycle {
public:
    static constexpr std::uint32_t slot_count = 64;
    static constexpr std::uint32_t most_requests = 32;  // generic resources of one job

    // Reuses the memory of earlier cycles.
    void begin(const spur_cluster_view& view);
    void copy(std::uint32_t from, std::uint32_t to);
    void take(std::uint32_t slot, spur_span shares, int change);
    spur_status pick(const spur_pick& pick, spur_placement* out);
    void idle_nodes(std::uint32_t slot, std::uint64_t* words) const;

private:
    struct Need {
        std::uint32_t min_nodes, max_nodes, tasks, cpus_per_task, tasks_per_node;
    };
    // How many tasks of the job one node can hold; 0: it is of no use.
    std::uint32_t capacity(const spur_job_view& job, const Need& need, const spur_node_view& node) const;
    bool has_gres(const spur_job_view& job, const spur_node_view& node) const;
    Need need_of(const spur_job_view& job, const spur_partition_view& partition) const;
    // What is being looked for, and where.
    struct Search {
        const spur_pick& pick;
        const spur_job_view& job;
        const spur_partition_view& partition;
        const Need& need;
    };
    bool choose(const spur_pick& pick, const Need& need, bool empty);
    bool choose_light(const Search& search);
    bool choose_rich(const Search& search, bool by_gres);
    std::uint32_t pooled_supply(const spur_job_view& job, std::uint32_t node) const;
    bool choose_contiguous(const Search& search);
    bool add_obliged(const Search& search);
    bool add(const Search& search, std::uint32_t node);
    void choose_nobody() {
        chosen_.clear();
        room_.clear();
        total_room_ = 0;
    }
    void choose_node(std::uint32_t node, std::uint32_t room) {
        chosen_.push_back(node);
        room_.push_back(room);
        total_room_ += room;
    }
    // The nodes that may be chosen, into mask_; how many there are, if they are fewer than the job needs.
    std::uint32_t find_usable(const Search& search, const spur_bits* within, bool empty);
    bool is_usable(std::uint32_t node) const { return (mask_[node / 64] >> (node % 64) & 1) != 0; }
    std::uint32_t room_on(const Search& search, std::uint32_t node);
    // Calls f(node) for nodes of mask_, lightest first, until it says false.
    template <class F>
    void for_each_usable(F&& f) const;
    bool is_enough(const Search& search) const;
    bool satisfies_sets(const spur_job_view& job) const;
    void put_in_order();
    spur_status write(const spur_job_view& job, const Need& need, spur_placement& out) const;
    void write_gres(const spur_job_view& job, const spur_node_view& node, std::uint32_t tasks,
                    std::array<std::uint64_t, most_requests>& pooled, spur_placement& out,
                    spur_node_share& share) const;
    struct Slot {
        std::vector<std::uint32_t> holders;
        std::vector<std::uint64_t> idle;
    };
    void sort_nodes();

    const spur_cluster_view* view_{nullptr};
    std::vector<Slot> slots_;
    std::vector<std::uint64_t> usable_;
    std::vector<std::vector<std::uint64_t>> weights_;  // nodes of each weight, lightest first
    std::vector<std::uint32_t> class_of_;              // by node
    struct Room {
        std::uint64_t asked;  // number of the search it is known for
        std::uint32_t room;
    };
    std::vector<Room> rooms_;  // by class
    std::uint64_t searches_{0};
    std::vector<std::uint64_t> mask_;
    // of the last choice
    std::vector<std::uint32_t> chosen_;
    std::vector<std::uint32_t> room_;  // tasks each chosen node can hold
    std::uint64_t total_room_ = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> roomy_;  // wealth and node, for choose_rich
};

}  // namespace spur::linear
