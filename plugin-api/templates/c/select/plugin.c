/* @TYPE@ - jobs get whole idle nodes, light ones (low weight) first. */
#include <spur/plugin/plugin.h>
#include <spur/plugin/select.h>

#include <stdlib.h>

#define SLOTS 16u
#define MOST_REQUESTS 16u /* generic resources of one job */

struct spur_plugin {
    char nothing; /* all there is to know is in the cycle */
};

typedef struct candidate {
    uint32_t node, weight;
    uint32_t room;           /* tasks it can hold */
    uint8_t required, liked; /* the job insists on it; the job prefers it */
    uint64_t pooled;         /* how much it adds to a generic resource counted over the whole job */
} candidate;

struct spur_select_cycle {
    const spur_cluster_view* view;
    candidate* candidates; /* room for every node */
    uint32_t count;
    int32_t* jobs; /* by slot, then node: how many jobs are there */
};

static uint32_t least(uint64_t a, uint64_t b) { return (uint32_t)(a < b ? a : b); }

/* ---- the policy ---- */

static uint64_t amount_of(const spur_node_view* node, const spur_gres_request* wanted) {
    for (uint32_t i = 0; i < node->gres.count; i++) {
        const spur_gres_view* gres = SPUR_AT(spur_gres_view, node->gres, i);
        if (gres->name != wanted->name) continue;
        if (gres->devices.count == 0) return wanted->type == 0 ? gres->total : 0;
        uint64_t fitting = 0;
        for (uint32_t d = 0; d < gres->devices.count; d++)
            fitting += wanted->type == 0 || SPUR_AT(spur_device_view, gres->devices, d)->type == wanted->type;
        return fitting;
    }
    return 0;
}

/* How many tasks of `job` the whole of `node` can hold; 0: it cannot serve. */
static uint32_t room_on(const spur_job_view* job, const spur_node_view* node) {
    uint64_t per_task = job->cpus_per_task > 0 ? job->cpus_per_task : 1;
    uint64_t threads = node->threads_per_core > 0 ? node->threads_per_core : 1;
    uint64_t places = (job->flags & SPUR_JOB_ONE_THREAD_PER_CORE) != 0 ? node->cpus / threads : node->cpus;
    if (node->cpus < job->min_cpus_per_node || node->memory_mib < job->mem_per_node_mib || node->tmp_mib < job->tmp_mib)
        return 0;
    if (node->sockets < job->min_sockets || node->cores_per_socket < job->min_cores_per_socket) return 0;
    if (node->threads_per_core < job->min_threads_per_core) return 0;

    uint64_t room = places / per_task;
    if ((job->flags & SPUR_JOB_OVERCOMMIT) != 0) room = job->tasks > 0 ? job->tasks : 1;
    if (job->tasks_per_node != 0) room = least(room, job->tasks_per_node);
    if (job->mem_per_cpu_mib != 0) room = least(room, node->memory_mib / (job->mem_per_cpu_mib * per_task));
    for (uint32_t i = 0; i < job->gres.count; i++) {
        const spur_gres_request* wanted = SPUR_AT(spur_gres_request, job->gres, i);
        uint64_t have = amount_of(node, wanted);
        if (wanted->scope == SPUR_GRES_PER_NODE && have < wanted->count) return 0;
        if (wanted->scope == SPUR_GRES_PER_TASK && wanted->count != 0) room = least(room, have / wanted->count);
    }
    return least(room, UINT32_MAX);
}

/* Fills the candidates; 0 if a node the job insists on is not among them. */
static int gather(spur_select_cycle* cycle, const spur_pick* pick, const spur_job_view* job, int empty) {
    const spur_cluster_view* view = cycle->view;
    const spur_partition_view* partition = SPUR_AT(spur_partition_view, view->partitions, pick->partition);
    const int32_t* jobs = cycle->jobs + (size_t)pick->slot * view->nodes.count;
    cycle->count = 0;
    for (uint32_t n = 0; n < view->nodes.count; n++) {
        const spur_node_view* node = SPUR_AT(spur_node_view, view->nodes, n);
        int allowed = spur_has_bit(partition->nodes, n) &&
                      (job->eligible_nodes.words == NULL || spur_has_bit(job->eligible_nodes, n)) &&
                      (pick->candidates.words == NULL || spur_has_bit(pick->candidates, n));
        int is_free = empty || ((node->flags & SPUR_NODE_USABLE) != 0 && jobs[n] == 0);
        int required = spur_has_bit(job->required_nodes, n);
        uint32_t room = allowed && is_free ? room_on(job, node) : 0;
        if (room == 0 && required) return 0;
        if (room == 0) continue;
        candidate* next = &cycle->candidates[cycle->count++];
        *next =
            (candidate){n, node->weight, room, (uint8_t)required, (uint8_t)spur_has_bit(job->preferred_nodes, n), 0};
        for (uint32_t i = 0; i < job->gres.count; i++) {
            const spur_gres_request* wanted = SPUR_AT(spur_gres_request, job->gres, i);
            if (wanted->scope == SPUR_GRES_PER_JOB) next->pooled += amount_of(node, wanted);
        }
    }
    return 1;
}

static int has_pooled(const spur_select_cycle* cycle, const spur_job_view* job, uint32_t count) {
    for (uint32_t r = 0; r < job->gres.count; r++) {
        const spur_gres_request* wanted = SPUR_AT(spur_gres_request, job->gres, r);
        uint64_t total = 0;
        if (wanted->scope != SPUR_GRES_PER_JOB) continue;
        for (uint32_t i = 0; i < count; i++)
            total += amount_of(SPUR_AT(spur_node_view, cycle->view->nodes, cycle->candidates[i].node), wanted);
        if (total < wanted->count) return 0;
    }
    return 1;
}

/* How many of the candidates, from the front, are enough; 0: not even all of them. */
static uint32_t smallest_prefix(const spur_select_cycle* cycle, const spur_job_view* job) {
    uint64_t room = 0;
    uint32_t required_left = 0;
    for (uint32_t i = 0; i < cycle->count; i++) required_left += cycle->candidates[i].required;
    for (uint32_t count = 1; count <= cycle->count && count <= job->max_nodes; count++) {
        room += cycle->candidates[count - 1].room;
        required_left -= cycle->candidates[count - 1].required;
        if (count >= job->min_nodes && room >= job->tasks && required_left == 0 && has_pooled(cycle, job, count))
            return count;
    }
    return 0;
}

static int light_first(const void* a, const void* b) {
    const candidate *x = a, *y = b;
    if (x->required != y->required) return x->required ? -1 : 1;
    if (x->liked != y->liked) return x->liked ? -1 : 1;
    if (x->weight != y->weight) return x->weight < y->weight ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}
static int roomy_first(const void* a, const void* b) {
    const candidate *x = a, *y = b;
    if (x->required != y->required) return x->required ? -1 : 1;
    if (x->pooled != y->pooled) return x->pooled > y->pooled ? -1 : 1;
    if (x->room != y->room) return x->room > y->room ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* qsort() may allocate; this does not. Heapsort. */
static void sort(candidate* items, uint32_t count, int (*order)(const void*, const void*)) {
    for (uint32_t end = count, start = count / 2; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            candidate last = items[--end];
            items[end] = items[0];
            items[0] = last;
        }
        for (uint32_t root = start, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && order(&items[child], &items[child + 1]) < 0) child++;
            if (order(&items[root], &items[child]) >= 0) break;
            candidate swap = items[root];
            items[root] = items[child];
            items[child] = swap;
        }
    }
}

/* Light nodes first; where those are too small for the number of nodes allowed, roomy ones first. */
static uint32_t choose(spur_select_cycle* cycle, const spur_job_view* job) {
    sort(cycle->candidates, cycle->count, light_first);
    uint32_t count = smallest_prefix(cycle, job);
    if (count != 0) return count;
    sort(cycle->candidates, cycle->count, roomy_first);
    return smallest_prefix(cycle, job);
}

/* ---- the answer: into the caller's buffers; past their end things are only counted ---- */

static uint64_t* next_words(spur_placement* out, uint32_t bits) {
    uint32_t count = (bits + 63) / 64;
    uint64_t* place = out->words + out->word_wanted;
    out->word_wanted += count;
    if (out->word_wanted > out->word_capacity) return NULL;
    out->word_count = out->word_wanted;
    memset(place, 0, count * sizeof *place);
    return place;
}

static void write_gres(spur_placement* out, const spur_node_view* node, const spur_gres_request* wanted, uint64_t count,
                       spur_node_share* share) {
    for (uint32_t i = 0; i < node->gres.count; i++) {
        const spur_gres_view* gres = SPUR_AT(spur_gres_view, node->gres, i);
        if (gres->name != wanted->name || count == 0) continue;
        uint64_t* words = next_words(out, gres->devices.count);
        spur_gres_share* entry = out->gres + out->gres_wanted++;
        if (out->gres_wanted > out->gres_capacity || words == NULL) return;
        out->gres_count = out->gres_wanted;
        *entry = (spur_gres_share){wanted->name, wanted->type, count, {words, gres->devices.count, 0}};
        for (uint32_t d = 0; d < gres->devices.count && count > 0; d++) {
            int taken = wanted->type != 0 && SPUR_AT(spur_device_view, gres->devices, d)->type != wanted->type;
            for (uint32_t other = 0; other < share->gres.count; other++) {
                const spur_gres_share* earlier = SPUR_AT(spur_gres_share, share->gres, other);
                taken = taken || (earlier->name == wanted->name && spur_has_bit(earlier->devices, d));
            }
            if (taken) continue;
            words[d / 64] |= (uint64_t)1 << (d % 64);
            count--;
        }
        if (share->gres.count == 0) share->gres = (spur_span){entry, 0, sizeof(spur_gres_share)};
        share->gres.count++;
    }
}

static spur_status write_answer(spur_select_cycle* cycle, const spur_job_view* job, uint32_t count,
                                spur_placement* out) {
    uint32_t tasks_left = job->tasks > 0 ? job->tasks : count;
    uint64_t pooled_left[MOST_REQUESTS];
    for (uint32_t r = 0; r < job->gres.count; r++) pooled_left[r] = SPUR_AT(spur_gres_request, job->gres, r)->count;
    out->share_count = out->share_wanted = out->gres_count = out->gres_wanted = out->word_count = out->word_wanted = 0;
    out->score = 0;
    for (uint32_t i = 0; i < count; i++) {
        const spur_node_view* node = SPUR_AT(spur_node_view, cycle->view->nodes, cycle->candidates[i].node);
        uint32_t later = count - i - 1; /* each of those wants a task too */
        uint32_t tasks = least(cycle->candidates[i].room, tasks_left > later ? tasks_left - later : tasks_left > 0);
        tasks_left -= tasks;
        spur_node_share share = {cycle->candidates[i].node, node->cpus, node->memory_mib, {0}, {0}, tasks,
                                 SPUR_SHARE_WHOLE_NODE};
        uint64_t* words = next_words(out, node->cores_offered.count);
        if (words != NULL) {
            memcpy(words, node->cores_offered.words, (node->cores_offered.count + 63) / 64 * sizeof *words);
            share.cores = (spur_bits){words, node->cores_offered.count, 0};
        }
        for (uint32_t r = 0; r < job->gres.count; r++) {
            const spur_gres_request* wanted = SPUR_AT(spur_gres_request, job->gres, r);
            uint64_t amount = wanted->scope == SPUR_GRES_PER_TASK ? wanted->count * tasks : wanted->count;
            if (wanted->scope == SPUR_GRES_PER_JOB) {
                uint64_t have = amount_of(node, wanted);
                amount = pooled_left[r] < have ? pooled_left[r] : have;
                pooled_left[r] -= amount;
            }
            write_gres(out, node, wanted, amount, &share);
        }
        if (out->share_wanted++ < out->share_capacity) out->shares[out->share_count++] = share;
        out->score += node->weight;
    }
    int complete = out->share_wanted <= out->share_capacity && out->gres_wanted <= out->gres_capacity &&
                   out->word_wanted <= out->word_capacity;
    return complete ? SPUR_FITS : SPUR_NO_ROOM;
}

/* ---- the boundary ---- */

static spur_status pick(spur_select_cycle* cycle, const spur_pick* pick, spur_placement* out) {
    const spur_job_view* job = SPUR_AT(spur_job_view, cycle->view->pending, pick->job);
    if (job->gres.count > MOST_REQUESTS) return SPUR_NEVER;
    int only_test = (pick->flags & SPUR_PICK_TEST_ONLY) != 0 || out == NULL;
    int as_empty = (pick->flags & SPUR_PICK_EMPTY) != 0;
    uint32_t count = !as_empty && gather(cycle, pick, job, 0) ? choose(cycle, job) : 0;
    if (count == 0) {
        count = gather(cycle, pick, job, 1) ? choose(cycle, job) : 0;
        if (count == 0) return SPUR_NEVER;
        if (!as_empty) return SPUR_NOT_NOW;
    }
    return only_test ? SPUR_FITS : write_answer(cycle, job, count, out);
}

static void end(spur_plugin* self, spur_select_cycle* cycle) {
    (void)self;
    free(cycle->candidates);
    free(cycle->jobs);
    free(cycle);
}

static spur_status begin(spur_plugin* self, const spur_cluster_view* view, spur_select_cycle** out, spur_error* err) {
    spur_select_cycle* cycle = calloc(1, sizeof *cycle);
    if (cycle == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    cycle->view = view;
    cycle->candidates = calloc(view->nodes.count + 1, sizeof(candidate));
    cycle->jobs = calloc((size_t)SLOTS * view->nodes.count + 1, sizeof(int32_t));
    if (cycle->candidates == NULL || cycle->jobs == NULL) {
        end(self, cycle);
        return spur_fail(err, SPUR_E_INTERNAL, "out of memory for %u nodes", view->nodes.count);
    }
    for (uint32_t n = 0; n < view->nodes.count; n++)
        cycle->jobs[n] = (int32_t)SPUR_AT(spur_node_view, view->nodes, n)->running_jobs;
    *out = cycle;
    return SPUR_OK;
}

static uint32_t slots(spur_select_cycle* cycle) {
    (void)cycle;
    return SLOTS;
}

static spur_status copy(spur_select_cycle* cycle, uint32_t from, uint32_t to) {
    size_t count = cycle->view->nodes.count;
    if (from >= SLOTS || to >= SLOTS) return SPUR_E_INVALID;
    memmove(cycle->jobs + to * count, cycle->jobs + from * count, count * sizeof(int32_t));
    return SPUR_OK;
}

static void book(spur_select_cycle* cycle, uint32_t slot, const spur_placement* placement, int32_t sign) {
    for (uint32_t i = 0; i < placement->share_count; i++)
        cycle->jobs[(size_t)slot * cycle->view->nodes.count + placement->shares[i].node] += sign;
}
static void take(spur_select_cycle* cycle, uint32_t slot, const spur_placement* placement, uint32_t job_flags) {
    (void)job_flags;
    book(cycle, slot, placement, 1);
}
static void give(spur_select_cycle* cycle, uint32_t slot, const spur_placement* placement, uint32_t job_flags) {
    (void)job_flags;
    book(cycle, slot, placement, -1);
}

/* Jobs that ask for more than generic resources are not brought here: they wait and say for whom. */
static const spur_select_ops ops = {.size = sizeof(spur_select_ops),
                                    .understands = SPUR_WISH_GRES,
                                    .begin = begin,
                                    .end = end,
                                    .slots = slots,
                                    .copy = copy,
                                    .take = take,
                                    .give = give,
                                    .pick = pick};

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
    return strcmp(id, SPUR_SELECT_IFACE) == 0 ? &ops : NULL;
}

static const char* const interfaces[] = {SPUR_SELECT_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "whole idle nodes, light ones first",
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
