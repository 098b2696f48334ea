// cgroup/none, the whole of it: says that it can do nothing, and does that.
#include <spur/plugin/cgroup.h>
#include <spur/plugin/plugin.hpp>

#include "core/version.hpp"

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config*) {}
};

std::uint32_t capabilities(spur_plugin*) { return 0; }
spur_status make(spur_plugin*, const spur_cgroup_scope*, const spur_cgroup_limits*, spur_error*) { return SPUR_OK; }
spur_status attach(spur_plugin*, const spur_cgroup_scope*, std::int32_t, spur_error*) { return SPUR_OK; }
spur_status signal(spur_plugin*, const spur_cgroup_scope*, std::int32_t, const spur_stop*, spur_error* err) {
    return fail(err, SPUR_E_UNSUPPORTED,
                "cgroup/none knows no processes; the step daemon signals its descendants itself");
}
spur_status usage(spur_plugin*, const spur_cgroup_scope*, spur_cgroup_usage*, spur_error* err) {
    return fail(err, SPUR_E_UNSUPPORTED, "cgroup/none counts nothing");
}
spur_status processes(spur_plugin*, const spur_cgroup_scope*, void*, void (*)(void*, std::int32_t), spur_error*) {
    return SPUR_OK;
}
spur_status remove(spur_plugin*, const spur_cgroup_scope*, spur_error*) { return SPUR_OK; }
spur_status scopes(spur_plugin*, void*, void (*)(void*, const spur_cgroup_scope*), spur_error*) { return SPUR_OK; }

constexpr spur_cgroup_ops ops{.size = sizeof(spur_cgroup_ops),
                              .reserved = 0,
                              .capabilities = capabilities,
                              .make = make,
                              .attach = attach,
                              .freeze = nullptr,
                              .signal = signal,
                              .usage = usage,
                              .processes = processes,
                              .remove = remove,
                              .scopes = scopes,
                              .open = nullptr,
                              .watch = nullptr,
                              .events = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_CGROUP_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_CGROUP_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "cgroup/none",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "no control groups",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
