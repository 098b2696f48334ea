/* @TYPE@ - appends every row to a journal: "cluster<TAB>sequence<TAB>table<TAB>removed<TAB>name=value...", whole
 * batches. */
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

typedef struct stored {
    struct stored* next;
    uint64_t sequence; /* the highest of this cluster */
    char cluster[];
} stored;

struct spur_plugin {
    pthread_mutex_t lock;
    char path[PATH_MAX];
    int file;
    stored* clusters;
};

/* ---- the policy ---- */

/* How far `cluster` was stored; made on first mention. NULL: out of memory. */
static stored* find_cluster(spur_plugin* self, const char* name, size_t length) {
    for (stored* one = self->clusters; one != NULL; one = one->next)
        if (strlen(one->cluster) == length && memcmp(one->cluster, name, length) == 0) return one;
    stored* one = calloc(1, sizeof *one + length + 1);
    if (one == NULL) return NULL;
    memcpy(one->cluster, name, length);
    one->next = self->clusters;
    return self->clusters = one;
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

static void put_row(FILE* out, spur_str cluster, const spur_row* row) {
    put_escaped(out, cluster);
    fprintf(out, "\t%" PRIu64 "\t%u\t%u", row->sequence, row->table, row->removed);
    for (uint32_t i = 0; i < row->fields.count; i++) {
        const spur_field* field = SPUR_AT(spur_field, row->fields, i);
        fprintf(out, "\t%s=", field->name);
        if (field->kind == SPUR_FIELD_INT) fprintf(out, "%" PRId64, field->integer);
        if (field->kind == SPUR_FIELD_REAL) fprintf(out, "%.17g", field->real);
        if (field->kind == SPUR_FIELD_TEXT) put_escaped(out, field->text);
    }
    fputc('\n', out);
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
        stored* cluster = tab != NULL ? find_cluster(self, line, (size_t)(tab - line)) : NULL;
        uint64_t sequence = cluster != NULL ? strtoull(tab + 1, NULL, 10) : 0;
        if (cluster != NULL && sequence > cluster->sequence) cluster->sequence = sequence;
    }
    free(line);
    fclose(in);
    return ftruncate(self->file, whole);
}

/* The batch as text, without the rows that are stored already; *highest grows. To be freed; NULL: out of memory. */
static char* compose(spur_str cluster, spur_span rows, uint64_t* highest, size_t* length) {
    char* text = NULL;
    FILE* out = open_memstream(&text, length);
    if (out == NULL) return NULL;
    for (uint32_t i = 0; i < rows.count; i++) {
        const spur_row* row = SPUR_AT(spur_row, rows, i);
        if (row->sequence != 0 && row->sequence <= *highest) continue;
        put_row(out, cluster, row);
        if (row->sequence > *highest) *highest = row->sequence;
    }
    int failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- the boundary ---- */

static spur_status migrate(spur_plugin* self, spur_error* err) {
    (void)self, (void)err; /* lines have no schema */
    return SPUR_OK;
}

static spur_status append_batch(spur_plugin* self, spur_str cluster, spur_span rows, spur_error* err) {
    stored* known = find_cluster(self, cluster.data, cluster.length);
    if (known == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    uint64_t highest = known->sequence;
    size_t length = 0;
    char* text = compose(cluster, rows, &highest, &length);
    if (text == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    off_t before = lseek(self->file, 0, SEEK_END);
    errno = ENOSPC;
    int done = write(self->file, text, length) == (ssize_t)length && fdatasync(self->file) == 0;
    free(text);
    if (!done) {
        spur_fail(err, SPUR_E_IO, "cannot write to the journal %s: %s", self->path, strerror(errno));
        if (ftruncate(self->file, before) != 0) return SPUR_E_IO; /* the next start cuts off what is unfinished */
        return SPUR_E_IO;
    }
    known->sequence = highest;
    return SPUR_OK;
}

static spur_status store(spur_plugin* self, spur_str cluster, spur_span rows, spur_error* err) {
    pthread_mutex_lock(&self->lock);
    spur_status status = append_batch(self, cluster, rows, err);
    pthread_mutex_unlock(&self->lock);
    return status;
}

static spur_status stored_up_to(spur_plugin* self, spur_str cluster, uint64_t* sequence, spur_error* err) {
    pthread_mutex_lock(&self->lock);
    stored* known = find_cluster(self, cluster.data, cluster.length);
    *sequence = known != NULL ? known->sequence : 0;
    pthread_mutex_unlock(&self->lock);
    return known != NULL ? SPUR_OK : spur_fail(err, SPUR_E_INTERNAL, "out of memory");
}

static spur_status query_rows(spur_plugin* self, spur_str cluster, const spur_query* query, const spur_row_sink* sink,
                              spur_error* err) {
    (void)self, (void)cluster, (void)query, (void)sink, (void)err;
    return SPUR_OK;
}

static const spur_accounting_ops ops = {.size = sizeof(spur_accounting_ops),
                                        .features = SPUR_ACCOUNTING_DISCARDS,
                                        .migrate = migrate,
                                        .store = store,
                                        .stored_up_to = stored_up_to,
                                        .query = query_rows};

static void destroy(spur_plugin* self) {
    for (stored* next; self->clusters != NULL; self->clusters = next) {
        next = self->clusters->next;
        free(self->clusters);
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
