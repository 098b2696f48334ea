/* @TYPE@ - accelerators found by their device files: every <prefix><number> in a directory is one. */
#define _GNU_SOURCE
#include <spur/plugin/draft/gpu.h>
#include <spur/plugin/plugin.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct spur_plugin {
    char *directory, *prefix, *type, *variable;
};

/* ---- the policy ---- */

static int path_of(const spur_plugin* self, uint32_t number, char path[PATH_MAX]) {
    return snprintf(path, PATH_MAX, "%s/%s%u", self->directory, self->prefix, number) < PATH_MAX;
}

/* The number behind the prefix, or -1: "accel7" is 7, "accel07" and "accelerator" are nobody. */
static int64_t number_in(const spur_plugin* self, const char* name) {
    size_t prefix = strlen(self->prefix);
    if (strncmp(name, self->prefix, prefix) != 0 || !isdigit((unsigned char)name[prefix])) return -1;
    if (name[prefix] == '0' && name[prefix + 1] != '\0') return -1;
    char* end = NULL;
    unsigned long long number = strtoull(name + prefix, &end, 10);
    return *end == '\0' && number < UINT32_MAX ? (int64_t)number : -1;
}

static int by_value(const void* a, const void* b) {
    uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
    return (x > y) - (x < y);
}

/* Numbers of the devices that are there, in order; to be freed. NULL with errno set if the directory cannot be read. */
static uint32_t* find_devices(const spur_plugin* self, size_t* count) {
    DIR* directory = opendir(self->directory);
    if (directory == NULL) return NULL;
    size_t capacity = 16;
    uint32_t* found = malloc(capacity * sizeof *found);
    *count = 0;
    for (struct dirent* entry; found != NULL && (entry = readdir(directory)) != NULL;) {
        int64_t number = number_in(self, entry->d_name);
        if (number < 0) continue;
        if (*count == capacity) {
            uint32_t* larger = realloc(found, (capacity *= 2) * sizeof *found);
            if (larger == NULL) free(found);
            if ((found = larger) == NULL) break;
        }
        found[(*count)++] = (uint32_t)number;
    }
    closedir(directory);
    if (found != NULL) qsort(found, *count, sizeof *found, by_value);
    return found;
}

/* ---- the boundary ---- */

static spur_status scan(spur_plugin* self, const spur_gpu_sink* sink, const spur_stop* stop, spur_error* err) {
    (void)stop; /* reading a directory takes no time; a library that asks the hardware watches it */
    size_t count = 0;
    uint32_t* numbers = find_devices(self, &count);
    if (numbers == NULL) return spur_fail(err, SPUR_E_IO, "cannot read %s: %s", self->directory, strerror(errno));
    for (size_t i = 0; i < count; i++) {
        char path[PATH_MAX];
        if (!path_of(self, numbers[i], path)) continue;
        spur_gpu_device device = {.size = sizeof device, .index = numbers[i], .numa_node = SPUR_NONE};
        device.health = SPUR_GPU_HEALTHY;
        device.key = device.device_files = spur_text(path);
        device.type = device.model = spur_text(self->type);
        sink->device(sink, &device);
    }
    free(numbers);
    return SPUR_OK;
}

/* The number of the device with this key, its path; -1: it is not there. */
static int64_t number_of(const spur_plugin* self, spur_str key) {
    char path[PATH_MAX];
    size_t directory = strlen(self->directory);
    if (key.length <= directory + 1 || key.length >= sizeof path) return -1;
    memcpy(path, key.data, key.length);
    path[key.length] = '\0';
    if (memcmp(path, self->directory, directory) != 0 || path[directory] != '/') return -1;
    return access(path, F_OK) == 0 ? number_in(self, path + directory + 1) : -1;
}

static spur_status bind(spur_plugin* self, const spur_gpu_binding* binding, const spur_gpu_env_sink* sink,
                        spur_error* err) {
    char list[4096] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < binding->grants.count; i++) {
        const spur_gpu_grant* grant = SPUR_AT(spur_gpu_grant, binding->grants, i);
        int64_t number = number_of(self, grant->key);
        if (number < 0)
            return spur_fail(err, SPUR_E_NOT_FOUND, "device %.*s is not there", (int)grant->key.length,
                             grant->key.data);
        /* Where others are hidden, the library numbers what is left from 0. */
        unsigned shown = binding->flags & SPUR_GPU_ISOLATED ? i : (unsigned)number;
        length += (size_t)snprintf(list + length, sizeof list - length, i == 0 ? "%u" : ",%u", shown);
        if (length >= sizeof list)
            return spur_fail(err, SPUR_E_INVALID, "%u devices are too many for one job", binding->grants.count);
        sink->device_file(sink, grant->key);
    }
    sink->variable(sink, spur_text(self->variable), spur_text(list));
    return SPUR_OK;
}

static const spur_gpu_ops ops = {.size = sizeof(spur_gpu_ops), .scan = scan, .bind = bind};

static void destroy(spur_plugin* self) {
    free(self->directory);
    free(self->prefix);
    free(self->type);
    free(self->variable);
    free(self);
}

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host;
    spur_plugin* self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    self->directory = strdup(spur_config_find(config, "directory")->text);
    self->prefix = strdup(spur_config_find(config, "prefix")->text);
    self->type = strdup(spur_config_find(config, "type")->text);
    self->variable = strdup(spur_config_find(config, "variable")->text);
    spur_status status = SPUR_OK;
    if (self->directory == NULL || self->prefix == NULL || self->type == NULL || self->variable == NULL)
        status = spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    DIR* directory = status == SPUR_OK ? opendir(self->directory) : NULL;
    if (status == SPUR_OK && directory == NULL)
        status =
            spur_fail(err, SPUR_E_UNAVAILABLE, "no accelerators: cannot read %s: %s", self->directory, strerror(errno));
    if (directory != NULL) closedir(directory);
    if (status == SPUR_OK)
        *out = self;
    else
        destroy(self);
    return status;
}

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_GPU_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"directory", SPUR_OPTION_PATH, 0, "/dev/accel", "where the device files are", NULL, 0, 0},
    {"prefix", SPUR_OPTION_STRING, 0, "accel", "their names without the number", NULL, 0, 0},
    {"type", SPUR_OPTION_STRING, 0, "accel", "what jobs ask for: gres=gpu:<type>", NULL, 0, 0},
    {"variable", SPUR_OPTION_STRING, 0, "ACCEL_VISIBLE_DEVICES", "environment variable that tells a job its devices",
     NULL, 0, 0},
};
static const char* const interfaces[] = {SPUR_GPU_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "accelerators found by their device files",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
