/* spur/plugin/log.h - service "spur.log/1": lines in the daemon's log, prefixed with the plugin's type.
 *
 * One line a call, no trailing newline. Say what an operator can act upon; use debug for what only the author reads. */
#ifndef SPUR_PLUGIN_LOG_H
#define SPUR_PLUGIN_LOG_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_LOG_SERVICE "spur.log/1"

#define SPUR_LOG_ERROR 1u
#define SPUR_LOG_WARNING 2u
#define SPUR_LOG_INFO 3u
#define SPUR_LOG_DEBUG 4u

typedef struct spur_log {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* Write one line. Text beyond 4096 bytes is cut. [any-thread, cheap] */
    void (*write)(const struct spur_log *log, uint32_t level, spur_str text);
    /* 1 if a line of this level would be kept: ask before building an expensive one. [any-thread, cheap] */
    uint32_t (*enabled)(const struct spur_log *log, uint32_t level);
} spur_log;

#ifdef __cplusplus
}
#endif
#endif
