/* spur/plugin/priority.h - what is each pending job worth now, and why?
 *
 * The host asks before each planning cycle and sorts pending jobs by the answer (then by submission and id). The factors are
 * kept with the job so that `sprio` can show them: a number nobody can explain is a number nobody trusts. Usage lives in the
 * controller's replicated state; the plugin only says how fast it fades and what it means.
 *
 * Laws since 1.0, checked by spur-plugin-check: no NaN or infinity, factors in [0, 1], total is a function of the view alone and does not
 * fall as a job ages, all else equal. */
#ifndef SPUR_PLUGIN_PRIORITY_H
#define SPUR_PLUGIN_PRIORITY_H

#include <spur/plugin/module.h>
#include <spur/plugin/view.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_PRIORITY_IFACE "spur.priority/1"

/* Written by the plugin, one per job asked about. Raw factors lie in [0, 1]; weighted ones are what they added to total.
 * `nice` is subtracted. The arrays are indexed by SPUR_FACTOR_*. */
#define SPUR_FACTOR_AGE 0u
#define SPUR_FACTOR_FAIRSHARE 1u
#define SPUR_FACTOR_JOB_SIZE 2u
#define SPUR_FACTOR_PARTITION 3u
#define SPUR_FACTOR_QOS 4u
#define SPUR_FACTOR_TRES 5u
#define SPUR_FACTOR_ASSOCIATION 6u
#define SPUR_FACTOR_SITE 7u
#define SPUR_FACTOR_COUNT 8u

typedef struct spur_priority {
    uint64_t total; /* at least 1; 0 is for held jobs, which are never asked about */
    double raw[8];
    double weighted[8];
    int64_t nice;
} spur_priority;

/* What a priority plugin needs to know about a job besides its view. */
typedef struct spur_priority_query {
    uint32_t job;       /* slot in view->pending */
    uint32_t partition; /* index in view->partitions */
    int32_t nice;
    uint32_t reserved;
    double site; /* set by an administrator or a site plugin; in [0, 1] */
} spur_priority_query;

/* One line of `sshare`. */
typedef struct spur_share {
    double normalised_shares, normalised_usage, effective_usage, level, factor;
} spur_share;

typedef struct spur_priority_ops {
    uint32_t size;
    uint32_t reserved;
    /* Score queries.count jobs into out[0..count), stepping by out_stride bytes. Required. [cycle-thread, bounded] */
    spur_status (*score)(spur_plugin *self, const spur_cluster_view *view, spur_span queries, spur_priority *out,
                         uint32_t out_stride, spur_error *err);
    /* How much of yesterday's usage counts after `seconds`: in [0, 1], 1 at 0, not growing. Required. [any-thread, cheap] */
    double (*decay)(spur_plugin *self, double seconds);
    /* The fair-share picture, one spur_share per view->associations. Optional. [cycle-thread] */
    spur_status (*shares)(spur_plugin *self, const spur_cluster_view *view, spur_share *out, uint32_t out_stride,
                          spur_error *err);
    /* Weights in force, for `sprio -w`, indexed by SPUR_FACTOR_*. Optional. [any-thread, cheap] */
    spur_status (*weights)(spur_plugin *self, double *out, uint32_t count);
} spur_priority_ops;

#ifdef __cplusplus
}
#endif
#endif
