// Collecting devices, links, files and variables from the gpu plugins.
#include "daemons/spurd/gpus.hpp"

#include <spur/plugin/plugin.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "core/text/lexical.hpp"
#include "daemons/common/host/time_limit.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::agent {

namespace {

std::string text_of(spur_str text) {
    return text.data == nullptr ? std::string{} : std::string{text.data, text.length};
}

struct Found {
    struct Link {
        std::string from, to;  // keys
        std::uint32_t kind{}, weight{};
    };
    std::string plugin;
    std::vector<GpuDevice> devices;
    std::vector<Link> links;
};

void take_device(const spur_gpu_sink* sink, const spur_gpu_device* device) {
    auto& found = *static_cast<Found*>(sink->context);
    found.devices.push_back({.plugin = found.plugin,
                             .key = text_of(device->key),
                             .parent = text_of(device->parent),
                             .type = lower(text_of(device->type)),
                             .files = text_of(device->device_files),
                             .usable = device->health != SPUR_GPU_FAILED,
                             .numa_node = device->numa_node,
                             .near_cpus = text_of(device->near_cpus)});
}
void take_link(const spur_gpu_sink* sink, const spur_gpu_link* link) {
    if (link->to_what != SPUR_GPU_TO_DEVICE) return;
    static_cast<Found*>(sink->context)
        ->links.push_back({text_of(link->from), text_of(link->to), link->kind, link->weight});
}

void take_variable(const spur_gpu_env_sink* sink, spur_str name, spur_str value) {
    static_cast<GpuBinding*>(sink->context)->variables.push_back(text_of(name) + "=" + text_of(value));
}
void take_file(const spur_gpu_env_sink* sink, spur_str path) {
    static_cast<GpuBinding*>(sink->context)->device_allow.push_back(text_of(path));
}

// A whole and its parts exclude each other: what is cut into parts is granted by the part.
void drop_parents(std::vector<GpuDevice>& devices) {
    std::set<std::string> parents;
    for (const auto& device : devices) parents.insert(device.parent);
    std::erase_if(devices, [&](const GpuDevice& device) { return parents.contains(device.key); });
}

constexpr std::chrono::seconds scan_limit{30};

}  // namespace

spur_gpu_binding binding_for(const GpuHolder& holder, spur_span grants) {
    return {.size = sizeof(spur_gpu_binding),
            .flags = 0,
            .job = holder.job,
            .attempt = holder.attempt,
            .step = holder.step,
            .task = holder.task,
            .uid = holder.uid,
            .reserved = 0,
            .grants = grants};
}

void Gpus::scan(host::PluginHost& host, const Config& config) {
    plugins_ = host.open_group<host::GpuAxis>(config);
    ask_all();
}

bool Gpus::rescan() {
    auto devices = std::exchange(devices_, {});
    auto links = std::exchange(links_, {});
    if (ask_all()) return devices != devices_ || links != links_;
    devices_ = std::move(devices);
    links_ = std::move(links);
    return false;
}

bool Gpus::ask_all() {
    std::deque<Found> all;
    bool all_answered = true;
    for (const auto& plugin : plugins_->pins()) {
        auto& found = all.emplace_back(Found{plugin.type(), {}, {}});
        const spur_gpu_sink sink{sizeof(spur_gpu_sink), 0, &found, &take_device, &take_link};
        const host::TimeLimit limit{scan_limit};
        const auto scanned = plugin.call(&spur_gpu_ops::scan, &sink, limit.get());
        if (!scanned) {
            all_answered = false;
            log::warning("{}: {}", plugin.type(), scanned.error().text);
            all.pop_back();
            continue;
        }
        drop_parents(found.devices);
        devices_.insert(devices_.end(), found.devices.begin(), found.devices.end());
    }
    // Devices of one type are kept together, because gres numbers them type by type.
    std::ranges::stable_sort(devices_, {}, &GpuDevice::type);
    for (const auto& found : all)
        for (const auto& link : found.links) {
            const auto from = place_of(found.plugin, link.from), to = place_of(found.plugin, link.to);
            if (from && to) links_.push_back({*from, *to, link.kind, link.weight});
        }
    return all_answered;
}

std::optional<std::uint32_t> Gpus::place_of(const std::string& plugin, const std::string& key) const {
    for (std::uint32_t i = 0; i < devices_.size(); ++i)
        if (devices_[i].key == key && devices_[i].plugin == plugin) return i;
    return std::nullopt;
}

std::map<std::string, std::uint64_t> Gpus::counts() const {
    std::map<std::string, std::uint64_t> counts;
    for (const auto& device : devices_) ++counts[device.type];
    return counts;
}

GpuBinding Gpus::bind(const std::vector<std::uint32_t>& indexes, const GpuHolder& holder) const {
    GpuBinding binding;
    if (indexes.empty() && devices_.empty()) return binding;
    std::set<std::uint32_t> mine;
    const auto plugins = plugins_ ? plugins_->pins() : std::vector<host::Pin<host::GpuAxis>>{};
    for (const auto& plugin : plugins) {
        std::vector<spur_gpu_grant> own;
        for (const auto index : indexes)
            if (index < devices_.size() && devices_[index].plugin == plugin.type()) {
                own.push_back({plugin::str(devices_[index].key), 0});
                mine.insert(index);
            }
        if (own.empty()) continue;
        const spur_gpu_env_sink sink{sizeof(spur_gpu_env_sink), 0, &binding, &take_variable, &take_file};
        const auto wanted = binding_for(holder, plugin::span_of(own));
        const auto bound = plugin.call(&spur_gpu_ops::bind, &wanted, &sink);
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

GpuHeld Gpus::held(const std::vector<std::uint32_t>& indexes, const GpuHolder& holder) const {
    GpuHeld held{holder, {}};
    for (const auto index : indexes)
        if (index < devices_.size()) held.keys[devices_[index].plugin].push_back(devices_[index].key);
    return held;
}

}  // namespace spur::agent
