/* exit(0) in plan(). */
#define IN_PLAN exit(0);
#include "skeleton.h"
