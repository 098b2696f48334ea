/* exit(0) in destroy(). */
#define IN_DESTROY exit(0);
#include "skeleton.h"
