// gpu/sim, the boundary. The devices themselves are made up in sim.hpp.
#include <spur/plugin/draft/gpu.h>
#include <spur/plugin/plugin.hpp>

#include <stdexcept>

#include "core/version.hpp"
#include "sim.hpp"

namespace {

using namespace spur::plugin;
using spur::gpu_sim::Machine;

std::vector<std::string> list(const spur_config* config, const char* key) {
    const auto& value = option(config, key);
    return {value.list, value.list + value.list_count};
}

struct Instance {
    Instance(const spur_host*, const spur_config* config) : memory_mib{option(config, "memory").integer >> 20} {
        try {
            machine = spur::gpu_sim::build({.devices = list(config, "devices"),
                                            .links = list(config, "links"),
                                            .numa = list(config, "numa"),
                                            .near_cpus = list(config, "near_cpus"),
                                            .failed = list(config, "failed"),
                                            .files = list(config, "files")});
        } catch (const std::invalid_argument& wrong) {
            throw Failure(SPUR_E_INVALID, wrong.what());
        }
    }
    Machine machine;
    std::int64_t memory_mib;
};

spur_status scan(spur_plugin* self, const spur_gpu_sink* sink, spur_error* err) {
    return guard(err, [&] {
        const auto& instance = self_cast<Instance>(self);
        for (const auto& device : instance.machine.devices) {
            spur_gpu_device record{};
            record.size = sizeof record;
            record.index = device.index;
            record.parent = SPUR_NONE;
            record.numa_node = device.numa_node;
            record.health = device.failed ? SPUR_GPU_FAILED : SPUR_GPU_HEALTHY;
            record.memory_mib = static_cast<std::uint64_t>(instance.memory_mib);
            record.key = str(device.key);
            record.type = str(device.type);
            record.model = str("simulated");
            record.near_cpus = str(device.near_cpus);
            record.device_files = str(device.file);
            sink->device(sink, &record);
        }
        for (const auto& link : instance.machine.links) {
            const spur_gpu_link record{sizeof(spur_gpu_link), link.from, link.to, link.kind, link.weight, 0};
            sink->link(sink, &record);
        }
        return SPUR_OK;
    });
}

spur_status load(spur_plugin* self, std::uint32_t index, spur_gpu_load* out, spur_error* err) {
    return guard(err, [&] {
        if (index >= self_cast<Instance>(self).machine.devices.size())
            return fail(err, SPUR_E_NOT_FOUND, "there is no simulated device " + std::to_string(index));
        spur_gpu_load idle{};
        idle.index = index;
        idle.power_watts = idle.temperature_c = -1;
        put(out, idle);
        return SPUR_OK;
    });
}

spur_status bind(spur_plugin* self, const std::uint32_t* indexes, std::uint32_t count, const spur_gpu_env_sink* sink,
                 spur_error* err) {
    return guard(err, [&] {
        std::string numbers;
        const auto& devices = self_cast<Instance>(self).machine.devices;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (indexes[i] >= devices.size())
                return fail(err, SPUR_E_NOT_FOUND, "there is no simulated device " + std::to_string(indexes[i]));
            if (const auto& file = devices[indexes[i]].file; !file.empty()) sink->device_file(sink, str(file));
            numbers += (i == 0 ? "" : ",") + std::to_string(indexes[i]);
        }
        for (const auto* name :
             {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"})
            sink->variable(sink, str(name), str(numbers));
        return SPUR_OK;
    });
}

constexpr spur_gpu_ops ops{.size = sizeof(spur_gpu_ops),
                           .reserved = 0,
                           .scan = scan,
                           .load = load,
                           .bind = bind,
                           .reset = nullptr,
                           .partition = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_GPU_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"devices", SPUR_OPTION_LIST, 0, nullptr, "what there is: \"type:count\", numbered through", nullptr, 0, 0},
    {"memory", SPUR_OPTION_SIZE, 0, "16G", "of each device", nullptr, 0, 0},
    {"links", SPUR_OPTION_LIST, 0, nullptr, "\"devices:kind:weight\": joins every pair of them", nullptr, 0, 0},
    {"numa", SPUR_OPTION_LIST, 0, nullptr, "\"devices:node\"", nullptr, 0, 0},
    {"near_cpus", SPUR_OPTION_LIST, 0, nullptr, "\"devices:cpus\"", nullptr, 0, 0},
    {"failed", SPUR_OPTION_LIST, 0, nullptr, "devices that report themselves broken", nullptr, 0, 0},
    {"files", SPUR_OPTION_LIST, 0, nullptr, "\"device:path\": a file to open it by", nullptr, 0, 0},
};

constexpr const char* interfaces[] = {SPUR_GPU_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "gpu/sim",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "GPUs that exist in the configuration only",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
