/* A plugin built with the headers of a later release. CAREFUL asks before it touches what is new; CARELESS does not. */
#include <spur/plugin/plugin.h>
#include <spur/plugin/priority.h>

#include <math.h>
#include <stdlib.h>

struct spur_plugin {
    size_t greeting;
};

#ifdef CAREFUL
#define NEW_IN(type, ptr, member) SPUR_HAS(type, ptr, member)
#define NEW_IN_SPAN(type, span, member) SPUR_SPAN_HAS(type, span, member)
#else
#define NEW_IN(type, ptr, member) 1
#define NEW_IN_SPAN(type, span, member) 1
#endif

static spur_status score(spur_plugin *self, const spur_cluster_view *view, spur_span queries, const spur_scores *out,
                         spur_error *err) {
    (void)self, (void)err;
    static volatile uint64_t seen;
    if (NEW_IN(spur_cluster_view, view, mood)) seen = view->mood;
    for (uint32_t i = 0; i < queries.count; i++) {
        const spur_priority_query *query = SPUR_AT(spur_priority_query, queries, i);
        const spur_job_view *job = SPUR_AT(spur_job_view, view->pending, query->job);
        if (NEW_IN_SPAN(spur_job_view, view->pending, carbon_grams)) seen = job->carbon_grams;
        (void)seen;
        spur_priority answer = {.total = 1 + (view->now > job->eligible ? (uint64_t)(view->now - job->eligible) : 0)};
#ifdef CAREFUL
        SPUR_PUT_AT(out->totals, out->total_stride, i, &answer);
#else
        *(spur_priority *)(void *)((char *)out->totals + (size_t)out->total_stride * i) = answer;
#endif
    }
    return SPUR_OK;
}

static double decay(spur_plugin *self, int64_t from, int64_t to) {
    (void)self;
    return exp2(-((double)to - (double)from) / 86400);
}

static spur_status forecast(spur_plugin *self, int64_t at) {
    (void)self, (void)at;
    return SPUR_OK;
}

static const spur_priority_ops ops = {
    .size = sizeof(spur_priority_ops), .score = score, .decay = decay, .forecast = forecast};

static spur_status create(const spur_host *host, const spur_config *config, spur_plugin **out, spur_error *err) {
    spur_plugin *self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    if (NEW_IN(spur_config, config, generation)) self->greeting = config->generation;
    if (NEW_IN(spur_host, host, greeting)) self->greeting = (size_t)host->greeting;
    *out = self;
    return SPUR_OK;
}

static void destroy(spur_plugin *self) { free(self); }

static const void *query(spur_plugin *self, const char *id) {
    (void)self;
    return strcmp(id, SPUR_PRIORITY_IFACE) == 0 ? &ops : NULL;
}

static const char *const interfaces[] = {SPUR_PRIORITY_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = TYPE,
    .version = "1.1.0",
    .vendor = "Spur's tests",
    .summary = "built with headers this host has never seen",
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
    .homepage = "https://example.com",
};

SPUR_PLUGIN(&desc)
