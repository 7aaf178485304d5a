/* The socket to QEMU: whole vhost-user messages with their descriptors in, answers out. */
#ifndef CCVM_VSOCK_CHANNEL_H
#define CCVM_VSOCK_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/vsock/vhost_user.h"

struct loop;
struct channel;

struct channel_ops {
	/* A descriptor that the callee keeps is taken out of `fds` (set to -1); the rest is closed afterwards. */
	void (*on_message)(void *arg, const struct vhost_user_message *m, int fds[VHOST_USER_MOST_FDS]);
	/* Once: QEMU closed the connection (NULL) or it cannot go on. Close the channel then. */
	void (*on_end)(void *arg, const struct err *e);
};

/* Takes `fd`, non-blocking. */
struct channel *channel_open(struct loop *loop, int fd, const struct channel_ops *ops, void *arg);
/* False: QEMU does not take it (it is gone, or reads nothing). */
bool channel_send(struct channel *c, const void *bytes, size_t len) MUST_USE;
void channel_close(struct channel *c); /* accepts NULL */

#endif
