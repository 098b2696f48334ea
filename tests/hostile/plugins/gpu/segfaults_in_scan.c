/* Brings the agent down while it looks for devices, as a vendor's library in a bad mood would. */
#include <spur/plugin/draft/gpu.h>
#include <spur/plugin/plugin.h>

static spur_status scan(spur_plugin* self, const spur_gpu_sink* sink, const spur_stop* stop, spur_error* err) {
    (void)self, (void)sink, (void)stop, (void)err;
    *(volatile int*)NULL = 1;
    return SPUR_OK;
}

static spur_status bind(spur_plugin* self, const spur_gpu_binding* binding, const spur_gpu_env_sink* env,
                        spur_error* err) {
    (void)self, (void)binding, (void)env, (void)err;
    return SPUR_OK;
}

static const spur_gpu_ops ops = {.size = sizeof(spur_gpu_ops), .scan = scan, .bind = bind};
static int instance;

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host, (void)config, (void)err;
    *out = (spur_plugin*)&instance;
    return SPUR_OK;
}
static void destroy(spur_plugin* self) { (void)self; }
static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_GPU_IFACE) == 0 ? &ops : NULL;
}

static const char* const interfaces[] = {SPUR_GPU_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = TYPE,
    .version = "0.1",
    .vendor = "tests",
    .summary = "hostile",
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
