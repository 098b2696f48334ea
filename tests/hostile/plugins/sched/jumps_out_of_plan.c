/* longjmp to a function that has returned, as the C library checks it in a hardened build. */
#define BEFORE                                                                                \
    extern void __longjmp_chk(struct __jmp_buf_tag env[1], int value) __attribute__((noreturn)); \
    static jmp_buf place;                                                                     \
    static __attribute__((noinline)) int deeper(int depth) {                                  \
        volatile char room[4096];                                                             \
        room[0] = (char)depth;                                                                \
        return depth == 0 ? setjmp(place) : deeper(depth - 1) + room[0];                      \
    }
#define IN_PLAN deeper(8), __longjmp_chk(place, 1);
#include <setjmp.h>
#include "skeleton.h"
