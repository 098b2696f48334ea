/* Starts a thread in create(), forgets it, and the thread goes on logging after destroy(). */
#define BEFORE                                                                   \
    static void* linger(void* host) {                                            \
        for (;;) {                                                               \
            usleep(20000);                                                       \
            spur_log_line((const spur_host*)host, SPUR_LOG_DEBUG, "still here"); \
        }                                                                        \
    }
#define IN_CREATE     \
    pthread_t thread; \
    pthread_create(&thread, NULL, linger, (void*)host);
#include <pthread.h>
#include "skeleton.h"
