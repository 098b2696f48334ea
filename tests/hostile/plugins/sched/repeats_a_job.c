/* Starts the same job twice. */
#define IN_PLAN                                             \
    start_on(view, sink, first_slot(view), share_on(0, 1)); \
    start_on(view, sink, first_slot(view), share_on(0, 1));
#include "skeleton.h"
