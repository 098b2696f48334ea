/* Writes through a null pointer in destroy(). */
#define IN_DESTROY *(volatile int*)NULL = 1;
#include "skeleton.h"
