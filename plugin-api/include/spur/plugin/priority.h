/* spur/plugin/priority.h - what is each pending job worth now, and why?
 *
 * The host asks before each planning cycle and sorts pending jobs by the answer (then by submission and id). Beside the total it
 * wants what the total is made of: factors, as many as the plugin has and under the plugin's own names. They are kept with the
 * job for all to see (`spur why`, `sprio`), and none is worked out anew by the host: a number nobody can explain is a
 * number nobody trusts. Usage lives in the controller's replicated state; the plugin only says how fast it fades and what it
 * means.
 *
 * Laws since 1.0, checked by spur-plugin-check: no NaN or infinity, raw factors in [0, 1], names unique and the same at every call,
 * total is a function of the view and the query alone and does not fall as a job ages, all else equal. */
#ifndef SPUR_PLUGIN_PRIORITY_H
#define SPUR_PLUGIN_PRIORITY_H

#include <spur/plugin/module.h>
#include <spur/plugin/view.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_PRIORITY_IFACE "spur.priority/1"

/* Names for which `sprio` has a column of its own, since Slurm has one. Any other name is as good, and the factor is shown
 * under it. */
#define SPUR_FACTOR_AGE "age"
#define SPUR_FACTOR_FAIRSHARE "fairshare"
#define SPUR_FACTOR_JOB_SIZE "job_size"
#define SPUR_FACTOR_PARTITION "partition"
#define SPUR_FACTOR_QOS "qos"
#define SPUR_FACTOR_ASSOCIATION "association"
#define SPUR_FACTOR_TRES "tres/" /* the beginning of the name: "tres/cpu", "tres/gres/gpu"; all of them share the column TRES */

/* One factor, borrowed for the call. */
typedef struct spur_factor {
    uint32_t size;
    uint32_t reserved;
    spur_str name; /* 1 to 63 letters, digits and "_.-/", unique within the plugin */
    spur_str help; /* one line for an administrator; may be empty */
    double weight; /* what it adds to the total when its raw value is 1; may be negative */
} spur_factor;

/* Where factors() pushes them, in the order of their columns in spur_scores. Copied before the call returns; a non-OK answer
 * means stop and return it. */
typedef struct spur_factor_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    spur_status (*factor)(const struct spur_factor_sink *sink, const spur_factor *factor);
} spur_factor_sink;

/* What a priority plugin needs to know about a job besides its view. */
typedef struct spur_priority_query {
    uint32_t job;       /* slot in view->pending */
    uint32_t partition; /* index in view->partitions; SPUR_NONE */
    int64_t nice;        /* points to take away: --nice; negative ones raise the priority. In the range of int32_t */
    int64_t site_factor; /* points to add: what operators or site plugins gave the job. In the range of int32_t */
} spur_priority_query;

/* One answer. */
typedef struct spur_priority {
    uint64_t total; /* at least 1; 0 is for held jobs, which are never asked about. The host keeps at most UINT32_MAX */
    double exact;   /* the same before it was rounded and cut: what `sprio -n` shows */
} spur_priority;

/* Where score() writes, in memory of the host's: answer i at totals + i * total_stride bytes (SPUR_PUT_AT), its factors at
 * raw[i * factor_count] and weighted[i * factor_count] onwards, in the order of factors(). Of more factors than factor_count only
 * the first so many are written; places that the plugin has no factor for stay as they are. factor_count may be 0: nobody
 * looks at them. */
typedef struct spur_scores {
    uint32_t size;
    uint32_t factor_count;
    spur_priority *totals;
    uint32_t total_stride;
    uint32_t reserved;
    double *raw;      /* in [0, 1] */
    double *weighted; /* what each added to the total, in points */
} spur_scores;

/* Answer i with its factors, as much of it as there is room for. */
static inline void spur_put_score(const spur_scores *out, size_t i, const spur_priority *answer, const double *raw,
                                  const double *weighted, uint32_t count) {
    SPUR_PUT_AT(out->totals, out->total_stride, i, answer);
    if (count > out->factor_count) count = out->factor_count;
    if (count == 0) return;
    memcpy(out->raw + i * out->factor_count, raw, count * sizeof(double));
    memcpy(out->weighted + i * out->factor_count, weighted, count * sizeof(double));
}

static inline spur_status spur_push_factor(const spur_factor_sink *sink, spur_str name, double weight) {
    spur_factor factor;
    memset(&factor, 0, sizeof factor);
    factor.size = sizeof factor;
    factor.name = name;
    factor.weight = weight;
    return sink->factor(sink, &factor);
}

/* One line of `sshare`. */
typedef struct spur_share {
    double normalised_shares, normalised_usage, effective_usage; /* in [0, 1] */
    double level;                                                /* shares over usage; infinite where nothing was used */
    double factor;                                               /* in [0, 1] */
} spur_share;

typedef struct spur_priority_ops {
    uint32_t size;
    uint32_t reserved;
    /* Score queries.count jobs (spur_priority_query). A job that names several partitions is asked about once for each and waits
     * with the best of the answers. Required. [cycle-thread, time in proportion to the queries, no I/O] */
    spur_status (*score)(spur_plugin *self, const spur_cluster_view *view, spur_span queries, const spur_scores *out,
                         spur_error *err);
    /* How much of the usage up to `from` still counts at `to` (unix seconds, from <= to): in [0, 1], 1 when they are equal, not
     * growing with `to`. The host asks for times that follow each other and multiplies: that of [a, c] should be that of
     * [a, b] times that of [b, c]. Required. [any-thread, cheap] */
    double (*decay)(spur_plugin *self, int64_t from, int64_t to);
    /* The factors with their weights, for the columns of spur_scores and for `sprio -w`. The same at every call on one instance:
     * other options make another instance. Optional: without it the total is all there is to say. [any-thread, cheap] */
    spur_status (*factors)(spur_plugin *self, const spur_factor_sink *sink, spur_error *err);
    /* The fair-share picture: answer i, at out + i * out_stride bytes, for view->associations i. Optional. [cycle-thread] */
    spur_status (*shares)(spur_plugin *self, const spur_cluster_view *view, spur_share *out, uint32_t out_stride,
                          spur_error *err);
} spur_priority_ops;

#ifdef __cplusplus
}
#endif
#endif
