/* Starts a job in a partition that does not exist. */
#define IN_PLAN                                  \
    spur_node_share share = share_on(0, 1);      \
    spur_placement one = spur_placed(&share, 1); \
    sink->start(sink, first_slot(view), 77, &one, 60);
#include "skeleton.h"
