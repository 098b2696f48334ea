/* Entries in one file, a snapshot in another. Not thread-safe. Functions return 0, or -1 with errno set.
 *
 * A record is index, length and checksum (64 bits each), then the body. A record that does not check out is where a
 * crash struck: it and all behind it were never acknowledged. */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

typedef struct log_file {
    char directory[PATH_MAX - 64];
    int file;
    uint64_t last_index, snapshot_index, bytes, syncs;
    uint8_t* pending; /* records not written yet */
    size_t pending_length, pending_capacity;
} log_file;

typedef void (*log_entry_fn)(void* context, uint64_t index, const void* body, uint64_t length);

int log_open(log_file* log, const char* directory);
void log_close(log_file* log);

/* Finds the snapshot's index (0: none), then calls `each` for every entry behind it and cuts off what is torn. */
int log_find_snapshot(log_file* log);
int log_recover(log_file* log, log_entry_fn each, void* context);

/* Adds an entry, which is durable after log_sync(). */
int log_append(log_file* log, const void* body, uint64_t length);
int log_sync(log_file* log);

/* "<directory>/snapshot.<index>"; index 0 is the draft to write into before log_adopt_snapshot(). */
void log_snapshot_path(const log_file* log, uint64_t index, char path[PATH_MAX]);
int log_adopt_snapshot(log_file* log, uint64_t index);

#endif
