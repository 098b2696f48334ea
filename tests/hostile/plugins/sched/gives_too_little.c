/* Starts every job with one core less than it asks for. */
#define IN_PLAN                                                                     \
    for (uint32_t i = 0; i < view->pending_order.count; i++) {                      \
        const uint32_t slot = *SPUR_AT(uint32_t, view->pending_order, i);           \
        start_on(view, sink, slot, share_on(0, 1));                                 \
    }
#include "skeleton.h"
