/* spur/plugin/auth.h - who is calling?
 *
 * Every RPC carries a credential made by make() in the client and checked by verify() in the server; the caller's uid comes from
 * there and nowhere else. A credential is printable ASCII without spaces (it travels in a header). Where the mechanism can, it
 * binds what is being asked: the method and the SHA-256 of the request body, so that a credential taken from one request is
 * worth nothing for another; and whom it is asked of, so that one taken at one server is worth nothing at another. The server
 * proves itself by an answer bound to the client's credential.
 *
 * Laws since 1.0, checked by spur-plugin-check: what make() made, verify() accepts once; a changed bit anywhere is refused; another method
 * or body is refused with SPUR_AUTH_BINDS_REQUEST; another audience with SPUR_AUTH_BINDS_AUDIENCE; a second use is refused with
 * SPUR_AUTH_DETECTS_REPLAY. */
#ifndef SPUR_PLUGIN_AUTH_H
#define SPUR_PLUGIN_AUTH_H

#include <spur/plugin/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPUR_AUTH_IFACE "spur.auth/1"

/* Verdict of verify() and verify_answer(): the credential is not good; err says why, for the log. */
#define SPUR_AUTH_REFUSED ((spur_status)1)

#define SPUR_AUTH_BINDS_REQUEST (1u << 0)
#define SPUR_AUTH_DETECTS_REPLAY (1u << 1)
#define SPUR_AUTH_ANSWERS (1u << 2)  /* make_answer/verify_answer work */
#define SPUR_AUTH_LOCAL_ONLY (1u << 3) /* daemons bind to loopback unless told otherwise */
#define SPUR_AUTH_ISSUES (1u << 4)   /* issue() works */
#define SPUR_AUTH_BINDS_AUDIENCE (1u << 5)

/* What is being asked. */
typedef struct spur_auth_request {
    uint32_t size;
    uint32_t reserved;
    spur_str method;        /* "/spur.v1.Controller/Submit" */
    uint8_t digest[32];     /* SHA-256 of the body */
    spur_str peer;          /* verify: where it came from, for the log; "" if unknown */
    spur_str token;         /* make: a token the user brought (SPUR_JWT, SLURM_JWT); "" */
    spur_str audience;      /* the server it is for, "cluster/server/instance"; opaque here: the host judges it */
} spur_auth_request;

typedef struct spur_identity {
    uint32_t size;
    uint32_t uid, gid;
    uint32_t flags;
    int64_t issued, expires; /* unix seconds; 0 unknown */
    char user[64];           /* login name if the mechanism carries one, else "" */
    char mechanism[32];      /* "munge" */
} spur_identity;

typedef struct spur_auth_ops {
    uint32_t size;
    uint32_t features; /* SPUR_AUTH_* */
    /* A credential for the calling process's effective user. Required. [any-thread, may block briefly] */
    spur_status (*make)(spur_plugin *self, const spur_auth_request *request, const spur_sink *credential,
                        spur_error *err);
    /* Is it good, and whose is it? SPUR_OK fills *out; SPUR_AUTH_REFUSED fills err. Never trusts a length. Required.
     * [any-thread, cheap or blocks briefly] */
    spur_status (*verify)(spur_plugin *self, const spur_auth_request *request, spur_str credential, spur_identity *out,
                          spur_error *err);
    /* The server's proof, bound to the client's credential and to the SHA-256 of the reply, and the client's check of it;
     * *out is who answered. Optional: SPUR_AUTH_ANSWERS. [any-thread] */
    spur_status (*make_answer)(spur_plugin *self, spur_str credential, const uint8_t *reply_digest,
                               const spur_sink *answer, spur_error *err);
    spur_status (*verify_answer)(spur_plugin *self, spur_str credential, const uint8_t *reply_digest, spur_str answer,
                                 spur_identity *out, spur_error *err);
    /* A token for `uid` that works for `lifetime_s` without further secrets (scontrol token). Administrators only: the host
     * checks. Optional: SPUR_AUTH_ISSUES. [any-thread] */
    spur_status (*issue)(spur_plugin *self, uint32_t uid, spur_str user, uint32_t lifetime_s, const spur_sink *token,
                         spur_error *err);
} spur_auth_ops;

#ifdef __cplusplus
}
#endif
#endif
