#include "core/loop/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

#define BACK_OFF_MS      100
#define ACCEPTS_PER_TURN 32

struct listener {
	struct life life;
	uv_poll_t poll;
	uv_timer_t back_off;
	int fd;
	char *path; /* owned */
	bool paused;
	bool complained;
	void (*on_accept)(void *arg, int fd);
	void *arg;
};

static void on_gone(struct life *life)
{
	struct listener *l = CONTAINER_OF(life, struct listener, life);
	fd_close(&l->fd);
	free(l->path);
	free(l);
}

static void on_readable(uv_poll_t *handle, int status, int events);

static void on_back_off_over(uv_timer_t *timer)
{
	struct listener *l = CONTAINER_OF(timer->data, struct listener, life);
	if (!l->life.closing && !l->paused)
		uv_poll_start(&l->poll, UV_READABLE, on_readable);
}

static void back_off(struct listener *l, int why)
{
	if (!l->complained)
		log_warn("accept on %s: %s; trying again every %d ms", l->path, uv_strerror(-why),
		         BACK_OFF_MS);
	l->complained = true;
	uv_poll_stop(&l->poll);
	uv_timer_start(&l->back_off, on_back_off_over, BACK_OFF_MS, 0);
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
	struct listener *l = CONTAINER_OF(handle->data, struct listener, life);
	(void)status;
	(void)events;
	for (int i = 0; i < ACCEPTS_PER_TURN && !l->life.closing && !l->paused; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			l->complained = false;
			l->on_accept(l->arg, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			back_off(l, errno);
		return; /* nobody left, or one that went away before we looked */
	}
}

struct listener *listener_open(struct loop *loop, const char *path, void (*on_accept)(void *arg, int fd),
                               void *arg, struct err *e)
{
	int fd = fd_unix_listen(path, e);
	if (fd < 0)
		return NULL;
	struct listener *l = mem_alloc(sizeof(*l));
	life_init(&l->life, on_gone);
	l->fd = fd;
	l->path = mem_strdup(path);
	l->on_accept = on_accept;
	l->arg = arg;
	fd_set_nonblock(fd, true);
	uv_poll_init(loop_uv(loop), &l->poll, fd);
	life_adopt(&l->life, (uv_handle_t *)&l->poll);
	uv_timer_init(loop_uv(loop), &l->back_off);
	life_adopt(&l->life, (uv_handle_t *)&l->back_off);
	uv_poll_start(&l->poll, UV_READABLE, on_readable);
	return l;
}

void listener_pause(struct listener *l)
{
	l->paused = true;
	uv_poll_stop(&l->poll);
}

void listener_resume(struct listener *l)
{
	if (!l->paused || l->life.closing)
		return;
	l->paused = false;
	uv_poll_start(&l->poll, UV_READABLE, on_readable);
}

void listener_close(struct listener *l)
{
	if (!l || l->life.closing)
		return;
	unlink(l->path);
	life_close_handle(&l->life, (uv_handle_t *)&l->poll);
	life_close_handle(&l->life, (uv_handle_t *)&l->back_off);
	life_end(&l->life);
}
