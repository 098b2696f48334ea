/* A failed assertion in plan(). */
#define IN_PLAN abort();
#include "skeleton.h"
