// The GPUs of this node, through whatever gpu plugins are configured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/config.hpp"
#include "daemons/common/host/host.hpp"

namespace spur::agent {

// One device: its place in this node's numbering is its place in the list.
struct GpuDevice {
    std::string plugin;     // which of the plugins knows it: "gpu/nvml"
    std::uint32_t index{};  // its number there
    std::string type, key, files;
    bool usable{true};
    std::uint32_t numa_node{UINT32_MAX};  // unknown
    std::string near_cpus;                // "0-31,64-95"; empty: unknown
};

// How two devices of this node's list are linked, as their plugin says.
struct GpuLink {
    std::uint32_t from{}, to{};  // places in the list
    std::uint32_t kind{}, weight{};
};

// What a program that was given some of the devices needs.
struct GpuBinding {
    std::vector<std::string> variables;  // CUDA_VISIBLE_DEVICES=0,1 ...
    std::vector<std::string> device_allow, device_deny;
};

class Gpus {
public:
    // Asks every plugin once. One that fails is reported and left out.
    void scan(host::PluginHost& host, const Config& config);

    [[nodiscard]] const std::vector<GpuDevice>& devices() const { return devices_; }
    [[nodiscard]] const std::vector<GpuLink>& links() const { return links_; }
    // type -> count; failed ones count too, so that the numbers of the others stay
    [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;

    // `indexes` are this node's numbers. Numbers that no plugin knows (a node whose GPUs are only configured) get the
    // variables that every vendor's library understands.
    [[nodiscard]] GpuBinding bind(const std::vector<std::uint32_t>& indexes) const;

private:
    [[nodiscard]] std::optional<std::uint32_t> place_of(const std::string& plugin, std::uint32_t index) const;

    std::optional<host::Group<host::GpuAxis>> plugins_;
    std::vector<GpuDevice> devices_;
    std::vector<GpuLink> links_;
};

}  // namespace spur::agent
