/* Thinks that the process is its own: exit(0) in create(), which a supervisor would take for a good end. */
#define IN_CREATE exit(0);
#include "skeleton.h"
