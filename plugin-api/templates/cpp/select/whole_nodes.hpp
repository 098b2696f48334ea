// The policy: jobs get whole idle nodes, light ones (low weight) first. Knows what is idle in each slot and nothing
// else.
#pragma once

#include <spur/plugin/select.h>
#include <spur/plugin/plugin.hpp>

#include <cstdint>
#include <vector>

class WholeNodes {
public:
    static constexpr std::uint32_t slot_count = 16;
    // Jobs that ask for more are not brought here: they wait and say for whom.
    static constexpr std::uint64_t understands = SPUR_WISH_GRES;

    explicit WholeNodes(const spur_cluster_view& view);

    void copy(std::uint32_t from, std::uint32_t to);
    void take(std::uint32_t slot, spur_span shares) { book(slot, shares, +1); }
    void give(std::uint32_t slot, spur_span shares) { book(slot, shares, -1); }

    // Allocates nothing: all it needs was made by the constructor.
    spur_status pick(const spur_pick& pick, spur_placement* out);

private:
    struct Candidate {
        std::uint32_t node;
        std::uint32_t room;  // tasks it can hold
        bool required;
        std::uint64_t pooled;  // how much it adds to a generic resource counted over the whole job
    };

    void book(std::uint32_t slot, spur_span shares, int sign);
    bool gather(const spur_pick& pick, const spur_job_view& job, bool empty);
    std::uint32_t room_on(const spur_job_view& job, const spur_node_view& node) const;
    std::uint32_t smallest_prefix(const spur_job_view& job) const;
    std::uint32_t choose(const spur_job_view& job);
    spur_status write(const spur_job_view& job, std::uint32_t count, spur_placement& out);

    const spur_cluster_view& view_;
    std::vector<std::int32_t> jobs_;  // by slot, then node: how many jobs are there
    std::vector<Candidate> candidates_;
};
