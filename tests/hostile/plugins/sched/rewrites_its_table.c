/* Takes its functions away again after they were looked at. */
#define TABLE static spur_sched_ops
#define BEFORE TABLE ops;
#define IN_PLAN ops.plan = NULL, ops.size = 0;
#include "skeleton.h"
