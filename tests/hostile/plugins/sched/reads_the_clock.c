/* A policy that takes its time from the clock instead of the view. */
#define BEFORE static const spur_host* the_host;
#define IN_CREATE the_host = host;
#define IN_PLAN                                                                                   \
    const spur_clock* clock = (const spur_clock*)the_host->service(the_host, SPUR_CLOCK_SERVICE); \
    clock->unix_ns(clock);
#include <spur/plugin/clock.h>
#include "skeleton.h"
