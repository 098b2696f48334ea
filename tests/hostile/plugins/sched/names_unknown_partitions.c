/* Starts a job in a partition that does not exist. */
#define IN_PLAN                                   \
    spur_node_share share = share_on(0, 1);       \
    spur_span shares = {&share, 1, sizeof share}; \
    sink->start(sink, first_slot(view), 77, shares, 60);
#include "skeleton.h"
