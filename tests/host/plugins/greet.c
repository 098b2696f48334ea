/* greet/...: speaks the interfaces that the build says, SPEAKS_1, SPEAKS_2 or SPEAKS_3. */
#include "greet.h"

#include <spur/plugin/plugin.h>

static int instance;

static spur_status hello(spur_plugin* self, const spur_sink* text, spur_error* err) {
    (void)err;
    return self == (spur_plugin*)&instance ? spur_push(text, "hello from 1") : SPUR_E_INTERNAL;
}
static const greet_ops_1 first = {sizeof first, 0, hello};

static spur_status greet(spur_plugin* self, const char* whom, const spur_sink* text, spur_error* err) {
    (void)self, (void)err;
    spur_push(text, whom);
    return spur_push(text, ", hello from 2");
}
static const greet_ops_2 second = {sizeof second, 0, greet};

static const char* const interfaces[] = {
#ifdef SPEAKS_1
    GREET_IFACE_1,
#endif
#ifdef SPEAKS_2
    GREET_IFACE_2,
#endif
#ifdef SPEAKS_3
    "spur.greet/3",
#endif
    NULL};

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host, (void)config, (void)err;
    *out = (spur_plugin*)&instance;
    return SPUR_OK;
}
static void destroy(spur_plugin* self) { (void)self; }
static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    if (strcmp(id, GREET_IFACE_1) == 0) return &first;
    return strcmp(id, GREET_IFACE_2) == 0 ? &second : NULL;
}

static const spur_plugin_desc desc = {.size = sizeof(spur_plugin_desc),
                                      .type = TYPE,
                                      .version = "1.0",
                                      .vendor = "tests",
                                      .summary = "greets",
                                      .option_stride = sizeof(spur_option),
                                      .interfaces = interfaces,
                                      .create = create,
                                      .destroy = destroy,
                                      .query = query};

SPUR_PLUGIN(&desc)
