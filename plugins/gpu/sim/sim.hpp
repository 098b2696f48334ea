// Made-up devices, from option texts to records. Of the ABI it knows a constant.
#pragma once

#include <spur/plugin/abi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spur::gpu_sim {

inline constexpr std::uint32_t none = SPUR_NONE;
inline constexpr std::uint32_t most_devices = 1024;

struct Device {
    std::uint32_t index{};
    std::uint32_t numa_node{none};
    bool failed{false};
    std::string key, type, near_cpus, file, parent, profile, clique;
};
struct Link {
    std::uint32_t from{}, to{}, kind{}, weight{};
};
struct Machine {
    std::vector<Device> devices;
    std::vector<Link> links;  // both directions
};

struct Options {
    std::vector<std::string> devices, links, numa, near_cpus, failed, files, slices, cliques;
};

// Throws std::invalid_argument with a sentence that names the option and the entry.
Machine build(const Options& options);

}  // namespace spur::gpu_sim
