// The policy: jobs start in the order they are handed over; one that must wait holds back those behind it in its
// partition.
#pragma once

#include <spur/plugin/sched.h>
#include <spur/plugin/plugin.hpp>

#include <cstdint>
#include <vector>

class FirstCome {
public:
    FirstCome(const spur_cluster_view& view, const spur_selector& select, const spur_plan_sink& sink);

    spur_status plan(spur_error* err);

private:
    // 0: one task was started. Else SPUR_WAIT_*: why not.
    std::uint32_t start_one(std::uint32_t slot, std::uint32_t partition);
    std::uint32_t find_limit(const spur_job_view& job, const spur_partition_view& partition,
                             std::uint32_t& limit_s) const;
    std::uint32_t find_candidates(const spur_job_view& job, std::uint32_t limit_s);
    bool has_licenses(const spur_job_view& job) const;
    spur_status pick(std::uint32_t slot, std::uint32_t partition);

    const spur_cluster_view& view_;
    const spur_selector& select_;
    const spur_plan_sink& sink_;
    spur_select_cycle* cycle_ = nullptr;
    std::vector<bool> blocked_;              // by partition: somebody in front waits for room
    std::vector<std::uint32_t> licenses_;    // in use, with what this plan started
    std::vector<std::uint64_t> candidates_;  // nodes that are not reserved for others
    std::vector<spur_node_share> shares_;    // memory for the selector's answer
    std::vector<spur_gres_share> gres_;
    std::vector<std::uint64_t> words_;
    spur_placement placement_{};
};
