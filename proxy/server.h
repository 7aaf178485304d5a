/* The proxy of one VM: a listening socket, a policy, an audit log, and the connections. */
#ifndef CCVM_PROXY_SERVER_H
#define CCVM_PROXY_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

struct loop;
struct policy;
struct resolve_source;
struct server;

struct server_options {
	const char *listen;                  /* path of the Unix socket */
	const char *policy;                  /* path of the policy file, for reloads */
	const char *audit;                   /* path of the log */
	const char *vm;                      /* or "" */
	int notify_fd;                       /* -1: none; see server_reload */
	size_t most_tunnels;                 /* 0: MOST_TUNNELS */
	const struct resolve_source *source; /* NULL: the system's resolver */
};

/* Keeps the strings, takes what `policy` holds. Writes the record "start", then "ready\n" to notify_fd once it listens. */
struct server *server_start(struct loop *loop, const struct server_options *o, struct policy *policy,
                            struct err *e) MUST_USE;

/* Reads the policy file again. A bad one changes nothing. Tunnels that are open stay, whatever the new policy says of
 * them (a change must not cut off unrelated work half-way); requests from now on, those whose head is still arriving
 * among them, are decided by the new one. Leaves an audit record, and a line on notify_fd:
 * "policy ok <rules>\n" or "policy error <text>\n". */
bool server_reload(struct server *s);

/* Closes everything, on record. False: a lookup is stuck in a thread, leave the process by _exit. */
bool server_stop(struct server *s) MUST_USE;

#endif
