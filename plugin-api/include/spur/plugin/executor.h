/* spur/plugin/executor.h - service "spur.executor/1": run something later, off the calling thread, or when a descriptor is ready.
 *
 * A plugin that needs to wait hands that to the executor; it never owns the daemon's loop. There are two pools. Tasks of post(),
 * timers and watches share a few threads with every other plugin: they must not wait. post_blocking() has threads of its own
 * for each instance, and its tasks are told when to give up. Everything runs in the worker-thread role; tasks of one
 * instance may overlap. The instances take turns: one that posts a thousand tasks delays another by one task, not a thousand.
 *
 * Of a task that was taken (SPUR_OK), exactly one of `run` and `drop` gets its argument in the end: `drop` if it will never
 * run, because it was cancelled or the instance ends. So whoever frees the argument in both leaks nothing. `drop` may be NULL.
 *
 * Before destroy() the host stops and finishes what runs, and drops the rest; after that call nothing of the instance runs. */
#ifndef SPUR_PLUGIN_EXECUTOR_H
#define SPUR_PLUGIN_EXECUTOR_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_EXECUTOR_SERVICE "spur.executor/1"

#define SPUR_EXECUTOR_MOST_WAITING 1000u /* tasks, timers and watches of an instance; more are answered with SPUR_E_BUSY */
#define SPUR_EXECUTOR_MOST_BLOCKING 4u   /* post_blocking() tasks of an instance that run at once; others wait their turn */

/* For watch_fd(), which also reports SPUR_WATCH_BROKEN (hang-up or error) unasked. */
#define SPUR_WATCH_READ (1u << 0)
#define SPUR_WATCH_WRITE (1u << 1)
#define SPUR_WATCH_BROKEN (1u << 2)

typedef void (*spur_task)(void *argument);
typedef void (*spur_blocking_task)(void *argument, const spur_stop *stop);
typedef void (*spur_watcher)(void *argument, uint32_t events);

typedef struct spur_executor {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* Run `run` soon. SPUR_E_STOPPED: the instance is ending. [any-thread, cheap] */
    spur_status (*post)(const struct spur_executor *executor, spur_task run, spur_task drop, void *argument);
    /* Run `run` soon, on a thread where it may wait for anything, until it is stopped. [any-thread, cheap] */
    spur_status (*post_blocking)(const struct spur_executor *executor, spur_blocking_task run, spur_task drop,
                                 void *argument);
    /* Run `run` once, `delay_ns` from now. *id, if given, is for cancel(), and so below. [any-thread, cheap] */
    spur_status (*post_after)(const struct spur_executor *executor, int64_t delay_ns, spur_task run, spur_task drop,
                              void *argument, uint64_t *id);
    /* Run `run` every `period_ns` (at least a millisecond), the first time a period from now, until cancel(). Its runs never
     * overlap; those it is too late for are left out. [any-thread, cheap] */
    spur_status (*post_every)(const struct spur_executor *executor, int64_t period_ns, spur_task run, spur_task drop,
                              void *argument, uint64_t *id);
    /* Call `run` with what there is whenever `fd` has one of `events`, until cancel(). Its calls never overlap, and it is
     * called again as long as the descriptor is ready. The descriptor stays the plugin's: cancel, and close it in `drop`.
     * One watch for a descriptor. [any-thread, cheap] */
    spur_status (*watch_fd)(const struct spur_executor *executor, int32_t fd, uint32_t events, spur_watcher run,
                            spur_task drop, void *argument, uint64_t *id);
    /* 1: it will not run again, and `drop` has been called, or is as soon as the call of `run` that is under way returns.
     * 0: it ran, is running for the last time, or never was. [any-thread, cheap] */
    uint32_t (*cancel)(const struct spur_executor *executor, uint64_t id);
} spur_executor;

#ifdef __cplusplus
}
#endif
#endif
