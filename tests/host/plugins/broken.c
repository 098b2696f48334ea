/* A sched plugin that is broken in exactly one way: BREAK_<way> is defined when it is built. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spur/plugin/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WILD ((void*)0x10)

static spur_status plan(spur_plugin* self, const spur_cluster_view* view, const spur_selector* select,
                        const spur_plan_sink* sink, spur_error* err) {
    (void)self, (void)view, (void)select, (void)sink, (void)err;
    return SPUR_OK;
}

static const spur_sched_ops ops = {
#if defined(BREAK_short_ops)
    .size = 8,
#elif defined(BREAK_huge_ops)
    .size = 0xffffffffu,
#else
    .size = sizeof(spur_sched_ops),
#endif
#if defined(BREAK_null_op)
    .plan = NULL,
#elif defined(BREAK_wild_op)
    .plan = WILD,
#else
    .plan = plan,
#endif
};

static int instance;

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host, (void)config, (void)err;
#if !defined(BREAK_create_nothing)
    *out = (spur_plugin*)&instance;
#else
    (void)out;
#endif
    return SPUR_OK;
}

static void destroy(spur_plugin* self) { (void)self; }

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
#if defined(BREAK_null_query)
    (void)id;
    return NULL;
#elif defined(BREAK_wild_ops)
    (void)id;
    return WILD;
#else
    return strcmp(id, SPUR_SCHED_IFACE) == 0 ? &ops : NULL;
#endif
}

static const spur_option options[] = {
#if defined(BREAK_bad_option_kind)
    {.key = "depth", .kind = 99, .help = ""},
#elif defined(BREAK_bad_option_key)
    {.key = "Depth!", .kind = SPUR_OPTION_INT, .help = ""},
#elif defined(BREAK_bad_default)
    {.key = "depth", .kind = SPUR_OPTION_INT, .fallback = "deep", .help = ""},
#else
    {.key = "depth", .kind = SPUR_OPTION_INT, .fallback = "1", .help = ""},
#endif
#if defined(BREAK_twice_option)
    {.key = "depth", .kind = SPUR_OPTION_INT, .fallback = "1", .help = ""},
#endif
};

static const char* const interfaces[] = {
#if defined(BREAK_major_two)
    "spur.sched/2",
#elif defined(BREAK_other_axis)
    "spur.gpu/1",
#else
    SPUR_SCHED_IFACE,
#endif
    NULL,
};

#if defined(BREAK_endless_summary)
static char endless[65536];
__attribute__((constructor)) static void fill(void) { memset(endless, 'x', sizeof endless); }
#else
static const char endless[] = "broken in one way";
#endif

static const spur_plugin_desc desc = {
#if defined(BREAK_small_desc)
    .size = 16,
#elif defined(BREAK_huge_desc)
    .size = 0x7fffffffu,
#else
    .size = sizeof(spur_plugin_desc),
#endif
#if defined(BREAK_wild_type)
    .type = WILD,
#elif defined(BREAK_bad_type)
    .type = "Backfill",
#elif defined(BREAK_wrong_name)
    .type = "sched/something",
#else
    .type = TYPE,
#endif
    .version = "0.1",
#if defined(BREAK_null_vendor)
    .vendor = NULL,
#else
    .vendor = "tests",
#endif
    .summary = endless,
    .options = options,
#if defined(BREAK_many_options)
    .option_count = 100000,
#else
    .option_count = sizeof options / sizeof options[0],
#endif
#if defined(BREAK_small_stride)
    .option_stride = 8,
#else
    .option_stride = sizeof(spur_option),
#endif
#if defined(BREAK_null_interfaces)
    .interfaces = NULL,
#else
    .interfaces = interfaces,
#endif
#if defined(BREAK_null_create)
    .create = NULL,
#elif defined(BREAK_wild_create)
    .create = WILD,
#else
    .create = create,
#endif
    .destroy = destroy,
    .query = query,
};

#if defined(BREAK_endless_plugins)
static const spur_plugin_desc* plugins[4096];
__attribute__((constructor)) static void fill_plugins(void) {
    for (int i = 0; i < 4096; i++) plugins[i] = &desc;
}
#elif defined(BREAK_no_plugins)
static const spur_plugin_desc* const plugins[] = {NULL};
#elif defined(BREAK_wild_desc)
static const spur_plugin_desc* const plugins[] = {WILD, NULL};
#else
static const spur_plugin_desc* const plugins[] = {&desc, NULL};
#endif

static const spur_module module = {
#if defined(BREAK_small_module)
    .size = 4,
#elif defined(BREAK_huge_module)
    .size = 0x40000000u,
#else
    .size = sizeof(spur_module),
#endif
#if defined(BREAK_wrong_epoch)
    .abi = 7,
#else
    .abi = SPUR_ABI_EPOCH,
#endif
    .built_with = SPUR_HEADERS_VERSION,
    .plugins = (const spur_plugin_desc* const*)plugins,
};

#if defined(BREAK_undefined_symbol)
extern int nobody_defines_this(void);
#endif

#if defined(BREAK_no_entry)
SPUR_EXPORT const spur_module* some_other_function(void);
SPUR_EXPORT const spur_module* some_other_function(void) { return &module; }
#elif defined(BREAK_epoch_two)
SPUR_EXPORT const spur_module* spur_module_v2(void);
SPUR_EXPORT const spur_module* spur_module_v2(void) { return &module; }
#else
const spur_module* spur_module_v1(void) {
#if defined(BREAK_null_module)
    (void)module;
    return NULL;
#elif defined(BREAK_wild_module)
    (void)module;
    return WILD;
#elif defined(BREAK_undefined_symbol)
    return nobody_defines_this() ? &module : NULL;
#else
    return &module;
#endif
}
#endif

#if defined(BREAK_swap_on_load)
/* Puts <its file>.new in its own place, as an upgrade at the wrong moment does. */
__attribute__((constructor)) static void swap(void) {
    Dl_info self;
    char fresh[4096];
    if (dladdr((const void*)swap, &self) == 0) return;
    snprintf(fresh, sizeof fresh, "%s.new", self.dli_fname);
    rename(fresh, self.dli_fname);
}
#elif defined(BREAK_crash_on_load)
__attribute__((constructor)) static void crash(void) { *(volatile int*)WILD = 1; }
#elif defined(BREAK_exit_on_load)
__attribute__((constructor)) static void leave(void) { exit(3); }
#elif defined(BREAK_loop_on_load)
__attribute__((constructor)) static void loop(void) {
    for (volatile int i = 0;; i++) continue;
}
#elif defined(BREAK_eat_on_load)
__attribute__((constructor)) static void eat(void) {
    for (;;) {
        char* const more = malloc(16u << 20);
        if (more == NULL) abort();
        memset(more, 1, 16u << 20);
    }
}
#endif
