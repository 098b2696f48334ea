/* spur/plugin/clock.h - service "spur.clock/1": what time it is.
 *
 * Policy plugins (sched, select, priority) must not use it: their time comes inside the view, so that the same view
 * gives the same plan in production, in tests and in the simulator. */
#ifndef SPUR_PLUGIN_CLOCK_H
#define SPUR_PLUGIN_CLOCK_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_CLOCK_SERVICE "spur.clock/1"

typedef struct spur_clock {
    uint32_t size;
    uint32_t reserved;
    void *context;
    int64_t (*unix_ns)(const struct spur_clock *clock);      /* wall clock; may jump. [any-thread, cheap] */
    int64_t (*monotonic_ns)(const struct spur_clock *clock); /* never goes back. [any-thread, cheap] */
} spur_clock;

#ifdef __cplusplus
}
#endif
#endif
