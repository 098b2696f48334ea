/* Starts a job in a slot that does not exist. */
#define IN_PLAN start_on(view, sink, 123456, share_on(0, 1));
#include "skeleton.h"
