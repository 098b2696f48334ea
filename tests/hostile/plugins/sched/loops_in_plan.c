/* Never returns from plan() and never asks whether to stop. */
#define IN_PLAN \
    for (;;) sleep(1);
#include "skeleton.h"
