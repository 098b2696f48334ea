/* spur/plugin/draft/accounting.h - store and query jobs, steps, usage, accounts, associations and QOS.
 *
 * Loaded by spurdbd. The controller keeps an outbox in its replicated state and sends it at least once; each record carries the
 * cluster and a sequence number, and storing one twice changes nothing. Stores come in batches: one transaction a call.
 * Records are flat rows of named, typed fields, so that a new field needs no new function: a plugin stores those it has a
 * column for (after migrate()) and ignores the rest.
 *
 * Laws, checked by spur-plugin-check: a stored record is found by a query after reopen (unless the plugin says
 * SPUR_ACCOUNTING_DISCARDS); storing twice equals storing once; a
 * failed batch leaves nothing of itself; migrate() twice changes nothing. */
#ifndef SPUR_PLUGIN_ACCOUNTING_H
#define SPUR_PLUGIN_ACCOUNTING_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_ACCOUNTING_IFACE "spur.accounting/1"

/* What a row is about: the table. */
#define SPUR_ROW_JOB 1u         /* key: cluster, job_id, submit_time */
#define SPUR_ROW_STEP 2u        /* key: cluster, job_id, submit_time, step_id */
#define SPUR_ROW_EVENT 3u       /* node and cluster events; key: cluster, node, start_time */
#define SPUR_ROW_USAGE 4u       /* rolled up; key: cluster, association, tres, period, start_time */
#define SPUR_ROW_ACCOUNT 5u
#define SPUR_ROW_USER 6u
#define SPUR_ROW_ASSOCIATION 7u
#define SPUR_ROW_QOS 8u
#define SPUR_ROW_TRES 9u
#define SPUR_ROW_RESERVATION 10u
#define SPUR_ROW_CLUSTER 11u
#define SPUR_ROW_TRANSACTION 12u /* who changed what, when */
#define SPUR_ROW_WCKEY 13u

#define SPUR_FIELD_NULL 0u
#define SPUR_FIELD_INT 1u
#define SPUR_FIELD_REAL 2u
#define SPUR_FIELD_TEXT 3u

typedef struct spur_field {
    const char *name; /* lower_case; the names of each table are listed in docs/axes/accounting.md */
    uint32_t kind;
    uint32_t reserved;
    int64_t integer;
    double real;
    spur_str text;
} spur_field;

/* Never grows: what is new is a field. */
typedef struct spur_row {
    uint32_t table;   /* SPUR_ROW_* */
    uint32_t removed; /* 1: mark as deleted, keep the history */
    uint64_t sequence; /* of the outbox, per cluster; 0: none */
    spur_span fields; /* of spur_field */
} spur_row;

#define SPUR_TEST_EQUAL 1u
#define SPUR_TEST_IN 2u       /* `values` */
#define SPUR_TEST_AT_LEAST 3u
#define SPUR_TEST_BELOW 4u
#define SPUR_TEST_LIKE 5u     /* SQL's % and _ */
#define SPUR_TEST_OVERLAPS 6u /* [start_time, end_time) meets [values[0], values[1]) */

typedef struct spur_condition {
    const char *name;
    uint32_t test; /* SPUR_TEST_* */
    uint32_t negate;
    spur_span values; /* of spur_field; their names are ignored */
} spur_condition;

typedef struct spur_query {
    uint32_t size;
    uint32_t table;
    spur_span conditions; /* of spur_condition; all must hold */
    spur_span wanted;     /* of spur_str: field names; empty: all */
    const char *order_by; /* field name, "-" in front: descending; NULL: key order */
    uint32_t limit;       /* 0: none */
    uint32_t with_removed;
} spur_query;

typedef struct spur_row_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* One row; copied before return. Not OK: stop and return it. */
    spur_status (*row)(const struct spur_row_sink *sink, const spur_row *row);
} spur_row_sink;

/* features of spur_accounting_ops. */
#define SPUR_ACCOUNTING_DISCARDS (1u << 0) /* keeps no rows: queries find nothing */

typedef struct spur_accounting_ops {
    uint32_t size;
    uint32_t features; /* SPUR_ACCOUNTING_DISCARDS */
    /* Bring the schema to what this plugin knows; refuse a newer one. Required. [main-thread, may block] */
    spur_status (*migrate)(spur_plugin *self, spur_error *err);
    /* Store a batch, all or nothing, in order. Required. [worker-thread, may block] */
    spur_status (*store)(spur_plugin *self, spur_str cluster, spur_span rows, spur_error *err);
    /* The highest outbox sequence stored for `cluster`; 0 if none. Required. [worker-thread, may block] */
    spur_status (*stored_up_to)(spur_plugin *self, spur_str cluster, uint64_t *sequence, spur_error *err);
    /* Required. [worker-thread, may block] */
    spur_status (*query)(spur_plugin *self, spur_str cluster, const spur_query *query, const spur_row_sink *sink,
                         spur_error *err);
    /* Roll usage up to `now` into SPUR_ROW_USAGE. Optional. [worker-thread, may block] */
    spur_status (*roll_up)(spur_plugin *self, spur_str cluster, int64_t now, spur_error *err);
    /* Remove rows of `table` that ended before `before`; those go to `archive` first if given. Optional. [worker-thread] */
    spur_status (*purge)(spur_plugin *self, spur_str cluster, uint32_t table, int64_t before, const spur_row_sink *archive,
                         spur_error *err);
} spur_accounting_ops;

#ifdef __cplusplus
}
#endif
#endif
