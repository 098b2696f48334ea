#include "daemons/spurd/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/lexical.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::agent {

namespace {

std::string text_of(spur_str text) {
    return text.data == nullptr ? std::string{} : std::string{text.data, text.length};
}

struct Found {
    std::string plugin;
    std::vector<GpuDevice>* devices{};
};

void take_device(const spur_gpu_sink* sink, const spur_gpu_device* device) {
    auto& found = *static_cast<Found*>(sink->context);
    found.devices->push_back({.plugin = found.plugin,
                              .index = device->index,
                              .type = lower(text_of(device->type)),
                              .key = text_of(device->key),
                              .files = text_of(device->device_files),
                              .usable = device->health != SPUR_GPU_FAILED});
}
void take_link(const spur_gpu_sink*, const spur_gpu_link*) {}

void take_variable(const spur_gpu_env_sink* sink, spur_str name, spur_str value) {
    static_cast<GpuBinding*>(sink->context)->variables.push_back(text_of(name) + "=" + text_of(value));
}
void take_file(const spur_gpu_env_sink* sink, spur_str path) {
    static_cast<GpuBinding*>(sink->context)->device_allow.push_back(text_of(path));
}

}  // namespace

void Gpus::scan(daemon::PluginHost& host, const Config& config) {
    plugins_ = host.open_group<daemon::GpuAxis>(config);
    for (const auto& plugin : plugins_->pins()) {
        Found found{plugin.type(), &devices_};
        const spur_gpu_sink sink{sizeof(spur_gpu_sink), 0, &found, &take_device, &take_link};
        const auto before = devices_.size();
        const auto scanned = plugin.call(&spur_gpu_ops::scan, &sink);
        if (scanned) continue;
        log::warning("{}: {}", plugin.type(), scanned.error().text);
        devices_.resize(before);
    }
    // Devices of one type stand together: gres counts them through type by type.
    std::ranges::stable_sort(devices_, {}, &GpuDevice::type);
}

std::map<std::string, std::uint64_t> Gpus::counts() const {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& device : devices_)
        if (device.usable) ++counts[device.type];
    return counts;
}

GpuBinding Gpus::bind(const std::vector<std::uint32_t>& indexes) const {
    GpuBinding binding;
    if (indexes.empty() && devices_.empty()) return binding;
    std::set<std::uint32_t> mine;
    const auto plugins = plugins_ ? plugins_->pins() : std::vector<daemon::Pin<daemon::GpuAxis>>{};
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
