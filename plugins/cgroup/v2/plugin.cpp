// cgroup/v2, the boundary. The files themselves are written in scope.hpp and hierarchy.hpp.
#include <fcntl.h>
#include <spur/plugin/cgroup.h>
#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <mutex>
#include <set>

#include "core/version.hpp"
#include "scope.hpp"

namespace {

using namespace spur::plugin;
namespace cg = spur::cgroup_v2;

cg::ScopeName name_of(const spur_cgroup_scope* scope) { return {scope->job, scope->attempt, scope->step, scope->task}; }

struct Instance {
    Instance(const spur_host* host, const spur_config* config)
        : log{host},
          settings{option(config, "parent").text,
                   host_fact(host, "node_name", "node"),
                   option(config, "devices").integer != 0},
          hierarchy{settings, [this](const std::string& text) { report(text); }} {}
    ~Instance() {
        for (const auto& entry : entrances) close(entry.fd);
    }

    // The daemon's log hears of each shortcoming once.
    void report(const std::string& text) {
        const std::lock_guard lock{mutex};
        if (told.insert(text).second) log.warning(text);
    }
    std::string path(const spur_cgroup_scope* scope) const { return cg::scope_path(hierarchy, name_of(scope)); }

    struct Entrance {
        cg::ScopeName name;
        int fd;
    };
    Log log;
    cg::Settings settings;
    std::mutex mutex;
    std::set<std::string> told;
    cg::Hierarchy hierarchy;
    std::vector<Entrance> entrances;  // cgroup.procs of scopes made here, open for attach()
};

spur_status status_of(int error, spur_error* err, const std::string& what) {
    if (error == 0) return SPUR_OK;
    const auto code = error == EBUSY ? SPUR_E_BUSY : error == EACCES || error == EPERM ? SPUR_E_DENIED : SPUR_E_IO;
    return fail(err, code, what + ": " + std::strerror(error));
}

cg::Stopped until(const spur_stop* stop) {
    return [stop] { return stop->stopped(stop) != 0; };
}

std::uint32_t capabilities(spur_plugin* self) {
    const auto& can = self_cast<Instance>(self).hierarchy.abilities();
    return (can.contains ? SPUR_CGROUP_CONTAINS | SPUR_CGROUP_FREEZES | SPUR_CGROUP_USAGE : 0U) |
           (can.cpu ? SPUR_CGROUP_CPU : 0U) | (can.cpuset ? SPUR_CGROUP_CPUSET : 0U) |
           (can.memory ? SPUR_CGROUP_MEMORY : 0U) | (can.devices ? SPUR_CGROUP_DEVICES : 0U) |
           (can.processes ? SPUR_CGROUP_PROCESSES : 0U) | (can.swap ? SPUR_CGROUP_SWAP : 0U) |
           (can.io ? SPUR_CGROUP_IO : 0U);
}

spur_status make(spur_plugin* self, const spur_cgroup_scope* scope, const spur_cgroup_limits* limits, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        if (!instance.hierarchy.abilities().contains) return SPUR_OK;
        const auto path = instance.path(scope);
        std::string what;
        if (const int error = cg::make_scope(instance.hierarchy, name_of(scope), *limits, what);
            error != 0)
            return status_of(error, err, what);
        if (scope->step == SPUR_NONE) return SPUR_OK;  // processes live in steps only
        const std::lock_guard lock{instance.mutex};
        for (const auto& entrance : instance.entrances)
            if (entrance.name == name_of(scope)) return SPUR_OK;
        const int fd = open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) return status_of(errno, err, "cannot open " + path + "/cgroup.procs");
        instance.entrances.push_back({name_of(scope), fd});
        return SPUR_OK;
    });
}

// Between fork and exec: nothing here allocates, locks or throws. A group that this instance has not made is not found.
spur_status attach(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t pid, spur_error* err) {
    const auto& instance = self_cast<Instance>(self);
    if (!instance.hierarchy.abilities().contains) return SPUR_OK;
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, pid).ptr;
    const auto name = name_of(scope);
    for (const auto& entrance : instance.entrances) {
        if (!(entrance.name == name)) continue;
        if (write(entrance.fd, digits, static_cast<std::size_t>(end - digits)) > 0) return SPUR_OK;
        const char* const why = strerrordesc_np(errno);
        return fail(err, SPUR_E_IO, why == nullptr ? "the kernel does not let it in" : why);
    }
    return fail(err, SPUR_E_NOT_FOUND, "this instance has not made the control group");
}

spur_status freeze(spur_plugin* self, const spur_cgroup_scope* scope, std::uint32_t frozen, const spur_stop* stop,
                   spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        if (!instance.hierarchy.abilities().contains)
            return fail(err, SPUR_E_UNSUPPORTED, "there are no control groups here");
        return status_of(cg::freeze_scope(instance.path(scope), frozen != 0, until(stop)), err,
                         "cannot freeze " + instance.path(scope));
    });
}

spur_status signal(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t number, const spur_stop* stop,
                   spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        if (!instance.hierarchy.abilities().contains)
            return fail(err, SPUR_E_UNSUPPORTED, "there are no control groups here");
        return status_of(cg::signal_scope(instance.path(scope), number, until(stop)), err,
                         "processes of " + instance.path(scope) + " do not die");
    });
}

spur_status usage(spur_plugin* self, const spur_cgroup_scope* scope, spur_cgroup_usage* out, spur_error* err) {
    return guard(err, [&] {
        cg::Usage found;
        const auto path = self_cast<Instance>(self).path(scope);
        if (!cg::read_usage(path, found)) return fail(err, SPUR_E_NOT_FOUND, path + " is not there");
        put(out, {.size = 0,
                  .processes = found.processes,
                  .user_us = found.user_us,
                  .system_us = found.system_us,
                  .memory_peak_bytes = found.memory_peak_bytes,
                  .oom_kills = found.oom_kills,
                  .read_bytes = found.read_bytes,
                  .write_bytes = found.write_bytes});
        return SPUR_OK;
    });
}

spur_status processes(spur_plugin* self, const spur_cgroup_scope* scope, void* context,
                      void (*each)(void*, std::int32_t), spur_error* err) {
    return guard(err, [&] {
        for (const auto pid : cg::processes_of(self_cast<Instance>(self).path(scope))) each(context, pid);
        return SPUR_OK;
    });
}

spur_status remove(spur_plugin* self, const spur_cgroup_scope* scope, spur_error* err) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        if (!instance.hierarchy.abilities().contains) return SPUR_OK;
        const auto path = instance.path(scope);
        const int error = cg::remove_scope(path);
        if (error != 0) return status_of(error, err, "cannot remove " + path);
        const std::lock_guard lock{instance.mutex};
        std::erase_if(instance.entrances, [&](const Instance::Entrance& entrance) {
            return entrance.name == name_of(scope) && close(entrance.fd) == 0;
        });
        return SPUR_OK;
    });
}

spur_status scopes(spur_plugin* self, void* context, void (*each)(void*, const spur_cgroup_scope*), spur_error* err) {
    return guard(err, [&] {
        const auto& hierarchy = self_cast<Instance>(self).hierarchy;
        if (!hierarchy.abilities().contains) return SPUR_OK;
        for (const auto& name : cg::list_scopes(hierarchy.node_path())) {
            const spur_cgroup_scope scope{sizeof(spur_cgroup_scope), name.job, name.attempt, name.step, name.task, 0};
            each(context, &scope);
        }
        return SPUR_OK;
    });
}

// What watch() and open() have in common: a descriptor, or why there is none.
template <class Open>
spur_status open_for(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t* fd, spur_error* err, Open open) {
    return guard(err, [&] {
        auto& instance = self_cast<Instance>(self);
        if (!instance.hierarchy.abilities().contains)
            return fail(err, SPUR_E_UNSUPPORTED, "there are no control groups here");
        const int opened = open(instance.path(scope));
        if (opened < 0) return status_of(errno, err, "cannot open " + instance.path(scope));
        *fd = opened;
        return SPUR_OK;
    });
}

spur_status open_scope(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t* fd, spur_error* err) {
    return open_for(self, scope, fd, err, [](const std::string& path) {
        return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    });
}

spur_status watch(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t* fd, spur_error* err) {
    return open_for(self, scope, fd, err, cg::watch_events);
}

spur_status events(spur_plugin* self, const spur_cgroup_scope* scope, std::int32_t fd, spur_cgroup_events* out,
                   spur_error* err) {
    return guard(err, [&] {
        cg::Events found;
        const auto path = self_cast<Instance>(self).path(scope);
        if (!cg::read_events(path, fd, found)) return fail(err, SPUR_E_NOT_FOUND, path + " is not there");
        put(out, {.size = 0, .populated = found.populated ? 1U : 0U, .oom_kills = found.oom_kills});
        return SPUR_OK;
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
                              .scopes = scopes,
                              .open = open_scope,
                              .watch = watch,
                              .events = events};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_CGROUP_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"parent", SPUR_OPTION_STRING, 0, "",
     "where below the mount its groups are made; empty: spur, or below its own group", nullptr, 0, 0},
    {"devices", SPUR_OPTION_BOOL, 0, "true", "refuse devices that were not given", nullptr, 0, 0},
    SPUR_CGROUP_OPTION_QUOTA(),
    SPUR_CGROUP_OPTION_WEIGHTS(),
    SPUR_CGROUP_OPTION_SWAP(),
    SPUR_CGROUP_OPTION_PROCESSES(),
    SPUR_CGROUP_OPTION_IO(),
    SPUR_CGROUP_OPTION_DEVICES(),
};

constexpr const char* interfaces[] = {SPUR_CGROUP_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "cgroup/v2",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "control groups of version 2: contain, limit, freeze and kill",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
