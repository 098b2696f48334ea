// Names for the things a cluster is made of, and the few numbers with a special meaning.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace spur {

using UnixSeconds = std::int64_t;  // 0: not known, not set
using Uid = std::uint32_t;
using Gid = std::uint32_t;

// "no limit", for minutes, counts and node numbers alike; Slurm's INFINITE.
inline constexpr std::uint32_t unlimited = 0xffffffffU;
inline constexpr std::uint32_t no_value = 0xfffffffeU;  // nothing was said; Slurm's NO_VAL
inline constexpr Uid nobody = 0xffffffffU;              // a user, or a group, that is not known

struct JobId {
    std::uint32_t value{};
    auto operator<=>(const JobId&) const = default;
    explicit operator bool() const { return value != 0; }
};

// A node's place in the table of nodes. It stays the node's own for as long as the cluster's state lives, even when
// the node leaves the configuration and comes back, so logs and allocations may name nodes by it.
struct NodeId {
    std::uint32_t value{};
    auto operator<=>(const NodeId&) const = default;
};

struct StepId {
    std::uint32_t value{};
    auto operator<=>(const StepId&) const = default;
};

// Slurm's numbers for steps with names.
inline constexpr std::uint32_t step_extern = 0xfffffffc, step_batch = 0xfffffffb, step_interactive = 0xfffffffa;
struct NamedStep {
    std::uint32_t step;
    const char* name;
};
inline constexpr NamedStep named_steps[] = {
    {step_batch, "batch"}, {step_extern, "extern"}, {step_interactive, "interactive"}};

struct StepKey {
    JobId job;
    StepId step;
    auto operator<=>(const StepKey&) const = default;
};

struct AssociationId {
    std::uint32_t value{};
    auto operator<=>(const AssociationId&) const = default;
    explicit operator bool() const { return value != 0; }
};

}  // namespace spur

template <>
struct std::hash<spur::JobId> {
    std::size_t operator()(spur::JobId id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
template <>
struct std::hash<spur::NodeId> {
    std::size_t operator()(spur::NodeId id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
