/* The guest's end of the egress path: TCP on 127.0.0.1 to one vsock port of the host. It parses nothing and
 * decides nothing; the host's proxy does.
 *
 * Each pair of sockets:  dialing ──► open ──► (one direction ended: shutdown passed on) ──► closed
 *
 * A direction that cannot be written stops being read. A client that resets closes both sides at once; a host
 * that breaks off resets the client, so that a cut answer never looks like a whole one. */
#ifndef CCVM_GUEST_RELAY_H
#define CCVM_GUEST_RELAY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"

struct reactor;
struct relay;

#define RELAY_MOST_PAIRS 900 /* Firecracker's vsock takes 1023 connections in all */

/* Takes `listen_fd`. `dial` begins a connection to the host (a non-blocking descriptor that becomes writable,
 * or -1). */
struct relay *relay_open(struct reactor *reactor, int listen_fd, int (*dial)(void *arg, struct err *e),
                         void *arg);
void relay_close(struct relay *relay); /* accepts NULL; closes all pairs */
/* Asked of the kernel, not remembered: the listener is there and listens. */
bool relay_is_listening(const struct relay *relay);
size_t relay_pair_count(const struct relay *relay);

#endif
