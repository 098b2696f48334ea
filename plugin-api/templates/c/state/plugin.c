/* @TYPE@ - the boundary, and the thread that writes. The file itself is in log_file.h. */
#define _GNU_SOURCE
#include "log_file.h"

#include <spur/plugin/metrics.h>
#include <spur/plugin/plugin.h>
#include <spur/plugin/state.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct proposal {
    struct proposal* next;
    uint64_t ticket;
    uint32_t count;
    spur_bytes bodies[]; /* into the memory behind the array */
} proposal;

struct spur_plugin {
    char directory[PATH_MAX - 64];
    const spur_metrics* metrics; /* NULL where the host has none */
    uint32_t entries_total;
    const spur_state_listener* listener;
    pthread_t writer;
    pthread_mutex_t file_lock; /* the log; taken before `lock` */
    log_file log;
    pthread_mutex_t lock; /* everything below */
    pthread_cond_t wake;
    proposal *first, **last;
    spur_state_status status; /* as status() reports it, without waiting for the disk */
    int is_open, stopping, broken;
};

/* ---- committing ---- */

static void commit(void* context, uint64_t index, const void* body, uint64_t length) {
    spur_plugin* self = context;
    spur_state_entry entry = {{body, length}, index, 1};
    self->listener->committed(self->listener, &entry, 1);
    if (self->metrics != NULL) self->metrics->add(self->metrics, self->entries_total, 1);
    pthread_mutex_lock(&self->lock);
    self->status.last_index = self->status.committed_index = index;
    self->status.entries++;
    pthread_mutex_unlock(&self->lock);
}

static void remember(spur_plugin* self) {
    pthread_mutex_lock(&self->lock);
    self->status.snapshot_index = self->log.snapshot_index;
    self->status.log_bytes = self->log.bytes;
    self->status.fsyncs = self->log.syncs;
    pthread_mutex_unlock(&self->lock);
}

/* Writes and syncs a batch, then reports it. 0, or -1 with errno set. */
static int write_batch(spur_plugin* self, const proposal* batch) {
    pthread_mutex_lock(&self->file_lock);
    uint64_t index = self->log.last_index;
    int failed = 0;
    for (const proposal* one = batch; one != NULL && !failed; one = one->next)
        for (uint32_t i = 0; i < one->count && !failed; i++)
            failed = log_append(&self->log, one->bodies[i].data, one->bodies[i].length) != 0;
    failed = failed || log_sync(&self->log) != 0;
    int why = errno;
    if (!failed) remember(self);
    for (const proposal* one = batch; one != NULL && !failed; one = one->next)
        for (uint32_t i = 0; i < one->count; i++) commit(self, ++index, one->bodies[i].data, one->bodies[i].length);
    pthread_mutex_unlock(&self->file_lock);
    errno = why;
    return failed ? -1 : 0;
}

/* The writer: everything that was proposed while the disk was busy shares the next sync. */
static void* write_on(void* context) {
    spur_plugin* self = context;
    for (;;) {
        pthread_mutex_lock(&self->lock);
        while (!self->stopping && self->first == NULL) pthread_cond_wait(&self->wake, &self->lock);
        proposal* batch = self->first;
        self->first = NULL;
        self->last = &self->first;
        pthread_mutex_unlock(&self->lock);
        if (batch == NULL) return NULL;

        spur_error err = {.size = sizeof err};
        spur_status outcome = SPUR_OK;
        if (write_batch(self, batch) != 0) {
            outcome = SPUR_STATE_UNKNOWN;
            spur_fail(&err, SPUR_E_IO, "cannot write to the log in %s: %s", self->directory, strerror(errno));
            pthread_mutex_lock(&self->lock);
            self->broken = 1;
            pthread_mutex_unlock(&self->lock);
            self->listener->failed(self->listener, &err);
        }
        for (proposal* next; batch != NULL; batch = next) {
            next = batch->next;
            self->listener->outcome(self->listener, batch->ticket, outcome, &err);
            free(batch);
        }
    }
}

/* ---- the boundary ---- */

static spur_status read_snapshot(const spur_source* source, void* buffer, uint64_t capacity, uint64_t* length) {
    ssize_t got = read((int)(intptr_t)source->context, buffer, capacity);
    *length = got > 0 ? (uint64_t)got : 0;
    return got < 0 ? SPUR_E_IO : SPUR_OK;
}

static spur_status restore(spur_plugin* self, spur_error* err) {
    char path[PATH_MAX];
    log_snapshot_path(&self->log, self->log.snapshot_index, path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return spur_fail(err, SPUR_E_IO, "cannot open %s: %s", path, strerror(errno));
    spur_source source = {sizeof source, 0, (void*)(intptr_t)file, read_snapshot};
    self->status.committed_index = self->status.last_index = self->log.snapshot_index;
    spur_status status = self->listener->restore(self->listener, self->log.snapshot_index, &source, err);
    close(file);
    return status;
}

static spur_status open_state(spur_plugin* self, const spur_state_listener* listener, const spur_stop* stop,
                              spur_error* err) {
    self->listener = listener;
    spur_status status = SPUR_OK;
    if (log_open(&self->log, self->directory) != 0 || log_find_snapshot(&self->log) != 0)
        return spur_fail(err, SPUR_E_IO, "cannot open the log in %s: %s", self->directory, strerror(errno));
    if (self->log.snapshot_index != 0) status = restore(self, err);
    if (status != SPUR_OK) return status;
    if (stop->stopped(stop)) return spur_fail(err, SPUR_E_STOPPED, "stopped before %s was read", self->directory);
    if (log_recover(&self->log, commit, self) != 0)
        return spur_fail(err, SPUR_E_IO, "cannot recover the log in %s: %s", self->directory, strerror(errno));
    remember(self);
    spur_str nobody = {0};
    listener->role(listener, SPUR_STATE_LEADER, 1, nobody);
    if (pthread_create(&self->writer, NULL, write_on, self) != 0)
        return spur_fail(err, SPUR_E_INTERNAL, "cannot start the writing thread");
    pthread_mutex_lock(&self->lock);
    self->is_open = 1;
    pthread_mutex_unlock(&self->lock);
    return SPUR_OK;
}

static spur_status propose(spur_plugin* self, const spur_state_entry* entries, uint32_t count, uint64_t ticket,
                           spur_error* err) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) bytes += entries[i].body.length;
    proposal* one = malloc(sizeof *one + count * sizeof(spur_bytes) + bytes);
    if (one == NULL) return spur_fail(err, SPUR_E_BUSY, "out of memory");
    *one = (proposal){NULL, ticket, count};
    char* at = (char*)(one->bodies + count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length = entries[i].body.length;
        if (length > 0) memcpy(at, entries[i].body.data, length);
        one->bodies[i] = (spur_bytes){at, length};
        at += length;
    }
    pthread_mutex_lock(&self->lock);
    int ready = self->is_open && !self->broken;
    if (ready) {
        *self->last = one;
        self->last = &one->next;
        pthread_cond_signal(&self->wake);
    }
    pthread_mutex_unlock(&self->lock);
    if (ready) return SPUR_OK;
    free(one);
    return spur_fail(err, SPUR_E_IO, "the log is not open, or could not be written to; see the daemon's log");
}

static spur_status status(spur_plugin* self, spur_state_status* out, spur_error* err) {
    (void)err;
    pthread_mutex_lock(&self->lock);
    SPUR_PUT(out, &self->status);
    pthread_mutex_unlock(&self->lock);
    return SPUR_OK;
}

static int copy_to_file(const spur_source* source, const spur_stop* stop, int file) {
    char buffer[65536];
    for (uint64_t length = 1; length != 0;) {
        if (source->read(source, buffer, sizeof buffer, &length) != SPUR_OK) return -1;
        if (write(file, buffer, length) != (ssize_t)length) return -1;
        if (stop->stopped(stop)) return -1;
    }
    return fsync(file);
}

static spur_status snapshot(spur_plugin* self, uint64_t index, const spur_source* source, const spur_stop* stop,
                            spur_error* err) {
    char draft[PATH_MAX];
    log_snapshot_path(&self->log, 0, draft);
    int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int done = file >= 0 && copy_to_file(source, stop, file) == 0;
    if (file >= 0) close(file);
    if (done) {
        pthread_mutex_lock(&self->file_lock);
        done = log_adopt_snapshot(&self->log, index) == 0;
        remember(self);
        pthread_mutex_unlock(&self->file_lock);
    }
    if (!done && stop->stopped(stop))
        return spur_fail(err, SPUR_E_STOPPED, "stopped while a snapshot was being written in %s", self->directory);
    return done ? SPUR_OK
                : spur_fail(err, SPUR_E_IO, "cannot write a snapshot in %s: %s", self->directory, strerror(errno));
}

static const spur_state_ops ops = {
    .size = sizeof(spur_state_ops), .open = open_state, .propose = propose, .status = status, .snapshot = snapshot};

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    char state_dir[PATH_MAX];
    const char* configured = spur_config_find(config, "directory")->text;
    spur_plugin* self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    int length = snprintf(self->directory, sizeof self->directory, "%s", configured);
    if (configured[0] == '\0') {
        if (spur_host_fact(host, "state_dir", state_dir, sizeof state_dir)[0] == '\0') {
            free(self);
            return spur_fail(err, SPUR_E_INVALID, "no place for the log: set the option \"directory\"");
        }
        length = snprintf(self->directory, sizeof self->directory, "%s/@NAME@", state_dir);
    }
    if (length >= (int)sizeof self->directory) {
        free(self);
        return spur_fail(err, SPUR_E_INVALID, "the log's path is too long");
    }
    self->metrics = host->service(host, SPUR_METRICS_SERVICE);
    spur_metric entries = {.size = sizeof entries,
                           .kind = SPUR_METRIC_COUNTER,
                           .name = spur_text("entries_total"),
                           .help = spur_text("entries committed since the daemon began")};
    if (self->metrics != NULL) self->entries_total = self->metrics->define(self->metrics, &entries);
    pthread_mutex_init(&self->file_lock, NULL);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->wake, NULL);
    self->last = &self->first;
    self->log.file = -1;
    self->status.role = SPUR_STATE_LEADER;
    self->status.term = 1;
    *out = self;
    return SPUR_OK;
}

static void destroy(spur_plugin* self) {
    pthread_mutex_lock(&self->lock);
    self->stopping = 1;
    pthread_cond_signal(&self->wake);
    pthread_mutex_unlock(&self->lock);
    if (self->is_open) pthread_join(self->writer, NULL);
    log_close(&self->log);
    pthread_cond_destroy(&self->wake);
    pthread_mutex_destroy(&self->lock);
    pthread_mutex_destroy(&self->file_lock);
    free(self);
}

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_STATE_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"directory", SPUR_OPTION_PATH, 0, NULL, "where the log is; by default @NAME@ in the state directory", NULL, 0, 0},
};
static const char* const interfaces[] = {SPUR_STATE_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "one log file on one controller",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
