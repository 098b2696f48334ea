/* Writes through a null pointer in create(). */
#define IN_CREATE *(volatile int*)NULL = 1;
#include "skeleton.h"
