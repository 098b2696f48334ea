/* spur/plugin/draft/accounting.h - store and query jobs, steps, usage, accounts, associations and QOS.
 *
 * Loaded by spurdbd. A controller keeps an outbox in its replicated state and sends it at least once; spurdbd turns what it is sent
 * into rows and stores them in batches, one transaction a call. A row is a flat list of named, typed fields, so that a new field
 * needs no new function; accounting_fields.h lists those of each table.
 *
 * How repeats are told apart: a batch says which sequence numbers of which stream it covers, and the store keeps that together with
 * the rows. What it has already is left out. Streams are told apart by a name, drawn at random when a cluster's state was founded:
 * a cluster that begins anew counts from 1 again.
 *
 * How rows with the same key merge, whatever the order they come in: a field that is absent or null leaves what is there. Of two
 * values the one with the higher sequence stays; of rows from different streams, or with sequence 0, the one that came later. Fields
 * without a column of their own are kept in a remainder (JSON, say), found again, and merged the same way, by name.
 *
 * Laws, checked by spur-plugin-check: a stored row is found by a query after reopen (unless the plugin says
 * SPUR_ACCOUNTING_DISCARDS), with every field it had; storing twice equals storing once, in any order; a batch that was not stored
 * leaves nothing of itself; a row that can never be stored is named, and the rest goes in without it; migrate() twice changes
 * nothing; conditions, groups, order, limit and cursors do what they say, whatever is in the texts; nothing is purged that was not
 * archived durably. */
#ifndef SPUR_PLUGIN_ACCOUNTING_H
#define SPUR_PLUGIN_ACCOUNTING_H

#include <spur/plugin/draft/accounting_fields.h>
#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_ACCOUNTING_IFACE "spur.accounting/1"

/* What a row is about: the table. Keys and fields are in accounting_fields.h. */
#define SPUR_ROW_JOB 1u
#define SPUR_ROW_STEP 2u
#define SPUR_ROW_EVENT 3u
#define SPUR_ROW_USAGE 4u
#define SPUR_ROW_ACCOUNT 5u
#define SPUR_ROW_USER 6u
#define SPUR_ROW_ASSOCIATION 7u
#define SPUR_ROW_QOS 8u
#define SPUR_ROW_TRES 9u
#define SPUR_ROW_RESERVATION 10u
#define SPUR_ROW_CLUSTER 11u
#define SPUR_ROW_TRANSACTION 12u
#define SPUR_ROW_WCKEY 13u
#define SPUR_ROW_SET_ASIDE 14u
#define SPUR_ROW_ROLLUP 15u

#define SPUR_FIELD_NULL 0u
#define SPUR_FIELD_INT 1u
#define SPUR_FIELD_REAL 2u
#define SPUR_FIELD_TEXT 3u  /* `text`: UTF-8 without NUL */
#define SPUR_FIELD_BYTES 4u /* `text`: any bytes */
#define SPUR_FIELD_TRES 5u  /* `tres`: counts by name */

/* So much of one resource: {"cpu", 4}, {"mem", 8192} (MiB), {"gres/gpu:a100", 1}. */
typedef struct spur_tres {
    spur_str name;
    uint64_t count; /* below 2^63 */
} spur_tres;

typedef struct spur_field {
    const char *name; /* lower_case */
    uint32_t kind;    /* SPUR_FIELD_* */
    uint32_t reserved;
    int64_t integer;
    double real;
    spur_str text;
    spur_span tres; /* of spur_tres */
} spur_field;

/* Never grows: what is new is a field. */
typedef struct spur_row {
    uint32_t table;    /* SPUR_ROW_* */
    uint32_t removed;  /* 1: mark as deleted, keep the history */
    uint64_t sequence; /* of the stream; 0: of none */
    spur_span fields;  /* of spur_field */
} spur_row;

/* Covers every sequence from `first` to `last`: numbers without a row in it have been superseded by one that is. */
typedef struct spur_batch {
    uint32_t size;
    uint32_t reserved;
    spur_str cluster; /* whose rows these are */
    spur_str stream;
    uint64_t first; /* 0: of no stream, nothing is noted and nothing left out */
    uint64_t last;
    spur_span rows; /* of spur_row */
} spur_batch;

/* What store() came to, beside SPUR_OK. */
#define SPUR_STORE_POISON ((spur_status)1) /* nothing was stored: a row in it never can be; see spur_store_report */

typedef struct spur_store_report {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* Row number `row` of the batch can never be stored, and why. The host sets it aside, tells, and stores the rest. */
    void (*poison)(const struct spur_store_report *report, uint32_t row, spur_str why);
} spur_store_report;

#define SPUR_TEST_EQUAL 1u
#define SPUR_TEST_IN 2u       /* one of `values` */
#define SPUR_TEST_AT_LEAST 3u
#define SPUR_TEST_BELOW 4u
#define SPUR_TEST_LIKE 5u     /* SQL's % and _, upper and lower case told apart */
#define SPUR_TEST_OVERLAPS 6u /* began (start_time) before values[1], and did not end (end_time) before values[0]; `name` is not read */
#define SPUR_TEST_HOSTS 7u    /* the hostlist shares a host with values[0]; only with group 0, and not in a query with groups */
#define SPUR_TEST_BITS_ALL 8u /* every bit of values[0] is set */
#define SPUR_TEST_BITS_ANY 9u
#define SPUR_TEST_NULL 10u    /* there is no value */

/* A field that is null meets no test but SPUR_TEST_NULL; negated, it meets all others. A value of another kind is met by nothing.
 * Of fields without a column, EQUAL, IN, LIKE and NULL can be asked. */
typedef struct spur_condition {
    const char *name;
    uint32_t test; /* SPUR_TEST_*; one that is not known: SPUR_E_UNSUPPORTED */
    uint32_t negate;
    uint32_t group; /* 0: it must hold. Another number: of those with the same number, one must hold */
    uint32_t reserved;
    spur_span values; /* of spur_field; their names are not read */
} spur_condition;

#define SPUR_SUM_COUNT 1u /* rows; `field` may be NULL */
#define SPUR_SUM_TOTAL 2u
#define SPUR_SUM_LEAST 3u
#define SPUR_SUM_MOST 4u

typedef struct spur_sum {
    uint32_t kind; /* SPUR_SUM_* */
    uint32_t reserved;
    const char *field; /* of kind INT or TIME, or TRES */
    const char *tres;  /* of a TRES field: which one; else NULL */
    const char *as;    /* what the field is called in the answer */
} spur_sum;

typedef struct spur_query {
    uint32_t size;
    uint32_t table;
    spur_str cluster;     /* empty: every cluster; rows have their own in a field "cluster" */
    spur_span conditions; /* of spur_condition; all groups must hold */
    spur_span wanted;     /* of spur_str: field names; empty: all. Keys and "cluster" always come */
    spur_span groups;     /* of spur_str: one row for each combination of these, with `sums`; then neither `wanted` nor cursors */
    spur_span sums;       /* of spur_sum; not empty: an answer of groups */
    const char *order_by; /* field name, "-" in front: descending; NULL: key order. Equals come in key order */
    spur_str after;       /* a cursor of the same query: go on behind it; empty: from the beginning */
    uint32_t limit;       /* 0: none */
    uint32_t with_removed;
} spur_query;

typedef struct spur_row_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* One row; copied before return. Not OK: stop and return it. */
    spur_status (*row)(const struct spur_row_sink *sink, const spur_row *row);
    /* `limit` was reached and there are more: the cursor to go on with. Rows that are stored meanwhile may or may not be seen; none
     * is seen twice and none that was there is left out. */
    spur_status (*more)(const struct spur_row_sink *sink, spur_str cursor);
} spur_row_sink;

/* What purge() takes away goes here first. */
typedef struct spur_archive {
    uint32_t size;
    uint32_t reserved;
    void *context;
    spur_status (*row)(const struct spur_archive *archive, spur_str cluster, const spur_row *row);
    /* Everything handed over so far is on disk. Only then may it be deleted; not OK: delete nothing of it and return that. */
    spur_status (*durable)(const struct spur_archive *archive);
} spur_archive;

#define SPUR_SCHEMA_EMPTY 1u   /* nothing is there; migrate() will make it */
#define SPUR_SCHEMA_CURRENT 2u /* ready */
#define SPUR_SCHEMA_OLDER 3u   /* migrate() brings it up to date; until then nothing else may be called */
#define SPUR_SCHEMA_NEWER 4u   /* a later release made it: refuse */
#define SPUR_SCHEMA_FOREIGN 5u /* there is something, and it is not ours: refuse */

typedef struct spur_schema {
    uint32_t size;
    uint32_t state;  /* SPUR_SCHEMA_* */
    uint32_t found;  /* the version that is there; 0: none */
    uint32_t known;  /* the newest this plugin knows */
} spur_schema;

typedef struct spur_progress {
    uint32_t size;
    uint32_t reserved;
    void *context;
    void (*step)(const struct spur_progress *progress, uint32_t done, uint32_t total, spur_str what);
} spur_progress;

/* features of spur_accounting_ops. */
#define SPUR_ACCOUNTING_DISCARDS (1u << 0) /* keeps no rows: queries find nothing */

typedef struct spur_accounting_ops {
    uint32_t size;
    uint32_t features; /* SPUR_ACCOUNTING_DISCARDS */
    /* What is there, without changing it. Required. [worker-thread, may block] */
    spur_status (*schema)(spur_plugin *self, spur_schema *out, const spur_stop *stop, spur_error *err);
    /* Bring an empty or older schema to what this plugin knows, step by step, each step whole or not at all; refuse a newer or a
     * foreign one. Two hosts may call it at the same time. Required. [worker-thread, may block for hours] */
    spur_status (*migrate)(spur_plugin *self, const spur_progress *progress, const spur_stop *stop, spur_error *err);
    /* Store a batch, all or nothing, durable on return. SPUR_STORE_POISON: nothing was, and the report says why. Required.
     * [worker-thread, may block] */
    spur_status (*store)(spur_plugin *self, const spur_batch *batch, const spur_store_report *report, const spur_stop *stop,
                         spur_error *err);
    /* The highest number such that everything of the stream from `from` to it is stored; from - 1: not even `from` is. Required.
     * [worker-thread, may block] */
    spur_status (*stored_up_to)(spur_plugin *self, spur_str cluster, spur_str stream, uint64_t from, uint64_t *up_to,
                                const spur_stop *stop, spur_error *err);
    /* Required. [worker-thread, may block] */
    spur_status (*query)(spur_plugin *self, const spur_query *query, const spur_row_sink *sink, const spur_stop *stop,
                         spur_error *err);
    /* Remove rows of `table` that ended before `before`, in steps of its own; `archive` (NULL: none) has each of them durably first.
     * A table without an end_time goes by its start_time, or time. Optional. [worker-thread, may block for hours] */
    spur_status (*purge)(spur_plugin *self, spur_str cluster, uint32_t table, int64_t before, const spur_archive *archive,
                         const spur_stop *stop, spur_error *err);
} spur_accounting_ops;

#ifdef __cplusplus
}
#endif
#endif
