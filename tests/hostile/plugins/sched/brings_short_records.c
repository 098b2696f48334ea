/* Starts a job with generic resources that lie closer together than they are long. */
#define IN_PLAN                                  \
    static const uint64_t bytes[64];             \
    spur_node_share share = share_on(0, 1);      \
    share.gres.data = bytes;                     \
    share.gres.count = 3;                        \
    share.gres.stride = 4;                       \
    spur_placement one = spur_placed(&share, 1); \
    sink->start(sink, first_slot(view), 0, &one, 60);
#include "skeleton.h"
