/* spur/plugin/draft/record.h - a job as a list of named fields, to be read and, where the axis lets it, changed.
 *
 * The same in every axis that meets jobs as users know them: job_submit today; prep, jobcomp, cli_filter and accounting are to
 * follow. The fields are the rows of the table that squeue, scontrol and JSON are made from, under the names of `squeue --json`
 * where it has the field ("time_limit", "partition"), else under scontrol's, in lower case. A release may add fields; none
 * changes its name or kind.
 *
 * A field's number is for quick access: it means the same in every record of this kind while the daemon runs, so a plugin
 * may look it up once. Nothing of a record outlives the call it was handed to. [the thread of that call] */
#ifndef SPUR_PLUGIN_RECORD_H
#define SPUR_PLUGIN_RECORD_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_VALUE_ABSENT 0u  /* not said, or not known */
#define SPUR_VALUE_TEXT 1u    /* text */
#define SPUR_VALUE_NUMBER 2u  /* number */
#define SPUR_VALUE_REAL 3u    /* real */
#define SPUR_VALUE_FLAG 4u    /* number: 0 or 1 */
#define SPUR_VALUE_TIME 5u    /* number: unix seconds */
#define SPUR_VALUE_SECONDS 6u /* number: how long; SPUR_VALUE_UNLIMITED */
#define SPUR_VALUE_MIB 7u     /* number: memory */
#define SPUR_VALUE_EXIT 8u    /* number: an exit status as wait() gives it */
#define SPUR_VALUE_UNLIMITED INT64_MAX

/* One value. Text is UTF-8 and, when the host wrote it, lives until the next call on the record. */
typedef struct spur_value {
    uint32_t size;
    uint32_t kind; /* SPUR_VALUE_* */
    int64_t number;
    double real;
    spur_str text;
} spur_value;

#define SPUR_RECORD_WRITABLE (1u << 0) /* set() may change it, in this record */
typedef struct spur_record_field {
    uint32_t size;
    uint32_t kind;  /* SPUR_VALUE_* of a value that is there */
    uint32_t flags; /* SPUR_RECORD_WRITABLE */
    uint32_t reserved;
    spur_str name;
} spur_record_field;

/* Verdicts of set(). */
#define SPUR_SET_READ_ONLY ((spur_status)1) /* this field cannot be changed here */
#define SPUR_SET_REFUSED ((spur_status)2)   /* this value makes no sense for it; the sentence is in err */

typedef struct spur_record {
    uint32_t size;
    uint32_t kind; /* SPUR_RECORD_* */
    void *context;
    uint32_t (*count)(const struct spur_record *record); /* of fields; they are numbered from 0 */
    /* The number of a field; SPUR_NONE: this host has none of that name. */
    uint32_t (*find)(const struct spur_record *record, spur_str name);
    /* What a field is. SPUR_E_NOT_FOUND: no such number. */
    spur_status (*describe)(const struct spur_record *record, uint32_t field, spur_record_field *out);
    /* Its value, as it is after what was set before. SPUR_E_NOT_FOUND: no such number. */
    spur_status (*get)(const struct spur_record *record, uint32_t field, spur_value *out);
    /* Change it. Text is taken for every kind and read as `scontrol update` reads it; SPUR_VALUE_ABSENT empties a text. */
    spur_status (*set)(const struct spur_record *record, uint32_t field, const spur_value *value, spur_error *err);
} spur_record;
#define SPUR_RECORD_JOB 1u

/* The value of a field by its name; kind SPUR_VALUE_ABSENT where this host has no such field. */
static inline spur_value spur_record_get(const spur_record *record, spur_str name) {
    spur_value value;
    memset(&value, 0, sizeof value);
    value.size = sizeof value;
    uint32_t field = record->find(record, name);
    if (field == SPUR_NONE || record->get(record, field, &value) != SPUR_OK) value.kind = SPUR_VALUE_ABSENT;
    return value;
}

static inline spur_status spur_record_set_text(const spur_record *record, spur_str name, spur_str text, spur_error *err) {
    spur_value value;
    memset(&value, 0, sizeof value);
    value.size = sizeof value;
    value.kind = SPUR_VALUE_TEXT;
    value.text = text;
    uint32_t field = record->find(record, name);
    return field == SPUR_NONE ? SPUR_E_NOT_FOUND : record->set(record, field, &value, err);
}

#ifdef __cplusplus
}
#endif
#endif
