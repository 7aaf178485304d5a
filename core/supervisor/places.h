/* The files, sockets and programs of one VM, and the claim to its runtime folder. */
#ifndef CCVM_SUPERVISOR_PLACES_H
#define CCVM_SUPERVISOR_PLACES_H

#include <stdbool.h>

#include "core/base/err.h"

struct places { /* all owned */
	char *run_dir, *state_dir, *images_dir;
	char *lock;
	char *control;      /* control.sock: clients */
	char *vsock;        /* vsock.sock: we connect to the guest */
	char *vsock_egress; /* vsock.sock_9002: the proxy listens */
	char *vsock_events; /* vsock.sock_9003: we listen */
	char *vhost;        /* vhost.sock: between VMM and vsock device */
	char *policy, *audit, *console, *disk, *log;
	char *backend_memory; /* which backend boots here, for all VMs */
	char *vsock_program, *proxy_program;
};

/* `vm` must have passed parse_name. Socket paths are checked against the length of sun_path. */
bool places_init(struct places *p, const char *vm, struct err *e) MUST_USE;
void places_finish(struct places *p); /* a zeroed one is fine */

/* Makes the runtime folder (0700) and takes its lock; sockets of a dead predecessor are removed. Returns the descriptor
 * that holds the lock. ERR_BUSY: a supervisor of this VM runs. */
int places_claim(const struct places *p, struct err *e) MUST_USE;
/* Removes the runtime folder with all in it. Only while the lock is held. */
bool places_release(const struct places *p, struct err *e) MUST_USE;

#endif
