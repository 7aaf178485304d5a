#include "core/vsock/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/vsock/watch.h"

struct channel {
	struct watch *socket; /* owned; NULL once closed */
	const struct channel_ops *ops;
	void *arg;
	uint8_t bytes[VHOST_USER_HEADER_SIZE + VHOST_USER_PAYLOAD_MAX];
	size_t have, want;
	int fds[VHOST_USER_MOST_FDS]; /* of the message being read; -1: none */
	size_t fd_count;
	bool busy; /* inside on_message: closing must not free */
};

static void drop_fds(struct channel *c)
{
	for (size_t i = 0; i < ARRAY_LEN(c->fds); i++)
		fd_close(&c->fds[i]);
	c->fd_count = 0;
}

static void start_message(struct channel *c)
{
	drop_fds(c);
	c->have = 0;
	c->want = VHOST_USER_HEADER_SIZE;
}

/* Descriptors come with the bytes that they were sent with. More than a message can have is an error, and none leaks. */
static bool keep_fds(struct channel *c, struct msghdr *msg, struct err *e)
{
	bool too_many = msg->msg_flags & MSG_CTRUNC;
	for (struct cmsghdr *h = CMSG_FIRSTHDR(msg); h; h = CMSG_NXTHDR(msg, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(h) + i * sizeof(fd), sizeof(fd));
			if (c->fd_count < ARRAY_LEN(c->fds)) {
				c->fds[c->fd_count++] = fd;
			} else {
				fd_close(&fd);
				too_many = true;
			}
		}
	}
	return !too_many || err_set(e, ERR_PROTOCOL, "too many descriptors in one message");
}

enum got { GOT_MESSAGE, GOT_PART, GOT_NOTHING, GOT_END };

/* Reads exactly up to the end of the header, then of the payload, so that messages never mix. */
static enum got read_some(struct channel *c, struct err *e)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(VHOST_USER_MOST_FDS * sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = c->bytes + c->have, .iov_len = c->want - c->have};
	struct msghdr msg = {
	    .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(watch_fd(c->socket), &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return GOT_NOTHING;
	if (n < 0) {
		err_sys(e, errno, "read from QEMU");
		return GOT_END;
	}
	if (!keep_fds(c, &msg, e))
		return GOT_END;
	if (n == 0) {
		if (c->have)
			err_set(e, ERR_PROTOCOL, "QEMU closed the connection inside a message");
		return GOT_END;
	}
	c->have += (size_t)n;
	if (c->have < c->want)
		return GOT_PART;
	if (c->have == VHOST_USER_HEADER_SIZE && c->want == VHOST_USER_HEADER_SIZE) {
		size_t payload;
		if (!vhost_user_payload_size(c->bytes, &payload, e))
			return GOT_END;
		c->want += payload;
		return payload ? GOT_PART : GOT_MESSAGE;
	}
	return GOT_MESSAGE;
}

static void maybe_free(struct channel *c)
{
	if (!c->busy && !c->socket)
		free(c);
}

static bool deliver(struct channel *c, struct err *e)
{
	struct vhost_user_message m;
	if (!vhost_user_parse(c->bytes, c->have, c->fd_count, &m, e))
		return false;
	c->ops->on_message(c->arg, &m, c->fds);
	start_message(c);
	return true;
}

static void on_ready(void *arg, int events)
{
	struct channel *c = arg;
	struct err e = ERR_INIT;
	enum got got = GOT_PART;
	(void)events;
	c->busy = true;
	while (c->socket && (got == GOT_PART || got == GOT_MESSAGE)) {
		got = read_some(c, &e);
		if (got == GOT_MESSAGE && !deliver(c, &e))
			got = GOT_END;
	}
	if (c->socket && got == GOT_END) {
		watch_set(c->socket, WATCH_NONE);
		c->ops->on_end(c->arg, e.kind == ERR_NONE ? NULL : &e);
	} else if (c->socket) {
		watch_set(c->socket, WATCH_READ);
	}
	c->busy = false;
	maybe_free(c);
}

struct channel *channel_open(struct loop *loop, int fd, const struct channel_ops *ops, void *arg)
{
	struct channel *c = mem_alloc(sizeof(*c));
	c->ops = ops;
	c->arg = arg;
	for (size_t i = 0; i < ARRAY_LEN(c->fds); i++)
		c->fds[i] = -1;
	start_message(c);
	c->socket = watch_open(loop, fd, on_ready, c);
	CHECK(c->socket);
	watch_set(c->socket, WATCH_READ);
	return c;
}

bool channel_send(struct channel *c, const void *bytes, size_t len)
{
	return c->socket &&
	       send(watch_fd(c->socket), bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

void channel_close(struct channel *c)
{
	if (!c || !c->socket)
		return;
	watch_close(c->socket);
	c->socket = NULL;
	drop_fds(c);
	maybe_free(c);
}
