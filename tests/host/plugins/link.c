/* A member of a chain: says its word, and what its option `answer` tells it to. */
#include <spur/plugin/plugin.h>

#include <stdlib.h>

#include "link.h"

struct spur_plugin {
    char answer[16];
};

static spur_status pass(spur_plugin *self, const spur_sink *text, spur_error *err) {
    spur_push(text, WORD);
    if (strcmp(self->answer, "refuse") == 0) return spur_fail(err, 7, "not with " WORD);
    if (strcmp(self->answer, "fail") == 0) return spur_fail(err, SPUR_E_IO, WORD " is broken");
    return SPUR_OK;
}

static const link_ops ops = {sizeof(link_ops), 0, pass};

static spur_status create(const spur_host *host, const spur_config *config, spur_plugin **out, spur_error *err) {
    (void)host;
    spur_plugin *self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    snprintf(self->answer, sizeof self->answer, "%s", spur_config_find(config, "answer")->text);
    *out = self;
    return SPUR_OK;
}

static void destroy(spur_plugin *self) { free(self); }

static const void *query(spur_plugin *self, const char *id) {
    (void)self;
    return strcmp(id, LINK_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"answer", SPUR_OPTION_CHOICE, 0, "pass", "what it says", "pass|refuse|fail", 0, 0},
};
static const char *const interfaces[] = {LINK_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = TYPE,
    .version = "1.0.0",
    .vendor = "Spur's tests",
    .summary = "one of a chain",
    .options = options,
    .option_count = 1,
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
