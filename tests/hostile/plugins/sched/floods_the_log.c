/* Says the same thing five thousand times. */
#define IN_CREATE \
    for (int i = 0; i < 5000; i++) spur_log_line(host, SPUR_LOG_INFO, "once more");
#include "skeleton.h"
