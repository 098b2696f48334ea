/* spur/plugin/config.h - service "spur.config/1": facts about the daemon the plugin lives in.
 *
 * A plugin's own options come to create(). This service answers the few questions that are the cluster's, not the
 * plugin's. Known keys: "cluster_name", "state_dir", "controller.state_dir" (outside spurctld), "node_name" (spurd), "runtime_dir", "listen_addr",
 * "controller.hosts" (comma-separated), "plugin.file" (the file this plugin was loaded from). Later releases add keys. */
#ifndef SPUR_PLUGIN_CONFIG_H
#define SPUR_PLUGIN_CONFIG_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_CONFIG_SERVICE "spur.config/1"

typedef struct spur_config_service {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* The value of `key` into `sink`. SPUR_E_NOT_FOUND if this host does not know it. [any-thread, cheap] */
    spur_status (*get)(const struct spur_config_service *service, const char *key, const spur_sink *sink);
} spur_config_service;

/* The value of a declared option, or NULL for a key that was not declared. */
static inline const spur_config_value *spur_config_find(const spur_config *config, const char *key) {
    for (uint32_t i = 0; i < config->values.count; i++) {
        const spur_config_value *value = SPUR_AT(spur_config_value, config->values, i);
        const char *a = value->key, *b = key;
        while (*a && *a == *b) a++, b++;
        if (*a == *b) return value;
    }
    return NULL;
}

#ifdef __cplusplus
}
#endif
#endif
