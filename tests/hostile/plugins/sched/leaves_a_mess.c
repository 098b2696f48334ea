/* Changes in create() what belongs to the whole daemon. */
#define IN_CREATE                                  \
    sigset_t all;                                  \
    sigfillset(&all);                              \
    pthread_sigmask(SIG_BLOCK, &all, NULL);        \
    signal(SIGSEGV, SIG_IGN);                      \
    umask(0);                                      \
    if (chdir("/proc") != 0) return SPUR_E_INTERNAL;
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include "skeleton.h"
