/* spur/plugin/draft/gpu.h - which devices are here, how are they linked, how busy are they?
 *
 * Loaded by spurd; several may be active at once (a node may hold cards of two vendors). The plugin opens its vendor library inside
 * create() and answers SPUR_E_UNAVAILABLE where there is none. Devices have stable keys (UUIDs), places (PCI address, NUMA
 * node, near cores), links to each other, partitions (MIG slices, compute partitions) and names for containers (CDI).
 *
 * Laws, checked by spur-plugin-check: indexes and keys are unique; links name existing devices and are reported once in each
 * direction, equal; two scans without a change in between are identical. */
#ifndef SPUR_PLUGIN_GPU_H
#define SPUR_PLUGIN_GPU_H

#include <spur/plugin/module.h>
#include <spur/plugin/view.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_GPU_IFACE "spur.gpu/1"

#define SPUR_GPU_HEALTHY 1u
#define SPUR_GPU_DEGRADED 2u /* works, reports errors */
#define SPUR_GPU_FAILED 3u   /* must not be given to jobs */

typedef struct spur_gpu_device {
    uint32_t size;
    uint32_t index;     /* the vendor's number: what CUDA_VISIBLE_DEVICES / ROCR_VISIBLE_DEVICES count */
    uint32_t parent;    /* index of the whole device this is a slice of; SPUR_NONE */
    uint32_t numa_node; /* SPUR_NONE */
    uint32_t health;    /* SPUR_GPU_* */
    uint32_t slices_max; /* how many partitions it can be cut into; 0: none */
    uint64_t memory_mib;
    spur_str key;       /* UUID: stable over reboots */
    spur_str type;      /* for gres: "mi300x", "a100", "h100", "a100_1g.5gb" */
    spur_str model;     /* the vendor's words */
    spur_str pci;       /* "0000:c1:00.0" */
    spur_str near_cpus; /* "0-31,64-95"; "" unknown */
    spur_str device_files; /* comma-separated, for the device cgroup: "/dev/nvidia0,/dev/nvidiactl" */
    spur_str cdi;       /* "nvidia.com/gpu=0"; "" */
} spur_gpu_device;

typedef struct spur_gpu_link {
    uint32_t size;
    uint32_t from, to; /* device indexes */
    uint32_t kind;     /* SPUR_LINK_* of view.h */
    uint32_t weight;   /* higher is better; comparable on one node */
    uint32_t reserved;
} spur_gpu_link;

typedef struct spur_gpu_load {
    uint32_t size;
    uint32_t index;
    double busy;            /* 0..1; negative: unknown */
    uint64_t memory_used_mib;
    double power_watts, temperature_c; /* negative: unknown */
    uint64_t errors;        /* uncorrected since boot */
} spur_gpu_load;

/* Where a scan goes. Records are copied before the call returns. */
typedef struct spur_gpu_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    void (*device)(const struct spur_gpu_sink *sink, const spur_gpu_device *device);
    void (*link)(const struct spur_gpu_sink *sink, const spur_gpu_link *link);
} spur_gpu_sink;

/* What a job that got some of the devices must see. */
typedef struct spur_gpu_env_sink {
    uint32_t size;
    uint32_t reserved;
    void *context;
    void (*variable)(const struct spur_gpu_env_sink *sink, spur_str name, spur_str value);
    void (*device_file)(const struct spur_gpu_env_sink *sink, spur_str path);
} spur_gpu_env_sink;

typedef struct spur_gpu_ops {
    uint32_t size;
    uint32_t reserved;
    /* What is here now. Required. [worker-thread, may block] */
    spur_status (*scan)(spur_plugin *self, const spur_gpu_sink *sink, spur_error *err);
    /* How busy device `index` is. Optional. [worker-thread, may block briefly] */
    spur_status (*load)(spur_plugin *self, uint32_t index, spur_gpu_load *out, spur_error *err);
    /* Environment and device files for a job or task that was given these devices. Required. [any-thread, cheap] */
    spur_status (*bind)(spur_plugin *self, const uint32_t *indexes, uint32_t count, const spur_gpu_env_sink *sink,
                        spur_error *err);
    /* Bring a device back to a clean state between jobs. Optional. [worker-thread, may block] */
    spur_status (*reset)(spur_plugin *self, uint32_t index, spur_error *err);
    /* Cut a device into slices of `profile`, or undo with an empty one. Optional. [worker-thread, may block] */
    spur_status (*partition)(spur_plugin *self, uint32_t index, spur_str profile, spur_error *err);
} spur_gpu_ops;

#ifdef __cplusplus
}
#endif
#endif
