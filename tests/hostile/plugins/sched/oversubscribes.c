/* Starts every job on the same node, each with all of its cores. */
#define IN_PLAN                                                           \
    const spur_node_view* node = SPUR_AT(spur_node_view, view->nodes, 0); \
    for (uint32_t i = 0; i < view->pending_order.count; i++)              \
        start_on(view, sink, *SPUR_AT(uint32_t, view->pending_order, i), share_on(0, node->cpus));
#include "skeleton.h"
