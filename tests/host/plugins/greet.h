/* An axis of the tests, in its second release: what greets had no name to greet in the first. */
#ifndef SPUR_TESTS_GREET_H
#define SPUR_TESTS_GREET_H

#include <spur/plugin/module.h>

#define GREET_IFACE_1 "spur.greet/1"
#define GREET_IFACE_2 "spur.greet/2"

typedef struct greet_ops_1 {
    uint32_t size;
    uint32_t reserved;
    spur_status (*hello)(spur_plugin *self, const spur_sink *text, spur_error *err);
} greet_ops_1;

typedef struct greet_ops_2 {
    uint32_t size;
    uint32_t reserved;
    spur_status (*greet)(spur_plugin *self, const char *whom, const spur_sink *text, spur_error *err);
} greet_ops_2;

#endif
