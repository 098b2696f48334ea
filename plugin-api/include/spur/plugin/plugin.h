/* spur/plugin/plugin.h - C sugar over the headers: what every plugin written in C needs on its first day.
 *
 *   static spur_status plan(spur_plugin *self, ..., spur_error *err) {
 *       if (broken) return spur_fail(err, SPUR_E_IO, "cannot read %s: %s", path, strerror(errno));
 *       ...
 *   }
 *   SPUR_PLUGIN(&desc)                                         exports spur_module_v1()
 *
 * C++ has plugin.hpp instead. */
#ifndef SPUR_PLUGIN_PLUGIN_H
#define SPUR_PLUGIN_PLUGIN_H

#include <spur/plugin/config.h>
#include <spur/plugin/log.h>
#include <spur/plugin/module.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Fill a caller-owned error and return its code. */
__attribute__((format(printf, 3, 4))) static inline spur_status spur_fail(spur_error *err, spur_status code,
                                                                          const char *format, ...) {
    if (err != NULL && SPUR_HAS(spur_error, err, text)) {
        va_list arguments;
        va_start(arguments, format);
        err->code = code;
        vsnprintf(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
    }
    return code;
}

static inline int spur_has_bit(spur_bits bits, uint32_t i) {
    return i < bits.count && bits.words != NULL && (bits.words[i / 64] >> (i % 64) & 1u) != 0;
}

static inline spur_str spur_text(const char *text) {
    spur_str str = {text, (uint32_t)strlen(text), 0};
    return str;
}

static inline spur_status spur_push(const spur_sink *sink, const char *text) {
    return sink->write(sink, text, strlen(text));
}

/* One line into the daemon's log, or nowhere if the host has none. */
__attribute__((format(printf, 3, 4))) static inline void spur_log_line(const spur_host *host, uint32_t level,
                                                                       const char *format, ...) {
    const spur_log *log = (const spur_log *)host->service(host, SPUR_LOG_SERVICE);
    if (log == NULL) return;
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log->write(log, level, spur_text(line));
}

/* A sink into a buffer of fixed size, always terminated; what does not fit is refused. */
typedef struct spur_buffer {
    spur_sink sink;
    uint64_t length, capacity;
    char *text;
} spur_buffer;

static inline spur_status spur_buffer_write(const spur_sink *sink, const void *data, uint64_t length) {
    spur_buffer *buffer = (spur_buffer *)sink->context;
    if (length >= buffer->capacity - buffer->length) return SPUR_E_BUSY;
    memcpy(buffer->text + buffer->length, data, length);
    buffer->length += length;
    buffer->text[buffer->length] = '\0';
    return SPUR_OK;
}

/* A fact about the daemon ("state_dir") into `text`; "" where the host does not know it or it does not fit. */
static inline const char *spur_host_fact(const spur_host *host, const char *key, char *text, uint64_t capacity) {
    const spur_config_service *facts = (const spur_config_service *)host->service(host, SPUR_CONFIG_SERVICE);
    spur_buffer buffer = {{sizeof(spur_sink), 0, &buffer, spur_buffer_write}, 0, capacity, text};
    text[0] = '\0';
    if (facts == NULL || facts->get(facts, key, &buffer.sink) != SPUR_OK) text[0] = '\0';
    return text;
}

/* SPUR_PLUGIN(&desc, ...): export one or more spur_plugin_desc objects of static storage. */
#define SPUR_PLUGIN(...)                                                                                           \
    SPUR_EXPORT const spur_module *spur_module_v1(void) {                                                          \
        static const spur_plugin_desc *const plugins[] = {__VA_ARGS__, NULL};                                      \
        static const spur_module module = {sizeof(spur_module), SPUR_ABI_EPOCH, SPUR_HEADERS_VERSION, plugins};    \
        return &module;                                                                                            \
    }

#endif
