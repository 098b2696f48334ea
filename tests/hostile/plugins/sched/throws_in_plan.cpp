/* Lets something that is not even an exception class out of plan(). */
#define IN_PLAN throw 42;
#include "skeleton.h"
