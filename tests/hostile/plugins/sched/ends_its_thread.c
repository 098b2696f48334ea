/* Ends the thread that called it, which is the scheduler's. */
#define IN_PLAN pthread_exit(NULL);
#include <pthread.h>
#include "skeleton.h"
