/* spur/plugin/cgroup.h - contain, limit, freeze and kill a step's processes.
 *
 * Loaded by spurd (to prepare) and spurstepd (to use). A scope is named by job and step and survives the process that made it, so
 * that a restarted spurd finds it again by name. What the system cannot give (a controller that is not delegated) is not an error:
 * capabilities() says what there is, limits beyond that are ignored and reported once.
 *
 * Laws since 1.0, checked by spur-plugin-check: after signal(SIGKILL) no process of the scope lives; frozen processes do not run; remove() leaves
 * nothing behind; making a scope twice gives the same one. */
#ifndef SPUR_PLUGIN_CGROUP_H
#define SPUR_PLUGIN_CGROUP_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_CGROUP_IFACE "spur.cgroup/1"

#define SPUR_CGROUP_CONTAINS (1u << 0) /* a process cannot leave; kill reaches all */
#define SPUR_CGROUP_FREEZES (1u << 1)
#define SPUR_CGROUP_CPU (1u << 2)
#define SPUR_CGROUP_CPUSET (1u << 3)
#define SPUR_CGROUP_MEMORY (1u << 4)   /* limit and OOM detection */
#define SPUR_CGROUP_DEVICES (1u << 5)
#define SPUR_CGROUP_USAGE (1u << 6)
#define SPUR_CGROUP_PROCESSES (1u << 7) /* a job cannot fork the node to death */

typedef struct spur_cgroup_scope {
    uint32_t size;
    uint32_t job, step;  /* step SPUR_NONE: the job's own scope, parent of its steps'.
                          * job SPUR_NONE: the node's, parent of all jobs' */
    uint32_t task;       /* SPUR_NONE: the whole step; a task's scope lies in its step's and has devices of its own only */
    uint32_t uid;        /* owner of the delegated subtree, if delegation is configured */
    uint32_t attempt;
} spur_cgroup_scope;

typedef struct spur_cgroup_limits {
    uint32_t size;
    uint32_t cpus;           /* CPU bandwidth in whole CPUs; 0: none */
    uint64_t memory_bytes;   /* hard limit; 0: none */
    uint64_t swap_bytes;     /* beyond memory; UINT64_MAX: leave */
    spur_str cpu_list;       /* "0-3,8": Linux CPU numbers; "": leave */
    spur_str memory_nodes;
    spur_span device_allow;  /* of spur_str: "/dev/nvidia0"; count 0: no device restriction */
    spur_span device_deny;   /* of spur_str: devices of this kind that were not given */
} spur_cgroup_limits;

typedef struct spur_cgroup_usage {
    uint32_t size;
    uint32_t processes;
    uint64_t user_us, system_us;
    uint64_t memory_peak_bytes;
    uint64_t oom_kills;
    uint64_t read_bytes, write_bytes;
} spur_cgroup_usage;

typedef struct spur_cgroup_ops {
    uint32_t size;
    uint32_t reserved;
    /* SPUR_CGROUP_* that work here. Required. [any-thread, cheap] */
    uint32_t (*capabilities)(spur_plugin *self);
    /* Make the scope, or find it, and set its limits. Required. [worker-thread, may block briefly] */
    spur_status (*make)(spur_plugin *self, const spur_cgroup_scope *scope, const spur_cgroup_limits *limits, spur_error *err);
    /* Move process `pid` (0: the caller) into the scope. Called in the child between fork and exec as well, so it is
     * async-signal-safe when pid is 0: it writes to a descriptor opened by make(). Required. */
    spur_status (*attach)(spur_plugin *self, const spur_cgroup_scope *scope, int32_t pid, spur_error *err);
    /* Stop (1) or continue (0) every process of the scope; done on return. Optional: SPUR_CGROUP_FREEZES. [worker-thread] */
    spur_status (*freeze)(spur_plugin *self, const spur_cgroup_scope *scope, uint32_t frozen, spur_error *err);
    /* SIGKILL, or `signal`, to every process of the scope and those below it. Required. [worker-thread] */
    spur_status (*signal)(spur_plugin *self, const spur_cgroup_scope *scope, int32_t signal, spur_error *err);
    /* Required. [any-thread] */
    spur_status (*usage)(spur_plugin *self, const spur_cgroup_scope *scope, spur_cgroup_usage *out, spur_error *err);
    /* Each pid in the scope and below. Required. [any-thread] */
    spur_status (*processes)(spur_plugin *self, const spur_cgroup_scope *scope, void *context,
                             void (*each)(void *context, int32_t pid), spur_error *err);
    /* Remove the scope; SPUR_E_BUSY while processes live. One that does not exist is fine. Required. */
    spur_status (*remove)(spur_plugin *self, const spur_cgroup_scope *scope, spur_error *err);
    /* Each scope of this node that is there, whoever made it: steps, then the job they are of. What `each` is given lives for
     * that call; it may remove the scope. Optional: without it spurd finds what an earlier one left by its own records alone.
     * [main-thread] */
    spur_status (*scopes)(spur_plugin *self, void *context, void (*each)(void *context, const spur_cgroup_scope *scope),
                          spur_error *err);
} spur_cgroup_ops;

#ifdef __cplusplus
}
#endif
#endif
