/* Never returns from create(). */
#define IN_CREATE \
    for (;;) sleep(1);
#include "skeleton.h"
