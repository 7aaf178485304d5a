/* Does the VM's way out work? Asks the guest's agent about its half (relay, vsock, lo) and tries the proxy's socket, and
 * keeps the egress field of the board up to date. While it is broken it is tried again from time to time. */
#ifndef CCVM_SUPERVISOR_HEALTH_H
#define CCVM_SUPERVISOR_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/wire/wire.h"

struct board;
struct health;
struct health_ask;
struct loop;

#define HEALTH_RETRY_MS 10000

/* Paths are kept. */
struct health *health_create(struct loop *loop, struct board *board, const char *vsock_path,
                             const char *proxy_path);
void health_destroy(struct health *h); /* accepts NULL; every ask has been closed */

/* Looks now; the result goes to the board. Not while the VM is paused: nobody would answer. */
void health_check(struct health *h);
/* No more checks of its own: the VM is ending. */
void health_stop(struct health *h);
/* What somebody else knows: the proxy has died. */
void health_note_broken(struct health *h, const char *why);

/* The same for a client. `done` comes once, from the loop, then close the ask. */
struct health_ask *health_ping(struct health *h, void (*done)(void *arg, const struct wire_pong *pong),
                               void *arg);
void health_ask_close(struct health_ask *a); /* accepts NULL; no callback afterwards */

#endif
