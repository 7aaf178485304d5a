#include "guest/link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/wire/wire.h"

#define READ_SIZE   (64 * 1024)
#define OUT_MOST    (1024 * 1024) /* far above LINK_HIGH plus what one turn can add */
#define PATIENCE_MS 10000

static void look(struct link *l)
{
	/* A finishing link reads on, to see the peer close, but drops what comes. */
	uint32_t in = l->paused && !l->finishing ? EPOLLRDHUP : EPOLLIN;
	reactor_want(l->watch, in | (l->out.len ? EPOLLOUT : 0));
}

static void break_link(struct link *l, const struct err *e)
{
	if (l->broken)
		return;
	l->broken = true;
	l->why = *e;
	/* The owner hears of it from the loop, never inside one of its own calls. */
	reactor_deafen(l->watch);
	deadline_set(&l->patience, l->reactor, 0);
}

static void on_patience(void *arg)
{
	struct link *l = arg;
	l->ops->on_gone(l->arg, l->broken && l->why.kind != ERR_GONE ? &l->why : NULL);
}

static void peer_gone(struct link *l)
{
	struct err e = ERR_INIT;
	err_set(&e, ERR_GONE, "the host closed the connection");
	break_link(l, &e);
}

static void write_out(struct link *l)
{
	while (l->out.len && !l->broken) {
		ssize_t n = send(l->fd, l->out.data, l->out.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			peer_gone(l);
			return;
		}
		buf_drop(&l->out, (size_t)n);
	}
	if (!l->broken && l->was_full && l->out.len < LINK_HIGH / 4) {
		l->was_full = false;
		if (l->ops->on_room)
			l->ops->on_room(l->arg);
	}
}

static bool on_frame(void *arg, const struct frame *f)
{
	struct link *l = arg;
	struct err e = ERR_INIT;
	if (l->finishing)
		return true;
	if (l->ops->on_frame(l->arg, f, &e))
		return true;
	l->why = e;
	return false;
}

/* The peer is told why and gets time to read it; nothing that it sends is looked at any more. */
static void refuse(struct link *l, const struct err *e)
{
	struct err why = *e;
	link_flush(l, wire_put_err(&l->out, 0, &why));
	link_finish(l);
}

static void read_in(struct link *l)
{
	uint8_t chunk[READ_SIZE];
	ssize_t n = recv(l->fd, chunk, sizeof(chunk), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		peer_gone(l);
		return;
	}
	if (l->finishing)
		return;
	struct err e = ERR_INIT;
	switch (frame_feed(&l->in, chunk, (size_t)n, on_frame, l, &e)) {
	case FRAME_MORE: break;
	case FRAME_READY: refuse(l, &l->why); break;
	case FRAME_BAD: refuse(l, &e); break;
	}
}

static void on_socket(void *arg, uint32_t events)
{
	struct link *l = arg;
	if (events & EPOLLOUT)
		write_out(l);
	/* Hung up while paused: nobody is there for the rest either. Otherwise what came before the end is
	 * read first. */
	if (!l->broken && (events & ~(uint32_t)EPOLLOUT)) {
		if (l->paused && !l->finishing)
			peer_gone(l);
		else
			read_in(l);
	}
	if (!l->broken)
		look(l);
}

void link_open(struct link *l, struct reactor *r, int fd, const struct link_ops *ops, void *arg)
{
	*l = (struct link){.reactor = r, .fd = fd, .ops = ops, .arg = arg};
	frame_reader_init(&l->in);
	buf_init(&l->out, OUT_MOST);
	deadline_init(&l->patience, on_patience, l);
	l->watch = reactor_watch(r, fd, EPOLLIN, on_socket, l);
}

void link_close(struct link *l)
{
	if (!l->watch)
		return;
	deadline_clear(&l->patience);
	reactor_unwatch(l->watch);
	l->watch = NULL;
	fd_close(&l->fd);
	frame_reader_finish(&l->in);
	buf_finish(&l->out);
}

struct buf *link_out(struct link *l)
{
	return &l->out;
}

void link_flush(struct link *l, bool put_ok)
{
	if (l->broken)
		return;
	if (!put_ok) {
		struct err e = ERR_INIT;
		err_set(&e, ERR_LIMIT, "the host does not read what it asked for");
		break_link(l, &e);
		return;
	}
	write_out(l);
	if (l->broken)
		return;
	l->was_full = l->was_full || link_is_full(l);
	look(l);
}

bool link_is_full(const struct link *l)
{
	return l->out.len >= LINK_HIGH;
}

void link_pause(struct link *l, bool paused)
{
	l->paused = paused;
	if (!l->broken)
		look(l);
}

void link_finish(struct link *l)
{
	if (l->finishing || l->broken)
		return;
	l->finishing = true;
	deadline_set(&l->patience, l->reactor, PATIENCE_MS);
	look(l);
}
