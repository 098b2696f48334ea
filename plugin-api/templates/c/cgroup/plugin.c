/* @TYPE@ - a control group of version 2 for each step, below a root. Everything it knows is in the file system. */
#define _GNU_SOURCE
#include <spur/plugin/cgroup.h>
#include <spur/plugin/plugin.h>
#include <spur/plugin/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct spur_plugin {
    char root[300];
};

typedef struct group_path {
    char text[512];
} group_path;

/* ---- paths and files, without allocating: attach() is called between fork and exec ---- */

static char* add_text(char* at, const char* text) {
    while (*text != '\0') *at++ = *text++;
    return at;
}
static char* add_number(char* at, uint32_t number) {
    char digits[10];
    int count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0) *at++ = digits[--count];
    return at;
}

static group_path path_of(const spur_plugin* self, const spur_cgroup_scope* scope, const char* file) {
    group_path path;
    char* at = add_text(path.text, self->root);
    if (scope->job != SPUR_NONE) { /* otherwise it is the node's own */
        at = add_number(add_text(at, "/job_"), scope->job);
        at = add_number(add_text(at, "."), scope->attempt);
    }
    if (scope->step != SPUR_NONE) at = add_number(add_text(at, "/step_"), scope->step);
    if (scope->task != SPUR_NONE) at = add_number(add_text(at, "/task_"), scope->task);
    if (file != NULL) at = add_text(add_text(at, "/"), file);
    *at = '\0';
    return path;
}

/* 0, or -1 with errno set. */
static int write_file(const char* path, const char* text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t written = write(file, text, strlen(text));
    int why = errno;
    close(file);
    errno = why;
    return written < 0 ? -1 : 0;
}

/* ---- walking a group and those below it ---- */

typedef struct visitor {
    void (*pid)(void* context, int32_t pid); /* NULL: do not look at processes */
    void* context;
    int remove; /* 1: remove each directory after what is below it */
} visitor;

static int walk(const char* directory, const visitor* visit) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    FILE* processes = visit->pid != NULL ? fopen(path, "re") : NULL;
    for (int pid; processes != NULL && fscanf(processes, "%d", &pid) == 1;) visit->pid(visit->context, pid);
    if (processes != NULL) fclose(processes);

    DIR* entries = opendir(directory);
    if (entries == NULL) return errno == ENOENT ? 0 : -1;
    int result = 0;
    for (struct dirent* entry; result == 0 && (entry = readdir(entries)) != NULL;) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        result = walk(path, visit);
    }
    closedir(entries);
    if (result == 0 && visit->remove && rmdir(directory) != 0 && errno != ENOENT) result = -1;
    return result;
}

static spur_status io_error(spur_error* err, const char* what) {
    return spur_fail(err, SPUR_E_IO, "%s: %s", what, strerror(errno));
}

/* ---- the boundary ---- */

static uint32_t capabilities(spur_plugin* self) {
    (void)self;
    return SPUR_CGROUP_CONTAINS | SPUR_CGROUP_FREEZES;
}

/* The job's group first, then the step's, then the task's: those below `path` from `from` on. */
static int make_groups(group_path* path, size_t from) {
    char* at = path->text + from;
    do {
        at = strchr(at, '/');
        if (at != NULL) *at = '\0';
        const int failed = mkdir(path->text, 0755) != 0 && errno != EEXIST;
        if (at != NULL) *at++ = '/';
        if (failed) return -1;
    } while (at != NULL);
    return 0;
}

/* Limits would be set here, for each capability that is declared above:
 *   if (limits->memory.rule == SPUR_LIMIT_AT) write_file(<memory.max>, <limits->memory.value>);
 *   if (limits->memory.rule == SPUR_LIMIT_NONE) write_file(<memory.max>, "max"); SPUR_LIMIT_LEAVE: nothing */
static spur_status make(spur_plugin* self, const spur_cgroup_scope* scope, const spur_cgroup_limits* limits,
                        spur_error* err) {
    (void)limits;
    if (scope->job == SPUR_NONE) return SPUR_OK; /* create() has made it */
    group_path path = path_of(self, scope, NULL);
    for (int tries = 0; tries < 100; ++tries) {
        if (make_groups(&path, strlen(self->root) + 1) == 0) return SPUR_OK;
        if (errno != ENOENT) break; /* that is the end of another step, which took the job's empty group away: once more */
    }
    return io_error(err, path.text);
}

/* Between fork and exec where pid is 0: nothing here allocates, locks or prints, also when it fails. */
static spur_status attach(spur_plugin* self, const spur_cgroup_scope* scope, int32_t pid, spur_error* err) {
    char number[12];
    *add_number(number, (uint32_t)pid) = '\0';
    group_path path = path_of(self, scope, "cgroup.procs");
    if (write_file(path.text, number) == 0) return SPUR_OK;
    static const char why[] = "the kernel did not let it into its control group";
    if (err != NULL && SPUR_HAS(spur_error, err, text)) {
        err->code = SPUR_E_IO;
        memcpy(err->text, why, sizeof why);
    }
    return SPUR_E_IO;
}

/* For clone3() with CLONE_INTO_CGROUP. */
static spur_status open_scope(spur_plugin* self, const spur_cgroup_scope* scope, int32_t* fd, spur_error* err) {
    group_path path = path_of(self, scope, NULL);
    int opened = open(path.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened < 0) return io_error(err, path.text);
    *fd = opened;
    return SPUR_OK;
}

static spur_status freeze(spur_plugin* self, const spur_cgroup_scope* scope, uint32_t frozen, const spur_stop* stop,
                          spur_error* err) {
    group_path path = path_of(self, scope, "cgroup.freeze");
    if (write_file(path.text, frozen ? "1" : "0") != 0) return io_error(err, path.text);
    path = path_of(self, scope, "cgroup.events");
    for (int tries = 0; tries < 5000; tries++) { /* the kernel takes a moment */
        char key[64];
        int value, done = 0;
        FILE* events = fopen(path.text, "re");
        while (events != NULL && fscanf(events, "%63s %d", key, &value) == 2)
            done = done || (strcmp(key, "frozen") == 0 && value == (int)(frozen != 0));
        if (events != NULL) fclose(events);
        if (done) return SPUR_OK;
        if (spur_wait(stop, -1, 0, 1) < 0) return spur_fail(err, SPUR_E_STOPPED, "stopped while waiting for a freeze");
    }
    return spur_fail(err, SPUR_E_IO, "the kernel did not confirm a freeze");
}

static void kill_one(void* context, int32_t pid) { kill(pid, *(int32_t*)context); }

static void count_one(void* context, int32_t pid) {
    (void)pid;
    ++*(uint32_t*)context;
}

/* After SIGKILL all are gone on return. */
static spur_status signal_all(spur_plugin* self, const spur_cgroup_scope* scope, int32_t number, const spur_stop* stop,
                              spur_error* err) {
    visitor visit = {.pid = kill_one, .context = &number};
    group_path path = path_of(self, scope, NULL);
    if (walk(path.text, &visit) != 0) return io_error(err, path.text);
    for (int tries = 0; number == SIGKILL && tries < 5000; tries++) {
        uint32_t left = 0;
        visitor count = {.pid = count_one, .context = &left};
        if (walk(path.text, &count) != 0) return io_error(err, path.text);
        if (left == 0) return SPUR_OK;
        walk(path.text, &visit); /* some may have been born meanwhile */
        if (spur_wait(stop, -1, 0, 1) < 0) return spur_fail(err, SPUR_E_STOPPED, "stopped while processes die");
    }
    return number != SIGKILL ? SPUR_OK : spur_fail(err, SPUR_E_BUSY, "processes in %s do not die", path.text);
}

static spur_status usage(spur_plugin* self, const spur_cgroup_scope* scope, spur_cgroup_usage* out, spur_error* err) {
    uint32_t count = 0;
    visitor visit = {.pid = count_one, .context = &count};
    group_path path = path_of(self, scope, NULL);
    if (walk(path.text, &visit) != 0) return io_error(err, path.text);
    spur_cgroup_usage usage = {.processes = count};
    SPUR_PUT(out, &usage);
    return SPUR_OK;
}

static spur_status processes(spur_plugin* self, const spur_cgroup_scope* scope, void* context,
                             void (*each)(void* context, int32_t pid), spur_error* err) {
    visitor visit = {.pid = each, .context = context};
    group_path path = path_of(self, scope, NULL);
    return walk(path.text, &visit) == 0 ? SPUR_OK : io_error(err, path.text);
}

static spur_status remove_all(spur_plugin* self, const spur_cgroup_scope* scope, spur_error* err) {
    visitor visit = {.remove = 1};
    group_path path = path_of(self, scope, NULL);
    if (walk(path.text, &visit) != 0)
        return errno == EBUSY ? spur_fail(err, SPUR_E_BUSY, "processes still live in %s", path.text)
                              : io_error(err, path.text);
    if (scope->job != SPUR_NONE && scope->step != SPUR_NONE) {
        *strrchr(path.text, '/') = '\0';
        rmdir(path.text); /* the job's, if this was the last of its steps */
    }
    return SPUR_OK;
}

static const spur_cgroup_ops ops = {.size = sizeof(spur_cgroup_ops),
                                    .capabilities = capabilities,
                                    .make = make,
                                    .attach = attach,
                                    .freeze = freeze,
                                    .signal = signal_all,
                                    .usage = usage,
                                    .processes = processes,
                                    .remove = remove_all,
                                    .open = open_scope};

static spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    (void)host;
    const char* root = spur_config_find(config, "root")->text;
    char procs[PATH_MAX];
    if (strlen(root) >= sizeof((spur_plugin*)0)->root)
        return spur_fail(err, SPUR_E_INVALID, "the option \"root\" is too long for a path");
    int made = mkdir(root, 0755) == 0;
    if (!made && errno != EEXIST)
        return spur_fail(err, SPUR_E_UNAVAILABLE, "cannot make the control group %s: %s", root, strerror(errno));
    snprintf(procs, sizeof procs, "%s/cgroup.procs", root);
    if (access(procs, W_OK) != 0) {
        if (made) rmdir(root);
        return spur_fail(err, SPUR_E_UNAVAILABLE, "%s is not a writable control group of version 2", root);
    }
    spur_plugin* self = calloc(1, sizeof *self);
    if (self == NULL) return spur_fail(err, SPUR_E_INTERNAL, "out of memory");
    strcpy(self->root, root);
    *out = self;
    return SPUR_OK;
}

static void destroy(spur_plugin* self) { free(self); }

static const void* query(spur_plugin* self, const char* id) {
    (void)self;
    return strcmp(id, SPUR_CGROUP_IFACE) == 0 ? &ops : NULL;
}

static const spur_option options[] = {
    {"root", SPUR_OPTION_PATH, 0, "/sys/fs/cgroup/spur", "the control group below which scopes are made", NULL, 0, 0},
};
static const char* const interfaces[] = {SPUR_CGROUP_IFACE, NULL};
static const spur_plugin_desc desc = {
    .size = sizeof(spur_plugin_desc),
    .type = "@TYPE@",
    .version = "0.1.0",
    .vendor = "your name here",
    .summary = "a control group for each step; contains and freezes, limits nothing",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .option_stride = sizeof(spur_option),
    .interfaces = interfaces,
    .create = create,
    .destroy = destroy,
    .query = query,
};

SPUR_PLUGIN(&desc)
