/* spur/plugin/sched.h - decide which pending jobs start now, and where; when would the others start?
 *
 * The host hands over a frozen picture, a selector and a sink. It checks every placement against live state before
 * committing, so a plan may be stale but never harmful. The planner is pure: same view in, same plan out.
 *
 * Laws since 1.0, checked by spur-plugin-check: a plan never oversubscribes; names only pending jobs, each once per array task, the
 * components of a heterogeneous job all or none; keeps to partitions, limits, licenses and reservations;
 * is deterministic; returns soon after sink->stopped() says so. */
#ifndef SPUR_PLUGIN_SCHED_H
#define SPUR_PLUGIN_SCHED_H

#include <spur/plugin/select.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_SCHED_IFACE "spur.sched/1"

/* Why a job waits; the host prints Slurm's word for it. */
#define SPUR_WAIT_PRIORITY 1u           /* others are in front of it */
#define SPUR_WAIT_RESOURCES 2u          /* it is next, or nothing in front of it is in its way */
#define SPUR_WAIT_NODES_UNAVAILABLE 3u  /* ReqNodeNotAvail: what it needs is down, drained or reserved */
#define SPUR_WAIT_PARTITION_DOWN 4u
#define SPUR_WAIT_PARTITION_INACTIVE 5u
#define SPUR_WAIT_PARTITION_NODE_LIMIT 6u
#define SPUR_WAIT_PARTITION_TIME_LIMIT 7u
#define SPUR_WAIT_LICENSES 8u
#define SPUR_WAIT_RESERVATION 9u        /* its reservation has not begun or is full */
#define SPUR_WAIT_NEVER 10u             /* BadConstraints: no node set of this cluster could hold it */
#define SPUR_WAIT_DEADLINE 11u          /* cannot end before its deadline */
#define SPUR_WAIT_TOPOLOGY 12u          /* waiting for fewer switches */
#define SPUR_WAIT_LIMIT 13u             /* may_start() said no; the host knows the limit's name */

/* Verdicts of may_start() and start(). */
#define SPUR_MAY_START ((spur_status)0)
#define SPUR_LIMITED ((spur_status)1) /* an account, user or QOS limit; others of the same owner may fit */
#define SPUR_REJECTED ((spur_status)2) /* start(): the placement contradicts the view or an earlier start of this plan */

#define SPUR_PREEMPT_PROMISE_S 300u

/* Where a plan goes. Everything is copied before the call returns. */
typedef struct spur_plan_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* 1 once the cycle's budget is used up or the daemon is stopping: return with what you have. [cheap] */
    uint32_t (*stopped)(const struct spur_plan_sink *sink);
    /* Would limits let one more task of this job start in this partition, after what this plan already started? [cheap] */
    spur_status (*may_start)(const struct spur_plan_sink *sink, uint32_t job, uint32_t partition);
    /* Start `job` (slot in view->pending) now. `limit_s` is its time limit: the job's own, or less if it gave a minimum.
     * For an array record each call starts one task. */
    spur_status (*start)(const struct spur_plan_sink *sink, uint32_t job, uint32_t partition,
                         const spur_placement *placement, uint32_t limit_s);
    /* `job` cannot start now; this is when and where it should, in one of its own partitions. nodes may be empty. */
    void (*expect)(const struct spur_plan_sink *sink, uint32_t job, int64_t start, uint32_t partition, spur_bits nodes);
    /* Why it waits. `text` may be empty, or a sentence to show besides the reason. */
    void (*waits)(const struct spur_plan_sink *sink, uint32_t job, uint32_t reason, spur_str text);
    /* Push these running jobs (slots in view->running) out, so that `job` can start on `placement` as soon as they are gone.
     * The host keeps `placement` for `job`, against every other start, until it starts or leaves the queue, at the longest
     * for SPUR_PREEMPT_PROMISE_S after the last call that named it; a planner that still wants it says so again. */
    spur_status (*preempt)(const struct spur_plan_sink *sink, uint32_t job, uint32_t partition, const uint32_t *victims,
                           uint32_t victim_count, const spur_placement *placement);
} spur_plan_sink;

/* The select instance to ask, bound by the host. */
typedef struct spur_selector {
    uint32_t size;
    uint32_t reserved;
    const spur_select_ops *ops;
    spur_plugin *self;
} spur_selector;

typedef struct spur_sched_ops {
    uint32_t size;
    uint32_t reserved;
    uint64_t understands; /* SPUR_WISH_*: respected by its plans */
    /* One cycle. No clock, no random numbers, no I/O; everything in `view` dies on return. Calls on one instance never
     * overlap. Required. [cycle-thread, bounded by sink->stopped] */
    spur_status (*plan)(spur_plugin *self, const spur_cluster_view *view, const spur_selector *select,
                        const spur_plan_sink *sink, spur_error *err);
} spur_sched_ops;

#ifdef __cplusplus
}
#endif
#endif
