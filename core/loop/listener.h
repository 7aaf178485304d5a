/* A listening Unix socket. Accepted descriptors are non-blocking and close-on-exec and belong to the callee.
 * When the process is out of descriptors it stops accepting for 100 ms instead of spinning, and logs once. */
#ifndef CCVM_LOOP_LISTENER_H
#define CCVM_LOOP_LISTENER_H

#include "core/base/err.h"

struct loop;
struct listener;

/* Mode 0600, a stale socket file is replaced, the path length is checked. */
struct listener *listener_open(struct loop *loop, const char *path, void (*on_accept)(void *arg, int fd),
                               void *arg, struct err *e) MUST_USE;
/* Stop and go on accepting (a limit of connections was reached); the kernel's backlog waits meanwhile. */
void listener_pause(struct listener *l);
void listener_resume(struct listener *l);
/* Accepts NULL; idempotent; unlinks the socket. No on_accept afterwards. */
void listener_close(struct listener *l);

#endif
