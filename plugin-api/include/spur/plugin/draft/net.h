/* spur/plugin/draft/net.h - how do members reach each other privately?
 *
 * Loaded by spurctld and spurd. `none` answers with the addresses it was given; `wireguard` builds a mesh and answers with addresses
 * inside it. A member is a node or a controller. Public keys travel in `token`, which the host carries to the other members
 * over authenticated channels and stores with the node; the plugin alone knows what it means.
 *
 * Laws, checked by spur-plugin-check: joining twice changes nothing, an address is stable while a member stays, leave() undoes join(). */
#ifndef SPUR_PLUGIN_NET_H
#define SPUR_PLUGIN_NET_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_NET_IFACE "spur.net/1"

typedef struct spur_net_member {
    uint32_t size;
    uint32_t flags;    /* SPUR_NET_CONTROLLER, ... */
    spur_str name;     /* unique in the cluster */
    spur_str endpoint; /* host:port or host as the outside world reaches it */
    spur_str token;    /* what its net plugin said in join() */
    uint64_t number;   /* small, unique and stable in the cluster; for address plans */
} spur_net_member;
#define SPUR_NET_CONTROLLER (1u << 0)

typedef struct spur_net_ops {
    uint32_t size;
    uint32_t reserved;
    /* Become a member. Writes the token others need. Required. [main-thread, may block] */
    spur_status (*join)(spur_plugin *self, const spur_net_member *me, const spur_sink *token, spur_error *err);
    /* Undo join(). Required. [main-thread, may block] */
    spur_status (*leave)(spur_plugin *self, spur_error *err);
    /* These are the other members now: add, change and drop accordingly. Required. [worker-thread, may block] */
    spur_status (*peers)(spur_plugin *self, spur_span members, spur_error *err);
    /* The address to use for `member`, and the one to bind to for oneself (member NULL). Required. [any-thread, cheap] */
    spur_status (*address)(spur_plugin *self, const spur_net_member *member, const spur_sink *address, spur_error *err);
} spur_net_ops;

#ifdef __cplusplus
}
#endif
#endif
