/* Uses the sink from a thread of its own instead of plan()'s. */
#define BEFORE                                                                                                \
    static void* elsewhere(void* sink) {                                                                      \
        ((const spur_plan_sink*)sink)->waits((const spur_plan_sink*)sink, 0, SPUR_WAIT_NEVER, spur_text("")); \
        return NULL;                                                                                          \
    }
#define IN_PLAN                                            \
    pthread_t thread;                                      \
    pthread_create(&thread, NULL, elsewhere, (void*)sink); \
    pthread_join(thread, NULL);
#include <pthread.h>
#include "skeleton.h"
