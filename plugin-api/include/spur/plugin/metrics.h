/* spur/plugin/metrics.h - service "spur.metrics/1": numbers an operator can plot.
 *
 * A metric has a name, lower_case_words with a unit at the end ("commit_ns", "devices_total"), which the host prefixes with
 * spur_ and the plugin's type. It may have labels ("device"); then it is a family of series, one for each set of values.
 * Define in create(), get the handles, update by handle: that path is a few atomic operations. `spur plugin metrics` prints
 * them all as OpenMetrics text. */
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

#define SPUR_METRICS_MOST 256u         /* metrics of an instance */
#define SPUR_METRICS_MOST_LABELS 8u    /* of a metric */
#define SPUR_METRICS_MOST_SERIES 4096u /* of an instance, all metrics together */

typedef struct spur_metric {
    uint32_t size;
    uint32_t kind; /* SPUR_METRIC_* */
    spur_str name; /* up to 64 bytes */
    spur_str help; /* one line, up to 256 bytes */
    spur_span labels; /* of spur_str: their names, lower_case_words, not "le"; count 0: none */
    spur_span bounds; /* of double: upper ends of a histogram's buckets, rising, at most 64; count 0: powers of two */
} spur_metric;

typedef struct spur_metrics {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* A handle for the metric; the same name twice gives the same. 0: refused (see the log), and updates of 0 do nothing.
     * A metric without labels is its own and only series. [any-thread, may block briefly] */
    uint32_t (*define)(const struct spur_metrics *metrics, const spur_metric *metric);
    /* The handle of the series with these values (of spur_str, up to 128 bytes each), one for each label in their order. The
     * same values twice give the same. 0: refused, or too many. [any-thread, may block briefly] */
    uint32_t (*series)(const struct spur_metrics *metrics, uint32_t metric, spur_span values);
    /* The series is gone, as the device it was about: shown no more. Its handle may be given out again. [any-thread, may block briefly] */
    void (*forget)(const struct spur_metrics *metrics, uint32_t series);
    void (*add)(const struct spur_metrics *metrics, uint32_t series, double amount); /* [any-thread, cheap] */
    void (*set)(const struct spur_metrics *metrics, uint32_t series, double value);  /* [any-thread, cheap] */
} spur_metrics;

#ifdef __cplusplus
}
#endif
#endif
