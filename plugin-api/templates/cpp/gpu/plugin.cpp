// @TYPE@, the boundary. How devices are found is in device_files.hpp.
#include "device_files.hpp"

#include <spur/plugin/draft/gpu.h>
#include <spur/plugin/plugin.hpp>

namespace {

using namespace spur::plugin;

struct Gpus {
    Gpus(const spur_host*, const spur_config* config)
        : files{option(config, "directory").text, option(config, "prefix").text},
          type(option(config, "type").text),
          variable(option(config, "variable").text) {
        if (!std::filesystem::is_directory(files.directory))
            throw Failure(SPUR_E_UNAVAILABLE, "no accelerators: " + files.directory.string() + " is not a directory");
    }
    DeviceFiles files;
    std::string type, variable;
};

spur_status scan(spur_plugin* self, const spur_gpu_sink* sink, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        const auto& gpus = self_cast<Gpus>(self);
        for (const auto number : gpus.files.scan()) {
            const auto path = gpus.files.path_of(number).string();
            spur_gpu_device device{};
            device.size = sizeof device;
            device.index = number;
            device.numa_node = SPUR_NONE;
            device.health = SPUR_GPU_HEALTHY;
            device.key = device.device_files = str(path);
            device.type = device.model = str(gpus.type);
            sink->device(sink, &device);
        }
        return SPUR_OK;
    });
}

spur_status bind(spur_plugin* self, const spur_gpu_binding* binding, const spur_gpu_env_sink* sink, spur_error* err) {
    return guard(err, [&] {
        const auto& gpus = self_cast<Gpus>(self);
        // Where others are hidden, the library numbers what is left from 0.
        const bool renumbered = (binding->flags & SPUR_GPU_ISOLATED) != 0;
        std::string list;
        std::uint32_t place = 0;
        for (const auto& grant : Records<spur_gpu_grant>(binding->grants)) {
            const auto number = gpus.files.find(view(grant.key));
            if (!number)
                return fail(err, SPUR_E_NOT_FOUND, "device " + std::string(view(grant.key)) + " is not there");
            if (place > 0) list += ',';
            list += std::to_string(renumbered ? place : *number);
            sink->device_file(sink, grant.key);
            ++place;
        }
        sink->variable(sink, str(gpus.variable), str(list));
        return SPUR_OK;
    });
}

constexpr spur_gpu_ops ops{.size = sizeof(spur_gpu_ops),
                           .reserved = 0,
                           .scan = scan,
                           .bind = bind,
                           .release = nullptr,
                           .load = nullptr,
                           .processes = nullptr,
                           .watch = nullptr,
                           .reset = nullptr,
                           .profiles = nullptr,
                           .partition = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_GPU_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"directory", SPUR_OPTION_PATH, 0, "/dev/accel", "where the device files are", nullptr, 0, 0},
    {"prefix", SPUR_OPTION_STRING, 0, "accel", "their names without the number", nullptr, 0, 0},
    {"type", SPUR_OPTION_STRING, 0, "accel", "what jobs ask for: gres=gpu:<type>", nullptr, 0, 0},
    {"variable", SPUR_OPTION_STRING, 0, "ACCEL_VISIBLE_DEVICES", "environment variable that tells a job its devices",
     nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_GPU_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "accelerators found by their device files",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Gpus>,
                                .destroy = destroy<Gpus>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
