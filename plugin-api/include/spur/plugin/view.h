/* spur/plugin/view.h - the frozen picture of a cluster that policy plugins look at.
 *
 * The host keeps these records between cycles and updates only what changed, so handing over a view of 10,000 nodes and
 * 100,000 jobs costs a few pointers. Everything in it is constant during the call and dies on return. Names have become
 * numbers (indexes into the view's own tables), expressions have become node sets, so that no plugin parses text:
 * a constraint such as "[rack1*2&rack2*4]" arrives as quotas over node sets that all jobs with the same text share.
 *
 * Records grow at their tail; step through spans by stride (SPUR_AT) and ask SPUR_SPAN_HAS before touching anything newer
 * than 1.0. Times are unix seconds, memory is MiB, durations are seconds. `view->now` is the only clock.
 *
 * Numbers of features, gres names and gres types mean the same in every view of one host; numbers of nodes, partitions,
 * reservations, licenses, QOS, associations and groups do from view to view as long as `changes` is complete. */
#ifndef SPUR_PLUGIN_VIEW_H
#define SPUR_PLUGIN_VIEW_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_TIME_UNLIMITED INT64_MAX

/* ---- nodes ---------------------------------------------------------------------------------------------------- */

#define SPUR_NODE_USABLE (1u << 0)     /* up, answering, not drained: new work may start here */
#define SPUR_NODE_DRAINING (1u << 1)   /* finishing what it has */
#define SPUR_NODE_DOWN (1u << 2)
#define SPUR_NODE_COMPLETING (1u << 3) /* an ended job's processes or epilog are still there */
#define SPUR_NODE_MAINT (1u << 4)      /* inside a maintenance reservation now */
#define SPUR_NODE_POWERED_DOWN (1u << 5) /* usable after a boot */
#define SPUR_NODE_EXCLUSIVE (1u << 6)  /* held whole by one job, whatever cores it uses */

/* One device of a generic resource: a GPU, a slice of one, a network card. A device and its parts exclude each
 * other: while units of one are in use the other is not free, whatever its own counts say. */
typedef struct spur_device_view {
    uint32_t index;       /* its number among the node's devices of this resource, as administrators know it */
    uint32_t type;        /* number in view->gres_types; 0: untyped */
    uint32_t socket;      /* the socket it hangs off; SPUR_NONE if unknown */
    uint32_t parent;      /* what it is a part of: position in the devices span of resource parent_gres; SPUR_NONE */
    uint32_t parent_gres; /* position in the node's gres span; SPUR_NONE */
    uint32_t reserved;
    uint64_t units_total, units_used; /* 1 and 0 or 1 for a plain GPU; shards count higher; total 0: not to be used (broken) */
    spur_bits cores; /* cores near it; empty: all alike */
} spur_device_view;

#define SPUR_LINK_HOST 0u     /* through the CPUs */
#define SPUR_LINK_NUMA 1u     /* same NUMA node */
#define SPUR_LINK_SWITCH 2u   /* same PCIe switch */
#define SPUR_LINK_NVLINK 3u
#define SPUR_LINK_XGMI 4u
#define SPUR_LINK_SAME_CARD 5u /* slices or dies of one board */

/* How well two devices of a node talk to each other: higher is better, 0 is "through the host". They may be of different
 * resources, a GPU and a network card for instance. */
typedef struct spur_device_link {
    uint32_t from;    /* position in the devices span of the resource this link is listed with */
    uint32_t to;      /* position in the devices span of resource to_gres */
    uint32_t to_gres; /* position in the node's gres span */
    uint32_t weight;  /* NVLink/XGMI lanes x 100, same switch 20, same NUMA node 10, ... as the gpu plugin reported */
    uint32_t kind;    /* SPUR_LINK_* */
    uint32_t reserved;
} spur_device_link;

/* One generic resource of one node. */
typedef struct spur_gres_view {
    uint32_t name; /* number in view->gres_names */
    uint32_t reserved;
    uint64_t total, used;
    spur_span devices; /* of spur_device_view; empty for resources that are only counted */
    spur_span links;   /* of spur_device_link */
} spur_gres_view;

typedef struct spur_node_view {
    spur_str name;
    uint32_t flags;  /* SPUR_NODE_* */
    uint32_t weight; /* lower is used first */
    uint32_t sockets, cores_per_socket, threads_per_core, cpus; /* cpus = schedulable threads */
    uint32_t cpus_used;
    uint32_t klass; /* nodes of one class have the same hardware, features and weight */
    uint64_t memory_mib, memory_used_mib;
    uint64_t tmp_mib;
    spur_bits cores_used; /* by core number: socket-major */
    spur_bits cores_offered; /* cores jobs may use (specialised cores are missing) */
    spur_bits features;   /* numbers in view->features */
    spur_span gres;       /* of spur_gres_view */
    spur_span groups;     /* of uint32_t, numbers in view->groups: of each kind the smallest that it is in (level 0) */
    uint32_t owner_uid;   /* exclusive-user holder; SPUR_NONE */
    uint32_t running_jobs;
    uint32_t most_jobs_per_core; /* of the core that most of them share */
    uint32_t reserved;
} spur_node_view;

/* ---- what a job holds or is to get ------------------------------------------------------------------------------ */

/* Select plugins write these two into arrays that sched plugins brought, each built with its own headers: so these two
 * records never grow. What a later release adds to an answer gets an array of its own in spur_placement, which travels
 * whole from select to sched, to the host and back. */

typedef struct spur_gres_share {
    uint32_t name, type;
    uint64_t count;
    spur_bits devices; /* positions in the node's devices span; empty for counted resources */
} spur_gres_share;

typedef struct spur_node_share {
    uint32_t node; /* index in view->nodes */
    uint32_t cpus;
    uint64_t memory_mib;
    spur_bits cores; /* core numbers on the node */
    spur_span gres;  /* of spur_gres_share */
    uint32_t tasks;
    uint32_t flags; /* SPUR_SHARE_* */
} spur_node_share;
#define SPUR_SHARE_WHOLE_NODE (1u << 0) /* nothing else may run there meanwhile */

/* What a job holds or is to get, and the memory it stands in: brought by who asks for an answer and reused from call to
 * call (select.h). Spans and bits in `shares` point into `gres` and `words` of the same placement, or anywhere else when it
 * is only read: then capacities and wishes for more mean nothing. Shares come in any order, each node once. */
typedef struct spur_placement {
    uint32_t size;
    uint32_t share_count, share_capacity, share_wanted;
    spur_node_share *shares;
    uint32_t gres_count, gres_capacity, gres_wanted;
    uint32_t word_count, word_capacity, word_wanted;
    spur_gres_share *gres;
    uint64_t *words;
    int64_t score; /* lower is better; comparable between picks of one job in one cycle */
} spur_placement;

/* The shares as a span. */
static inline spur_span spur_shares(const spur_placement *placement) {
    spur_span none = {NULL, 0, sizeof(spur_node_share)};
    if (placement == NULL) return none;
    none.data = placement->shares;
    none.count = placement->share_count;
    return none;
}

/* A placement to be read, of shares kept elsewhere. */
static inline spur_placement spur_placed(const spur_node_share *shares, uint32_t count) {
    spur_placement placement;
    memset(&placement, 0, sizeof placement);
    placement.size = sizeof placement;
    placement.shares = (spur_node_share *)(uintptr_t)shares;
    placement.share_count = count;
    return placement;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

#define SPUR_GRES_PER_NODE 1u
#define SPUR_GRES_PER_JOB 2u
#define SPUR_GRES_PER_TASK 3u
#define SPUR_GRES_PER_SOCKET 4u

typedef struct spur_gres_request {
    uint32_t name;
    uint32_t type; /* 0: any */
    uint32_t scope; /* SPUR_GRES_PER_* */
    uint32_t reserved;
    uint64_t count;
} spur_gres_request;

typedef struct spur_license_request {
    uint32_t license; /* index in view->licenses */
    uint32_t count;
} spur_license_request;

/* `count` of the job's nodes must come from `nodes`. */
typedef struct spur_node_quota {
    spur_bits nodes;
    uint32_t count;
    uint32_t reserved;
} spur_node_quota;

#define SPUR_JOB_EXCLUSIVE (1u << 0)      /* whole nodes */
#define SPUR_JOB_EXCLUSIVE_USER (1u << 1) /* nodes shared only with the same user */
#define SPUR_JOB_OVERSUBSCRIBE (1u << 2)
#define SPUR_JOB_OVERCOMMIT (1u << 3)
#define SPUR_JOB_CONTIGUOUS (1u << 4)
#define SPUR_JOB_SPREAD (1u << 5)         /* as many nodes as possible */
#define SPUR_JOB_USE_MIN_NODES (1u << 6)  /* as few as possible */
#define SPUR_JOB_REQUEUE (1u << 7)        /* may be put back in the queue */
#define SPUR_JOB_ONE_THREAD_PER_CORE (1u << 8) /* --hint=nomultithread */
#define SPUR_JOB_COMPUTE_BOUND (1u << 9)
#define SPUR_JOB_MEMORY_BOUND (1u << 10)  /* one core per socket first */
#define SPUR_JOB_MEM_ALL (1u << 11)       /* --mem=0: all the memory of each node */
#define SPUR_JOB_SUSPENDED (1u << 12)     /* running list: holds memory but not cores */
#define SPUR_JOB_COMPLETING (1u << 13)    /* running list: ends any moment */
#define SPUR_JOB_IGNORE_RESERVATIONS (1u << 14)
#define SPUR_JOB_NO_RESERVE (1u << 15)    /* takes what is free, but nothing is kept free for it */

/* What a job asks for beyond nodes, tasks, CPUs, memory and time, a bit each in spur_job_view.wishes: bits 0 to 31 are
 * about where it goes, 32 to 63 about when. Select and sched plugins say in `understands` which ones they take care of. A
 * job with a wish that neither knows is not in the view's order: it waits, with a sentence that names plugin and option. */
#define SPUR_WISH_CONTIGUOUS (1ull << 0)       /* --contiguous */
#define SPUR_WISH_SWITCHES (1ull << 1)         /* --switches: max_switches */
#define SPUR_WISH_ALTERNATIVES (1ull << 2)     /* --constraint with "[a|b]": alternatives */
#define SPUR_WISH_QUOTAS (1ull << 3)           /* --constraint with counts, "a*2": quotas */
#define SPUR_WISH_GRES (1ull << 4)             /* --gres, --gpus...: gres */
#define SPUR_WISH_GRES_PER_SOCKET (1ull << 5)  /* --gpus-per-socket: gres with SPUR_GRES_PER_SOCKET */
#define SPUR_WISH_TASKS_PER_SOCKET (1ull << 6) /* --ntasks-per-socket */
#define SPUR_WISH_TASKS_PER_CORE (1ull << 7)   /* --ntasks-per-core */
#define SPUR_WISH_TASKS_PER_GPU (1ull << 8)    /* --ntasks-per-gpu */
#define SPUR_WISH_CPUS_PER_GPU (1ull << 9)     /* --cpus-per-gpu */
#define SPUR_WISH_MEM_PER_GPU (1ull << 10)     /* --mem-per-gpu */
#define SPUR_WISH_HET_JOB (1ull << 32)         /* components that start together: het_group */
#define SPUR_WISH_TIME_MIN (1ull << 33)        /* --time-min: limit_min_s */
#define SPUR_WISH_DEADLINE (1ull << 34)        /* --deadline */
#define SPUR_WISH_LICENSES (1ull << 35)        /* --licenses */
#define SPUR_WISH_RESERVATION (1ull << 36)     /* --reservation */

#define SPUR_SPREAD_DEFAULT 0u
#define SPUR_SPREAD_BLOCK 1u
#define SPUR_SPREAD_CYCLIC 2u
#define SPUR_SPREAD_PLANE 3u

/* A job's wishes. Jobs whose `klass` is equal have identical requests but for identity and age: what was learned about one
 * (does not fit now, where it would go) holds for the others in the same cycle. 0 stands for "not said" unless noted. */
typedef struct spur_job_view {
    uint32_t id;
    uint32_t flags; /* SPUR_JOB_* */
    uint64_t klass;
    uint64_t wishes; /* SPUR_WISH_*; select or sched understands each of them */
    uint64_t priority;
    uint32_t uid, gid;
    uint32_t association; /* index in view->associations; SPUR_NONE */
    uint32_t qos;         /* index in view->qos; SPUR_NONE */
    spur_span partitions; /* of uint32_t, indexes in view->partitions, in the order to try */
    uint32_t reservation; /* index in view->reservations; SPUR_NONE */
    uint32_t array_tasks; /* pending: how many identical tasks wait behind this record and may start now (1: no array) */
    uint32_t array_task;  /* its number in the array; SPUR_NONE: none, or several that wait behind this record */
    uint32_t het_group;   /* jobs with the same non-zero number start together or not at all */
    uint32_t restarts;

    int64_t submitted, eligible; /* when it could first have run */
    int64_t started, ends;       /* running: ends = when its time limit strikes; SPUR_TIME_UNLIMITED */
    int64_t deadline;            /* must have ended by then; 0 */
    uint32_t limit_s;            /* SPUR_UNLIMITED */
    uint32_t limit_min_s;        /* --time-min: the limit may be cut down to this; 0: it may not */

    uint32_t min_nodes, max_nodes; /* max SPUR_UNLIMITED */
    uint32_t tasks;                /* 0: one per node */
    uint32_t cpus_per_task;        /* 0: 1 */
    uint32_t tasks_per_node, tasks_per_socket, tasks_per_core, tasks_per_gpu;
    uint32_t min_cpus_per_node, cpus_per_gpu;
    uint32_t min_sockets, min_cores_per_socket, min_threads_per_core;
    uint32_t spread_nodes, spread_sockets, plane_size; /* SPUR_SPREAD_* of --distribution */
    uint64_t mem_per_node_mib, mem_per_cpu_mib, mem_per_gpu_mib;
    uint64_t tmp_mib;
    spur_span gres;     /* of spur_gres_request */
    spur_span licenses; /* of spur_license_request */

    spur_bits eligible_nodes; /* constraint, exclusions and partitions already applied; NULL words: all of the partition */
    spur_bits required_nodes; /* must all be in */
    spur_span alternatives;   /* of spur_bits: all nodes from one of these sets, earlier ones preferred; empty: no such rule */
    spur_span quotas;         /* of spur_node_quota */
    spur_bits preferred_nodes; /* --prefer */
    uint32_t max_switches;    /* how many groups of kind SPUR_GROUP_SWITCH and level 0 it may lie on; 0: do not care */
    uint32_t reserved;
    int64_t switches_until;   /* after this time any number of switches will do */

    uint32_t preempt_tier;    /* a job may preempt jobs of lower tiers, and those whose QOS is in its QOS's `preempts` */
    uint32_t preempt_mode;    /* SPUR_PREEMPT_*: what happens to this job if it is preempted */
    int64_t preempt_exempt_until; /* until then it may not be preempted; 0 */

    const spur_placement *held; /* running; NULL while it waits */
    uint32_t ran_s;   /* before the present start, and not counting suspension */
    spur_str name;    /* --job-name */
    spur_str extra;   /* --extra: anything the site and its plugins agreed on */
} spur_job_view;

#define SPUR_PREEMPT_OFF 0u
#define SPUR_PREEMPT_CANCEL 1u
#define SPUR_PREEMPT_REQUEUE 2u
#define SPUR_PREEMPT_SUSPEND 3u

/* ---- the rest --------------------------------------------------------------------------------------------------- */

#define SPUR_PARTITION_UP 1u      /* takes and starts jobs */
#define SPUR_PARTITION_DOWN 2u    /* takes jobs, starts none */
#define SPUR_PARTITION_DRAIN 3u   /* takes none, starts those it has */
#define SPUR_PARTITION_INACTIVE 4u

typedef struct spur_partition_view {
    spur_str name;
    spur_bits nodes;
    uint32_t state; /* SPUR_PARTITION_* */
    uint32_t tier;  /* higher tiers are planned first */
    uint32_t max_time_s, max_nodes, max_cpus_per_node; /* each SPUR_UNLIMITED where there is no limit */
    uint32_t min_nodes;
    uint32_t job_factor; /* for priority plugins */
    uint32_t oversubscribe; /* jobs per core: 1 = never, 0 = whole nodes only */
    uint32_t least_loaded;  /* 1: spread jobs over the least loaded nodes */
    uint32_t exclusive_user;
    spur_span billing; /* of spur_tres_weight */
} spur_partition_view;

typedef struct spur_tres_weight {
    uint32_t tres; /* SPUR_TRES_*, or SPUR_TRES_GRES + number in gres_names */
    uint32_t reserved;
    double weight;
} spur_tres_weight;
#define SPUR_TRES_CPU 1u
#define SPUR_TRES_MEM 2u
#define SPUR_TRES_NODE 3u
#define SPUR_TRES_BILLING 4u
#define SPUR_TRES_ENERGY 5u
#define SPUR_TRES_GRES 1000u

#define SPUR_RESERVATION_MAINT (1u << 0)
#define SPUR_RESERVATION_OVERLAP (1u << 1)
#define SPUR_RESERVATION_IGNORE_JOBS (1u << 2)
#define SPUR_RESERVATION_FLEX (1u << 3)
#define SPUR_RESERVATION_MAGNETIC (1u << 4)

/* One occurrence of a reservation; repeating ones appear once per occurrence inside the planning window. */
typedef struct spur_reservation_view {
    spur_str name;
    int64_t start, end;
    uint32_t flags;
    uint32_t partition; /* SPUR_NONE */
    spur_bits nodes;
    spur_bits cores;    /* empty: whole nodes. Else the reserved cores, numbered through `nodes` in order: first all
                         * cores of its first node, then those of the next */
    spur_span licenses; /* of spur_license_request */
} spur_reservation_view;

typedef struct spur_license_view {
    spur_str name;
    uint32_t total, used;
} spur_license_view;

typedef struct spur_qos_view {
    spur_str name;
    uint32_t priority;
    uint32_t preempt_mode;
    spur_bits preempts; /* qos indexes whose jobs it may push out */
    double usage_factor;
    int64_t exempt_s;
} spur_qos_view;

/* A line of the account tree. Parents come before their children; the root is index 0. */
typedef struct spur_association_view {
    spur_str account, user; /* user empty: an account */
    uint32_t parent;        /* SPUR_NONE for the root */
    uint32_t shares;        /* SPUR_SHARES_PARENT: uses its parent's */
    uint32_t uid;           /* SPUR_NONE for accounts */
    uint32_t priority;      /* the association's own factor */
    double usage;           /* decayed billing seconds, including its children */
} spur_association_view;
#define SPUR_SHARES_PARENT 0x7fffffffu

/* Nodes that belong together in some way. Groups of one kind form trees; a node may be in trees of several kinds. Kinds one
 * does not know are passed over. */
#define SPUR_GROUP_SWITCH 1u /* a switch of the network; its parent is the switch it hangs off */
#define SPUR_GROUP_BLOCK 2u  /* nodes with a fast network of their own among them: a block, an NVLink domain */
#define SPUR_GROUP_RING 3u   /* nodes one after the other as in `order`, the last beside the first */
#define SPUR_GROUP_FAULT 4u  /* what fails together: a rack, a power or cooling loop */
typedef struct spur_group_view {
    spur_str name;
    uint32_t kind;   /* SPUR_GROUP_* */
    uint32_t level;  /* 0: has no groups below it */
    uint32_t parent; /* number in view->groups, of the same kind; SPUR_NONE */
    uint32_t reserved;
    spur_bits nodes; /* in it and below it */
    spur_span order; /* of uint32_t: its nodes one after the other, where that means something; else empty */
} spur_group_view;

/* What changed since the view with number `since`: indexes and slots in this view. A plugin that kept something from that cycle may
 * update instead of starting anew; one that kept nothing ignores it. complete == 0: assume everything changed. What is not
 * listed here is as it was then, except `used` of licenses and `usage` of associations. */
typedef struct spur_view_changes {
    uint32_t size;
    uint32_t complete;
    uint64_t since;
    spur_span nodes;        /* of uint32_t: nodes whose record changed */
    spur_span new_pending;  /* of uint32_t: slots of jobs that were not pending then, or whose record changed */
    spur_span new_running;  /* of uint32_t: slots of jobs that were not running then, or whose record changed */
    spur_span gone_pending; /* of uint32_t: slots that were in pending_order then and hold no job, or another, now */
    spur_span gone_running; /* of uint32_t: the same for running */
} spur_view_changes;

typedef struct spur_cluster_view {
    uint32_t size;
    uint32_t reserved;
    uint64_t number; /* grows with each view of this host */
    int64_t now;     /* unix seconds; the only clock a planner reads */
    spur_span nodes;        /* of spur_node_view */
    spur_span pending;      /* of spur_job_view. A job keeps its slot from view to view while it waits; slots that
                             * pending_order does not name are empty: do not look at them */
    spur_span pending_order; /* of uint32_t: slots of `pending`, the job to look at first in front. Held, dependent and
                              * not yet eligible jobs are left out */
    spur_span running;       /* of spur_job_view, slots as above */
    spur_span running_order; /* of uint32_t: slots of `running`, in order of `ends` */
    spur_span partitions;   /* of spur_partition_view */
    spur_span reservations; /* of spur_reservation_view, in order of start */
    spur_span licenses;     /* of spur_license_view */
    spur_span qos;          /* of spur_qos_view */
    spur_span associations; /* of spur_association_view */
    spur_span groups;       /* of spur_group_view; empty: all nodes are alike */
    spur_span features;     /* of spur_str: names behind the numbers */
    spur_span gres_names;   /* of spur_str */
    spur_span gres_types;   /* of spur_str; number 0 is "" */
    const spur_view_changes *changes; /* NULL: assume everything changed */
} spur_cluster_view;

#ifdef __cplusplus
}
#endif
#endif
