#include "core/cli/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

/* A pipe that polls writable takes at least PIPE_BUF bytes without blocking. */
#define WRITE_PIECE     4096
#define READ_PIECE      (64 * 1024)
#define PIECES_PER_TURN 64 /* then the loop gets to look at signals and the other direction */
#define QUEUE_MOST      (64u * 1024 * 1024)

/* One descriptor that the loop watches: by uv_poll, or by an idle handle when it is always ready. */
struct watch {
	struct life life;
	uv_poll_t poll;
	uv_idle_t idle;
	bool always_ready;
	int fd;
	int events;
	void (*on_ready)(struct watch *w);
};

struct inlet {
	struct watch watch;
	const struct inlet_ops *ops;
	void *arg;
	uint8_t piece[READ_PIECE];
};

struct outlet {
	struct watch watch;
	const struct outlet_ops *ops;
	void *arg;
	struct buf queue;
	size_t taken; /* bytes at the front of the queue that are written already */
	bool dead;
	bool error_due; /* dead, and the owner was not told yet: never from inside outlet_write */
	struct err why;
};

/* ---- watching ---- */

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct watch *w = CONTAINER_OF(handle->data, struct watch, life);
	(void)status; /* a hang-up shows in the read or write */
	(void)events;
	if (!w->life.closing)
		w->on_ready(w);
}

static void on_idle(uv_idle_t *handle)
{
	struct watch *w = CONTAINER_OF(handle->data, struct watch, life);
	if (!w->life.closing)
		w->on_ready(w);
}

static void watch_init(struct watch *w, struct loop *loop, int fd, int events,
                       void (*on_ready)(struct watch *w), void (*gone)(struct life *life))
{
	life_init(&w->life, gone);
	w->fd = fd;
	w->events = events;
	w->on_ready = on_ready;
	int flags = fcntl(fd, F_GETFL);
	w->always_ready = uv_poll_init(loop_uv(loop), &w->poll, fd) != 0;
	if (flags >= 0)
		fcntl(fd, F_SETFL, flags); /* uv_poll_init makes it non-blocking for everybody who has it */
	if (w->always_ready) {
		uv_idle_init(loop_uv(loop), &w->idle);
		life_adopt(&w->life, (uv_handle_t *)&w->idle);
	} else {
		life_adopt(&w->life, (uv_handle_t *)&w->poll);
	}
}

static void watch_start(struct watch *w)
{
	if (w->always_ready)
		uv_idle_start(&w->idle, on_idle);
	else
		uv_poll_start(&w->poll, w->events, on_poll);
}

static void watch_stop(struct watch *w)
{
	if (w->always_ready)
		uv_idle_stop(&w->idle);
	else
		uv_poll_stop(&w->poll);
}

static void watch_close(struct watch *w)
{
	uv_handle_t *handle = w->always_ready ? (uv_handle_t *)&w->idle : (uv_handle_t *)&w->poll;
	life_close_handle(&w->life, handle);
	life_end(&w->life);
}

/* True when a read or write of one piece does not block. */
static bool is_ready(const struct watch *w, short events)
{
	struct pollfd p = {.fd = w->fd, .events = events};
	return w->always_ready || poll(&p, 1, 0) > 0;
}

/* ---- in ---- */

static void on_inlet_gone(struct life *life)
{
	struct watch *w = CONTAINER_OF(life, struct watch, life);
	free(CONTAINER_OF(w, struct inlet, watch));
}

static void on_inlet_ready(struct watch *w)
{
	struct inlet *in = CONTAINER_OF(w, struct inlet, watch);
	ssize_t n = read(w->fd, in->piece, sizeof(in->piece));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		in->ops->on_data(in->arg, in->piece, (size_t)n);
		return;
	}
	watch_stop(w);
	in->ops->on_eof(in->arg);
}

struct inlet *inlet_open(struct loop *loop, int fd, const struct inlet_ops *ops, void *arg)
{
	struct inlet *in = mem_alloc(sizeof(*in));
	in->ops = ops;
	in->arg = arg;
	watch_init(&in->watch, loop, fd, UV_READABLE, on_inlet_ready, on_inlet_gone);
	return in;
}

void inlet_resume(struct inlet *in)
{
	watch_start(&in->watch);
}

void inlet_pause(struct inlet *in)
{
	watch_stop(&in->watch);
}

void inlet_close(struct inlet *in)
{
	if (in && !in->watch.life.closing)
		watch_close(&in->watch);
}

/* ---- out ---- */

static void on_outlet_gone(struct life *life)
{
	struct watch *w = CONTAINER_OF(life, struct watch, life);
	struct outlet *out = CONTAINER_OF(w, struct outlet, watch);
	buf_finish(&out->queue);
	free(out);
}

static void die(struct outlet *out, int errnum)
{
	err_sys(&out->why, errnum, "write");
	out->dead = out->error_due = true;
	buf_clear(&out->queue);
	out->taken = 0;
}

/* Bytes written before the descriptor was full, a turn's worth at most; fewer than len also after an error. */
static size_t write_ready(struct outlet *out, const uint8_t *p, size_t len)
{
	size_t done = 0;
	for (unsigned i = 0; done < len && i < PIECES_PER_TURN && is_ready(&out->watch, POLLOUT); i++) {
		ssize_t n = write(out->watch.fd, p + done, MIN(len - done, (size_t)WRITE_PIECE));
		if (n >= 0) {
			done += (size_t)n;
		} else if (errno != EINTR) {
			if (errno != EAGAIN)
				die(out, errno);
			break;
		}
	}
	return done;
}

static void on_outlet_ready(struct watch *w)
{
	struct outlet *out = CONTAINER_OF(w, struct outlet, watch);
	if (!out->dead)
		out->taken += write_ready(out, out->queue.data + out->taken, out->queue.len - out->taken);
	if (out->dead) {
		watch_stop(w);
		if (out->error_due) {
			out->error_due = false;
			out->ops->on_error(out->arg, &out->why);
		}
		return;
	}
	if (out->taken < out->queue.len)
		return;
	watch_stop(w);
	buf_clear(&out->queue);
	out->taken = 0;
	out->ops->on_drain(out->arg);
}

struct outlet *outlet_open(struct loop *loop, int fd, const struct outlet_ops *ops, void *arg)
{
	struct outlet *out = mem_alloc(sizeof(*out));
	out->ops = ops;
	out->arg = arg;
	buf_init(&out->queue, QUEUE_MOST);
	watch_init(&out->watch, loop, fd, UV_WRITABLE, on_outlet_ready, on_outlet_gone);
	return out;
}

void outlet_write(struct outlet *out, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	size_t done = 0;
	if (out->dead || out->watch.life.closing)
		return;
	if (out->queue.len == 0)
		done = write_ready(out, p, len);
	if (done == len)
		return;
	if (!out->dead)
		buf_put(&out->queue, p + done, len - done);
	CHECK(buf_ok(&out->queue)); /* the owner stops its source long before */
	watch_start(&out->watch);   /* after an error: to tell the owner; EPIPE polls ready */
}

bool outlet_is_empty(const struct outlet *out)
{
	return out->queue.len == 0 && !out->error_due;
}

void outlet_close(struct outlet *out)
{
	if (out && !out->watch.life.closing)
		watch_close(&out->watch);
}
