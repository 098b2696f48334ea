/* spur/plugin/select.h - which nodes, cores and devices fit this job best?
 *
 * A sched plugin decides who starts when; for "where" it asks the select plugin, many thousands of times per cycle. So
 * the path is made to be cheap: begin() looks at the frozen view once and builds what it needs; after that every call
 * works on that and allocates nothing. The answers go into memory the caller brought.
 *
 * What is free is kept in numbered *slots*. Slot 0 starts as the cluster at view->now. A planner that looks into the future
 * copies a slot, gives back what running jobs hold (give), asks again (pick), and takes what it promised (take).
 * A pick never changes a slot.
 *
 * Laws since 1.0, checked by spur-plugin-check: a placement never contains a core, device, byte or node that is not free in the slot
 * or not usable; it satisfies the request; the same calls give the same answers; copy/take/give restore a slot exactly. */
#ifndef SPUR_PLUGIN_SELECT_H
#define SPUR_PLUGIN_SELECT_H

#include <spur/plugin/module.h>
#include <spur/plugin/view.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_SELECT_IFACE "spur.select/1"

/* Verdicts. */
#define SPUR_FITS ((spur_status)0)
#define SPUR_NOT_NOW ((spur_status)1)  /* enough exists, but not free in this slot */
#define SPUR_NEVER ((spur_status)2)    /* not even on an empty cluster */
#define SPUR_NO_ROOM ((spur_status)3)  /* the placement buffers are too small: grow to *_wanted and ask again */

typedef struct spur_select_cycle spur_select_cycle; /* the plugin's, between begin() and end() */

typedef struct spur_pick {
    uint32_t size;
    uint32_t job;         /* slot in view->pending */
    uint32_t partition;   /* index in view->partitions */
    uint32_t slot;
    spur_bits candidates; /* consider only these nodes; NULL words: all that the job and the partition allow */
    uint32_t flags;       /* SPUR_PICK_* */
    uint32_t reserved;
} spur_pick;
#define SPUR_PICK_TEST_ONLY (1u << 0) /* only the verdict: the placement may be NULL */
#define SPUR_PICK_EMPTY (1u << 1)     /* as if nothing ran: FITS or NEVER */
#define SPUR_PICK_BRIEF (1u << 2)     /* the caller takes NOT_NOW for NEVER: no second look is needed to tell them apart */

typedef struct spur_select_ops {
    uint32_t size;
    uint32_t reserved;
    uint64_t understands; /* SPUR_WISH_*: granted, or answered with a verdict */
    /* Look at `view`; it stays valid until end(). One cycle at a time per instance. Required. [cycle-thread, may allocate] */
    spur_status (*begin)(spur_plugin *self, const spur_cluster_view *view, spur_select_cycle **out, spur_error *err);
    void (*end)(spur_plugin *self, spur_select_cycle *cycle);
    /* How many slots this cycle can hold, at least 4; slots are numbered from 0. Required. [cycle-thread, cheap] */
    uint32_t (*slots)(spur_select_cycle *cycle);
    /* Make slot `to` equal to slot `from`. Required. [cycle-thread] */
    spur_status (*copy)(spur_select_cycle *cycle, uint32_t from, uint32_t to);
    /* Mark `placement` as held by a job with these flags (SPUR_JOB_*), or give it back. Only what is held may be given. No
     * check is made that take() does not oversubscribe: planners may promise resources twice on purpose, in slots that
     * stand for other times. Required. [cycle-thread, cheap, allocation-free] */
    void (*take)(spur_select_cycle *cycle, uint32_t slot, const spur_placement *placement, uint32_t job_flags);
    void (*give)(spur_select_cycle *cycle, uint32_t slot, const spur_placement *placement, uint32_t job_flags);
    /* The best placement for one job, or a verdict. `out` is memory of the caller's: see spur_placement.
     * Required. [cycle-thread, cheap, allocation-free] */
    spur_status (*pick)(spur_select_cycle *cycle, const spur_pick *pick, spur_placement *out);
    /* A quick look at many jobs at once: verdicts[i] for jobs[i] on its first partition, test-only. May answer FITS where a
     * full pick would say NOT_NOW, never the other way round. Optional. [cycle-thread, cheap, allocation-free] */
    void (*screen)(spur_select_cycle *cycle, uint32_t slot, const uint32_t *jobs, uint32_t count, spur_status *verdicts);
    /* Nodes that are wholly free in `slot`, into words for view->nodes.count bits. Optional. [cycle-thread, cheap] */
    void (*idle_nodes)(spur_select_cycle *cycle, uint32_t slot, uint64_t *words);
    /* In a sentence, why `pick` does not fit in its slot. Optional. [cycle-thread] */
    spur_status (*explain)(spur_select_cycle *cycle, const spur_pick *pick, const spur_sink *text);
} spur_select_ops;

#ifdef __cplusplus
}
#endif
#endif
