/* @TYPE@ - members are reached under their name with a suffix. */
#define _POSIX_C_SOURCE 200809L
#include <spur/plugin/draft/net.h>
#include <spur/plugin/plugin.h>

#include <pthread.h>
#include <stdlib.h>

struct spur_plugin {
    char* suffix;
    pthread_mutex_t lock;
    char* mine; /* our own address; NULL until join() */
};

/* ---- the policy ---- */

/* "n17" and "-ib" make "n17-ib"; without a suffix, where the member said it is. To be freed. */
static char* address_of(const spur_plugin* self, const spur_net_member* member) {
    spur_str base = self->suffix[0] != '\0' ? member->name : member->endpoint;
    size_t suffix = strlen(self->suffix);
    char* text = malloc(base.length + suffix + 1);
    if (text == NULL) return NULL;
    if (base.length > 0) memcpy(text, base.data, base.length);
    memcpy(text + base.length, self->suffix, suffix + 1);
    return text;
}

/* ---- the boundary ---- */

static spur_status join(spur_plugin* self, const spur_net_member* me, const spur_sink* token, spur_error* err) {
    char* mine = address_of(self, me);
    if (mine == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    pthread_mutex_lock(&self->lock);
    free(self->mine);
    self->mine = mine;
    pthread_mutex_unlock(&self->lock);
    return spur_push(token, "");
}

static spur_status leave(spur_plugin* self, spur_error* err) {
    (void)err;
    pthread_mutex_lock(&self->lock);
    free(self->mine);
    self->mine = NULL;
    pthread_mutex_unlock(&self->lock);
    return SPUR_OK;
}

static spur_status peers(spur_plugin* self, spur_span members, spur_error* err) {
    (void)self, (void)members, (void)err;
    return SPUR_OK;
}

static spur_status address(spur_plugin* self, const spur_net_member* member, const spur_sink* out, spur_error* err) {
    char* text = NULL;
    if (member != NULL) {
        text = address_of(self, member);
        if (text == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    } else {
        pthread_mutex_lock(&self->lock);
        if (self->mine != NULL) text = strdup(self->mine);
        pthread_mutex_unlock(&self->lock);
        if (text == NULL) return spur_fail(err, SPUR_E_INVALID, "this member has not joined yet, so it has no address");
    }
    spur_status status = spur_push(out, text);
    free(text);
    return status;
}

static const spur_net_ops ops = {
    .size = sizeof(spur_net_ops), .join = join, .leave = leave, .peers = peers, .address = address};

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
    free(self->mine);
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
