/* Starts a job on a set of cores that claims half a gigabyte of words. */
#define IN_PLAN                                  \
    spur_node_share share = share_on(0, 1);      \
    share.cores.count = UINT32_MAX;              \
    spur_placement one = spur_placed(&share, 1); \
    sink->start(sink, first_slot(view), 0, &one, 60);
#include "skeleton.h"
