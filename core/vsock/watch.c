#include "core/vsock/watch.h"

#include <stdlib.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

static_assert((int)WATCH_READ == UV_READABLE && (int)WATCH_WRITE == UV_WRITABLE, "events are libuv's");

struct watch {
	struct life life;
	uv_poll_t poll;
	int fd;
	int events;
	void (*fn)(void *arg, int events);
	void *arg;
};

static void on_gone(struct life *life)
{
	free(CONTAINER_OF(life, struct watch, life));
}

static void on_ready(uv_poll_t *handle, int status, int events)
{
	struct watch *w = CONTAINER_OF(handle->data, struct watch, life);
	if (w->life.closing)
		return;
	if (status < 0) {
		uv_poll_stop(&w->poll);
		w->events = WATCH_NONE;
		events = WATCH_BOTH;
	}
	w->fn(w->arg, events);
}

struct watch *watch_open(struct loop *loop, int fd, void (*fn)(void *arg, int events), void *arg)
{
	struct watch *w = mem_alloc(sizeof(*w));
	life_init(&w->life, on_gone);
	w->fd = fd;
	w->fn = fn;
	w->arg = arg;
	if (uv_poll_init(loop_uv(loop), &w->poll, fd) != 0) {
		fd_close(&w->fd);
		free(w);
		return NULL;
	}
	life_adopt(&w->life, (uv_handle_t *)&w->poll);
	return w;
}

void watch_set(struct watch *w, int events)
{
	if (w->events == events)
		return;
	w->events = events;
	if (events)
		uv_poll_start(&w->poll, events, on_ready);
	else
		uv_poll_stop(&w->poll);
}

int watch_fd(const struct watch *w)
{
	return w->fd;
}

void watch_close(struct watch *w)
{
	if (!w || w->life.closing)
		return;
	uv_poll_stop(&w->poll); /* out of the kernel's poll set before the number can be used again */
	life_close_handle(&w->life, (uv_handle_t *)&w->poll);
	fd_close(&w->fd);
	life_end(&w->life);
}
