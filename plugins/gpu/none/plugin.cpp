// gpu/none, the whole of it: there are no GPUs here.
#include <spur/plugin/draft/gpu.h>
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
};

spur_status scan(spur_plugin*, const spur_gpu_sink*, const spur_stop*, spur_error*) { return SPUR_OK; }
spur_status bind(spur_plugin*, const spur_gpu_binding* binding, const spur_gpu_env_sink*, spur_error* err) {
    return binding->grants.count == 0 ? SPUR_OK : fail(err, SPUR_E_NOT_FOUND, "gpu/none has no devices to bind to");
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

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_GPU_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_GPU_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "gpu/none",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "no GPUs",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
