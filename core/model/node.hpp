// A node: what it has, how it is, and how much of it is in use. States and flags are Slurm's, bit for bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"
#include "core/model/resources.hpp"

namespace spur {

// Slurm's numbers. ALLOCATED and MIXED are never stored: they follow from what is in use.
enum class NodeState : std::uint8_t { unknown, down, idle, allocated, error, mixed, future };

namespace node_flag {
inline constexpr std::uint32_t reserved = 1U << 5;  // in a reservation that has begun
inline constexpr std::uint32_t cloud = 1U << 7;
inline constexpr std::uint32_t drain = 1U << 9;  // no new work
inline constexpr std::uint32_t completing = 1U << 10;
inline constexpr std::uint32_t no_respond = 1U << 11;
inline constexpr std::uint32_t powered_down = 1U << 12;
inline constexpr std::uint32_t fail = 1U << 13;
inline constexpr std::uint32_t powering_up = 1U << 14;
inline constexpr std::uint32_t maint = 1U << 15;
inline constexpr std::uint32_t reboot_requested = 1U << 16;
inline constexpr std::uint32_t powering_down = 1U << 18;
inline constexpr std::uint32_t reboot_issued = 1U << 20;
inline constexpr std::uint32_t planned = 1U << 21;
inline constexpr std::uint32_t invalid_reg = 1U << 22;  // registered with less than configured
inline constexpr std::uint32_t power_down = 1U << 23;
inline constexpr std::uint32_t power_up = 1U << 24;
}  // namespace node_flag

// What a node holds its jobs to, as it says when it registers.
namespace node_limit {
inline constexpr std::uint32_t known = 1U << 0;  // it said something: the other bits count
inline constexpr std::uint32_t containment = 1U << 1;
inline constexpr std::uint32_t cores = 1U << 2;
inline constexpr std::uint32_t memory = 1U << 3;
inline constexpr std::uint32_t devices = 1U << 4;
inline constexpr std::uint32_t processes = 1U << 5;
}  // namespace node_limit

// "memory,cores": what a node with these bits does not enforce; empty: nothing, or it never said.
std::string display_unenforced(std::uint32_t enforced);

std::string_view to_string(NodeState state);  // "IDLE"

// What sinfo %T and %t print ("DRAINING", "idle*") and what scontrol show node prints ("IDLE+DRAIN", "DOWN*").
std::string display_state(NodeState state, std::uint32_t flags);          // upper case, as libslurm gives it
std::string display_compact_state(NodeState state, std::uint32_t flags);  // "IDLE*" -> "IDLE*", "ALLOCATED" -> "ALLOC"
std::string display_full_state(NodeState state, std::uint32_t flags);     // "MIXED+DRAIN"

struct NodeStateBits {
    NodeState state{NodeState::unknown};
    std::uint32_t flags{};

    std::uint32_t number() const { return static_cast<std::uint32_t>(state) | flags; }
    bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
    bool is_busy() const { return state == NodeState::allocated || state == NodeState::mixed; }
    bool is_out() const {
        return state == NodeState::down || state == NodeState::unknown || state == NodeState::future ||
               has(node_flag::drain | node_flag::fail | node_flag::invalid_reg);
    }
};
NodeStateBits parse_full_state(std::string_view text);  // what display_full_state() wrote

// What becomes of a node once it has rebooted: scontrol reboot nextstate=.
enum class AfterReboot : std::uint8_t { as_before, resume, down };

// A node as configured: one entry stands for all its names.
struct NodeConfig {
    std::vector<Text> names;  // expanded
    Text addr;                // pattern or empty
    Text hostname;
    std::uint16_t port{};  // 0: the default
    Topology topology;
    std::uint32_t cpus{1};  // either cores or threads of the topology
    std::uint64_t memory_mib{1};
    std::uint64_t tmp_mib{};
    std::vector<GresPool> gres;
    std::vector<Text> features;
    std::uint32_t weight{1};
    std::uint32_t core_spec{};  // cores kept for the system
    std::uint64_t mem_spec_mib{};
    NodeState state{NodeState::unknown};  // idle, down, unknown or future
    std::uint32_t state_flags{};          // drain, fail, cloud
    Text reason;
    Text comment;
    bool operator==(const NodeConfig&) const = default;
};

struct Node {
    NodeId id;
    Text name;
    Text hostname;
    Text addr;
    std::uint16_t port{};
    bool configured{true};  // false: left the configuration; kept for the jobs that ran on it

    // what the configuration grants
    Topology topology;
    std::uint32_t cpus{1};
    std::uint64_t memory_mib{1};
    std::uint64_t tmp_mib{};
    std::vector<GresPool> gres;
    std::vector<DevicePlace> gpu_places;  // as the node registered them; none: nothing is known
    std::vector<DeviceLink> gpu_links;
    std::vector<Text> features;
    std::vector<Text> active_features;
    std::uint32_t weight{1};
    std::uint32_t core_spec{};
    std::uint64_t mem_spec_mib{};

    // how it is
    NodeState state{NodeState::unknown};  // unknown, down, idle or future; see display_state()
    std::uint32_t flags{};
    Text reason;
    Uid reason_uid{};
    UnixSeconds reason_time{};
    UnixSeconds boot_time{};
    UnixSeconds start_time{};  // of its spurd
    UnixSeconds last_busy{};
    Text boot_id;
    Text architecture;
    Text os;
    Text software_version;
    Text spool_id;             // of the memory its agent registered with last
    std::uint32_t enforced{};  // node_limit bits
    Text comment;
    Text extra;
    AfterReboot after_reboot{AfterReboot::as_before};  // of the reboot that was requested or issued

    NodeUse use;
    std::uint32_t job_count{};  // jobs that run on it or are still being cleared away; suspended ones are no company
    std::uint32_t completing_jobs{};
    Uid exclusive_uid{nobody};  // whose it is while a --exclusive=user job is here
    bool exclusive{false};      // one job has all of it
    std::uint64_t version{};

    // Cores and memory that jobs may have.
    Bitset usable_cores() const;
    std::uint64_t usable_memory_mib() const { return memory_mib - std::min(memory_mib, mem_spec_mib); }
    std::uint32_t usable_cpus() const;
    std::uint32_t cpus_per_core() const;  // 1 where the configuration counts cores only
    // Up, answering, not drained: may be given new work now.
    bool is_available() const;
    // What users see: ALLOCATED, MIXED, COMPLETING... follow from what is in use.
    NodeState shown_state() const;
    std::uint32_t shown_flags() const;
    bool operator==(const Node&) const = default;
};

}  // namespace spur
