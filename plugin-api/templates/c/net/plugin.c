/* @TYPE@ - members are reached under their name with a suffix. */
#define _POSIX_C_SOURCE 200809L
#include <spur/plugin/draft/net.h>
#include <spur/plugin/plugin.h>

#include <pthread.h>
#include <stdlib.h>

/* A member and where it is reached. The one without a name is ourselves. */
typedef struct peer {
    struct peer* next;
    char *name, *address;
} peer;

struct spur_plugin {
    char* suffix;
    pthread_mutex_t lock;
    peer* peers;
    uint64_t generation;
};

/* ---- the policy ---- */

/* "n17" and "-ib" make "n17-ib"; without a suffix, where the member said it is. To be freed. */
static char* address_of(const spur_plugin* self, const spur_net_member* member) {
    spur_str base = member->name;
    if (self->suffix[0] == '\0' && member->endpoints.count > 0) base = *SPUR_AT(spur_str, member->endpoints, 0);
    size_t suffix = strlen(self->suffix);
    char* text = malloc(base.length + suffix + 1);
    if (text == NULL) return NULL;
    if (base.length > 0) memcpy(text, base.data, base.length);
    memcpy(text + base.length, self->suffix, suffix + 1);
    return text;
}

static void forget(spur_plugin* self, const char* name) {
    for (peer** at = &self->peers; *at != NULL;) {
        peer* one = *at;
        if (name != NULL && strcmp(one->name, name) != 0) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        free(one->name);
        free(one->address);
        free(one);
    }
}

static const peer* find(const spur_plugin* self, const char* name) {
    const peer* one = self->peers;
    while (one != NULL && strcmp(one->name, name) != 0) one = one->next;
    return one;
}

/* 0: out of memory. */
static int remember(spur_plugin* self, const char* name, const spur_net_member* member) {
    peer* one = calloc(1, sizeof *one);
    if (one == NULL) return 0;
    one->name = strdup(name);
    one->address = address_of(self, member);
    forget(self, name);
    one->next = self->peers;
    self->peers = one;
    return one->name != NULL && one->address != NULL;
}

static char* terminated(spur_str text) {
    char* copy = malloc((size_t)text.length + 1);
    if (copy == NULL) return NULL;
    if (text.length > 0) memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    return copy;
}

/* ---- the boundary ---- */

/* Nothing is set up outside this process, so taking over and joining are the same. */
static spur_status adopt(spur_plugin* self, const spur_net_member* me, const spur_net_listener* listener,
                         const spur_stop* stop, spur_error* err) {
    (void)stop;
    pthread_mutex_lock(&self->lock);
    int kept = remember(self, "", me);
    pthread_mutex_unlock(&self->lock);
    if (!kept) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    listener->token(listener, spur_text("")); /* others need nothing to talk to us */
    return SPUR_OK;
}

static spur_status join(spur_plugin* self, const spur_net_member* me, spur_str invitation,
                        const spur_net_listener* listener, const spur_stop* stop, spur_error* err) {
    (void)invitation;
    return adopt(self, me, listener, stop, err);
}

static spur_status leave(spur_plugin* self, const spur_stop* stop, spur_error* err) {
    (void)stop, (void)err;
    pthread_mutex_lock(&self->lock);
    forget(self, NULL);
    self->generation = 0;
    pthread_mutex_unlock(&self->lock);
    return SPUR_OK;
}

/* Everybody but ourselves goes before a list that names them all. */
static void forget_peers(spur_plugin* self) {
    for (peer* one = self->peers; one != NULL;) {
        peer* next = one->next;
        if (one->name[0] != '\0') forget(self, one->name);
        one = next;
    }
}

static spur_status change(spur_plugin* self, uint64_t generation, uint32_t complete, spur_span changed, spur_span gone,
                          const spur_stop* stop, spur_error* err) {
    (void)stop;
    int kept = 1;
    pthread_mutex_lock(&self->lock);
    if (generation > self->generation) {
        if (complete) forget_peers(self);
        for (uint32_t i = 0; i < changed.count && kept; i++) {
            const spur_net_member* member = SPUR_AT(spur_net_member, changed, i);
            char* name = terminated(member->name);
            kept = name != NULL && remember(self, name, member);
            free(name);
        }
        for (uint32_t i = 0; i < gone.count && kept; i++) {
            char* name = terminated(*SPUR_AT(spur_str, gone, i));
            if ((kept = name != NULL)) forget(self, name);
            free(name);
        }
        self->generation = generation;
    }
    pthread_mutex_unlock(&self->lock);
    return kept ? SPUR_OK : spur_fail(err, SPUR_E_INTERNAL, "out of memory");
}

static spur_status addresses(spur_plugin* self, spur_str name, const spur_sink* out, spur_error* err) {
    char* wanted = terminated(name);
    if (wanted == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    pthread_mutex_lock(&self->lock);
    const peer* found = find(self, wanted);
    spur_status status = found != NULL ? spur_push(out, found->address)
                                       : spur_fail(err, SPUR_E_NOT_FOUND, "there is no member \"%s\"", wanted);
    pthread_mutex_unlock(&self->lock);
    free(wanted);
    return status;
}

static const spur_net_ops ops = {.size = sizeof(spur_net_ops),
                                 .join = join,
                                 .adopt = adopt,
                                 .leave = leave,
                                 .change = change,
                                 .addresses = addresses};

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host;
    spur_plugin* self = calloc(1, sizeof *self);
    if (self != NULL) self->suffix = strdup(spur_config_find(config, "suffix")->text);
    if (self == NULL || self->suffix == NULL) {
        free(self);
        return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    }
    pthread_mutex_init(&self->lock, NULL);
    *out = self;
    return SPUR_OK;
}

static void destroy(spur_plugin* self) {
    pthread_mutex_destroy(&self->lock);
    forget(self, NULL);
    free(self->suffix);
    free(self);
}

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_NET_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"suffix", SPUR_OPTION_STRING, 0, "", "added to a member's name to get its address; empty: use its endpoint", NULL,
     0, 0},
};
static const char* const interfaces[] = {SPUR_NET_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "members are reached under their name with a suffix",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
