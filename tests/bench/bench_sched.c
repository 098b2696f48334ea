/* sched/bench: bench_plan() as a plugin, for abi_bench. */
#include "bench_plan.h"

#include <spur/plugin/plugin.h>

static const spur_sched_ops ops = {sizeof(spur_sched_ops), 0, 0, bench_plan};
static int instance;

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host, (void)config, (void)err;
    *out = (spur_plugin*)&instance;
    return SPUR_OK;
}
static void destroy(spur_plugin* self) { (void)self; }
static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_SCHED_IFACE) == 0 ? &ops : NULL;
}

static const char* const interfaces[] = {SPUR_SCHED_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "sched/bench",
    .version = "1.0",
    .vendor = "Spur",
    .summary = "for abi_bench",
    .interfaces = interfaces,
    .option_stride = sizeof(spur_option),
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
