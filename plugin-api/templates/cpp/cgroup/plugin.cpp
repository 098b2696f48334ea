// @TYPE@, the boundary. The control groups themselves are in groups.hpp.
#include "groups.hpp"

#include <spur/plugin/plugin.hpp>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace {

using namespace spur::plugin;

struct Cgroup {
    Cgroup(const spur_host*, const spur_config* config) try : groups(option(config, "root").text) {
    } catch (const std::system_error& error) {
        throw Failure(SPUR_E_UNAVAILABLE, error.what());
    }
    Groups groups;
};

// Runs `body` with the groups of `self`; a failed system call becomes SPUR_E_IO.
template <class Body>
spur_status with(spur_plugin* self, spur_error* err, Body body) {
    return guard(err, [&]() -> spur_status {
        try {
            return body(self_cast<Cgroup>(self).groups);
        } catch (const std::system_error& error) {
            return fail(err, error.code().value() == EBUSY ? SPUR_E_BUSY : SPUR_E_IO, error.what());
        }
    });
}

std::uint32_t capabilities(spur_plugin*) { return SPUR_CGROUP_CONTAINS | SPUR_CGROUP_FREEZES; }

// Limits would be set here, for each capability that is declared above: SPUR_LIMIT_AT a value, SPUR_LIMIT_NONE "max",
// SPUR_LIMIT_LEAVE nothing.
spur_status make(spur_plugin* self, const spur_cgroup_scope* scope, const spur_cgroup_limits*, spur_error* err) {
    return with(self, err, [&](Groups& groups) { return groups.make(*scope), SPUR_OK; });
}
// Between fork and exec where pid is 0: nothing here allocates, locks or throws, also when it fails.
spur_status attach(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t pid, spur_error* err) {
    const int error = self_cast<Cgroup>(self).groups.attach(*scope, pid);
    return error == 0 ? SPUR_OK : fail(err, SPUR_E_IO, "cannot move a process into its control group");
}
spur_status open_scope(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t* fd, spur_error* err) {
    return with(self, err, [&](Groups& groups) { return *fd = groups.open_for_clone(*scope), SPUR_OK; });
}
spur_status freeze(spur_plugin* self, const spur_cgroup_scope* scope, std::uint32_t frozen, const spur_stop* stop,
                   spur_error* err) {
    return with(self, err, [&](Groups& groups) { return groups.freeze(*scope, frozen != 0, Stop(stop)), SPUR_OK; });
}
spur_status signal(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t number, const spur_stop* stop,
                   spur_error* err) {
    return with(self, err, [&](Groups& groups) { return groups.signal(*scope, number, Stop(stop)), SPUR_OK; });
}
spur_status usage(spur_plugin* self, const spur_cgroup_scope* scope, spur_cgroup_usage* out, spur_error* err) {
    return with(self, err, [&](Groups& groups) {
        spur_cgroup_usage usage{};
        usage.processes = static_cast<std::uint32_t>(groups.processes(*scope).size());
        spur::plugin::put(out, usage);
        return SPUR_OK;
    });
}
spur_status processes(spur_plugin* self, const spur_cgroup_scope* scope, void* context,
                      void (*each)(void* context, std::int32_t pid), spur_error* err) {
    return with(self, err, [&](Groups& groups) {
        for (const auto pid : groups.processes(*scope)) each(context, pid);
        return SPUR_OK;
    });
}
spur_status remove(spur_plugin* self, const spur_cgroup_scope* scope, spur_error* err) {
    return with(self, err, [&](Groups& groups) {
        return groups.remove(*scope) ? SPUR_OK : fail(err, SPUR_E_BUSY, "processes still live in the control group");
    });
}

constexpr spur_cgroup_ops ops{.size = sizeof(spur_cgroup_ops),
                              .reserved = 0,
                              .capabilities = capabilities,
                              .make = make,
                              .attach = attach,
                              .freeze = freeze,
                              .signal = signal,
                              .usage = usage,
                              .processes = processes,
                              .remove = remove,
                              .scopes = nullptr,
                              .open = open_scope,
                              .watch = nullptr,
                              .events = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_CGROUP_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"root", SPUR_OPTION_PATH, 0, "/sys/fs/cgroup/spur", "the control group below which scopes are made", nullptr, 0,
     0},
};
constexpr const char* interfaces[] = {SPUR_CGROUP_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "a control group for each step; contains and freezes, limits nothing",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Cgroup>,
                                .destroy = destroy<Cgroup>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
