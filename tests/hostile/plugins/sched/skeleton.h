/* A sched plugin that does nothing wrong, to go wrong in one place: define IN_CREATE, IN_PLAN or IN_DESTROY as
 * statements and include this. TYPE is given by the build: "sched/" and the name of the file. C11 and C++. */
#include <spur/plugin/plugin.h>
#include <spur/plugin/sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef IN_CREATE
#define IN_CREATE
#endif
#ifndef IN_PLAN
#define IN_PLAN
#endif
#ifndef IN_DESTROY
#define IN_DESTROY
#endif
#ifndef BEFORE
#define BEFORE
#endif
#ifndef TABLE
#define TABLE static const spur_sched_ops
#endif

BEFORE

/* One share: all the job asks for, put on `node`. */
static inline spur_node_share share_on(uint32_t node, uint32_t cpus) {
    static const uint64_t every_core[1] = {~0ull};
    spur_node_share share;
    memset(&share, 0, sizeof share);
    share.node = node;
    share.cpus = cpus;
    share.cores.words = every_core;
    share.cores.count = cpus < 64 ? cpus : 64;
    share.memory_mib = 1;
    share.tasks = 1;
    return share;
}

static inline spur_status start_on(const spur_cluster_view* view, const spur_plan_sink* sink, uint32_t slot,
                                   spur_node_share share) {
    const spur_placement placement = spur_placed(&share, 1);
    const uint32_t limit = slot < view->pending.count ? SPUR_AT(spur_job_view, view->pending, slot)->limit_s : 60;
    return sink->start(sink, slot, 0, &placement, limit);
}

static inline uint32_t first_slot(const spur_cluster_view* view) {
    return view->pending_order.count == 0 ? SPUR_NONE : *SPUR_AT(uint32_t, view->pending_order, 0);
}

static spur_status plan(spur_plugin* self, const spur_cluster_view* view, const spur_selector* select,
                        const spur_plan_sink* sink, spur_error* err) {
    (void)self, (void)view, (void)select, (void)sink, (void)err;
    IN_PLAN
    return SPUR_OK;
}

TABLE ops = {sizeof(spur_sched_ops), 0, 0, plan};
static int instance;

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host, (void)config, (void)err;
    IN_CREATE
    *out = (spur_plugin*)&instance;
    return SPUR_OK;
}

static void destroy(spur_plugin* self) {
    (void)self;
    IN_DESTROY
}

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_SCHED_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {{"depth", SPUR_OPTION_INT, 0, "1", "a number", NULL, 0, 100}};
static const char* const interfaces[] = {SPUR_SCHED_IFACE, NULL};
static const spur_plugin_desc desc = {
    sizeof(spur_plugin_desc), 0,          TYPE,   "0.1",   "tests", "hostile", options, 1,
    sizeof(spur_option),      interfaces, create, destroy, query};

SPUR_PLUGIN(&desc)
