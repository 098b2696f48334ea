/* spur/plugin/auth.h - who is calling?
 *
 * Every RPC carries a credential made by make() in the client and checked by verify() in the server; the caller's uid comes from
 * there and nowhere else. A credential is printable ASCII without spaces, of at most 16 KiB (it travels in a header).
 *
 * What a credential is for is put together by the host, the same way on both sides, and handed over as 32 bytes: `binding`, the SHA-256
 * over the method, the body, the server it is asked of and on whose behalf; later releases may add to it. A mechanism that covers
 * `binding` makes a credential worth nothing for any other request, and never needs to know what a request is made of. The
 * parts are there too, for a mechanism's own policy and for its log lines. The server proves itself by an answer, bound likewise.
 *
 * Two legs: a mechanism may ask back. verify() says SPUR_AUTH_CHALLENGE, challenge() makes the question, which the host
 * carries to the client; respond() makes the credential that answers it, and the host asks verify() again, for the same request. This may go
 * on for up to SPUR_AUTH_MOST_LEGS credentials in all. Between them the host keeps nothing: what the server must remember it puts into the
 * challenge, signed, or keeps itself, bounded.
 *
 * Laws since 1.0, checked by spur-plugin-check: what make() made (and respond(), where there are legs), verify() accepts, and says whose
 * it is; a changed bit anywhere is refused; another binding is refused with SPUR_AUTH_BINDS_REQUEST; a second use is refused with
 * SPUR_AUTH_DETECTS_REPLAY; a token for another cluster is refused, whatever the client leaves out; a declared feature has its ops. */
#ifndef SPUR_PLUGIN_AUTH_H
#define SPUR_PLUGIN_AUTH_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_AUTH_IFACE "spur.auth/1"

/* Verdicts of verify() and verify_answer(). */
#define SPUR_AUTH_REFUSED ((spur_status)1)   /* the credential is not good; err says why, for the log */
#define SPUR_AUTH_CHALLENGE ((spur_status)2) /* not yet: ask the client what challenge() says. Only with SPUR_AUTH_CHALLENGES */

#define SPUR_AUTH_BINDS_REQUEST (1u << 0)  /* credentials and answers cover `binding`. Without: bearer tokens, sent over TLS only */
#define SPUR_AUTH_DETECTS_REPLAY (1u << 1) /* works once */
#define SPUR_AUTH_ANSWERS (1u << 2)        /* make_answer and verify_answer work. Without: servers are proven by TLS only */
#define SPUR_AUTH_LOCAL_ONLY (1u << 3)     /* daemons bind to loopback unless told otherwise */
#define SPUR_AUTH_ISSUES (1u << 4)         /* issue works. Without: `scontrol token` is refused */
#define SPUR_AUTH_CHALLENGES (1u << 5)     /* challenge and respond work. Without: one credential decides */

#define SPUR_AUTH_MOST_LEGS 4u

/* What is being asked, and of whom. Texts that are not known are empty. */
typedef struct spur_auth_request {
    uint32_t size;
    uint32_t reserved;
    uint8_t binding[32];   /* covers everything the credential is for */
    spur_str method;       /* "/spur.v1.Controller/Submit" */
    spur_str audience;     /* the server as the client names it, "cluster/server/instance", without what it does not know; bound. The host
                            * refuses one that is not true */
    spur_str server;       /* verify: this server, in the same words, whatever the client left out; its cluster is "" where several share
                            * it (spurdbd). make: "". What a credential says of where it is good is compared with this */
    spur_str on_behalf_of; /* the uid, in decimal, as whom a trusted front end asks; "": as itself. The host judges who may */
    spur_str peer;         /* verify: the address it came from; make: the address it goes to; "10.0.0.7:41822". Proves nothing */
    spur_str peer_name;    /* verify: the name in the client's verified certificate; make: the host the client was told to ask */
    spur_str token;        /* make: what the user brought (SPUR_JWT, SLURM_JWT) */
} spur_auth_request;

/* What the server says and to whom: for its proof. */
typedef struct spur_auth_reply {
    uint32_t size;
    uint32_t reserved;
    uint8_t binding[32]; /* SHA-256 over the client's credential and the reply; later releases may add to it */
    spur_str credential; /* the client's */
} spur_auth_reply;

#define SPUR_IDENTITY_HAS_GROUPS (1u << 0) /* the claims "group" are all its groups. Without: the directory of the server's host is asked */
#define SPUR_IDENTITY_IS_SCOPED (1u << 1)  /* may do what the claims "scope" name and nothing else. Without: whatever its user may */

/* Who it is. The host presets uid and gid to SPUR_NONE; SPUR_OK with no uid is refused, whatever else was written. */
typedef struct spur_identity {
    uint32_t size;
    uint32_t uid, gid;       /* gid SPUR_NONE: the user's own, from the directory */
    uint32_t flags;          /* SPUR_IDENTITY_* */
    int64_t issued, expires; /* unix seconds; 0 unknown */
    char user[64];           /* login name if the mechanism carries one, else "" */
    char mechanism[32];      /* "munge" */
    char origin[64];         /* the host it was made on, as far as the mechanism proves it: name or address, else "" */
} spur_identity;

/* Where verify() pushes what an identity has any number of; the host copies. Names it does not know it ignores.
 *   group  a group's name, or its gid in decimal: for what depends on groups (a partition's AllowGroups)
 *   scope  what the caller may do: "read" (look), "jobs" (submit, change and run jobs), "admin" (everything else) */
typedef struct spur_claims {
    uint32_t size;
    uint32_t reserved;
    void *context;
    spur_status (*claim)(const struct spur_claims *claims, spur_str name, spur_str value);
} spur_claims;

/* A token that is to be made. */
typedef struct spur_token_request {
    uint32_t size;
    uint32_t uid;
    spur_str user;     /* login name */
    int64_t expires;   /* unix seconds */
    spur_str scopes;   /* separated by spaces; "": whatever the user may. A mechanism that has no scopes refuses others */
    spur_str audience; /* the cluster it is meant for; "": any that has the key */
} spur_token_request;

typedef struct spur_auth_ops {
    uint32_t size;
    uint32_t features; /* SPUR_AUTH_* */
    /* A credential for the calling process's effective user, or for whom the user's token names. Required. [any-thread, may block] */
    spur_status (*make)(spur_plugin *self, const spur_auth_request *request, const spur_sink *credential,
                        const spur_stop *stop, spur_error *err);
    /* Is it good, and whose is it? SPUR_OK fills *out, and `claims` with what its flags promise; SPUR_AUTH_REFUSED fills err. Never trusts a
     * length. A daemon's callers wait for it: it gives up when stopped. Required. [any-thread, may block] */
    spur_status (*verify)(spur_plugin *self, const spur_auth_request *request, spur_str credential, spur_identity *out,
                          const spur_claims *claims, const spur_stop *stop, spur_error *err);
    /* The server's proof, and the client's check of it; *out is who answered. Optional: SPUR_AUTH_ANSWERS. [any-thread, may block] */
    spur_status (*make_answer)(spur_plugin *self, const spur_auth_reply *reply, const spur_sink *answer,
                               const spur_stop *stop, spur_error *err);
    spur_status (*verify_answer)(spur_plugin *self, const spur_auth_reply *reply, spur_str answer, spur_identity *out,
                                 const spur_stop *stop, spur_error *err);
    /* A token for somebody that works until it expires without further secrets (scontrol token). Who may have one is the host's to
     * judge. Optional: SPUR_AUTH_ISSUES. [any-thread, may block] */
    spur_status (*issue)(spur_plugin *self, const spur_token_request *wanted, const spur_sink *token,
                         const spur_stop *stop, spur_error *err);
    /* After SPUR_AUTH_CHALLENGE for this request and credential: what the client is to answer; printable ASCII without spaces, at most
     * 16 KiB. Optional: SPUR_AUTH_CHALLENGES. [any-thread, may block] */
    spur_status (*challenge)(spur_plugin *self, const spur_auth_request *request, spur_str credential,
                             const spur_sink *challenge, const spur_stop *stop, spur_error *err);
    /* In the client: the next credential, where `credential` was met with `challenge`. Optional: SPUR_AUTH_CHALLENGES.
     * [any-thread, may block] */
    spur_status (*respond)(spur_plugin *self, const spur_auth_request *request, spur_str credential, spur_str challenge,
                           const spur_sink *next, const spur_stop *stop, spur_error *err);
} spur_auth_ops;

#ifdef __cplusplus
}
#endif
#endif
