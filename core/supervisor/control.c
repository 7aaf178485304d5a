#include "core/supervisor/control.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/listener.h"

struct control {
	const struct session_host *host;
	struct listener *listener;
	struct session *sessions[CONTROL_MOST]; /* the first `count` */
	size_t count;
};

static void on_gone(void *arg, struct session *s)
{
	struct control *c = arg;
	for (size_t i = 0; i < c->count; i++) {
		if (c->sessions[i] == s) {
			c->sessions[i] = c->sessions[--c->count];
			break;
		}
	}
	session_close(s);
	if (c->listener)
		listener_resume(c->listener);
}

/* The folder is 0700 already; this holds even if somebody has opened it up. */
static bool is_own_user(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == getuid();
}

static void on_accept(void *arg, int fd)
{
	struct control *c = arg;
	struct err e = ERR_INIT;
	if (!is_own_user(fd)) {
		log_warn("control connection of another user refused");
		close(fd);
		return;
	}
	struct session *s = session_open(c->host, fd, on_gone, c, &e);
	if (!s) {
		log_warn("control connection: %s", e.msg);
		return;
	}
	c->sessions[c->count++] = s;
	if (c->count == CONTROL_MOST)
		listener_pause(c->listener);
}

struct control *control_open(struct loop *loop, const char *path, const struct session_host *host,
                             struct err *e)
{
	struct control *c = mem_alloc(sizeof(*c));
	c->host = host;
	c->listener = listener_open(loop, path, on_accept, c, e);
	if (!c->listener) {
		free(c);
		return NULL;
	}
	return c;
}

void control_stop_listening(struct control *c)
{
	listener_close(c->listener);
	c->listener = NULL;
}

void control_close(struct control *c)
{
	if (!c)
		return;
	control_stop_listening(c);
	for (size_t i = 0; i < c->count; i++)
		session_close_told(c->sessions[i]);
	free(c);
}
