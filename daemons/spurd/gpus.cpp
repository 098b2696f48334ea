// Collecting devices, links, files and variables from the gpu plugins.
#include "daemons/spurd/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "core/text/lexical.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::agent {

namespace {

std::string text_of(spur_str text) {
    return text.data == nullptr ? std::string{} : std::string{text.data, text.length};
}

struct Found {
    std::string plugin;
    std::vector<GpuDevice>* devices{};
    std::vector<GpuLink> links;  // by the plugin's own numbers
};

void take_device(const spur_gpu_sink* sink, const spur_gpu_device* device) {
    auto& found = *static_cast<Found*>(sink->context);
    found.devices->push_back({.plugin = found.plugin,
                              .index = device->index,
                              .type = lower(text_of(device->type)),
                              .key = text_of(device->key),
                              .files = text_of(device->device_files),
                              .usable = device->health != SPUR_GPU_FAILED,
                              .numa_node = device->numa_node,
                              .near_cpus = text_of(device->near_cpus)});
}
void take_link(const spur_gpu_sink* sink, const spur_gpu_link* link) {
    static_cast<Found*>(sink->context)->links.push_back({link->from, link->to, link->kind, link->weight});
}

void take_variable(const spur_gpu_env_sink* sink, spur_str name, spur_str value) {
    static_cast<GpuBinding*>(sink->context)->variables.push_back(text_of(name) + "=" + text_of(value));
}
void take_file(const spur_gpu_env_sink* sink, spur_str path) {
    static_cast<GpuBinding*>(sink->context)->device_allow.push_back(text_of(path));
}

}  // namespace

void Gpus::scan(host::PluginHost& host, const Config& config) {
    plugins_ = host.open_group<host::GpuAxis>(config);
    std::deque<Found> all;
    for (const auto& plugin : plugins_->pins()) {
        auto& found = all.emplace_back(Found{plugin.type(), &devices_, {}});
        const spur_gpu_sink sink{sizeof(spur_gpu_sink), 0, &found, &take_device, &take_link};
        const auto before = devices_.size();
        const auto scanned = plugin.call(&spur_gpu_ops::scan, &sink);
        if (scanned) continue;
        log::warning("{}: {}", plugin.type(), scanned.error().text);
        devices_.resize(before);
        found.links.clear();
    }
    // Devices of one type are kept together, because gres numbers them type by type.
    std::ranges::stable_sort(devices_, {}, &GpuDevice::type);
    for (const auto& found : all)
        for (const auto& link : found.links) {
            const auto from = place_of(found.plugin, link.from), to = place_of(found.plugin, link.to);
            if (from && to) links_.push_back({*from, *to, link.kind, link.weight});
        }
}

std::optional<std::uint32_t> Gpus::place_of(const std::string& plugin, std::uint32_t index) const {
    for (std::uint32_t i = 0; i < devices_.size(); ++i)
        if (devices_[i].index == index && devices_[i].plugin == plugin) return i;
    return std::nullopt;
}

std::map<std::string, std::uint64_t> Gpus::counts() const {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& device : devices_) ++counts[device.type];
    return counts;
}

GpuBinding Gpus::bind(const std::vector<std::uint32_t>& indexes) const {
    GpuBinding binding;
    if (indexes.empty() && devices_.empty()) return binding;
    std::set<std::uint32_t> mine;
    const auto plugins = plugins_ ? plugins_->pins() : std::vector<host::Pin<host::GpuAxis>>{};
    for (const auto& plugin : plugins) {
        std::vector<std::uint32_t> own;
        for (const auto index : indexes)
            if (index < devices_.size() && devices_[index].plugin == plugin.type()) {
                own.push_back(devices_[index].index);
                mine.insert(index);
            }
        if (own.empty()) continue;
        const spur_gpu_env_sink sink{sizeof(spur_gpu_env_sink), 0, &binding, &take_variable, &take_file};
        const auto bound = plugin.call(&spur_gpu_ops::bind, own.data(), static_cast<std::uint32_t>(own.size()), &sink);
        if (!bound) log::warning("{}: {}", plugin.type(), bound.error().text);
    }
    for (std::uint32_t i = 0; i < devices_.size(); ++i)
        if (!mine.contains(i))
            for (const auto file : split(devices_[i].files, ','))
                if (!file.empty() && std::ranges::find(binding.device_allow, file) == binding.device_allow.end())
                    binding.device_deny.emplace_back(file);
    if (mine.empty() && !indexes.empty())
        for (const auto* name :
             {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"})
            binding.variables.push_back(fmt::format("{}={}", name, fmt::join(indexes, ",")));
    return binding;
}

}  // namespace spur::agent
