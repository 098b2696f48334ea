/* spur/plugin/module.h - how a shared object introduces itself.
 *
 * A plugin is one ELF shared object named <axis>_<name>.so that exports exactly one symbol, spur_module_v1(), and
 * imports nothing from the daemon. The daemon opens it with RTLD_NOW | RTLD_LOCAL, asks for the module, picks the
 * descriptor it was configured to use, checks the administrator's options against the declared ones, and calls
 * create(). Code is never unmapped; only instances come and go.
 *
 * Vendor libraries (NVML, libpq, ...) that may be missing are opened inside create(), so that the plugin loads everywhere and
 * answers SPUR_E_UNAVAILABLE where the hardware is not. */
#ifndef SPUR_PLUGIN_MODULE_H
#define SPUR_PLUGIN_MODULE_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options -------------------------------------------------------------------------------------------------- */

#define SPUR_OPTION_STRING 1u   /* "text" */
#define SPUR_OPTION_INT 2u      /* 64-bit, in [minimum, maximum] unless both are 0 */
#define SPUR_OPTION_FLOAT 3u    /* a finite number, in [minimum, maximum] unless both are 0 */
#define SPUR_OPTION_BOOL 4u     /* true or false; delivered as integer 1 or 0 */
#define SPUR_OPTION_DURATION 5u /* "2-00:00:00", "90" (minutes), "30s" or "1h30m"; delivered as integer seconds, range as INT */
#define SPUR_OPTION_SIZE 6u     /* "512M", "2G"; delivered as integer bytes, range as INT */
#define SPUR_OPTION_PATH 7u     /* absolute; delivered as text. Existence is the plugin's to check */
#define SPUR_OPTION_LIST 8u     /* ["a", "b"]; delivered as an array of text */
#define SPUR_OPTION_CHOICE 9u   /* one of `choices`, "a|b|c"; delivered as text */
#define SPUR_OPTION_SECRET 10u  /* text that is never shown in listings or logs; { file = "/path" } is read by the host, which
                                 * refuses a file that others may read; delivered as its text without the last newline */

#define SPUR_OPTION_REQUIRED 1u /* flag: no default, the administrator must give it */

/* One declared option. Grows by new kinds and by the stride of the array (spur_plugin_desc.option_stride). A host that does
 * not know an option's kind refuses the plugin: its values could not be checked. Unknown flags are ignored. */
typedef struct spur_option {
    const char *key; /* lower_case_words, unique within the plugin */
    uint32_t kind;   /* SPUR_OPTION_* */
    uint32_t flags;
    const char *fallback; /* written as in spur.conf without quotes; NULL with SPUR_OPTION_REQUIRED or for "empty" */
    const char *help;     /* one line, shown by `spur plugin info` */
    const char *choices;  /* SPUR_OPTION_CHOICE only, else NULL */
    int64_t minimum, maximum;
} spur_option;

/* One option's value. Every declared option is present, defaults filled in; the plugin never meets an absent or
 * ill-typed one. */
typedef struct spur_config_value {
    const char *key;
    uint32_t kind;
    uint32_t is_default; /* 1: the administrator did not say */
    int64_t integer;     /* INT, BOOL, DURATION, SIZE */
    double real;         /* FLOAT */
    const char *text;    /* STRING, PATH, CHOICE, SECRET; terminated, never NULL ("" when empty) */
    const char *const *list; /* LIST */
    uint32_t list_count;
    uint32_t line; /* where it was written; 0 for a default */
} spur_config_value;

/* What create() is given; borrowed for that call. */
typedef struct spur_config {
    uint32_t size;
    uint32_t reserved;
    spur_span values;   /* of spur_config_value, in the order of the declaration */
    const char *source; /* the configuration file, for error messages; "" if there is none */
} spur_config;

/* ---- the host ------------------------------------------------------------------------------------------------- */

/* What the daemon offers. Lives as long as the instance; may be kept. */
typedef struct spur_host {
    uint32_t size;
    uint32_t reserved;
    const char *program; /* "spurctld" */
    const char *version; /* "1.0.0" */
    /* The table for a service id such as "spur.log/1", or NULL: do without. The table lives as long as the instance.
     * [any-thread, cheap] */
    const void *(*service)(const struct spur_host *host, const char *id);
    void *context; /* the host's own */
} spur_host;

/* ---- the plugin ----------------------------------------------------------------------------------------------- */

typedef struct spur_plugin spur_plugin; /* an instance; the plugin defines it, the host never looks inside */

typedef struct spur_plugin_desc {
    uint32_t size;
    uint32_t reserved;
    const char *type;    /* "sched/backfill": axis, slash, name; the file is sched_backfill.so */
    const char *version; /* the plugin's own, "1.2.3" */
    const char *vendor;
    const char *summary;        /* one line */
    const spur_option *options; /* may be NULL when option_count is 0 */
    uint32_t option_count;
    uint32_t option_stride;        /* sizeof(spur_option) as the plugin's compiler saw it */
    const char *const *interfaces; /* ids this plugin answers in query(), NULL-terminated; for listings and early refusal */

    /* Make an instance. A second may be made before the first is destroyed: that is how reconfiguration works. On
     * failure leave *out alone and say why in err. [main-thread, may block briefly] */
    spur_status (*create)(const spur_host *host, const spur_config *config, spur_plugin **out, spur_error *err);
    /* No call is in progress and none will follow. Join threads, close files. [main-thread, may block briefly] */
    void (*destroy)(spur_plugin *self);
    /* The ops table for interface `id`, or NULL. An unknown id is no error: hosts ask. The table lives as long as the
     * instance and begins with `uint32_t size`. [any-thread, cheap] */
    const void *(*query)(spur_plugin *self, const char *id);
} spur_plugin_desc;

typedef struct spur_module {
    uint32_t size;
    uint32_t abi;                          /* SPUR_ABI_EPOCH as compiled */
    const char *built_with;                /* SPUR_HEADERS_VERSION as compiled */
    const spur_plugin_desc *const *plugins; /* one or more; NULL-terminated */
} spur_module;

#define SPUR_ABI_EPOCH 1u
#define SPUR_HEADERS_VERSION "0.9"

/* The only symbol a plugin exports. The suffix is the epoch: an epoch 2 would be a second function. The answer is
 * static and the same at every call. [any-thread, cheap] */
SPUR_EXPORT const spur_module *spur_module_v1(void);
typedef const spur_module *(*spur_module_v1_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
