/* spur/plugin/draft/gpu.h - which devices are here, how are they linked, who uses them, how are they doing?
 *
 * Loaded by spurd; several may be active at once (a node may hold cards of two vendors). The plugin opens its vendor library inside
 * create() and answers SPUR_E_UNAVAILABLE where there is none. A device is known by its key (a UUID), which it keeps over
 * reboots and whatever else comes and goes; numbers are the vendor's and only for people and variables.
 *
 * Devices can be parts of others: MIG slices, compute partitions. A device that others name as their parent is not granted: a
 * whole and its parts exclude each other. A whole that is not cut names no parts and is granted as it is.
 *
 * This is a draft. What spurd does not use yet is marked [not yet called] or [not yet read]; a plugin may leave it out.
 *
 * Laws, checked by spur-plugin-check: keys are unique; parents and links name devices of the same scan; links between devices are
 * reported once in each direction, equal; two scans without a change in between are identical; what was bound can be
 * released, once or twice. */
#ifndef SPUR_PLUGIN_GPU_H
#define SPUR_PLUGIN_GPU_H

#include <spur/plugin/module.h>
#include <spur/plugin/view.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_GPU_IFACE "spur.gpu/1"

/* ---- what is here ------------------------------------------------------------------------------------------------- */

#define SPUR_GPU_HEALTHY 1u
#define SPUR_GPU_DEGRADED 2u /* works, reports errors */
#define SPUR_GPU_FAILED 3u   /* must not be given to jobs */

typedef struct spur_gpu_device {
    uint32_t size;
    uint32_t index;     /* the vendor's number at this moment: what CUDA_VISIBLE_DEVICES / ROCR_VISIBLE_DEVICES count */
    uint32_t numa_node; /* SPUR_NONE */
    uint32_t health;    /* SPUR_GPU_* */
    uint64_t memory_mib;
    spur_str key;       /* UUID: stable over reboots, unique in the cluster */
    spur_str parent;    /* key of the device that this is a part of; "" */
    spur_str type;      /* for gres: "mi300x", "a100", "h100", "a100_1g.5gb" */
    spur_str model;     /* the vendor's words */
    spur_str pci;       /* "0000:c1:00.0" */
    spur_str near_cpus; /* "0-31,64-95"; "" unknown */
    spur_str device_files; /* comma-separated, for the device cgroup: "/dev/nvidia0,/dev/nvidiactl" */
    spur_str cdi;       /* "nvidia.com/gpu=0"; "". [not yet read] */
    spur_str profile;   /* the one in force: "1g.10gb", "CPX/NPS4"; "" none. [not yet read] */
    spur_str clique;    /* devices with the same reach each other over one fabric, on this node and on others: "<fabric>.<clique>";
                         * "" none. [not yet read] */
} spur_gpu_device;

#define SPUR_GPU_TO_DEVICE 0u /* `to` is the key of a device */
#define SPUR_GPU_TO_PCI 1u    /* `to` is the PCI address of something else, a network card for instance. [not yet read] */
typedef struct spur_gpu_link {
    uint32_t size;
    uint32_t kind;    /* SPUR_LINK_* of view.h */
    uint32_t weight;  /* higher is better; comparable on one node */
    uint32_t to_what; /* SPUR_GPU_TO_* */
    spur_str from;    /* key */
    spur_str to;
} spur_gpu_link;

/* Where a scan goes. Records are copied before the call returns. */
typedef struct spur_gpu_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    void (*device)(const struct spur_gpu_sink *sink, const spur_gpu_device *device);
    void (*link)(const struct spur_gpu_sink *sink, const spur_gpu_link *link);
} spur_gpu_sink;

/* ---- who gets them ------------------------------------------------------------------------------------------------ */

/* One device of a grant, in a span. */
typedef struct spur_gpu_grant {
    spur_str key;
    uint64_t units; /* of those it is shared into (shards); 0: all of it. [not yet set] */
} spur_gpu_grant;

#define SPUR_GPU_ISOLATED (1u << 0) /* the device cgroup hides every other device: vendors' libraries number the rest from 0. [not
                                     * yet set] */

/* A job, a step or a task, and what it was given. Equal job, attempt, step and task mean the same binding. */
typedef struct spur_gpu_binding {
    uint32_t size;
    uint32_t flags;   /* SPUR_GPU_* */
    uint32_t job;
    uint32_t attempt; /* how often the job was started before, and once more */
    uint32_t step;    /* SPUR_NONE: the job as a whole */
    uint32_t task;    /* SPUR_NONE: the step as a whole */
    uint32_t uid;
    uint32_t reserved;
    spur_span grants; /* of spur_gpu_grant, in the order in which the program is to see them */
} spur_gpu_binding;

/* What a job that got some of the devices must see. */
typedef struct spur_gpu_env_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    void (*variable)(const struct spur_gpu_env_sink *sink, spur_str name, spur_str value);
    void (*device_file)(const struct spur_gpu_env_sink *sink, spur_str path);
} spur_gpu_env_sink;

/* ---- how they are doing ------------------------------------------------------------------------------------------- */

typedef struct spur_gpu_load {
    uint32_t size;
    uint32_t health; /* SPUR_GPU_* */
    double busy;     /* 0..1; negative: unknown, as everywhere below */
    double power_watts, temperature_c;
    double energy_joules;        /* since boot */
    double clock_mhz, memory_clock_mhz;
    uint64_t memory_used_mib;
    uint64_t errors; /* uncorrected since boot */
} spur_gpu_load;

/* One process on one device. */
typedef struct spur_gpu_process {
    uint32_t size;
    int32_t pid;     /* in spurd's namespace */
    double busy;     /* 0..1; negative: unknown */
    double energy_joules; /* negative: unknown */
    uint64_t memory_mib;
} spur_gpu_process;
typedef struct spur_gpu_process_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    void (*process)(const struct spur_gpu_process_sink *sink, const spur_gpu_process *process);
} spur_gpu_process_sink;

/* One way to cut a device, or to set it up. */
typedef struct spur_gpu_profile {
    uint32_t size;
    uint32_t most;  /* how many parts of it one device holds, if there is no other; 1 for modes of the whole device */
    uint64_t memory_mib;
    spur_str name;  /* "1g.10gb"; "CPX/NPS4": compute mode, slash, memory mode */
    spur_str type;  /* that its parts have as gres */
} spur_gpu_profile;
typedef struct spur_gpu_profile_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    void (*profile)(const struct spur_gpu_profile_sink *sink, const spur_gpu_profile *profile);
} spur_gpu_profile_sink;

typedef struct spur_gpu_ops {
    uint32_t size;
    uint32_t reserved;
    /* What is here now. Required. [worker-thread, may block until stop] */
    spur_status (*scan)(spur_plugin *self, const spur_gpu_sink *sink, const spur_stop *stop, spur_error *err);
    /* Environment and device files for who was given these devices. The same binding may be asked for again. No grants: what
     * somebody without devices must see (nothing, or variables that hide them all). Required. [any-thread, cheap] */
    spur_status (*bind)(spur_plugin *self, const spur_gpu_binding *binding, const spur_gpu_env_sink *sink, spur_error *err);
    /* Who was bound has ended: whatever bind() set up goes. Also for bindings of before a restart, and twice. Called for steps, which
     * take their tasks along, and for jobs (step SPUR_NONE); `grants` are the devices of the job. The next holder of a device
     * may be bound before. Optional. [worker-thread, calls do not overlap, may block until stop] */
    spur_status (*release)(spur_plugin *self, const spur_gpu_binding *binding, const spur_stop *stop, spur_error *err);
    /* How the device is doing. Optional. [worker-thread, may block briefly] [not yet called] */
    spur_status (*load)(spur_plugin *self, spur_str key, spur_gpu_load *out, spur_error *err);
    /* Who uses the device. Optional. [worker-thread, may block briefly] [not yet called] */
    spur_status (*processes)(spur_plugin *self, spur_str key, const spur_gpu_process_sink *sink, spur_error *err);
    /* Look out for devices that break, heal, come or go, until stop; tell the host through the service "spur.notify/1", which then
     * scans again. Begins with what changed since the last scan. One that comes back early is called again after a pause. Without
     * that service there is nobody to tell. Optional. [worker-thread, blocks until stop] */
    spur_status (*watch)(spur_plugin *self, const spur_stop *stop, spur_error *err);
    /* Bring a device back to a clean state between jobs. Optional. [worker-thread, may block until stop] [not yet called] */
    spur_status (*reset)(spur_plugin *self, spur_str key, const spur_stop *stop, spur_error *err);
    /* What the device can be cut into or set to. Optional. [worker-thread, may block briefly] [not yet called] */
    spur_status (*profiles)(spur_plugin *self, spur_str key, const spur_gpu_profile_sink *sink, spur_error *err);
    /* Make it so: names of profiles (spur_str), one for each part, mixes allowed; none: whole again. All or nothing. A device in use
     * is SPUR_E_BUSY. Optional. [worker-thread, may block until stop] [not yet called] */
    spur_status (*partition)(spur_plugin *self, spur_str key, spur_span profiles, const spur_stop *stop, spur_error *err);
} spur_gpu_ops;

#ifdef __cplusplus
}
#endif
#endif
