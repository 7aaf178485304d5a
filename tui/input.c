/* Reading keys without curses.
 *
 * In typing mode every key has to reach the guest as it was pressed. The key reader of curses cannot do that: it knows
 * only the sequences of its terminal description, holds a lone Escape back for its own time, has no pastes, and folds
 * Alt and Control combinations into bytes that mean something else. So the bytes of the raw
 * terminal go to the same parser that `ccvm attach` uses. */
#include "tui/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"
#include "core/loop/rawtty.h"
#include "core/loop/timer.h"

struct tui_input {
	struct life life;
	uv_poll_t poll;
	struct timer *escape; /* owned: a lone Escape, or a paste without an end */
	const struct tui_input_ops *ops;
	void *arg;
	int fd;      /* owned */
	bool shared; /* it is the caller's open file: blocking */
	struct input parser;
};

static void on_life_gone(struct life *life)
{
	struct tui_input *in = CONTAINER_OF(life, struct tui_input, life);
	input_finish(&in->parser);
	fd_close(&in->fd);
	free(in);
}

static void on_key(void *arg, const struct input_event *ev)
{
	struct tui_input *in = arg;
	if (!in->life.closing)
		in->ops->on_event(in->arg, ev);
}

static void on_escape_time(void *arg)
{
	struct tui_input *in = arg;
	life_hold(&in->life); /* an event may close us */
	input_timeout(&in->parser);
	life_drop(&in->life);
}

static void stop_reading(struct tui_input *in)
{
	uv_poll_stop(&in->poll);
	in->ops->on_gone(in->arg);
}

static void read_keys(struct tui_input *in)
{
	/* Readiness may be spurious, and a blocking read would stop everything: ask once more. */
	struct pollfd fd = {.fd = in->fd, .events = POLLIN};
	if (in->shared && poll(&fd, 1, 0) <= 0)
		return;
	char bytes[4096];
	ssize_t n = read(in->fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		stop_reading(in);
		return;
	}
	timer_stop(in->escape);
	input_feed(&in->parser, bytes, (size_t)n);
	unsigned wait_ms = in->life.closing ? 0 : input_wait_ms(&in->parser);
	if (wait_ms > 0)
		timer_once(in->escape, wait_ms);
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
	(void)events;
	struct tui_input *in = CONTAINER_OF((struct life *)handle->data, struct tui_input, life);
	if (in->life.closing)
		return;
	if (status < 0) {
		stop_reading(in);
		return;
	}
	life_hold(&in->life);
	read_keys(in);
	life_drop(&in->life);
}

struct tui_input *tui_input_open(struct loop *loop, int fd, const struct tui_input_ops *ops, void *arg,
                                 struct err *e)
{
	struct tui_input *in = mem_alloc(sizeof(*in));
	in->fd = rawtty_reopen(fd);
	in->shared = in->fd < 0;
	if (in->shared)
		in->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	int flags = fcntl(in->fd, F_GETFL);
	int rc = uv_poll_init(loop_uv(loop), &in->poll, in->fd);
	if (flags >= 0)
		fcntl(in->fd, F_SETFL,
		      flags); /* uv_poll_init makes it non-blocking for everybody who has it */
	if (rc < 0) {
		fd_close(&in->fd);
		free(in);
		err_uv(e, rc, "watch the terminal");
		return NULL;
	}
	in->ops = ops;
	in->arg = arg;
	input_init(&in->parser, on_key, in);
	life_init(&in->life, on_life_gone);
	life_adopt(&in->life, (uv_handle_t *)&in->poll);
	in->escape = timer_create_on(loop, on_escape_time, in);
	uv_poll_start(&in->poll, UV_READABLE, on_readable);
	return in;
}

void tui_input_close(struct tui_input *in)
{
	if (!in || in->life.closing)
		return;
	timer_close(in->escape);
	life_close_handle(&in->life, (uv_handle_t *)&in->poll);
	life_end(&in->life);
}
