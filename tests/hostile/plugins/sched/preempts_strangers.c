/* Pushes a running job out that does not run. */
#define IN_PLAN           \
    uint32_t victim = 99; \
    sink->preempt(sink, first_slot(view), 0, &victim, 1, NULL);
#include "skeleton.h"
