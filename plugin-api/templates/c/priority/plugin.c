/* @TYPE@ - the longer a job has waited, the more it is worth. */
#include <spur/plugin/plugin.h>
#include <spur/plugin/priority.h>

#include <math.h>
#include <stdlib.h>

struct spur_plugin {
    double weight, max_age_s, half_life_s;
};

/* ---- the policy ---- */

static double age_of(const spur_plugin* self, const spur_job_view* job, int64_t now) {
    double waited = now > job->eligible ? (double)(now - job->eligible) : 0;
    return self->max_age_s > 0 ? fmin(1, waited / self->max_age_s) : 0;
}

/* ---- the boundary ---- */

static spur_status score(spur_plugin* self, const spur_cluster_view* view, spur_span queries, const spur_scores* out,
                         spur_error* err) {
    (void)err;
    for (uint32_t i = 0; i < queries.count; i++) {
        const spur_priority_query* query = SPUR_AT(spur_priority_query, queries, i);
        double age = age_of(self, SPUR_AT(spur_job_view, view->pending, query->job), view->now);
        double points = self->weight * age;
        double sum = points + (double)query->site_factor - (double)query->nice;
        spur_priority answer = {0};
        answer.exact = fmax(1, fmin(sum, 4294967295.0));
        answer.total = (uint64_t)answer.exact;
        spur_put_score(out, i, &answer, &age, &points, 1); /* the host's records may be longer or shorter than ours */
    }
    return SPUR_OK;
}

static double decay(spur_plugin* self, int64_t from, int64_t to) {
    return self->half_life_s > 0 && to > from ? exp2(-((double)to - (double)from) / self->half_life_s) : 1;
}

/* One factor. A plugin with several pushes them in the order in which score() writes them. */
static spur_status factors(spur_plugin* self, const spur_factor_sink* sink, spur_error* err) {
    (void)err;
    return spur_push_factor(sink, spur_text(SPUR_FACTOR_AGE), self->weight);
}

static const spur_priority_ops ops = {
    .size = sizeof(spur_priority_ops), .score = score, .decay = decay, .factors = factors};

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host;
    spur_plugin* self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    self->weight = (double)spur_config_find(config, "weight")->integer;
    self->max_age_s = (double)spur_config_find(config, "max_age")->integer;
    self->half_life_s = (double)spur_config_find(config, "half_life")->integer;
    *out = self;
    return SPUR_OK;
}

static void destroy(spur_plugin* self) { free(self); }

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_PRIORITY_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"weight", SPUR_OPTION_INT, 0, "1000", "priority of a job that has waited for max_age", NULL, 0, 1000000},
    {"max_age", SPUR_OPTION_DURATION, 0, "7-00:00:00", "age at which priority stops growing", NULL, 0, 0},
    {"half_life", SPUR_OPTION_DURATION, 0, "7-00:00:00", "time in which past usage loses half its weight; 0: never",
     NULL, 0, 0},
};
static const char* const interfaces[] = {SPUR_PRIORITY_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "the longer a job has waited, the more it is worth",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
