/* _exit(3) in plan(): no handler runs, so nobody can say whose doing it was. */
#define IN_PLAN _exit(3);
#include "skeleton.h"
