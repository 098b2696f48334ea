/* spur/plugin/store.h - service "spur.store/1": a little that a plugin must still know after a restart.
 *
 * Keys and values, durable on return, kept by the daemon in its own state directory, apart for each plugin type. They belong to
 * this daemon on this machine: nothing is copied to another controller or node (what the cluster must agree on is the state
 * axis's). All instances of a type in one daemon share them, so a new one finds what the old one wrote. For caches, cursors, keys a
 * plugin made itself, devices it has seen; not for data that grows. NULL where the daemon has no state directory.
 *
 * Keys are 1 to 128 bytes of A-Z a-z 0-9 . _ - and /. Limits as below; beyond them SPUR_E_INVALID. SPUR_E_CORRUPT: what is on disk
 * is not what was written; it is set aside by an operator, and never overwritten by itself. */
#ifndef SPUR_PLUGIN_STORE_H
#define SPUR_PLUGIN_STORE_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_STORE_SERVICE "spur.store/1"

#define SPUR_STORE_MOST_KEY 128u
#define SPUR_STORE_MOST_VALUE 65536u  /* bytes of one value */
#define SPUR_STORE_MOST_KEYS 1024u    /* of a plugin type */
#define SPUR_STORE_MOST_BYTES 1048576u /* of all its keys and values together */

#define SPUR_STORE_PUT 1u    /* the key has this value from now on */
#define SPUR_STORE_REMOVE 2u /* it has none; fine if it had none before */

/* One change. Stepped by the span's stride. */
typedef struct spur_store_change {
    uint32_t what; /* SPUR_STORE_* */
    uint32_t reserved;
    spur_str key;
    spur_bytes value; /* SPUR_STORE_PUT */
} spur_store_change;

typedef struct spur_store {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* The value of `key` into `sink`. SPUR_E_NOT_FOUND: it has none. [any-thread, may block briefly] */
    spur_status (*get)(const struct spur_store *store, spur_str key, const spur_sink *sink, spur_error *err);
    /* Make these changes (of spur_store_change), all or none, in order. Durable on return: a crash leaves all of them or none.
     * An fsync: not for a planning cycle. [main-thread, worker-thread, may block briefly] */
    spur_status (*change)(const struct spur_store *store, spur_span changes, spur_error *err);
    /* Each key that begins with `prefix` ("": all) in the order of bytes, as it was at the time of the call. `each` may use the
     * store; what it is given lives for that call. It answers SPUR_OK to go on. [any-thread, may block briefly] */
    spur_status (*each)(const struct spur_store *store, spur_str prefix, void *context,
                        spur_status (*each)(void *context, spur_str key, spur_bytes value), spur_error *err);
} spur_store;

#ifdef __cplusplus
}
#endif
#endif
