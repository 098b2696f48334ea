/* Starts a job on no node at all. */
#define IN_PLAN                                    \
    spur_placement nowhere = spur_placed(NULL, 0); \
    sink->start(sink, first_slot(view), 0, &nowhere, 60);
#include "skeleton.h"
