/* spur/plugin/draft/net.h - how do members reach each other privately?
 *
 * Loaded by spurctld and spurd. `none` answers with the endpoints it was given; `wireguard` is to build a mesh and to answer with
 * addresses inside it. A member is a node or a controller.
 *
 *   invite()  on a member that is in: an invitation for one that is not yet. Whoever carries it (an administrator, a provisioning
 *             tool) is trusted; it names one member and expires.
 *   join()    on the new one, with the invitation, or with none where the cluster begins; tells through the listener the token
 *             that others need to talk to it. The host carries tokens to the other members over authenticated channels and
 *             stores them with the node; the plugin alone knows what they mean.
 *   change()  who else there is, as it changes: each call has a generation, one more than the one before; the first, and any
 *             that does not follow, names everybody.
 *   adopt()   after a restart of the daemon: what is set up stays up, and is this instance's from now on.
 *
 * One instance at a time owns what is set up: a second that is made for reconfiguration touches nothing before join() or adopt(),
 * and the host calls neither before the first was destroyed or has left.
 *
 * This is a draft: no daemon calls it yet, and net/none has nothing to set up.
 *
 * Laws, checked by spur-plugin-check: joining twice changes nothing; addresses are stable while a member stays, and go with it; a change
 * of a generation that was seen is ignored; adopt() after join() in an earlier instance gives the same addresses; leave() undoes
 * join(). */
#ifndef SPUR_PLUGIN_NET_H
#define SPUR_PLUGIN_NET_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_NET_IFACE "spur.net/1"

#define SPUR_NET_CONTROLLER (1u << 0)
#define SPUR_NET_BEHIND_NAT (1u << 1) /* reaches others, is not reached before it did */
typedef struct spur_net_member {
    uint32_t size;
    uint32_t flags;      /* SPUR_NET_* */
    uint64_t number;     /* small, unique and stable in the cluster; for address plans */
    spur_str name;       /* unique in the cluster */
    spur_str token;      /* what its net plugin said; "" none yet */
    spur_span endpoints; /* of spur_str, the best first: "host", "host:port", "[v6]:port" as the outside world reaches it */
    spur_span routes;    /* of spur_str, "10.1.0.0/16", "fd00:1::/48": networks that are reached through it */
} spur_net_member;

#define SPUR_NET_UNKNOWN 0u
#define SPUR_NET_REACHABLE 1u
#define SPUR_NET_UNREACHABLE 2u

/* The host's ears, valid from join() or adopt() to leave() or destroy(). All calls [any-thread]. */
typedef struct spur_net_listener {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* This member's token is another now: a key was rotated, an endpoint learnt. */
    void (*token)(const struct spur_net_listener *listener, spur_str token);
    /* A peer came or went, as the plugin sees it. */
    void (*peer)(const struct spur_net_listener *listener, spur_str name, uint32_t state);
} spur_net_listener;

typedef struct spur_net_status {
    uint32_t size;
    uint32_t state;       /* SPUR_NET_* of the network as a whole, from here */
    uint64_t generation;  /* of the last change() */
    uint32_t peers;       /* known */
    uint32_t reachable;   /* of them, now */
    int64_t last_seen;    /* unix seconds; of the peer that was asked about. 0 unknown */
    uint64_t sent_bytes, received_bytes;
} spur_net_status;

typedef struct spur_net_ops {
    uint32_t size;
    uint32_t reserved;
    /* An invitation for `member`, good until `expires` (unix seconds), as text one can carry. Optional. [worker-thread, may block] */
    spur_status (*invite)(spur_plugin *self, const spur_net_member *member, int64_t expires, const spur_sink *invitation,
                          const spur_stop *stop, spur_error *err);
    /* Become a member; `invitation` may be empty. listener->token is called before it returns. Required.
     * [main-thread, may block until stop] */
    spur_status (*join)(spur_plugin *self, const spur_net_member *me, spur_str invitation, const spur_net_listener *listener,
                        const spur_stop *stop, spur_error *err);
    /* Take over what an earlier instance set up for `me`, of this process or the one before. SPUR_E_NOT_FOUND: there is nothing;
     * join. Required. [main-thread, may block until stop] */
    spur_status (*adopt)(spur_plugin *self, const spur_net_member *me, const spur_net_listener *listener,
                         const spur_stop *stop, spur_error *err);
    /* Undo join(); destroy() without it leaves everything up. Required. [main-thread, may block until stop] */
    spur_status (*leave)(spur_plugin *self, const spur_stop *stop, spur_error *err);
    /* `changed` (spur_net_member pointers are not kept) are there or are different, `gone` (spur_str, names) are no more. With
     * complete 1 `changed` names all there are. Required. [worker-thread, calls do not overlap, may block until stop] */
    spur_status (*change)(spur_plugin *self, uint64_t generation, uint32_t complete, spur_span changed, spur_span gone,
                          const spur_stop *stop, spur_error *err);
    /* Addresses to use for the member `name`, and those to bind to for oneself (empty name), the best first, a line each; IPv6 in
     * brackets where a port follows. SPUR_E_NOT_FOUND: no such member. Required. [any-thread, cheap] */
    spur_status (*addresses)(spur_plugin *self, spur_str name, const spur_sink *addresses, spur_error *err);
    /* How the network, or the peer `name`, is doing. Optional. [any-thread, cheap] */
    spur_status (*status)(spur_plugin *self, spur_str name, spur_net_status *out, spur_error *err);
} spur_net_ops;

#ifdef __cplusplus
}
#endif
#endif
