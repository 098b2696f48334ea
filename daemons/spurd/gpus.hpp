// The GPUs of this node, through whatever gpu plugins are configured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "daemons/common/host/host.hpp"

namespace spur::agent {

// One device: its place in this node's numbering is its place in the list.
struct GpuDevice {
    std::string plugin;     // which of the plugins knows it: "gpu/nvml"
    std::uint32_t index{};  // its number there
    std::string type, key, files;
    bool usable{true};
};

// What a program that was given some of the devices needs.
struct GpuBinding {
    std::vector<std::string> variables;  // CUDA_VISIBLE_DEVICES=0,1 ...
    std::vector<std::string> device_allow, device_deny;
};

class Gpus {
public:
    // Asks every plugin once. One that fails is reported and left out.
    void scan(daemon::PluginHost& host, const Config& config);

    [[nodiscard]] const std::vector<GpuDevice>& devices() const { return devices_; }
    // type -> count of the devices that may be given to jobs
    [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;

    // `indexes` are this node's numbers. Numbers that no plugin knows (a node whose GPUs are only configured) get the
    // variables that every vendor's library understands.
    [[nodiscard]] GpuBinding bind(const std::vector<std::uint32_t>& indexes) const;

private:
    std::optional<daemon::Group<daemon::GpuAxis>> plugins_;
    std::vector<GpuDevice> devices_;
};

}  // namespace spur::agent
