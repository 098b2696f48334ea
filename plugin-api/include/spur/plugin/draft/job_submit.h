/* spur/plugin/draft/job_submit.h - look at a job before it is taken, change it, or refuse it.
 *
 * Loaded by spurctld. A chain: `[plugins] job_submit = ["job_submit/a", "job_submit/b"]` are asked in this order, each sees
 * what the ones before it changed. The first that refuses ends it, and the user reads its sentence; one that fails ends it too,
 * since a gate that is broken is shut. One that is named and cannot be loaded keeps the controller from starting.
 *
 * What a plugin set is checked afterwards like anything a user asks for: it can wish, not overrule. Every component of a
 * heterogeneous job is handed over by itself. Jobs are asked about once, by the leader, when they are submitted; what is replayed
 * later is what came out of it.
 *
 * Laws, checked by spur-plugin-check: a refusal has a sentence; the same job in, the same answer out. */
#ifndef SPUR_PLUGIN_JOB_SUBMIT_H
#define SPUR_PLUGIN_JOB_SUBMIT_H

#include <spur/plugin/draft/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_JOB_SUBMIT_IFACE "spur.job_submit/1"

/* Verdict of submit(): the job is not taken. */
#define SPUR_SUBMIT_REFUSED ((spur_status)1)

/* A partition that the user could name. */
typedef struct spur_submit_partition {
    spur_str name;
    uint32_t flags; /* SPUR_SUBMIT_* */
    uint32_t reserved;
} spur_submit_partition;
#define SPUR_SUBMIT_DEFAULT (1u << 0) /* jobs that name none get this one */
#define SPUR_SUBMIT_HIDDEN (1u << 1)  /* not listed for users who may not use it */

/* Who submits and where to. Borrowed for the call. */
typedef struct spur_submit {
    uint32_t size;
    uint32_t uid; /* of the job's owner, as the host established it */
    uint32_t gid;
    uint32_t reserved;
    spur_str user;
    spur_span partitions;   /* of spur_submit_partition */
    const spur_sink *notes; /* lines for the user's terminal, whether the job is taken or not */
    const spur_stop *stop;  /* give up then: the user waits */
} spur_submit;

typedef struct spur_job_submit_ops {
    uint32_t size;
    uint32_t reserved;
    /* SPUR_OK, or SPUR_SUBMIT_REFUSED with a sentence for the user in err. Calls on one instance may overlap.
     * Required. [worker-thread, may block until submit->stop] */
    spur_status (*submit)(spur_plugin *self, const spur_submit *submit, const spur_record *job, spur_error *err);
} spur_job_submit_ops;

#ifdef __cplusplus
}
#endif
#endif
