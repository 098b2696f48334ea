// gpu/sim, the boundary. The devices themselves are made up in sim.hpp.
#include <spur/plugin/draft/gpu.h>
#include <spur/plugin/plugin.hpp>

#include <mutex>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/version.hpp"
#include "health.hpp"
#include "sim.hpp"

namespace {

using namespace spur::plugin;
using spur::gpu_sim::Health;
using spur::gpu_sim::Machine;
using spur::gpu_sim::read_health;

constexpr int look_every_ms = 100;

std::vector<std::string> list(const spur_config* config, const char* key) {
    const auto& value = option(config, key);
    return {value.list, value.list + value.list_count};
}

// Whoever devices were bound to: job, attempt, step, task.
using Holder = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

struct Instance {
    Instance(const spur_host* host, const spur_config* config)
        : memory_mib{option(config, "memory").integer >> 20},
          health_file{option(config, "health_file").text},
          notify{host},
          metrics{host},
          holders_metric{metrics.gauge("holders", "jobs, steps and tasks that devices are bound to")},
          changes_metric{metrics.counter("health_changes_total", "changes of health that watch() saw")} {
        try {
            machine = spur::gpu_sim::build({.devices = list(config, "devices"),
                                            .links = list(config, "links"),
                                            .numa = list(config, "numa"),
                                            .near_cpus = list(config, "near_cpus"),
                                            .failed = list(config, "failed"),
                                            .files = list(config, "files"),
                                            .slices = list(config, "slices"),
                                            .cliques = list(config, "cliques")});
        } catch (const std::invalid_argument& wrong) {
            throw Failure(SPUR_E_INVALID, wrong.what());
        }
    }
    std::uint32_t health_of(const spur::gpu_sim::Device& device, const Health& health) const {
        if (const auto told = health.find(device.index); told != health.end()) return told->second;
        return device.failed ? SPUR_GPU_FAILED : SPUR_GPU_HEALTHY;
    }
    // What was seen last, until now.
    Health see(Health now) {
        const std::lock_guard lock{mutex};
        return std::exchange(seen, std::move(now));
    }
    void hold(const spur_gpu_binding& binding) {
        const std::lock_guard lock{mutex};
        holders.emplace(binding.job, binding.attempt, binding.step, binding.task);
        metrics.set(holders_metric, static_cast<double>(holders.size()));
    }
    // A job takes its steps along, a step its tasks.
    void let_go(const spur_gpu_binding& binding) {
        const std::lock_guard lock{mutex};
        std::erase_if(holders, [&](const Holder& holder) {
            const auto& [job, attempt, step, task] = holder;
            return job == binding.job && attempt == binding.attempt &&
                   (binding.step == SPUR_NONE || binding.step == step) &&
                   (binding.task == SPUR_NONE || binding.task == task);
        });
        metrics.set(holders_metric, static_cast<double>(holders.size()));
    }

    Machine machine;
    std::int64_t memory_mib;
    std::string health_file;
    Notify notify;
    Metrics metrics;
    std::uint32_t holders_metric, changes_metric;
    std::mutex mutex;
    std::set<Holder> holders;
    Health seen;
};

spur_status scan(spur_plugin* self, const spur_gpu_sink* sink, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        const auto health = read_health(instance.health_file);
        instance.see(health);
        for (const auto& device : instance.machine.devices) {
            spur_gpu_device record{};
            record.size = sizeof record;
            record.index = device.index;
            record.numa_node = device.numa_node;
            record.health = instance.health_of(device, health);
            record.memory_mib = static_cast<std::uint64_t>(instance.memory_mib);
            record.key = str(device.key);
            record.parent = str(device.parent);
            record.type = str(device.type);
            record.model = str("simulated");
            record.near_cpus = str(device.near_cpus);
            record.device_files = str(device.file);
            record.profile = str(device.profile);
            record.clique = str(device.clique);
            sink->device(sink, &record);
        }
        for (const auto& link : instance.machine.links) {
            const auto& devices = instance.machine.devices;
            const spur_gpu_link record{.size = sizeof(spur_gpu_link),
                                       .kind = link.kind,
                                       .weight = link.weight,
                                       .to_what = SPUR_GPU_TO_DEVICE,
                                       .from = str(devices[link.from].key),
                                       .to = str(devices[link.to].key)};
            sink->link(sink, &record);
        }
        return SPUR_OK;
    });
}

const spur::gpu_sim::Device& device_of(spur_plugin* self, spur_str key) {
    for (const auto& device : self_cast<Instance>(self).machine.devices)
        if (device.key == view(key)) return device;
    throw Failure(SPUR_E_NOT_FOUND, "there is no simulated device " + std::string{view(key)});
}

spur_status load(spur_plugin* self, spur_str key, spur_gpu_load* out, spur_error* err) {
    return guard(err, [&] {
        const auto& instance = self_cast<Instance>(self);
        spur_gpu_load idle{};
        idle.health = instance.health_of(device_of(self, key), read_health(instance.health_file));
        idle.power_watts = idle.temperature_c = idle.energy_joules = idle.clock_mhz = idle.memory_clock_mhz = -1;
        put(out, idle);
        return SPUR_OK;
    });
}

// Behind a device cgroup vendors' libraries see only what was granted, and count from 0.
spur_status bind(spur_plugin* self, const spur_gpu_binding* binding, const spur_gpu_env_sink* sink, spur_error* err) {
    return guard(err, [&] {
        const bool renumbered = (binding->flags & SPUR_GPU_ISOLATED) != 0;
        std::string numbers;
        std::uint32_t place = 0;
        for (const auto& grant : Records<spur_gpu_grant>{binding->grants}) {
            const auto& device = device_of(self, grant.key);
            if (!device.file.empty()) sink->device_file(sink, str(device.file));
            numbers += (place == 0 ? "" : ",") + std::to_string(renumbered ? place : device.index);
            ++place;
        }
        for (const auto* name :
             {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK"})
            sink->variable(sink, str(name), str(numbers));
        self_cast<Instance>(self).hold(*binding);
        return SPUR_OK;
    });
}

spur_status release(spur_plugin* self, const spur_gpu_binding* binding, const spur_stop*, spur_error* err) {
    return guard(err, [&] { return self_cast<Instance>(self).let_go(*binding), SPUR_OK; });
}

// Made-up devices break and heal when their file says so. What a scan has told already is no news.
spur_status watch(spur_plugin* self, const spur_stop* stop, spur_error* err) {
    return guard(err, [&]() -> spur_status {
        auto& instance = self_cast<Instance>(self);
        for (;; Stop{stop}.sleep(look_every_ms)) {
            const auto now = read_health(instance.health_file);
            const auto before = instance.see(now);
            for (const auto& device : instance.machine.devices) {
                const auto health = instance.health_of(device, now);
                if (health == instance.health_of(device, before)) continue;
                instance.metrics.add(instance.changes_metric);
                instance.notify.changed(
                    SPUR_CHANGED_DEVICES, device.key,
                    "device " + std::to_string(device.index) + " is " + spur::gpu_sim::name_of_health(health));
            }
        }
    });
}

// Made-up devices have no users.
spur_status processes(spur_plugin* self, spur_str key, const spur_gpu_process_sink*, spur_error* err) {
    return guard(err, [&] { return device_of(self, key), SPUR_OK; });
}

constexpr spur_gpu_ops ops{.size = sizeof(spur_gpu_ops),
                           .reserved = 0,
                           .scan = scan,
                           .bind = bind,
                           .release = release,
                           .load = load,
                           .processes = processes,
                           .watch = watch,
                           .reset = nullptr,
                           .profiles = nullptr,
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
    {"slices", SPUR_OPTION_LIST, 0, nullptr, "\"devices:profile:count\": what they are cut into", nullptr, 0, 0},
    {"health_file", SPUR_OPTION_PATH, 0, nullptr, "lines such as \"1 failed\": devices break and heal as it says",
     nullptr, 0, 0},
    {"cliques", SPUR_OPTION_LIST, 0, nullptr, "\"devices:name\": of one fabric", nullptr, 0, 0},
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
