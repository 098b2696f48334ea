/* spur/plugin/executor.h - service "spur.executor/1": run something later, or off the calling thread.
 *
 * A plugin that needs to wait posts to the executor; it never owns the daemon's loop. Tasks run in the worker-thread
 * role. The host runs or cancels every task of an instance before it calls destroy(); after that call none will run. */
#ifndef SPUR_PLUGIN_EXECUTOR_H
#define SPUR_PLUGIN_EXECUTOR_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_EXECUTOR_SERVICE "spur.executor/1"

typedef void (*spur_task)(void *argument);

typedef struct spur_executor {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* Run `task` soon. SPUR_E_BUSY when this instance already has 1,000 waiting. [any-thread, cheap] */
    spur_status (*post)(const struct spur_executor *executor, spur_task task, void *argument);
    /* Run `task` once after `delay_ns`; *timer is for cancel(). [any-thread, cheap] */
    spur_status (*post_after)(const struct spur_executor *executor, int64_t delay_ns, spur_task task, void *argument,
                              uint64_t *timer);
    /* 1 if the timer was stopped before it ran; 0 if it ran, is running or never was. [any-thread, cheap] */
    uint32_t (*cancel)(const struct spur_executor *executor, uint64_t timer);
} spur_executor;

#ifdef __cplusplus
}
#endif
#endif
