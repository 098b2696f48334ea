/* @TYPE@ - first come, first served: a job that must wait holds back those behind it in its partition. */
#include <spur/plugin/plugin.h>
#include <spur/plugin/sched.h>

#include <stdlib.h>

struct spur_plugin {
    char nothing; /* a planner remembers nothing from one cycle to the next */
};

/* One cycle. */
typedef struct walk {
    const spur_cluster_view* view;
    const spur_selector* select;
    const spur_plan_sink* sink;
    spur_select_cycle* cycle;
    uint8_t* blocked;      /* by partition: somebody in front waits for room */
    uint32_t* licenses;    /* in use, with what this plan started */
    uint64_t* candidates;  /* nodes that are not reserved for others */
    spur_placement answer; /* the selector's, in memory of ours that grows as it wants */
} walk;

/* ---- the policy ---- */

/* The time limit to start with: the job's own, cut down to the partition's where the job allows that. 0, or why not. */
static uint32_t find_limit(const walk* w, const spur_job_view* job, const spur_partition_view* partition,
                           uint32_t* limit_s) {
    if (partition->state == SPUR_PARTITION_DOWN) return SPUR_WAIT_PARTITION_DOWN;
    if (partition->state == SPUR_PARTITION_INACTIVE) return SPUR_WAIT_PARTITION_INACTIVE;
    if (job->min_nodes > partition->max_nodes) return SPUR_WAIT_PARTITION_NODE_LIMIT;
    *limit_s = job->limit_s;
    if (*limit_s > partition->max_time_s) {
        if (job->limit_min_s == 0 || job->limit_min_s > partition->max_time_s) return SPUR_WAIT_PARTITION_TIME_LIMIT;
        *limit_s = partition->max_time_s;
    }
    if (job->deadline != 0 && (*limit_s == SPUR_UNLIMITED || w->view->now + *limit_s > job->deadline))
        return SPUR_WAIT_DEADLINE;
    return 0;
}

static int has_licenses(const walk* w, const spur_job_view* job) {
    for (uint32_t i = 0; i < job->licenses.count; i++) {
        const spur_license_request* wanted = SPUR_AT(spur_license_request, job->licenses, i);
        const spur_license_view* license = SPUR_AT(spur_license_view, w->view->licenses, wanted->license);
        if (w->licenses[wanted->license] + wanted->count > license->total) return 0;
    }
    return 1;
}

/* Nodes of the job's reservation if it has one, else those that are not reserved before it would end. */
static uint32_t find_candidates(walk* w, const spur_job_view* job, uint32_t limit_s) {
    const spur_cluster_view* view = w->view;
    int64_t end = limit_s == SPUR_UNLIMITED ? SPUR_TIME_UNLIMITED : view->now + limit_s;
    uint32_t words = (view->nodes.count + 63) / 64;
    memset(w->candidates, 0xff, words * sizeof(uint64_t));
    if (view->nodes.count % 64 != 0) w->candidates[words - 1] >>= 64 - view->nodes.count % 64;
    for (uint32_t i = 0; i < view->reservations.count; i++) {
        const spur_reservation_view* reserved = SPUR_AT(spur_reservation_view, view->reservations, i);
        int mine = job->reservation == i;
        if (mine && (view->now < reserved->start || view->now >= reserved->end)) return SPUR_WAIT_RESERVATION;
        if (!mine && (reserved->start >= end || view->now >= reserved->end)) continue;
        for (uint32_t word = 0; word < words; word++) {
            uint64_t nodes = word < (reserved->nodes.count + 63) / 64 ? reserved->nodes.words[word] : 0;
            w->candidates[word] &= mine ? nodes : ~nodes;
        }
    }
    return 0;
}

static int grow(void** memory, uint32_t* capacity, uint32_t wanted, size_t record) {
    if (wanted <= *capacity) return 1;
    void* larger = realloc(*memory, wanted * record);
    if (larger == NULL) return 0;
    *memory = larger;
    *capacity = wanted;
    return 1;
}

static spur_status pick(walk* w, uint32_t slot, uint32_t partition) {
    spur_pick question = {.size = sizeof question, .job = slot, .partition = partition};
    question.candidates.words = w->candidates;
    question.candidates.count = w->view->nodes.count;
    for (;;) {
        spur_placement* answer = &w->answer;
        spur_status verdict = w->select->ops->pick(w->cycle, &question, answer);
        if (verdict != SPUR_NO_ROOM) return verdict;
        void *shares = answer->shares, *gres = answer->gres, *words = answer->words;
        int grown = grow(&shares, &answer->share_capacity, answer->share_wanted, sizeof(spur_node_share)) &
                    grow(&gres, &answer->gres_capacity, answer->gres_wanted, sizeof(spur_gres_share)) &
                    grow(&words, &answer->word_capacity, answer->word_wanted, sizeof(uint64_t));
        answer->shares = shares;
        answer->gres = gres;
        answer->words = words;
        if (!grown) return SPUR_E_INTERNAL;
    }
}

/* Starts one task of the job in `slot`. 0, or why not. */
static uint32_t start_one(walk* w, uint32_t slot, uint32_t number) {
    const spur_job_view* job = SPUR_AT(spur_job_view, w->view->pending, slot);
    const spur_partition_view* partition = SPUR_AT(spur_partition_view, w->view->partitions, number);
    uint32_t limit_s = 0, reason = find_limit(w, job, partition, &limit_s);
    if (reason != 0) return reason;
    if (w->blocked[number]) return SPUR_WAIT_PRIORITY;
    if (!has_licenses(w, job)) return SPUR_WAIT_LICENSES;
    if (w->sink->may_start(w->sink, slot, number) != SPUR_MAY_START) return SPUR_WAIT_LIMIT;
    if ((reason = find_candidates(w, job, limit_s)) != 0) return reason;

    spur_status verdict = pick(w, slot, number);
    if (verdict == SPUR_NOT_NOW) return SPUR_WAIT_RESOURCES;
    if (verdict != SPUR_FITS) return w->view->reservations.count > 0 ? SPUR_WAIT_NODES_UNAVAILABLE : SPUR_WAIT_NEVER;
    if (w->answer.share_count > partition->max_nodes) return SPUR_WAIT_PARTITION_NODE_LIMIT;
    if (w->sink->start(w->sink, slot, number, &w->answer, limit_s) != SPUR_OK) return SPUR_WAIT_LIMIT;
    w->select->ops->take(w->cycle, 0, &w->answer, job->flags);
    for (uint32_t i = 0; i < job->licenses.count; i++) {
        const spur_license_request* wanted = SPUR_AT(spur_license_request, job->licenses, i);
        w->licenses[wanted->license] += wanted->count;
    }
    return 0;
}

/* Starts as many tasks of the job in `slot` as fit, or says why it waits. */
static void consider(walk* w, uint32_t slot) {
    const spur_job_view* job = SPUR_AT(spur_job_view, w->view->pending, slot);
    uint32_t reason = SPUR_WAIT_RESOURCES, tasks = job->array_tasks > 1 ? job->array_tasks : 1;
    do {
        for (uint32_t i = 0; i < job->partitions.count; i++)
            if ((reason = start_one(w, slot, *SPUR_AT(uint32_t, job->partitions, i))) == 0) break;
    } while (reason == 0 && --tasks > 0);
    for (uint32_t i = 0; i < job->partitions.count && reason == SPUR_WAIT_RESOURCES; i++)
        w->blocked[*SPUR_AT(uint32_t, job->partitions, i)] = 1;
    spur_str no_text = {0};
    if (reason != 0) w->sink->waits(w->sink, slot, reason, no_text);
}

/* ---- the boundary ---- */

static spur_status plan(spur_plugin* self, const spur_cluster_view* view, const spur_selector* select,
                        const spur_plan_sink* sink, spur_error* err) {
    (void)self;
    walk w = {.view = view, .select = select, .sink = sink};
    w.blocked = calloc(view->partitions.count + 1, 1);
    w.licenses = calloc(view->licenses.count + 1, sizeof(uint32_t));
    w.candidates = calloc((view->nodes.count + 63) / 64 + 1, sizeof(uint64_t));
    w.answer.size = sizeof(spur_placement);
    spur_status status = SPUR_OK;
    if (w.blocked == NULL || w.licenses == NULL || w.candidates == NULL)
        status = spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    if (status == SPUR_OK) status = select->ops->begin(select->self, view, &w.cycle, err);
    if (status == SPUR_OK) {
        for (uint32_t i = 0; i < view->licenses.count; i++)
            w.licenses[i] = SPUR_AT(spur_license_view, view->licenses, i)->used;
        for (uint32_t i = 0; i < view->pending_order.count && !sink->stopped(sink); i++)
            consider(&w, *SPUR_AT(uint32_t, view->pending_order, i));
        select->ops->end(select->self, w.cycle);
    }
    free(w.blocked);
    free(w.licenses);
    free(w.candidates);
    free(w.answer.shares);
    free(w.answer.gres);
    free(w.answer.words);
    return status;
}

/* Jobs that ask for more, components of heterogeneous jobs for one, are not shown to it: they wait and say for whom. */
static const spur_sched_ops ops = {
    .size = sizeof(spur_sched_ops),
    .understands = SPUR_WISH_TIME_MIN | SPUR_WISH_DEADLINE | SPUR_WISH_LICENSES | SPUR_WISH_RESERVATION,
    .plan = plan};

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host, (void)config;
    spur_plugin* self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    *out = self;
    return SPUR_OK;
}

static void destroy(spur_plugin* self) { free(self); }

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_SCHED_IFACE) == 0 ? &ops : NULL;
}

static const char* const interfaces[] = {SPUR_SCHED_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "first come, first served, a partition at a time",
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
