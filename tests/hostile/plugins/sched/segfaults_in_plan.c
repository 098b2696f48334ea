/* Writes through a null pointer in plan(), after it asked about a job. */
#define IN_PLAN                                 \
    sink->may_start(sink, first_slot(view), 0); \
    *(volatile int*)NULL = 1;
#include "skeleton.h"
