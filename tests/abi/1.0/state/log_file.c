/* Files and checksums. */
#define _GNU_SOURCE
#include "log_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct header {
    uint64_t index, length, checksum;
} header;

static uint64_t checksum_of(uint64_t index, const uint8_t* body, uint64_t length) {
    uint64_t hash = 0xcbf29ce484222325u ^ index ^ length << 32; /* FNV-1a */
    for (uint64_t i = 0; i < length; i++) hash = (hash ^ body[i]) * 0x100000001b3u;
    return hash;
}

static void path_in(const log_file* log, const char* name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%s", log->directory, name);
}

void log_snapshot_path(const log_file* log, uint64_t index, char path[PATH_MAX]) {
    char name[40] = "snapshot.draft";
    if (index != 0) snprintf(name, sizeof name, "snapshot.%" PRIu64, index);
    path_in(log, name, path);
}

static int write_all(int file, const uint8_t* data, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, data, length);
        if (written < 0 && errno != EINTR) return -1;
        if (written > 0) data += written, length -= (size_t)written;
    }
    return 0;
}

static int open_log(log_file* log) {
    char path[PATH_MAX];
    if (log->file >= 0) close(log->file);
    path_in(log, "log", path);
    log->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return log->file < 0 ? -1 : 0;
}

int log_open(log_file* log, const char* directory) {
    memset(log, 0, sizeof *log);
    log->file = -1;
    if (strlen(directory) >= sizeof log->directory) return errno = ENAMETOOLONG, -1;
    strcpy(log->directory, directory);
    if (mkdir(directory, 0700) != 0 && errno != EEXIST) return -1;
    return open_log(log);
}

void log_close(log_file* log) {
    if (log->file >= 0) close(log->file);
    log->file = -1;
    free(log->pending);
    log->pending = NULL;
}

int log_find_snapshot(log_file* log) {
    DIR* directory = opendir(log->directory);
    if (directory == NULL) return -1;
    for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
        uint64_t index = strncmp(entry->d_name, "snapshot.", 9) == 0 ? strtoull(entry->d_name + 9, NULL, 10) : 0;
        if (index > log->snapshot_index) log->snapshot_index = index;
    }
    closedir(directory);
    log->last_index = log->snapshot_index;
    return 0;
}

/* Calls `each` for the good records; their length in bytes, or -1. */
static int64_t read_records(const log_file* log, log_entry_fn each, void* context) {
    struct stat about;
    if (fstat(log->file, &about) != 0) return -1;
    uint64_t size = (uint64_t)about.st_size, at = 0;
    uint8_t* all = malloc(size + 1);
    if (all == NULL || pread(log->file, all, size, 0) != (ssize_t)size) return free(all), -1;
    for (header head; size - at >= sizeof head; at += sizeof head + head.length) {
        memcpy(&head, all + at, sizeof head);
        const uint8_t* body = all + at + sizeof head;
        if (head.length > size - at - sizeof head || head.checksum != checksum_of(head.index, body, head.length)) break;
        each(context, head.index, body, head.length);
    }
    free(all);
    return (int64_t)at;
}

typedef struct recovery {
    log_file* log;
    log_entry_fn each;
    void* context;
} recovery;

static void recover_one(void* context, uint64_t index, const void* body, uint64_t length) {
    recovery* run = context;
    if (index <= run->log->snapshot_index) return;
    run->log->last_index = index;
    run->each(run->context, index, body, length);
}

int log_recover(log_file* log, log_entry_fn each, void* context) {
    recovery run = {log, each, context};
    int64_t good = read_records(log, recover_one, &run);
    if (good < 0 || ftruncate(log->file, good) != 0 || fsync(log->file) != 0) return -1;
    log->bytes = (uint64_t)good;
    return 0;
}

static int add_record(log_file* log, uint64_t index, const void* body, uint64_t length) {
    size_t wanted = log->pending_length + sizeof(header) + length;
    if (wanted > log->pending_capacity) {
        uint8_t* larger = realloc(log->pending, wanted * 2);
        if (larger == NULL) return -1;
        log->pending = larger;
        log->pending_capacity = wanted * 2;
    }
    header head = {index, length, checksum_of(index, body, length)};
    memcpy(log->pending + log->pending_length, &head, sizeof head);
    if (length > 0) memcpy(log->pending + log->pending_length + sizeof head, body, length);
    log->pending_length = wanted;
    return 0;
}

int log_append(log_file* log, const void* body, uint64_t length) {
    if (add_record(log, log->last_index + 1, body, length) != 0) return -1;
    log->last_index++;
    return 0;
}

int log_sync(log_file* log) {
    if (write_all(log->file, log->pending, log->pending_length) != 0 || fdatasync(log->file) != 0) return -1;
    log->bytes += log->pending_length;
    log->pending_length = 0;
    log->syncs++;
    return 0;
}

static void keep_later(void* context, uint64_t index, const void* body, uint64_t length) {
    recovery* run = context;
    if (index > run->log->snapshot_index) add_record(run->log, index, body, length);
}

static int sync_directory(const log_file* log) { /* a rename is durable when its directory is */
    int directory = open(log->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = directory < 0 ? -1 : fsync(directory);
    if (directory >= 0) close(directory);
    return result;
}

int log_adopt_snapshot(log_file* log, uint64_t index) {
    char draft[PATH_MAX], path[PATH_MAX], old[PATH_MAX];
    uint64_t before = log->snapshot_index;
    log_snapshot_path(log, 0, draft);
    log_snapshot_path(log, index, path);
    if (rename(draft, path) != 0) return -1;
    log->snapshot_index = index;

    recovery run = {.log = log};
    path_in(log, "log.draft", draft);
    path_in(log, "log", path);
    int file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int done = file >= 0 && read_records(log, keep_later, &run) >= 0 &&
               write_all(file, log->pending, log->pending_length) == 0 && fsync(file) == 0;
    if (file >= 0) close(file);
    log->bytes = log->pending_length;
    log->pending_length = 0;
    if (!done || rename(draft, path) != 0 || sync_directory(log) != 0) return -1;
    log_snapshot_path(log, before, old);
    if (before != 0 && before != index) unlink(old);
    return open_log(log);
}
