/* Starts a job on one node twice over. */
#define IN_PLAN                                                  \
    spur_node_share shares[2] = {share_on(0, 1), share_on(0, 1)}; \
    spur_placement both = spur_placed(shares, 2);                \
    sink->start(sink, first_slot(view), 0, &both, 60);
#include "skeleton.h"
