#include "core/loop/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/mem.h"
#include "core/loop/life.h"
#include "core/loop/loop.h"

struct stream {
	struct life life;
	struct loop *loop; /* keeps */
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_pipe_t pipe;
		uv_tcp_t tcp;
	} u;
	uv_timer_t flush; /* limit of stream_close_flushed */
	const struct stream_ops *ops;
	void *arg;
	size_t high, hard;
	bool open; /* connected */
	bool want_read;
	bool was_full; /* above `high` since the last on_drain */
	bool broken;   /* on_error was called */
	bool deaf;     /* on_write_error was called */
	bool shutdown_asked;
	bool flushing; /* closing once the queue is empty; silent */
	void (*closed)(void *arg);
	void *closed_arg;
};

struct write_req {
	uv_write_t req;
	struct stream *s;
	uint8_t bytes[];
};

struct connect_req {
	union {
		uv_connect_t connect;
		uv_shutdown_t shutdown;
	} u;
	struct stream *s;
};

static void on_gone(struct life *life)
{
	struct stream *s = CONTAINER_OF(life, struct stream, life);
	void (*closed)(void *arg) = s->closed;
	void *arg = s->closed_arg;
	free(s);
	if (closed)
		closed(arg);
}

static bool silent(const struct stream *s)
{
	return s->life.closing || s->broken || s->flushing;
}

static void fail(struct stream *s, int code, const char *what)
{
	if (s->flushing) {
		stream_close(s, NULL, NULL);
		return;
	}
	if (silent(s))
		return;
	struct err e = ERR_INIT;
	if (code == UV_ENOENT || code == UV_ECONNREFUSED)
		err_set(&e, ERR_NOT_FOUND, "%s: %s", what, uv_strerror(code));
	else
		err_uv(&e, code, "%s", what);
	s->broken = true;
	uv_read_stop(&s->u.stream);
	s->ops->on_error(s->arg, &e);
}

/* A failed write ends the stream, unless the owner wants to read what the peer had sent before it stopped listening. */
static void fail_write(struct stream *s, int code, const char *what)
{
	if (!s->ops->on_write_error || s->flushing) {
		fail(s, code, what);
		return;
	}
	if (silent(s) || s->deaf)
		return;
	struct err e = ERR_INIT;
	err_uv(&e, code, "%s", what);
	s->deaf = true;
	s->ops->on_write_error(s->arg, &e);
}

static struct stream *create(struct loop *loop, const struct stream_ops *ops, void *arg)
{
	struct stream *s = mem_alloc(sizeof(*s));
	life_init(&s->life, on_gone);
	s->loop = loop;
	s->ops = ops;
	s->arg = arg;
	s->high = STREAM_HIGH_DEFAULT;
	s->hard = STREAM_HARD_DEFAULT;
	uv_timer_init(loop_uv(loop), &s->flush);
	life_adopt(&s->life, (uv_handle_t *)&s->flush);
	return s;
}

struct stream *stream_open(struct loop *loop, int fd, const struct stream_ops *ops, void *arg, struct err *e)
{
	struct stream *s = create(loop, ops, arg);
	uv_pipe_init(loop_uv(loop), &s->u.pipe, 0);
	life_adopt(&s->life, &s->u.handle);
	int r = uv_pipe_open(&s->u.pipe, fd);
	if (r != 0) {
		close(fd);
		stream_close(s, NULL, NULL);
		err_uv(e, r, "open stream");
		return NULL;
	}
	s->open = true;
	return s;
}

static void on_read(uv_stream_t *handle, ssize_t n, const uv_buf_t *b)
{
	struct stream *s = CONTAINER_OF(handle->data, struct stream, life);
	if (silent(s) || n == 0)
		return;
	if (n > 0) {
		s->ops->on_data(s->arg, (const uint8_t *)b->base, (size_t)n);
		return;
	}
	s->want_read = false;
	uv_read_stop(handle);
	if (n == UV_EOF || n == UV_EIO) /* EIO: the last user of a pty went away */
		s->ops->on_eof(s->arg);
	else
		fail(s, (int)n, "read");
}

static void apply_read(struct stream *s)
{
	if (!s->open || silent(s))
		return;
	if (s->want_read)
		uv_read_start(&s->u.stream, loop_alloc, on_read);
	else
		uv_read_stop(&s->u.stream);
}

void stream_resume(struct stream *s)
{
	s->want_read = true;
	apply_read(s);
}

void stream_pause(struct stream *s)
{
	s->want_read = false;
	apply_read(s);
}

static void on_shutdown(uv_shutdown_t *req, int status)
{
	struct connect_req *r = CONTAINER_OF(req, struct connect_req, u.shutdown);
	struct stream *s = r->s;
	free(r);
	if (status == 0) {
		if (!silent(s) && s->ops->on_finished)
			s->ops->on_finished(s->arg);
	} else if (s->ops->on_write_error && status != UV_ECANCELED) {
		fail_write(s, status, "shutdown"); /* others learn of a peer that is gone when reading */
	}
	life_drop(&s->life);
}

static void start_shutdown(struct stream *s)
{
	struct connect_req *r = mem_alloc(sizeof(*r));
	r->s = s;
	if (uv_shutdown(&r->u.shutdown, &s->u.stream, on_shutdown) == 0)
		life_hold(&s->life);
	else
		free(r);
}

static void on_connect(uv_connect_t *req, int status)
{
	struct connect_req *r = CONTAINER_OF(req, struct connect_req, u.connect);
	struct stream *s = r->s;
	free(r);
	if (!silent(s)) {
		if (status != 0) {
			fail(s, status, "connect");
		} else {
			s->open = true;
			apply_read(s);
			if (s->shutdown_asked)
				start_shutdown(s);
			if (s->ops->on_open)
				s->ops->on_open(s->arg);
		}
	}
	life_drop(&s->life);
}

struct stream *stream_connect_unix(struct loop *loop, const char *path, const struct stream_ops *ops,
                                   void *arg, struct err *e)
{
	if (strlen(path) >=
	    sizeof(((struct sockaddr_un *)NULL)->sun_path)) { /* libuv would cut it silently */
		err_set(e, ERR_LIMIT, "socket path %s is too long", path);
		return NULL;
	}
	struct stream *s = create(loop, ops, arg);
	struct connect_req *r = mem_alloc(sizeof(*r));
	r->s = s;
	uv_pipe_init(loop_uv(loop), &s->u.pipe, 0);
	life_adopt(&s->life, &s->u.handle);
	life_hold(&s->life);
	uv_pipe_connect(&r->u.connect, &s->u.pipe, path, on_connect);
	return s;
}

struct stream *stream_connect_addr(struct loop *loop, const struct sockaddr *addr,
                                   const struct stream_ops *ops, void *arg, struct err *e)
{
	struct stream *s = create(loop, ops, arg);
	struct connect_req *r = mem_alloc(sizeof(*r));
	r->s = s;
	uv_tcp_init(loop_uv(loop), &s->u.tcp);
	life_adopt(&s->life, &s->u.handle);
	int code = uv_tcp_connect(&r->u.connect, &s->u.tcp, addr, on_connect);
	if (code != 0) {
		free(r);
		stream_close(s, NULL, NULL);
		err_uv(e, code, "connect");
		return NULL;
	}
	life_hold(&s->life);
	uv_tcp_nodelay(&s->u.tcp, 1);
	return s;
}

void stream_set_limits(struct stream *s, size_t high, size_t hard)
{
	s->high = high;
	s->hard = hard;
}

void stream_set_ops(struct stream *s, const struct stream_ops *ops, void *arg)
{
	s->ops = ops;
	s->arg = arg;
}

static void on_written(uv_write_t *req, int status)
{
	struct write_req *w = CONTAINER_OF(req, struct write_req, req);
	struct stream *s = w->s;
	free(w);
	if (status != 0 && status != UV_ECANCELED) {
		fail_write(s, status, "write");
	} else if (s->flushing && !s->life.closing && stream_queued(s) == 0) {
		stream_close(s, NULL, NULL);
	} else if (!silent(s) && s->was_full && stream_queued(s) <= s->high / 4) {
		s->was_full = false;
		if (s->ops->on_drain)
			s->ops->on_drain(s->arg);
	}
	life_drop(&s->life);
}

bool stream_send(struct stream *s, const void *bytes, size_t len)
{
	if (silent(s) || s->deaf)
		return false;
	if (s->open && stream_queued(s) == 0) { /* the usual case needs no copy */
		uv_buf_t b = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)MIN(len, 1u << 30));
		int n = uv_try_write(&s->u.stream, &b, 1);
		if (n > 0) {
			bytes = (const uint8_t *)bytes + n;
			len -= (size_t)n;
		}
	}
	if (len == 0)
		return true;
	if (len > s->hard || stream_queued(s) > s->hard - len)
		return false;
	struct write_req *w = mem_alloc(sizeof(*w) + len);
	w->s = s;
	memcpy(w->bytes, bytes, len);
	uv_buf_t b = uv_buf_init((char *)w->bytes, (unsigned)len);
	if (uv_write(&w->req, &s->u.stream, &b, 1, on_written) != 0) {
		free(w);
		return false;
	}
	life_hold(&s->life);
	if (stream_queued(s) > s->high)
		s->was_full = true;
	return true;
}

bool stream_is_full(const struct stream *s)
{
	return s->was_full;
}

size_t stream_queued(const struct stream *s)
{
	return uv_stream_get_write_queue_size(&s->u.stream);
}

void stream_shutdown(struct stream *s)
{
	if (s->shutdown_asked || s->deaf || silent(s))
		return;
	s->shutdown_asked = true;
	if (s->open)
		start_shutdown(s);
}

void stream_close(struct stream *s, void (*closed)(void *arg), void *arg)
{
	if (!s || s->life.closing)
		return;
	s->closed = closed;
	s->closed_arg = arg;
	life_close_handle(&s->life, &s->u.handle);
	life_close_handle(&s->life, (uv_handle_t *)&s->flush);
	life_end(&s->life);
}

static void on_flush_timeout(uv_timer_t *timer)
{
	stream_close(CONTAINER_OF(timer->data, struct stream, life), NULL, NULL);
}

void stream_close_flushed(struct stream *s, uint64_t ms)
{
	if (!s || s->life.closing)
		return;
	uv_read_stop(&s->u.stream);
	s->flushing = true;
	if (s->broken || stream_queued(s) == 0)
		stream_close(s, NULL, NULL);
	else
		uv_timer_start(&s->flush, on_flush_timeout, ms, 0);
}

int stream_fd(const struct stream *s)
{
	uv_os_fd_t fd = -1;
	return uv_fileno(&s->u.handle, &fd) == 0 ? fd : -1;
}
