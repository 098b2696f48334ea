/* spur/plugin/state.h - make commands durable and ordered.
 *
 * The controller turns every change into an opaque entry and hands it to the state plugin. The plugin appends it to a
 * replicated log and reports it back, in order, once it can no longer be lost; only then does the controller apply it and
 * answer the user. The log alone is the truth: after a crash the same entries come back in the same order.
 *
 * The plugin usually has threads of its own (Raft does). It calls the listener from one thread at a time, in the
 * worker-thread role. The host's listener functions return quickly: they queue.
 *
 * Laws since 1.0, checked by spur-plugin-check:
 *   - what was reported committed is there, in order and unchanged, after destroy and create, and after a crash (unless
 *     the plugin says SPUR_STATE_VOLATILE);
 *   - an entry is reported committed at most once per open(), and never out of order;
 *   - every accepted proposal gets exactly one outcome;
 *   - open() and snapshot() return within a second after they were stopped, and nothing acknowledged is lost by it. */
#ifndef SPUR_PLUGIN_STATE_H
#define SPUR_PLUGIN_STATE_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_STATE_IFACE "spur.state/1"

#define SPUR_STATE_FOLLOWER 1u
#define SPUR_STATE_CANDIDATE 2u
#define SPUR_STATE_LEADER 3u

/* Verdicts of propose() and of the outcome. */
#define SPUR_STATE_NOT_LEADER ((spur_status)1) /* send it to the leader: see status() */
#define SPUR_STATE_UNKNOWN ((spur_status)2)    /* leadership was lost: it may or may not commit later */

/* features of spur_state_ops. */
#define SPUR_STATE_VOLATILE (1u << 0) /* keeps nothing over destroy(): for tests and simulations */

/* Passed as plain arrays in both directions: never grows. */
typedef struct spur_state_entry {
    spur_bytes body;
    uint64_t index; /* position in the log; set by the plugin in committed(), ignored in propose() */
    uint64_t term;
} spur_state_entry;

typedef struct spur_state_status {
    uint32_t size;
    uint32_t role; /* SPUR_STATE_* */
    uint64_t term;
    uint64_t last_index;      /* in the log */
    uint64_t committed_index; /* reported through committed() */
    uint64_t snapshot_index;
    uint64_t log_bytes;   /* on disk */
    uint64_t fsyncs;      /* since create(): with `entries` this shows how well commits share them */
    uint64_t entries;     /* committed since create() */
    char leader[256];     /* address of the leader as clients reach it; "" if unknown */
    char self[256];
} spur_state_status;

typedef struct spur_state_member {
    uint32_t size;
    uint32_t role; /* SPUR_STATE_*; 0 unknown */
    uint64_t id;
    uint32_t voter;
    uint32_t reserved;
    spur_str address;
} spur_state_member;

/* The host's ears. All calls [worker-thread], one at a time. */
typedef struct spur_state_listener {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* These entries can no longer be lost. Borrowed for the call. */
    void (*committed)(const struct spur_state_listener *listener, const spur_state_entry *entries, uint32_t count);
    /* The fate of the proposal with this ticket: SPUR_OK (it was also in committed(), before), SPUR_STATE_UNKNOWN,
     * SPUR_STATE_NOT_LEADER, or an error: it certainly did not and will not commit. */
    void (*outcome)(const struct spur_state_listener *listener, uint64_t ticket, spur_status status,
                    const spur_error *err);
    /* Forget everything; the state is now what `snapshot` says, up to and including `index`. During open(), and later
     * when a follower is too far behind. A failure is fatal for the instance. */
    spur_status (*restore)(const struct spur_state_listener *listener, uint64_t index, const spur_source *snapshot,
                           spur_error *err);
    /* The role changed. `leader` as in spur_state_status. A new leader has, before this call, reported every entry of
     * earlier terms as committed; a follower names a leader once it has reported what it had on disk when it was opened. */
    void (*role)(const struct spur_state_listener *listener, uint32_t role, uint64_t term, spur_str leader);
    /* The log has grown past its threshold: please call snapshot() when convenient. */
    void (*snapshot_wanted)(const struct spur_state_listener *listener);
    /* The instance cannot go on (disk full, log damaged). No further proposal will succeed. */
    void (*failed)(const struct spur_state_listener *listener, const spur_error *err);
} spur_state_listener;

typedef struct spur_state_ops {
    uint32_t size;
    uint32_t features; /* SPUR_STATE_VOLATILE */
    /* Recover and begin: restore() if there is a snapshot, committed() for what is known committed, role(). Returns when
     * local recovery is done; entries may still follow. The listener stays valid until destroy(). Once per instance: one
     * whose open() failed or was stopped is destroyed. Required. [main-thread, may block until stopped] */
    spur_status (*open)(spur_plugin *self, const spur_state_listener *listener, const spur_stop *stop, spur_error *err);
    /* Append these, all or none, in order, contiguous; copies. Many may be in flight and share an fsync. SPUR_OK: an outcome
     * follows. Otherwise nothing was appended and none does: SPUR_STATE_NOT_LEADER, SPUR_E_BUSY (not now; users see the text),
     * SPUR_E_INVALID (too much at once: entries of up to 48 MiB come again one by one), ... Required. [any-thread, cheap] */
    spur_status (*propose)(spur_plugin *self, const spur_state_entry *entries, uint32_t count, uint64_t ticket,
                           spur_error *err);
    /* Where things stand. Required. [any-thread, cheap] */
    spur_status (*status)(spur_plugin *self, spur_state_status *out, spur_error *err);
    /* Store `snapshot` as the state up to and including `index` (which was reported committed) and trim the log behind it.
     * Durable on return. Stopped, it may still be stored later. One at a time. Required.
     * [worker-thread, may block until stopped] */
    spur_status (*snapshot)(spur_plugin *self, uint64_t index, const spur_source *snapshot, const spur_stop *stop,
                            spur_error *err);
    /* An outcome with SPUR_OK means: at some moment after this call this instance was the leader and had reported all
     * that was committed before it. For reads that must not be stale. Optional. [any-thread, cheap] */
    spur_status (*barrier)(spur_plugin *self, uint64_t ticket, spur_error *err);
    /* Who is in the group: spur_state_member records, valid during each call of `each`. Optional. [any-thread] */
    spur_status (*members)(spur_plugin *self, void *context, void (*each)(void *context, const spur_state_member *member),
                           spur_error *err);
    /* Change the group, one member at a time; an outcome follows. Leader only. Optional. [any-thread] */
    spur_status (*add_member)(spur_plugin *self, spur_str address, uint64_t ticket, spur_error *err);
    spur_status (*remove_member)(spur_plugin *self, spur_str address, uint64_t ticket, spur_error *err);
    /* Hand leadership over: to `address`, or to any when it is empty; an outcome follows. Optional. [any-thread] */
    spur_status (*transfer)(spur_plugin *self, spur_str address, uint64_t ticket, spur_error *err);
} spur_state_ops;

#ifdef __cplusplus
}
#endif
#endif
