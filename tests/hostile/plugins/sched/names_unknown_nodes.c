/* Starts a job on a node that does not exist. */
#define IN_PLAN start_on(view, sink, first_slot(view), share_on(4000000, 1));
#include "skeleton.h"
