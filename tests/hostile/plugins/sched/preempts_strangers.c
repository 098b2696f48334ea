/* Pushes a running job out that does not run. */
#define IN_PLAN                    \
    uint32_t victim = 99;          \
    spur_span none = {NULL, 0, 0}; \
    sink->preempt(sink, first_slot(view), 0, &victim, 1, none);
#include "skeleton.h"
