/* Serves the host's requests: one connection for each ping, program or shutdown (core/wire, agent family). */
#ifndef CCVM_GUEST_AGENT_H
#define CCVM_GUEST_AGENT_H

#include <stdbool.h>

#include "core/base/err.h"

struct reactor;
struct programs;
struct agent;

#define AGENT_MOST_CONNECTIONS 512

/* What the agent asks of the rest of the guest. Kept. */
struct agent_host {
	struct programs *programs;
	bool (*relay_listening)(void *arg);
	bool (*lo_up)(void *arg);
	/* Begins a connection to the host's proxy, as the relay does; -1 when that fails at once. */
	int (*dial_egress)(void *arg, struct err *e);
	void (*shut_down)(void *arg, bool reboot);
	void *arg;
};

struct agent *agent_create(struct reactor *r, const struct agent_host *host);
void agent_listen(struct agent *a, int listen_fd); /* takes it */
/* Takes a connected, non-blocking stream of any kind: what the listener does with each connection. */
void agent_serve(struct agent *a, int fd);
void agent_destroy(struct agent *a); /* accepts NULL; drops all connections, their programs get SIGHUP */

#endif
