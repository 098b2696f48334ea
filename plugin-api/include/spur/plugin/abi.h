/* spur/plugin/abi.h - the vocabulary of the boundary between Spur's daemons and its plugins.
 *
 * C11, no dependencies. Fixed-width fields only: no bool, enum, long, size_t or time_t crosses. What is frozen for the
 * life of Spur 1.x, and how the rest may grow, is written in docs/abi-policy.md.
 *
 * Ownership in one sentence: inputs are borrowed for the duration of the call, outputs are pushed into sinks that copy
 * or written into memory the caller brought, and nothing allocated on one side is ever freed on the other.
 *
 * Thread roles, written in brackets behind each function:
 *   [main-thread]    start-up, reconfiguration and shutdown; one call at a time per process
 *   [cycle-thread]   scheduling cycles; calls on one instance never overlap
 *   [worker-thread]  a pool; calls on one instance may overlap unless the interface says otherwise
 *   [any-thread]     any of these, or a thread of the plugin's own
 * They are roles, not OS threads: two calls in one role may come from two threads. Debug hosts check them.
 * Cost classes: "cheap" means microseconds and no locks held for long; "bounded" means it watches a stop signal;
 * "may block briefly" means it may wait for this machine, well under a second; "may block until stopped" means it may wait
 * for anything, and gives up when its spur_stop says so. */
#ifndef SPUR_PLUGIN_ABI_H
#define SPUR_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define SPUR_EXPORT __attribute__((visibility("default")))
#else
#define SPUR_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A struct that opens with `size` grows at its tail and nowhere else. Whoever owns the memory sets `size` to its
 * capacity, sizeof as its own compiler saw it; nobody else changes it. Whoever reads asks before touching anything newer
 * than the first release.
 *
 * Members named `reserved` are 0 when written and ignored when read. So are flags, kinds and tables that the reader does
 * not know: a later release may use them for what an older one may safely miss. What it may not miss is a new kind of
 * wish (spur_job_view.wishes), a new required op, or a new interface id. */
#define SPUR_HAS(type, ptr, member) ((ptr)->size >= offsetof(type, member) + sizeof((ptr)->member))
#define SPUR_CAN(type, ptr, fn) (SPUR_HAS(type, ptr, fn) && (ptr)->fn != NULL)

/* Records inside a span carry no size of their own: the span's stride tells how long each one is. */
#define SPUR_SPAN_HAS(type, span, member) ((span).stride >= offsetof(type, member) + sizeof(((type *)0)->member))

/* Answers go into memory of the other side. SPUR_PUT(out, &answer) copies what fits: no more than out->size, never `size`
 * itself. SPUR_PUT_AT(out, stride, i, &answer) does the same for record i of an array without sizes. What the reader's
 * struct has beyond the writer's stays as the reader preset it. Never assign a whole struct through such a pointer. */
#define SPUR_PUT(out, value) \
    spur_put_bytes((out), (out)->size, (value), sizeof *(1 ? (out) : (value)), sizeof(uint32_t))
#define SPUR_PUT_AT(out, stride, i, value) \
    spur_put_bytes((char *)(out) + (size_t)(stride) * (i), (stride), (value), sizeof *(1 ? (out) : (value)), 0)
static inline void spur_put_bytes(void *out, size_t capacity, const void *value, size_t length, size_t from) {
    if (length > capacity) length = capacity;
    if (length > from) memcpy((char *)out + from, (const char *)value + from, length - from);
}

/* What a call came to. Negative: something is broken, see spur_error. Positive values are verdicts and belong to the
 * interface that defines them: "does not fit now" is an answer, not an error. */
typedef int32_t spur_status;
#define SPUR_OK ((spur_status)0)
#define SPUR_E_INVALID ((spur_status)-1)     /* the arguments or the configuration make no sense */
#define SPUR_E_UNAVAILABLE ((spur_status)-2) /* hardware, library or service is not there; others may do without */
#define SPUR_E_IO ((spur_status)-3)          /* disk or network failed */
#define SPUR_E_BUSY ((spur_status)-4)        /* too much in flight; the same call may succeed later */
#define SPUR_E_DENIED ((spur_status)-5)      /* the operating system or a peer said no */
#define SPUR_E_CORRUPT ((spur_status)-6)     /* stored bytes are not what was written */
#define SPUR_E_UNSUPPORTED ((spur_status)-7) /* this plugin does not do that */
#define SPUR_E_STOPPED ((spur_status)-8)     /* gave up because the host asked it to */
#define SPUR_E_NOT_FOUND ((spur_status)-9)   /* what the call names does not exist */
#define SPUR_E_INTERNAL ((spur_status)-100)  /* a bug in the plugin */

/* Filled by the callee, owned by the caller: nothing to free, nothing thread-local. UTF-8, always terminated.
 * The text is a sentence for an operator: what was attempted, on what, why not, what to do. */
typedef struct spur_error {
    uint32_t size;
    spur_status code;
    char text[248];
} spur_error;

/* A borrowed array. Step by `stride`, never by sizeof: the host's records may be longer than yours. */
typedef struct spur_span {
    const void *data;
    uint32_t count;
    uint32_t stride;
} spur_span;

/* The i-th record of a span, as `const type *`. No bounds check: i < span.count. */
#define SPUR_AT(type, span, i) ((const type *)(const void *)((const char *)(span).data + (size_t)(span).stride * (i)))

/* Borrowed text: `length` bytes of UTF-8, not necessarily terminated. Empty: length 0, data may be NULL. */
typedef struct spur_str {
    const char *data;
    uint32_t length;
    uint32_t reserved;
} spur_str;

/* Borrowed bytes. */
typedef struct spur_bytes {
    const void *data;
    uint64_t length;
} spur_bytes;

/* A borrowed set of small numbers: number i is in it when bit (i % 64) of words[i / 64] is set. Bits at and past
 * `count` are zero, so whole words can be combined without masking. words == NULL stands for the empty set. */
typedef struct spur_bits {
    const uint64_t *words;
    uint32_t count;
    uint32_t reserved;
} spur_bits;

/* Where a plugin pushes text or bytes; the host copies before returning. A non-OK answer means stop and return it. */
typedef struct spur_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    spur_status (*write)(const struct spur_sink *sink, const void *data, uint64_t length);
} spur_sink;

/* Where a plugin pulls bytes from. Fills at most `capacity`, sets *length (0 at the end). */
typedef struct spur_source {
    uint32_t size;
    uint32_t reserved;
    void *context;
    spur_status (*read)(const struct spur_source *source, void *buffer, uint64_t capacity, uint64_t *length);
} spur_source;

/* How the host asks a call to give up. Every op that may wait (for a disk, a peer, a driver, a child) is handed one, never
 * NULL, borrowed for the call; threads that work for the call may use it until the call returns. Once stopped it stays so.
 * A call that is stopped returns SPUR_E_STOPPED within a second, or what it came to if it is done by then. What it had begun
 * is left so that the same call may be made again. A host that is not obeyed says so in its log and may give the instance up.
 *
 * A call that waits for descriptors polls `fd` beside its own; one that calls a library with a timeout takes it from
 * `deadline_ns`; one that computes asks stopped() now and then. spur/plugin/wait.h has the first ready made.
 *
 * Planners have spur_plan_sink.stopped instead: the same promise for a call that never waits, and whose budget is the plan's. */
typedef struct spur_stop {
    uint32_t size;
    int32_t fd;          /* has POLLIN or POLLHUP once stopped; never read, write or close it. -1: none, ask every 100 ms */
    int64_t deadline_ns; /* on the monotonic clock (CLOCK_MONOTONIC): when it stops at the latest; INT64_MAX: nothing is planned */
    void *context;
    uint32_t (*stopped)(const struct spur_stop *stop); /* 1 once the call should give up. [any-thread, cheap] */
} spur_stop;

/* "none" wherever a uint32_t index or count may be absent, and "unlimited" for limits. */
#define SPUR_NONE UINT32_MAX
#define SPUR_UNLIMITED UINT32_MAX

#ifdef __cplusplus
}
#endif
#endif
