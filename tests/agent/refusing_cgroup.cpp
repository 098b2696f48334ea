// cgroup/refusing: a cgroup plugin that fails where its option says, as a broken system would make a real one fail.
#include <spur/plugin/cgroup.h>
#include <spur/plugin/plugin.hpp>

#include <cerrno>
#include <string>

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host*, const spur_config* config) : refused{option(config, "refuses").text} {}
    spur_status answer(const char* what, spur_status code, spur_error* err) const {
        if (refused != what) return SPUR_OK;
        errno = EACCES;
        return fail(err, code, std::string{what} + " is refused");
    }
    std::string refused;
};

const Instance& of(spur_plugin* self) { return self_cast<Instance>(self); }

std::uint32_t capabilities(spur_plugin*) { return 0; }
spur_status make(spur_plugin* self, const spur_cgroup_scope*, const spur_cgroup_limits*, spur_error* err) {
    return of(self).answer("make", SPUR_E_IO, err);
}
spur_status attach(spur_plugin* self, const spur_cgroup_scope*, std::int32_t, spur_error* err) {
    return of(self).answer("attach", SPUR_E_IO, err);
}
spur_status signal(spur_plugin*, const spur_cgroup_scope*, std::int32_t, spur_error*) { return SPUR_OK; }
spur_status usage(spur_plugin*, const spur_cgroup_scope*, spur_cgroup_usage*, spur_error* err) {
    return fail(err, SPUR_E_UNSUPPORTED, "it counts nothing");
}
spur_status processes(spur_plugin*, const spur_cgroup_scope*, void*, void (*)(void*, std::int32_t), spur_error*) {
    return SPUR_OK;
}
spur_status remove(spur_plugin* self, const spur_cgroup_scope*, spur_error* err) {
    return of(self).answer("remove", SPUR_E_BUSY, err);
}
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
                              .scopes = scopes};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_CGROUP_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {{"refuses", SPUR_OPTION_STRING, 0, "", "the call that fails", nullptr, 0, 0}};
constexpr const char* interfaces[] = {SPUR_CGROUP_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "cgroup/refusing",
                                .version = "1.0.0",
                                .vendor = "Spur",
                                .summary = "fails where it is told to",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
