/* Recurses until the stack of the scheduler's thread is used up. */
#define BEFORE                                              \
    static int deeper(int depth) {                          \
        volatile char room[4096];                           \
        room[0] = (char)depth;                              \
        return depth < 0 ? 0 : deeper(depth + 1) + room[0]; \
    }
#define IN_PLAN return deeper(0);
#include "skeleton.h"
