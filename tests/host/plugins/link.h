/* An axis of the tests alone: a chain whose members add a word to a text, refuse it, or fail. */
#ifndef SPUR_TEST_LINK_H
#define SPUR_TEST_LINK_H

#include <spur/plugin/module.h>

#define LINK_IFACE "spur.link/1"

typedef struct link_ops {
    uint32_t size;
    uint32_t reserved;
    spur_status (*pass)(spur_plugin *self, const spur_sink *text, spur_error *err);
} link_ops;

#endif
