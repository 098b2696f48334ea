/* Uses up the stack of a thread of its own, which has no second one for a handler of signals. */
#define BEFORE                                              \
    static int deeper(int depth) {                          \
        volatile char room[4096];                           \
        room[0] = (char)depth;                              \
        return depth < 0 ? 0 : deeper(depth + 1) + room[0]; \
    }                                                       \
    static void* run(void* unused) { return deeper(0) == 1 ? unused : NULL; }
#define IN_PLAN                                 \
    pthread_t thread;                           \
    pthread_create(&thread, NULL, run, NULL);   \
    pthread_join(thread, NULL);
#include <pthread.h>
#include "skeleton.h"
