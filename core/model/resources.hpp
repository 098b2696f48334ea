// What a node has, how much of it is taken, and what a job takes: cores, memory, devices, licences.
// Cores are numbered socket by socket, `socket * cores_per_socket + core`; a core is given whole, with its threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bitset.hpp"
#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/text.hpp"

namespace spur {

struct Topology {
    std::uint16_t boards{1};
    std::uint16_t sockets{1};  // of the node
    std::uint16_t cores_per_socket{1};
    std::uint16_t threads_per_core{1};
    bool operator==(const Topology&) const = default;
    std::uint32_t cores() const { return std::uint32_t{sockets} * cores_per_socket; }
    std::uint32_t threads() const { return cores() * threads_per_core; }
    std::uint32_t socket_of(std::uint32_t core) const { return cores_per_socket ? core / cores_per_socket : 0; }
};

// A generic resource of a node: `count` devices of one name and type. Devices of one name are numbered through all
// its types, beginning with `first_index`. A pool without devices (has_devices false) is a plain count.
struct GresPool {
    Text name;  // "gpu"
    Text type;  // "mi300x", may be empty
    std::uint64_t count{};
    std::uint32_t first_index{};
    bool has_devices{false};
    bool operator==(const GresPool&) const = default;
};

// Where a device of a node sits, as the agent's gpu plugin found it. `index` counts as in GresPool.
struct DevicePlace {
    std::uint32_t index{};
    std::uint32_t socket{unlimited};  // unlimited: unknown
    Bitset cores;                     // near it; empty: all alike
    bool failed{false};               // must not be given to jobs
    bool operator==(const DevicePlace&) const = default;
};
// How well two devices of a node talk to each other. Kinds are SPUR_LINK_* of the gpu axis.
struct DeviceLink {
    std::uint32_t from{}, to{};
    std::uint32_t kind{}, weight{};
    bool operator==(const DeviceLink&) const = default;
};

// A part of a pool given to a job or step. `devices` are node-wide numbers of that name; empty where the pool has none.
// Shards name the gpus they lie on in `devices`, and how many lie on each in `per_device`.
struct GresShare {
    Text name;
    Text type;
    std::uint64_t count{};
    Bitset devices;
    std::vector<std::uint32_t> per_device;
    bool operator==(const GresShare&) const = default;
};

// What one node gives to one job or step.
struct NodeShare {
    NodeId node;
    Bitset cores;
    std::uint32_t cpus{};  // threads on those cores that count as the job's
    std::uint64_t memory_mib{};
    std::vector<GresShare> gres;
    std::uint32_t tasks{};
    bool operator==(const NodeShare&) const = default;
};

// How a job shares the cores it gets.
struct Sharing {
    std::uint16_t jobs_per_core{1};  // more than 1: others may be on the same cores, up to so many
    bool operator==(const Sharing&) const = default;
};

// What is in use on one node. Invariants: a core is either in `own_cores` or counted in `core_jobs`, never both;
// memory and gres in use never exceed what the node has.
struct NodeUse {
    Bitset own_cores;                      // given to one job alone
    std::vector<std::uint16_t> core_jobs;  // jobs per core where jobs share; empty: nobody shares
    std::uint64_t memory_mib{};
    std::uint32_t cpus{};
    std::vector<std::uint64_t> gres;    // counts in use, in the order of the node's pools
    std::vector<Bitset> devices;        // devices in use, in the same order
    std::vector<std::uint32_t> shards;  // shards on each gpu; empty: none
    bool operator==(const NodeUse&) const = default;

    Bitset busy_cores() const;
};

struct Node;

// How many shards each gpu of the node is cut into; 0: it has none.
std::uint32_t shards_per_gpu(const Node& node);

// Why `share` does not fit on `node` beside what is there, as the end of a sentence; nothing if it fits.
std::optional<std::string> find_lack(const Node& node, const NodeShare& share, Sharing sharing);
// Precondition: find_lack said nothing.
void take(Node& node, const NodeShare& share, Sharing sharing);
void give(Node& node, const NodeShare& share, Sharing sharing);
// Suspended jobs keep memory and devices and let go of their cores: the two halves of take and give.
void take_cores(Node& node, const NodeShare& share, Sharing sharing);
void give_cores(Node& node, const NodeShare& share, Sharing sharing);
void take_rest(Node& node, const NodeShare& share);
void give_rest(Node& node, const NodeShare& share);
// As find_lack, for the cores alone.
std::optional<std::string> find_core_lack(const Node& node, const NodeShare& share, Sharing sharing);

// Licences wanted or held.
struct LicenseCount {
    Text name;
    std::uint32_t count{};
    bool operator==(const LicenseCount&) const = default;
};

}  // namespace spur
