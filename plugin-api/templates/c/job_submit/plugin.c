/* @TYPE@ - jobs say how long they may run; long ones go to a partition of their own. */
#define _POSIX_C_SOURCE 200809L
#include <spur/plugin/draft/job_submit.h>
#include <spur/plugin/plugin.h>

#include <stdlib.h>

struct spur_plugin {
    int64_t longest_s;
    char* long_partition;
};

/* Called on several threads at once: nothing here changes after create(). */
static spur_status submit(spur_plugin* self, const spur_submit* submit, const spur_record* job, spur_error* err) {
    spur_value limit = spur_record_get(job, spur_text("time_limit"));
    if (limit.kind == SPUR_VALUE_ABSENT)
        return spur_fail(err, SPUR_SUBMIT_REFUSED, "Say how long the job may run: --time");
    if (limit.number <= self->longest_s || self->long_partition[0] == '\0') return SPUR_OK;
    if (spur_record_set_text(job, spur_text("partition"), spur_text(self->long_partition), err) != SPUR_OK)
        return SPUR_E_UNSUPPORTED;
    return spur_push(submit->notes, "The job runs long and goes to another partition.\n");
}

static const spur_job_submit_ops ops = {.size = sizeof(spur_job_submit_ops), .submit = submit};

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host;
    spur_plugin* self = calloc(1, sizeof *self);
    if (self != NULL) self->long_partition = strdup(spur_config_find(config, "long_partition")->text);
    if (self == NULL || self->long_partition == NULL) {
        free(self);
        return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    }
    self->longest_s = spur_config_find(config, "longest")->integer;
    *out = self;
    return SPUR_OK;
}

static void destroy(spur_plugin* self) {
    free(self->long_partition);
    free(self);
}

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_JOB_SUBMIT_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"longest", SPUR_OPTION_DURATION, 0, "1-00:00:00", "jobs above it are long", NULL, 0, 0},
    {"long_partition", SPUR_OPTION_STRING, 0, "", "where long jobs go; empty: where they like", NULL, 0, 0},
};
static const char* const interfaces[] = {SPUR_JOB_SUBMIT_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "jobs say how long they may run",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
