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
    std::string plugin;       // which of the plugins knows it: "gpu/nvml"
    std::string key, parent;  // its name there, and that of the device it is a part of
    std::string type, files;
    bool usable{true};
    std::uint32_t numa_node{UINT32_MAX};  // unknown
    std::string near_cpus;                // "0-31,64-95"; empty: unknown
    bool operator==(const GpuDevice&) const = default;
};

// How two devices of this node's list are linked, as their plugin says.
struct GpuLink {
    std::uint32_t from{}, to{};  // places in the list
    std::uint32_t kind{}, weight{};
    bool operator==(const GpuLink&) const = default;
};

// A job, a step or a task that devices are bound to.
struct GpuHolder {
    std::uint32_t job{}, attempt{};
    std::uint32_t step{UINT32_MAX}, task{UINT32_MAX};  // the job, or the step, as a whole
    std::uint32_t uid{};
};

// What somebody holds: the keys of devices, by plugin.
struct GpuHeld {
    GpuHolder holder;
    std::map<std::string, std::vector<std::string>> keys;
};
// As plugins are told of it.
spur_gpu_binding binding_for(const GpuHolder& holder, spur_span grants);

// What a program that was given some of the devices needs.
struct GpuBinding {
    std::vector<std::string> variables;  // CUDA_VISIBLE_DEVICES=0,1 ...
    std::vector<std::string> device_allow, device_deny;
};

class Gpus {
public:
    // Asks every plugin once. One that fails is reported and left out.
    void scan(host::PluginHost& host, const Config& config);
    // Asks them again. True if anything is not as it was; if one of them fails, everything stays.
    bool rescan();
    [[nodiscard]] const std::optional<host::Group<host::GpuAxis>>& plugins() const { return plugins_; }

    [[nodiscard]] const std::vector<GpuDevice>& devices() const { return devices_; }
    [[nodiscard]] const std::vector<GpuLink>& links() const { return links_; }
    // type -> count; failed ones count too, so that the numbers of the others stay
    [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;

    // `indexes` are this node's numbers. Numbers that no plugin knows (a node whose GPUs are only configured) get the
    // variables that every vendor's library understands.
    [[nodiscard]] GpuBinding bind(const std::vector<std::uint32_t>& indexes, const GpuHolder& holder) const;
    // The same devices, for GpuWorker::release().
    [[nodiscard]] GpuHeld held(const std::vector<std::uint32_t>& indexes, const GpuHolder& holder) const;

private:
    bool ask_all();  // false: one of them failed, and is left out
    [[nodiscard]] std::optional<std::uint32_t> place_of(const std::string& plugin, const std::string& key) const;

    std::optional<host::Group<host::GpuAxis>> plugins_;
    std::vector<GpuDevice> devices_;
    std::vector<GpuLink> links_;
};

}  // namespace spur::agent
