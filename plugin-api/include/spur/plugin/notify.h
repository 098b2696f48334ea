/* spur/plugin/notify.h - service "spur.notify/1": tell the daemon that something this plugin answers for has changed.
 *
 * Without it the daemon finds out when it asks the next time: at the next cycle, scan or restart. With it, it asks at once. A
 * notice carries no new value: the host calls the op that has it. Notices of one kind that come close together are one: the
 * host acts at the latest a second after the first, and once for all of them. */
#ifndef SPUR_PLUGIN_NOTIFY_H
#define SPUR_PLUGIN_NOTIFY_H

#include <spur/plugin/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_NOTIFY_SERVICE "spur.notify/1"

/* What changed, and what the host does. Later releases add kinds. */
#define SPUR_CHANGED_PLAN 1u       /* sched, select: the same view would now give another plan. A cycle begins */
#define SPUR_CHANGED_PRIORITIES 2u /* priority: scores or weights. All pending jobs are scored anew; subject: a user or "" */
#define SPUR_CHANGED_DEVICES 3u    /* gpu: devices came, went, or changed in shape or health. A scan; subject: a key or "" */
#define SPUR_CHANGED_KEYS 4u       /* auth: keys were changed or withdrawn. Sessions must prove themselves again; subject: a user or "" */
#define SPUR_CHANGED_PEERS 5u      /* net: addresses or tokens, its own or a peer's; subject: a member's name or "" */
#define SPUR_CHANGED_STORAGE 6u    /* accounting: storage is back, or gone; what waits is tried again */

typedef struct spur_notify {
    uint32_t size;
    uint32_t reserved;
    void *context;
    /* `subject` narrows it to one of what changed, "": all. `reason` is half a sentence for the log, "card 3 fell off the
     * bus". SPUR_OK: heard. SPUR_E_UNSUPPORTED: nothing in this daemon depends on it. [any-thread, cheap] */
    spur_status (*changed)(const struct spur_notify *notify, uint32_t what, spur_str subject, spur_str reason);
} spur_notify;

#ifdef __cplusplus
}
#endif
#endif
