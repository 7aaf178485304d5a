/* Name lookups, off the loop, for names that the policy has already allowed.
 *
 * - The name is asked with a dot after it: no search list, no hosts file, no numeric forms.
 * - At most RESOLVE_AT_ONCE lookups are in flight; the others wait. Every lookup has RESOLVE_LIMIT_MS from its start,
 *   waiting included. A thread that is stuck in the system's resolver cannot be stopped: its late answer is thrown
 *   away, and it keeps its place until then.
 * - One lookup per tunnel: the addresses that come out are those that are dialled. */
#ifndef CCVM_PROXY_RESOLVE_H
#define CCVM_PROXY_RESOLVE_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/egress/rule.h"

#define RESOLVE_AT_ONCE  2
#define RESOLVE_LIMIT_MS 5000
#define RESOLVE_MOST     8 /* addresses that are used of one answer */

struct loop;
struct resolver;
struct lookup;

/* Where answers come from. The program has one; tests have tame ones. */
struct resolve_source {
	/* Runs in a thread of the pool. */
	int (*get)(const char *name, const char *service, const struct addrinfo *hints,
	           struct addrinfo **out);
	void (*release)(struct addrinfo *list);
	bool (*may_dial)(const struct sockaddr *sa); /* NULL: address_is_public */
	unsigned limit_ms;                           /* 0: RESOLVE_LIMIT_MS */
};

struct resolve_answer {
	union endpoint found[RESOLVE_MOST]; /* public ones, with the port that was asked for */
	size_t count;
	size_t refused; /* left out because they are private, or addresses of this machine */
};

/* `source` (kept) is NULL for the system's resolver. */
struct resolver *resolver_create(struct loop *loop, const struct resolve_source *source);
/* Gives up waiting for everything (no callbacks); false when a thread is still stuck, in which case the loop cannot be
 * destroyed and the process should leave by _exit. */
bool resolver_destroy(struct resolver *r) MUST_USE;

/* `host` is normalised (copied). on_done comes later from the loop, once: with an answer of at least one address
 * (borrowed), or ERR_DENIED (only refused addresses), ERR_NOT_FOUND, ERR_TIMEOUT. The handle is gone after it. */
struct lookup *
resolver_look_up(struct resolver *r, const char *host, uint16_t port,
                 void (*on_done)(void *arg, const struct resolve_answer *a, const struct err *e), void *arg);
/* No on_done afterwards. Accepts NULL. */
void lookup_cancel(struct lookup *l);

#endif
