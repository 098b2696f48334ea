/* Forks, and comes back from plan() in both processes. */
#define IN_PLAN fork();
#include "skeleton.h"
