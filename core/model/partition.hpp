// A partition: a named set of nodes with rules about who may use them and how long.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"
#include "core/model/gres.hpp"

namespace spur {

enum class PartitionState : std::uint8_t {
    up,
    down,
    drain,
    inactive
};  // up: queue and start; down: queue; drain: start
std::string_view to_string(PartitionState state);
std::optional<PartitionState> find_partition_state(std::string_view text);

enum class OverSubscribe : std::uint8_t { no, yes, force, exclusive };
enum class PreemptMode : std::uint8_t { unset, off, cancel, requeue, suspend, gang };
// By their numbers. The first, which only a QOS can have, leaves it to the partition and the cluster.
inline constexpr std::array<std::string_view, 6> preempt_modes{"CLUSTER", "OFF",     "CANCEL",
                                                               "REQUEUE", "SUSPEND", "GANG"};
std::string_view to_string(PreemptMode mode);
std::optional<PreemptMode> find_preempt_mode(std::string_view text);

struct BillingWeight {
    Text tres;  // "CPU", "Mem" (per GiB), "GRES/gpu"
    double weight{};
    bool operator==(const BillingWeight&) const = default;
};

struct Partition {
    Text name;
    bool is_default{false};
    Text node_text;             // the hostlist as configured; "ALL" is every node
    std::vector<NodeId> nodes;  // in the order of the table of nodes; filled when the configuration is applied
    PartitionState state{PartitionState::up};
    std::uint32_t max_time_min{unlimited};
    std::uint32_t default_time_min{};  // 0: max_time_min is the default
    std::uint32_t min_nodes{};
    std::uint32_t max_nodes{unlimited};
    std::uint32_t max_cpus_per_node{unlimited};
    std::uint16_t priority_tier{1};
    std::uint16_t priority_job_factor{1};
    bool hidden{false};
    bool root_only{false};
    bool require_reservation{false};
    bool exclusive_user{false};
    bool disable_root_jobs{false};
    bool lln{false};
    OverSubscribe oversubscribe{OverSubscribe::no};
    std::uint16_t oversubscribe_jobs{4};  // per resource, with yes and force
    PreemptMode preempt_mode{PreemptMode::unset};
    std::uint32_t grace_time_s{};
    std::uint32_t over_time_limit_min{};
    std::vector<Text> allow_groups;  // empty: all
    std::vector<Text> allow_accounts;
    std::vector<Text> deny_accounts;
    std::vector<Text> allow_qos;
    std::vector<Text> deny_qos;
    std::vector<Text> allow_alloc_nodes;
    Text qos;  // the partition's QOS
    std::optional<std::uint64_t> default_mem_per_cpu_mib;
    std::optional<std::uint64_t> default_mem_per_node_mib;
    std::optional<std::uint64_t> max_mem_per_cpu_mib;
    std::optional<std::uint64_t> max_mem_per_node_mib;
    std::optional<std::uint32_t> default_cpus_per_gpu;
    std::optional<std::uint64_t> default_mem_per_gpu_mib;
    std::vector<BillingWeight> billing_weights;
    Text alternate;
    std::uint32_t total_cpus{};  // of its nodes; filled when the configuration is applied
    std::uint64_t version{};
    bool operator==(const Partition&) const = default;

    bool may_queue() const { return state == PartitionState::up || state == PartitionState::down; }
    bool may_start() const { return state == PartitionState::up || state == PartitionState::drain; }
};

}  // namespace spur
