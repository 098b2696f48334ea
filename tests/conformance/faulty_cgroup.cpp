// A cgroup plugin that contains nothing and has one fault, chosen when it is compiled.
#include <spur/plugin/cgroup.h>
#include <spur/plugin/plugin.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

using namespace spur::plugin;

void start_thread() {
    std::thread{[] {
        for (;;) pause();
    }}.detach();
}

struct Groups {
    Groups(const spur_host*, const spur_config*) {
#ifdef FAULT_CGROUP_STARTS_A_THREAD
        start_thread();
#endif
    }
    pid_t maker = getpid();
};

void allocate() {
    void* volatile block = std::malloc(100);
    std::free(block);
}

constexpr std::uint32_t unmade_step = 4'000'000;

std::uint32_t capabilities(spur_plugin*) { return 0; }
std::atomic<std::uint32_t> last_made;
spur_status make(spur_plugin* self, const spur_cgroup_scope* scope, const spur_cgroup_limits*, spur_error* err) {
    last_made = scope->step;
#ifdef FAULT_CGROUP_STARTS_A_THREAD_IN_MAKE
    if (self_cast<Groups>(self).maker != getpid()) start_thread();
#endif
#ifdef FAULT_CGROUP_CRASHES_IN_CHILDREN
    if (self_cast<Groups>(self).maker != getpid()) std::abort();
#endif
#ifdef FAULT_CGROUP_REFUSES_CHILDREN
    if (self_cast<Groups>(self).maker != getpid()) return fail(err, SPUR_E_INTERNAL, "not the process that made me");
#endif
    return SPUR_OK;
}
spur_status attach(spur_plugin*, const spur_cgroup_scope* scope, std::int32_t, spur_error* err) {
#ifdef FAULT_CGROUP_ALLOCATES_IN_ATTACH
    allocate();
#endif
    if (scope->step != unmade_step) return SPUR_OK;
#ifdef FAULT_CGROUP_ALLOCATES_WHEN_ATTACH_FAILS
    allocate();
#endif
    return fail(err, SPUR_E_NOT_FOUND, "there is no such scope");
}
spur_status signal(spur_plugin*, const spur_cgroup_scope*, std::int32_t, const spur_stop*, spur_error*) {
    return SPUR_OK;
}
spur_status usage(spur_plugin*, const spur_cgroup_scope*, spur_cgroup_usage* out, spur_error*) {
    put(out, spur_cgroup_usage{});
#ifdef FAULT_CGROUP_WRITES_PAST_USAGE
    std::memset(out + 1, 0, 16);
#endif
    return SPUR_OK;
}
spur_status processes(spur_plugin*, const spur_cgroup_scope*, void*, void (*)(void*, std::int32_t), spur_error*) {
    return SPUR_OK;
}
spur_status remove(spur_plugin* self, const spur_cgroup_scope* scope, spur_error* err) {
#ifdef FAULT_CGROUP_MIXES_SCOPES_UP
    usleep(500);
    if (last_made != scope->step) return fail(err, SPUR_E_INTERNAL, "there is no such scope");
#endif
    return SPUR_OK;
}

constexpr spur_cgroup_ops ops{.size = sizeof(spur_cgroup_ops),
                              .reserved = 0,
                              .capabilities = capabilities,
                              .make = make,
                              .attach = attach,
                              .freeze = nullptr,
                              .signal = signal,
                              .usage = usage,
                              .processes = processes,
                              .remove = remove};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_CGROUP_IFACE ? &ops : nullptr; }

constexpr const char* interfaces[] = {SPUR_CGROUP_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = FAULT_TYPE,
                                .version = "1.0.0",
                                .vendor = "Spur",
                                .summary = "has one fault",
                                .options = nullptr,
                                .option_count = 0,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Groups>,
                                .destroy = destroy<Groups>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
