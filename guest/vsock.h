/* vsock sockets: close-on-exec, non-blocking. */
#ifndef CCVM_GUEST_VSOCK_H
#define CCVM_GUEST_VSOCK_H

#include <stdint.h>

#include "core/base/err.h"

/* Begins to connect to this port of the host; the descriptor becomes writable when it is decided
 * (socket_outcome). */
int vsock_dial(uint32_t port, struct err *e) MUST_USE;
/* A listener for connections from the host. */
int vsock_listen(uint32_t port, struct err *e) MUST_USE;

/* How a connect of any kind of socket ended: 0 or an errno. */
int socket_outcome(int fd);
/* The next connection of a listener, close-on-exec and non-blocking; -1 with errno when there is none. */
int socket_accept(int fd);

#endif
