// cgroup/refusing: a cgroup plugin that fails where its option says, as a broken system would make a real one fail; or that
// attacks the step daemon, and only that: in spurd, which must live to tell, it behaves.
#include <spur/plugin/cgroup.h>
#include <spur/plugin/plugin.hpp>

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace spur::plugin;

struct Instance {
    Instance(const spur_host* host, const spur_config* config)
        : refused{option(config, "refuses").text},
          attack{std::string_view{host->program} == "spurstepd" ? option(config, "attack").text : ""} {
        strike("create");
    }
    spur_status answer(const char* what, spur_status code, spur_error* err) const {
        strike(what);
        if (refused != what) return SPUR_OK;
        return fail(err, code, std::string{what} + " is refused");
    }
    // "crash-make": what, and where.
    void strike(std::string_view where) const {
        if (!attack.ends_with(where)) return;
        if (attack.starts_with("crash-")) *reinterpret_cast<volatile int*>(8) = 1;
        if (attack.starts_with("hang-"))
            for (;;) pause();
        if (attack.starts_with("spin-"))
            for (;;) asm volatile("");
        if (attack.starts_with("throw-")) throw 42;
        if (attack.starts_with("abort-")) std::abort();
        if (attack.starts_with("exit-")) _exit(0);
        if (attack.starts_with("overflow-")) overflow(1);
        if (attack.starts_with("thread-"))
            std::thread{[] {
                for (;;) pause();
            }}.detach();
    }
    static int overflow(int depth) {
        volatile char room[4096];
        room[0] = static_cast<char>(depth);
        return depth == 0 ? 0 : overflow(depth + 1) + room[0];
    }
    std::string refused, attack;
};

const Instance& of(spur_plugin* self) { return self_cast<Instance>(self); }

std::uint32_t capabilities(spur_plugin* self) {
    of(self).strike("capabilities");
    return 0;
}
spur_status make(spur_plugin* self, const spur_cgroup_scope*, const spur_cgroup_limits*, spur_error* err) {
    return of(self).answer("make", SPUR_E_IO, err);
}
spur_status attach(spur_plugin* self, const spur_cgroup_scope*, std::int32_t, spur_error* err) {
    return of(self).answer("attach", SPUR_E_IO, err);
}
spur_status signal(spur_plugin*, const spur_cgroup_scope*, std::int32_t, const spur_stop*, spur_error*) {
    return SPUR_OK;
}
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
                              .scopes = scopes,
                              .open = nullptr,
                              .watch = nullptr,
                              .events = nullptr};
constexpr spur_cgroup_ops short_ops{.size = 16, .reserved = 0, .capabilities = capabilities};
constexpr spur_cgroup_ops empty_ops{.size = sizeof(spur_cgroup_ops)};

const void* query(spur_plugin* self, const char* id) {
    const auto& attack = of(self).attack;
    if (attack == "no-table") return nullptr;
    if (attack == "short-table") return &short_ops;
    if (attack == "empty-table") return &empty_ops;
    if (attack == "wild-table") return reinterpret_cast<const void*>(64);
    of(self).strike("query");
    return std::string_view{id} == SPUR_CGROUP_IFACE ? &ops : nullptr;
}

spur_status make_instance(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    const std::string_view attack = option(config, "attack").text;
    const bool is_attacked = std::string_view{host->program} == "spurstepd";
    if (is_attacked && attack == "no-instance") return SPUR_OK;
    if (is_attacked && attack == "throw-create") throw 42;  // through what would catch it
    return create<Instance>(host, config, out, err);
}

constexpr spur_option options[] = {
    {"refuses", SPUR_OPTION_STRING, 0, "", "the call that fails", nullptr, 0, 0},
    {"attack", SPUR_OPTION_STRING, 0, "", "what is done to the step daemon", nullptr, 0, 0},
    {"ratio", SPUR_OPTION_FLOAT, 0, "0.1", "a number with digits to lose", nullptr, 0, 0},
    {"words", SPUR_OPTION_LIST, 0, "a,b", "a list", nullptr, 0, 0},
};
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
                                .create = make_instance,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
