/* spur/plugin/metrics.h - service "spur.metrics/1": numbers an operator can plot.
 *
 * Names are lower_case_words with a unit at the end ("commit_ns", "devices_total"); the host prefixes them with the
 * plugin's type. Register once in create(), then update by handle: that path is a single atomic operation. */
#ifndef SPUR_PLUGIN_METRICS_H
#define SPUR_PLUGIN_METRICS_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_METRICS_SERVICE "spur.metrics/1"

#define SPUR_METRIC_COUNTER 1u   /* only grows: add() */
#define SPUR_METRIC_GAUGE 2u     /* a level: set() or add() */
#define SPUR_METRIC_HISTOGRAM 3u /* a distribution: set() records one observation */

typedef struct spur_metrics {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* A handle for name; the same name twice gives the same handle. 0 when refused (bad name, too many: 256). [any-thread] */
    uint32_t (*define)(const struct spur_metrics *metrics, const char *name, uint32_t kind, const char *help);
    void (*add)(const struct spur_metrics *metrics, uint32_t handle, double amount); /* [any-thread, cheap] */
    void (*set)(const struct spur_metrics *metrics, uint32_t handle, double value);  /* [any-thread, cheap] */
} spur_metrics;

#ifdef __cplusplus
}
#endif
#endif
