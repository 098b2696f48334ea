/* @TYPE@ - appends every row to a journal: "cluster<TAB>stream<TAB>sequence<TAB>table<TAB>removed<TAB>name=value...",
 * whole batches. */
#define _GNU_SOURCE
#include <spur/plugin/draft/accounting.h>
#include <spur/plugin/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* How far a stream of a cluster was stored. Batches come in order here, so that one number will do. */
typedef struct stored {
    struct stored* next;
    uint64_t sequence;
    char name[]; /* "cluster<TAB>stream", escaped as in the journal */
} stored;

struct spur_plugin {
    pthread_mutex_t lock;
    char path[PATH_MAX];
    int file;
    stored* streams;
};

/* ---- the policy ---- */

/* How far the stream was stored; made on first mention. NULL: out of memory. */
static stored* find_stream(spur_plugin* self, const char* name, size_t length) {
    for (stored* one = self->streams; one != NULL; one = one->next)
        if (strlen(one->name) == length && memcmp(one->name, name, length) == 0) return one;
    stored* one = calloc(1, sizeof *one + length + 1);
    if (one == NULL) return NULL;
    memcpy(one->name, name, length);
    one->next = self->streams;
    return self->streams = one;
}

/* Tabs, newlines and backslashes would break the format. */
static void put_escaped(FILE* out, spur_str text) {
    for (uint32_t i = 0; i < text.length; i++) switch (text.data[i]) {
            case '\t':
                fputs("\\t", out);
                break;
            case '\n':
                fputs("\\n", out);
                break;
            case '\\':
                fputs("\\\\", out);
                break;
            default:
                fputc(text.data[i], out);
        }
}

static void put_field(FILE* out, const spur_field* field) {
    fprintf(out, "\t%s=", field->name);
    if (field->kind == SPUR_FIELD_INT) fprintf(out, "%" PRId64, field->integer);
    if (field->kind == SPUR_FIELD_REAL) fprintf(out, "%.17g", field->real);
    if (field->kind == SPUR_FIELD_TEXT || field->kind == SPUR_FIELD_BYTES) put_escaped(out, field->text);
    for (uint32_t i = 0; field->kind == SPUR_FIELD_TRES && i < field->tres.count; i++) {
        const spur_tres* one = SPUR_AT(spur_tres, field->tres, i);
        if (i > 0) fputc(',', out);
        put_escaped(out, one->name);
        fprintf(out, "=%" PRIu64, one->count);
    }
}

static void put_row(FILE* out, const char* stream, uint64_t sequence, const spur_row* row) {
    fprintf(out, "%s\t%" PRIu64 "\t%u\t%u", stream, sequence, row->table, row->removed);
    for (uint32_t i = 0; i < row->fields.count; i++) put_field(out, SPUR_AT(spur_field, row->fields, i));
    fputc('\n', out);
}

/* "cluster<TAB>stream" as the journal has it. To be freed; NULL: out of memory. */
static char* name_of(spur_str cluster, spur_str stream) {
    char* name = NULL;
    size_t length = 0;
    FILE* out = open_memstream(&name, &length);
    if (out == NULL) return NULL;
    put_escaped(out, cluster);
    fputc('\t', out);
    put_escaped(out, stream);
    fclose(out);
    return name;
}

/* Reads the sequences back and cuts off a line that a crash left unfinished. 0, or -1 with errno set. */
static int recover(spur_plugin* self) {
    FILE* in = fopen(self->path, "re");
    if (in == NULL) return -1;
    off_t whole = 0;
    char* line = NULL;
    size_t capacity = 0;
    for (ssize_t length; (length = getline(&line, &capacity, in)) > 0 && line[length - 1] == '\n'; whole += length) {
        char* tab = strchr(line, '\t');
        tab = tab != NULL ? strchr(tab + 1, '\t') : NULL;
        stored* stream = tab != NULL ? find_stream(self, line, (size_t)(tab - line)) : NULL;
        uint64_t sequence = stream != NULL ? strtoull(tab + 1, NULL, 10) : 0;
        if (stream != NULL && sequence > stream->sequence) stream->sequence = sequence;
    }
    free(line);
    fclose(in);
    return ftruncate(self->file, whole);
}

/* The batch as text, without the rows that are stored already. Its last line has the batch's last number, row or not. To be
 * freed; NULL: out of memory. */
static char* compose(const char* stream, const spur_batch* batch, uint64_t stored_to, size_t* length) {
    char* text = NULL;
    FILE* out = open_memstream(&text, length);
    if (out == NULL) return NULL;
    for (uint32_t i = 0; i < batch->rows.count; i++) {
        const spur_row* row = SPUR_AT(spur_row, batch->rows, i);
        if (row->sequence == 0 || row->sequence > stored_to) put_row(out, stream, row->sequence, row);
    }
    if (batch->last > stored_to) fprintf(out, "%s\t%" PRIu64 "\t0\t0\n", stream, batch->last);
    int failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- the boundary ---- */

static spur_status schema(spur_plugin* self, spur_schema* out, const spur_stop* stop, spur_error* err) {
    (void)self, (void)stop, (void)err; /* lines have no schema */
    spur_schema answer = {.state = SPUR_SCHEMA_CURRENT, .found = 1, .known = 1};
    SPUR_PUT(out, &answer);
    return SPUR_OK;
}

static spur_status migrate(spur_plugin* self, const spur_progress* progress, const spur_stop* stop, spur_error* err) {
    (void)self, (void)progress, (void)stop, (void)err;
    return SPUR_OK;
}

static spur_status append(spur_plugin* self, stored* known, const char* text, size_t length, const spur_batch* batch,
                          spur_error* err) {
    off_t before = lseek(self->file, 0, SEEK_END);
    errno = ENOSPC;
    if (write(self->file, text, length) != (ssize_t)length || fdatasync(self->file) != 0) {
        spur_fail(err, SPUR_E_IO, "cannot write to the journal %s: %s", self->path, strerror(errno));
        if (ftruncate(self->file, before) != 0) return SPUR_E_IO; /* the next start cuts off what is unfinished */
        return SPUR_E_IO;
    }
    if (batch->last > known->sequence) known->sequence = batch->last;
    return SPUR_OK;
}

static spur_status store(spur_plugin* self, const spur_batch* batch, const spur_store_report* report, const spur_stop* stop,
                         spur_error* err) {
    (void)report, (void)stop; /* every row can be a line */
    pthread_mutex_lock(&self->lock);
    spur_status status = SPUR_E_INTERNAL;
    size_t length = 0;
    char* name = name_of(batch->cluster, batch->stream);
    stored* known = name != NULL ? find_stream(self, name, strlen(name)) : NULL;
    char* text = known != NULL ? compose(name, batch, batch->first != 0 ? known->sequence : 0, &length) : NULL;
    if (text != NULL)
        status = append(self, known, text, length, batch, err);
    else
        spur_fail(err, status, "out of memory");
    free(text);
    free(name);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static spur_status stored_up_to(spur_plugin* self, spur_str cluster, spur_str stream, uint64_t from, uint64_t* up_to,
                                const spur_stop* stop, spur_error* err) {
    (void)stop;
    pthread_mutex_lock(&self->lock);
    char* name = name_of(cluster, stream);
    stored* known = name != NULL ? find_stream(self, name, strlen(name)) : NULL;
    if (known != NULL) *up_to = from == 0 ? 0 : from - 1;
    if (known != NULL && known->sequence >= from) *up_to = known->sequence;
    free(name);
    pthread_mutex_unlock(&self->lock);
    return known != NULL ? SPUR_OK : spur_fail(err, SPUR_E_INTERNAL, "out of memory");
}

static spur_status query_rows(spur_plugin* self, const spur_query* query, const spur_row_sink* sink, const spur_stop* stop,
                              spur_error* err) {
    (void)self, (void)query, (void)sink, (void)stop, (void)err;
    return SPUR_OK;
}

static const spur_accounting_ops ops = {.size = sizeof(spur_accounting_ops),
                                        .features = SPUR_ACCOUNTING_DISCARDS,
                                        .schema = schema,
                                        .migrate = migrate,
                                        .store = store,
                                        .stored_up_to = stored_up_to,
                                        .query = query_rows};

static void destroy(spur_plugin* self) {
    for (stored* next; self->streams != NULL; self->streams = next) {
        next = self->streams->next;
        free(self->streams);
    }
    if (self->file >= 0) close(self->file);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static spur_status find_path(const spur_host* host, const spur_config* config, char path[PATH_MAX], spur_error* err) {
    const char* configured = spur_config_find(config, "file")->text;
    char state_dir[PATH_MAX];
    int length = snprintf(path, PATH_MAX, "%s", configured);
    if (configured[0] == '\0') {
        if (spur_host_fact(host, "state_dir", state_dir, sizeof state_dir)[0] == '\0')
            return spur_fail(err, SPUR_E_INVALID, "no place for the journal: set the option \"file\"");
        length = snprintf(path, PATH_MAX, "%s/accounting.journal", state_dir);
    }
    return length < PATH_MAX ? SPUR_OK : spur_fail(err, SPUR_E_INVALID, "the journal's path is too long");
}

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    spur_plugin* self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    pthread_mutex_init(&self->lock, NULL);
    self->file = -1;
    spur_status status = find_path(host, config, self->path, err);
    if (status == SPUR_OK) self->file = open(self->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (status == SPUR_OK && (self->file < 0 || recover(self) != 0))
        status = spur_fail(err, SPUR_E_IO, "cannot open the journal %s: %s", self->path, strerror(errno));
    if (status == SPUR_OK)
        *out = self;
    else
        destroy(self);
    return status;
}

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_ACCOUNTING_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"file", SPUR_OPTION_PATH, 0, NULL, "the journal; by default accounting.journal in the state directory", NULL, 0,
     0},
};
static const char* const interfaces[] = {SPUR_ACCOUNTING_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "appends every row to a journal of text lines",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
