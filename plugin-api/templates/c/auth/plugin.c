/* @TYPE@ - credentials signed with a shared key: "uid.gid.time.nonce.signature", signed together with the request. */
#define _GNU_SOURCE
#include "hmac.h"

#include <spur/plugin/auth.h>
#include <spur/plugin/plugin.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { longest_key = 1024, longest_claims = 128 };

struct spur_plugin {
    uint8_t key[longest_key];
    size_t key_length;
    int64_t lifetime_s;
};

/* ---- the policy ---- */

/* The signature covers the claims and the request they are for. */
static void sign(const spur_plugin* self, const char* claims, size_t length, const spur_auth_request* request,
                 char hex[65]) {
    hmac_state state;
    uint8_t digest[32];
    hmac_begin(&state, self->key, self->key_length);
    hmac_add(&state, claims, length);
    hmac_add(&state, "\n", 1);
    hmac_add(&state, request->binding, sizeof request->binding);
    hmac_end(&state, digest);
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* Takes the same time wherever they differ. */
static int equal(const char* a, const char* b, size_t length) {
    int different = 0;
    for (size_t i = 0; i < length; i++) different |= a[i] ^ b[i];
    return different == 0;
}

/* The key in `path`; made on first use. Others must not be able to read it. */
static spur_status load_key(spur_plugin* self, const char* path, spur_error* err) {
    uint8_t fresh[32];
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file >= 0) {
        int made =
            getrandom(fresh, sizeof fresh, 0) == sizeof fresh && write(file, fresh, sizeof fresh) == sizeof fresh;
        close(file);
        if (!made) return spur_fail(err, SPUR_E_IO, "cannot write the key file %s", path);
    }
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return spur_fail(err, SPUR_E_UNAVAILABLE, "cannot read the key file %s: %s", path, strerror(errno));
    struct stat about;
    int exposed = fstat(file, &about) != 0 || (about.st_mode & 077) != 0;
    ssize_t length = read(file, self->key, sizeof self->key);
    close(file);
    if (exposed) return spur_fail(err, SPUR_E_INVALID, "the key file %s can be read by others; chmod 600 it", path);
    if (length < 32) return spur_fail(err, SPUR_E_INVALID, "the key file %s holds less than 32 bytes", path);
    self->key_length = (size_t)length;
    return SPUR_OK;
}

/* ---- the boundary ---- */

static spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* out,
                        const spur_stop* stop, spur_error* err) {
    (void)stop; /* nothing here waits */
    uint64_t nonce = 0;
    char credential[longest_claims + 66];
    if (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce)
        return spur_fail(err, SPUR_E_INTERNAL, "the system gave no random numbers");
    int length = snprintf(credential, longest_claims, "%u.%u.%" PRId64 ".%016" PRIx64, geteuid(), getegid(),
                          (int64_t)time(NULL), nonce);
    credential[length] = '.';
    sign(self, credential, (size_t)length, request, credential + length + 1);
    return spur_push(out, credential);
}

static spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                          const spur_claims* claims_out, const spur_stop* stop, spur_error* err) {
    (void)claims_out, (void)stop; /* no groups and scopes of its own: the directory knows them */
    char claims[longest_claims + 1], signature[65];
    if (credential.length <= 65 || credential.length - 65 > longest_claims ||
        credential.data[credential.length - 65] != '.')
        return spur_fail(err, SPUR_AUTH_REFUSED, "the credential is not one of ours");
    size_t length = credential.length - 65;
    memcpy(claims, credential.data, length);
    claims[length] = '\0';
    sign(self, claims, length, request, signature);
    if (!equal(credential.data + length + 1, signature, 64))
        return spur_fail(err, SPUR_AUTH_REFUSED,
                         "the signature is wrong: another key, another request, or a changed credential");

    uint32_t uid = 0, gid = 0;
    int64_t issued = 0, now = (int64_t)time(NULL);
    if (sscanf(claims, "%" SCNu32 ".%" SCNu32 ".%" SCNd64 ".", &uid, &gid, &issued) != 3)
        return spur_fail(err, SPUR_AUTH_REFUSED, "the credential is signed but makes no sense");
    if (issued > now + self->lifetime_s || now - issued > self->lifetime_s)
        return spur_fail(err, SPUR_AUTH_REFUSED, "the credential has expired, or the clocks of the two hosts differ");
    spur_identity who = {.uid = uid, .gid = gid, .issued = issued, .expires = issued + self->lifetime_s};
    snprintf(who.mechanism, sizeof who.mechanism, "%s", "@NAME@");
    SPUR_PUT(out, &who);
    return SPUR_OK;
}

static const spur_auth_ops ops = {.size = sizeof(spur_auth_ops),
                                  .features = SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_LOCAL_ONLY,
                                  .make = make,
                                  .verify = verify};

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    char path[PATH_MAX], state_dir[PATH_MAX];
    const char* configured = spur_config_find(config, "key_file")->text;
    int length = snprintf(path, sizeof path, "%s", configured);
    if (configured[0] == '\0') {
        if (spur_host_fact(host, "state_dir", state_dir, sizeof state_dir)[0] == '\0')
            return spur_fail(err, SPUR_E_INVALID, "no place for the key: set the option \"key_file\"");
        length = snprintf(path, sizeof path, "%s/@NAME@.key", state_dir);
    }
    if (length >= (int)sizeof path) return spur_fail(err, SPUR_E_INVALID, "the key file's path is too long");
    spur_plugin* self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    self->lifetime_s = spur_config_find(config, "lifetime")->integer;
    if (self->lifetime_s > 86400) self->lifetime_s = 86400;
    spur_status status = load_key(self, path, err);
    if (status == SPUR_OK)
        *out = self;
    else
        free(self);
    return status;
}

static void destroy(spur_plugin* self) {
    explicit_bzero(self, sizeof *self);
    free(self);
}

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_AUTH_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"key_file", SPUR_OPTION_PATH, 0, NULL, "the shared key; by default @NAME@.key in the state directory", NULL, 0, 0},
    {"lifetime", SPUR_OPTION_DURATION, 0, "300s", "how long a credential works; at most a day", NULL, 0, 0},
};
static const char* const interfaces[] = {SPUR_AUTH_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "credentials signed with a shared key",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
