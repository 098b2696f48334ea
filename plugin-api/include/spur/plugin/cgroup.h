/* spur/plugin/cgroup.h - contain, limit, freeze, watch and kill a step's processes.
 *
 * Loaded by spurd, which limits the node and clears away what is left, and by spurstepd, which makes a step's scopes and puts its
 * tasks into them. A scope is named by job, attempt, step and task and survives the process that made it, so that a restarted spurd
 * finds it again by name. What the system cannot give (a controller that is not delegated) is not an error: capabilities() says what
 * there is, limits beyond that are ignored and reported once. What it says it can give and then cannot is one: the step is not run,
 * and the node is drained.
 *
 * Instances are forked. spurstepd makes one instance when it starts and forks itself for every step: each child goes on with its copy,
 * calls what it needs and ends without destroy(). So an instance holds no threads (the others would be missing in the children), no
 * locks over calls, and nothing outside of its memory that may not be shared, such as a file offset or a session with a server. What
 * create() opened may be used by all children at once. spurstepd refuses an instance that has more threads after create() than
 * before, and a step whose make() leaves one behind. Of the services it offers spur.log/1, spur.clock/1 and spur.config/1; what
 * others there are answer NULL there.
 *
 * No call takes longer than a few seconds. spurstepd gives up on one after 20: the plugin is not called again in that step, which is not
 * run or ended, and the node is drained. So it is after a call that crashes.
 *
 * Laws since 1.0, checked by spur-plugin-check: after signal(SIGKILL) no process of the scope lives; frozen processes do not run;
 * remove() leaves nothing behind; making a scope twice gives the same one; a child of fork() can do all that its parent can; neither
 * create() nor make() leaves a thread behind; attach() of the caller allocates nothing, whether it succeeds or fails; a limit that is
 * left alone stays as it was. */
#ifndef SPUR_PLUGIN_CGROUP_H
#define SPUR_PLUGIN_CGROUP_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_CGROUP_IFACE "spur.cgroup/1"

/* What works here. */
#define SPUR_CGROUP_CONTAINS (1u << 0)  /* a process cannot leave; kill reaches all */
#define SPUR_CGROUP_FREEZES (1u << 1)   /* freeze() */
#define SPUR_CGROUP_CPU (1u << 2)       /* cpu_quota and cpu_weight */
#define SPUR_CGROUP_CPUSET (1u << 3)    /* cpu_list */
#define SPUR_CGROUP_MEMORY (1u << 4)    /* memory, and oom_kills in usage and events */
#define SPUR_CGROUP_DEVICES (1u << 5)   /* device_rule */
#define SPUR_CGROUP_USAGE (1u << 6)     /* usage() counts CPU time */
#define SPUR_CGROUP_PROCESSES (1u << 7) /* processes: a job cannot fork the node to death */
#define SPUR_CGROUP_SWAP (1u << 8)      /* swap */
#define SPUR_CGROUP_IO (1u << 9)        /* io and io_weight; read_bytes and write_bytes of usage */

typedef struct spur_cgroup_scope {
    uint32_t size;
    uint32_t job;      /* SPUR_NONE: the node's own scope, parent of all jobs'; step and task are SPUR_NONE too */
    uint32_t attempt;  /* which run of the job: a scope of another one is another scope */
    uint32_t step;     /* SPUR_NONE: the job's own scope, parent of its steps'. Slurm's numbers for batch, extern and so on */
    uint32_t task;     /* SPUR_NONE: the whole step. A task's scope lies in its step's and restricts devices only */
    uint32_t reserved;
} spur_cgroup_scope;

/* One limit. Zero in all its members leaves it as it is, which for a new scope is as its parent's. */
#define SPUR_LIMIT_LEAVE 0u /* as it is */
#define SPUR_LIMIT_NONE 1u  /* take it away */
#define SPUR_LIMIT_AT 2u    /* `value`, which may be 0 */
typedef struct spur_cgroup_limit {
    uint32_t rule; /* SPUR_LIMIT_* */
    uint32_t reserved;
    uint64_t value;
} spur_cgroup_limit;

/* A device, or all of a kind, by its numbers. */
#define SPUR_CGROUP_CHARACTER 1u
#define SPUR_CGROUP_BLOCK 2u
#define SPUR_CGROUP_READ (1u << 0)
#define SPUR_CGROUP_WRITE (1u << 1)
#define SPUR_CGROUP_MKNOD (1u << 2)
typedef struct spur_cgroup_device {
    uint32_t kind;                       /* SPUR_CGROUP_CHARACTER or SPUR_CGROUP_BLOCK */
    uint32_t major_number, minor_number; /* SPUR_NONE: every one */
    uint32_t access;                     /* SPUR_CGROUP_READ and so on: what is allowed or denied */
} spur_cgroup_device;

/* What `devices` means. Rules of a scope and of those above it all hold: what one of them denies is denied. */
#define SPUR_CGROUP_DEVICES_LEAVE 0u /* as it is; `devices` is empty */
#define SPUR_CGROUP_DEVICES_ANY 1u   /* take this scope's own rule away; `devices` is empty */
#define SPUR_CGROUP_DEVICES_DENY 2u  /* all but these */
#define SPUR_CGROUP_DEVICES_ALLOW 3u /* none but these; one whose access is 0 stays denied, whatever else names it */

/* How fast the processes of a scope may use one block device. */
typedef struct spur_cgroup_io {
    uint32_t major_number, minor_number;
    spur_cgroup_limit read_bytes, write_bytes, read_ops, write_ops; /* a second */
} spur_cgroup_io;

typedef struct spur_cgroup_limits {
    uint32_t size;
    uint32_t device_rule;         /* SPUR_CGROUP_DEVICES_* */
    spur_cgroup_limit memory;     /* bytes; beyond it the kernel kills */
    spur_cgroup_limit swap;       /* bytes, beside memory */
    spur_cgroup_limit processes;  /* and threads */
    spur_cgroup_limit cpu_quota;  /* CPU time, in thousandths of a CPU, even where others are idle */
    spur_cgroup_limit cpu_weight; /* share of what is contended among siblings: 1 to 10000, SPUR_LIMIT_NONE: 100 */
    spur_cgroup_limit io_weight;  /* the same for block devices */
    spur_str cpu_list;            /* "0-3,8": Linux CPU numbers; "": leave; "all": those of the parent */
    spur_span io;                 /* of spur_cgroup_io; devices that are not here are left alone */
    spur_span devices;            /* of spur_cgroup_device; for device_rule */
} spur_cgroup_limits;

typedef struct spur_cgroup_usage {
    uint32_t size;
    uint32_t processes; /* now, and in scopes below */
    uint64_t user_us, system_us;
    uint64_t memory_peak_bytes; /* 0: not known */
    uint64_t oom_kills;         /* how often the kernel killed one for want of memory */
    uint64_t read_bytes, write_bytes;
} spur_cgroup_usage;

/* What happens to a scope by itself. */
typedef struct spur_cgroup_events {
    uint32_t size;
    uint32_t populated; /* 1 while processes live in it or below; 0: the last has gone, or none has come yet */
    uint64_t oom_kills; /* since the scope was made */
} spur_cgroup_events;

/* Options with which a site says what its jobs are held to. spurd and spurstepd read them from the plugin's section and make limits
 * of them: a plugin declares those it can carry out, with these names and kinds, and otherwise leaves them alone.
 *
 *   static const spur_option options[] = {SPUR_CGROUP_OPTION_SWAP(), {"parent", SPUR_OPTION_STRING, ...}}; */
#define SPUR_CGROUP_OPTION_QUOTA() \
    {"cpu_quota", SPUR_OPTION_BOOL, 0, "false", "limit CPU time to a step's CPUs even where others are idle", NULL, 0, 0}
#define SPUR_CGROUP_OPTION_WEIGHTS()                                                                                            \
    {"weights", SPUR_OPTION_BOOL, 0, "false", "jobs share contended CPUs and disks in proportion to their CPUs", NULL, 0, 0}
#define SPUR_CGROUP_OPTION_SWAP()                                                                                                  \
    {"swap_percent", SPUR_OPTION_INT, 0, "-1", "swap a job may use, in percent of its memory; -1: as much as there is", NULL, -1, \
     10000}
#define SPUR_CGROUP_OPTION_PROCESSES()                                                                                             \
    {"job_processes", SPUR_OPTION_INT, 0, "0",                                                                                   \
     "processes and threads a job may have; 0: half of what the machine can have, -1: no limit", NULL, -1, 4194304}
#define SPUR_CGROUP_OPTION_IO()                                                                                                    \
    {"io_limits", SPUR_OPTION_LIST, 0, NULL,                                                                                     \
     "how fast a job may use a disk: \"/dev/sda read=200M write=100M read_ops=5000 write_ops=1000\", a second", NULL, 0, 0}
#define SPUR_CGROUP_OPTION_DEVICES()                                                                                               \
    {"allowed_devices", SPUR_OPTION_LIST, 0, NULL,                                                                               \
     "the only devices a job may open, beside those it was given and the usual ones: \"/dev/fuse\", \"c 195:*\"; none: all "   \
     "but other jobs' GPUs",                                                                                                     \
     NULL, 0, 0}

typedef struct spur_cgroup_ops {
    uint32_t size;
    uint32_t reserved;
    /* SPUR_CGROUP_* that work here. Required. [any-thread, cheap] */
    uint32_t (*capabilities)(spur_plugin *self);
    /* Make the scope, or find it, and set its limits: those above it are made if they are not there, and are left alone. Limits
     * hold as soon as it returns, also for processes inside. Required. [worker-thread, may block briefly] */
    spur_status (*make)(spur_plugin *self, const spur_cgroup_scope *scope, const spur_cgroup_limits *limits, spur_error *err);
    /* Move process `pid` (0: the caller) into the scope, which this instance has made. With pid 0 it is called between fork and
     * exec, in a child of a process that may have had threads: async-signal-safe, failing as well as succeeding. That is, no
     * allocation, no lock, no stdio, no exception, no log; a descriptor that make() opened and a sentence that is a literal.
     * Required. [any-thread] */
    spur_status (*attach)(spur_plugin *self, const spur_cgroup_scope *scope, int32_t pid, spur_error *err);
    /* Stop (1) or continue (0) every process of the scope; done on return. Optional: SPUR_CGROUP_FREEZES; without it the host sends
     * SIGSTOP and SIGCONT. [worker-thread, bounded by stop] */
    spur_status (*freeze)(spur_plugin *self, const spur_cgroup_scope *scope, uint32_t frozen, const spur_stop *stop,
                          spur_error *err);
    /* SIGKILL, or `signal`, to every process of the scope and those below it. After SIGKILL all are gone on return; SPUR_E_BUSY: some
     * do not die. A scope that does not exist has none. Required. [worker-thread, bounded by stop] */
    spur_status (*signal)(spur_plugin *self, const spur_cgroup_scope *scope, int32_t signal, const spur_stop *stop,
                          spur_error *err);
    /* What the scope and those below it have used. Required; SPUR_E_UNSUPPORTED where nothing is counted. [any-thread] */
    spur_status (*usage)(spur_plugin *self, const spur_cgroup_scope *scope, spur_cgroup_usage *out, spur_error *err);
    /* Each pid in the scope and below. Required. [any-thread] */
    spur_status (*processes)(spur_plugin *self, const spur_cgroup_scope *scope, void *context,
                             void (*each)(void *context, int32_t pid), spur_error *err);
    /* Remove the scope and those below it; SPUR_E_BUSY while processes live. One that does not exist is fine. Required.
     * [worker-thread] */
    spur_status (*remove)(spur_plugin *self, const spur_cgroup_scope *scope, spur_error *err);
    /* Each scope of jobs and steps that is there on this node, whoever made it: steps, then the job they are of. What `each` is given
     * lives for that call; it may remove the scope. Optional: without it spurd finds what an earlier one left by its own records
     * alone. [main-thread] */
    spur_status (*scopes)(spur_plugin *self, void *context, void (*each)(void *context, const spur_cgroup_scope *scope),
                          spur_error *err);
    /* A descriptor that stands for the scope in clone3() with CLONE_INTO_CGROUP, so that a task is born inside: that is cheaper than
     * attach(), and no process is ever outside. The caller closes it. Optional, or SPUR_E_UNSUPPORTED: the host forks and the child
     * calls attach(); so it does where the kernel refuses. [worker-thread] */
    spur_status (*open)(spur_plugin *self, const spur_cgroup_scope *scope, int32_t *fd, spur_error *err);
    /* A descriptor that has POLLIN once something of spur_cgroup_events may have changed. The caller closes it. Optional, or
     * SPUR_E_UNSUPPORTED: the host asks usage() when a task has ended, and hears of kills no sooner. [worker-thread] */
    spur_status (*watch)(spur_plugin *self, const spur_cgroup_scope *scope, int32_t *fd, spur_error *err);
    /* How things stand; `fd`, of watch(), has no POLLIN until they change again. -1: there is none. A scope that does not exist is
     * SPUR_E_NOT_FOUND. Present where watch() is. [any-thread] */
    spur_status (*events)(spur_plugin *self, const spur_cgroup_scope *scope, int32_t fd, spur_cgroup_events *out,
                          spur_error *err);
} spur_cgroup_ops;

#ifdef __cplusplus
}
#endif
#endif
