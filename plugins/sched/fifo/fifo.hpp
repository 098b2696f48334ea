// Strict priority order: whoever cannot start holds back those behind it in the same partition.
#pragma once

#include <spur/plugin/sched.h>

#include <cstdint>
#include <vector>

namespace spur::fifo {

// Memory for placements, grown to what select asks for and kept between cycles.
class PlacementBuffer {
public:
    PlacementBuffer();
    spur_placement* get() { return &placement_; }
    const spur_placement* get() const { return &placement_; }
    void grow();  // to *_wanted

private:
    std::vector<spur_node_share> shares_;
    std::vector<spur_gres_share> gres_;
    std::vector<std::uint64_t> words_;
    spur_placement placement_{};
    void bind();
};

class Fifo {
public:
    spur_status plan(const spur_cluster_view& view, const spur_selector& select, const spur_plan_sink& sink,
                     spur_error* err);

private:
    enum class Outcome { started, blocked, never, held };
    struct Cycle;
    Outcome try_job(Cycle& cycle, std::uint32_t slot);
    Outcome try_partition(Cycle& cycle, std::uint32_t slot, std::uint32_t partition);

    bool find_candidates(const spur_cluster_view& view, const spur_job_view& job);

    PlacementBuffer placement_;
    std::vector<std::uint64_t> candidates_;  // nodes not reserved for others
    std::vector<std::uint8_t> blocked_;      // by partition
    std::vector<std::uint32_t> licenses_;    // taken by this plan
};

}  // namespace spur::fifo
