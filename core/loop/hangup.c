#include "core/loop/hangup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

struct hangup {
	struct life life;
	uv_poll_t poll;
	int fd; /* owned: libuv allows one handle for a descriptor */
	void (*fn)(void *arg);
	void *arg;
};

static void on_gone(struct life *life)
{
	struct hangup *h = CONTAINER_OF(life, struct hangup, life);
	fd_close(&h->fd);
	free(h);
}

static void on_event(uv_poll_t *poll, int status, int events)
{
	struct hangup *h = CONTAINER_OF(poll->data, struct hangup, life);
	if (h->life.closing || (status == 0 && !(events & UV_DISCONNECT)))
		return;
	uv_poll_stop(poll);
	h->fn(h->arg);
}

struct hangup *hangup_open(struct loop *loop, int fd, void (*fn)(void *arg), void *arg, struct err *e)
{
	struct hangup *h = mem_alloc(sizeof(*h));
	life_init(&h->life, on_gone);
	h->fn = fn;
	h->arg = arg;
	h->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int r = h->fd < 0 ? -errno : uv_poll_init(loop_uv(loop), &h->poll, h->fd);
	if (r != 0) {
		err_uv(e, r, "watch a connection");
		life_end(&h->life);
		return NULL;
	}
	life_adopt(&h->life, (uv_handle_t *)&h->poll);
	uv_poll_start(&h->poll, UV_DISCONNECT, on_event);
	return h;
}

void hangup_close(struct hangup *h)
{
	if (!h || h->life.closing)
		return;
	life_close_handle(&h->life, (uv_handle_t *)&h->poll);
	life_end(&h->life);
}
