#include "guest/hello.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/fd.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/wire/wire.h"
#include "guest/health.h"
#include "guest/link.h"
#include "guest/reactor.h"
#include "guest/vsock.h"

/* Quickly at first (the host may open its socket a moment late), then now and then. */
#define FAST_TRIES 40
#define FAST_MS    50
#define SLOW_MS    1000

struct hello {
	struct reactor *reactor;
	bool relay_listening;
	int (*dial)(void *arg, struct err *e);
	void *arg;
	int fd; /* while dialing */
	struct reactor_watch *watch;
	struct deadline retry;
	unsigned tries;
	struct link link;
	bool open;
};

static void try_later(struct hello *h)
{
	h->tries++;
	deadline_set(&h->retry, h->reactor, h->tries < FAST_TRIES ? FAST_MS : SLOW_MS);
}

/* The host has nothing to say here. */
static bool on_frame(void *arg, const struct frame *f, struct err *e)
{
	(void)arg;
	return err_set(e, ERR_PROTOCOL, "message %s on the events port", wire_type_name(f->type));
}

static void on_gone(void *arg, const struct err *e)
{
	struct hello *h = arg;
	log_warn("events: the connection ended%s%s", e ? ": " : "", e ? e->msg : "");
	link_close(&h->link);
	h->open = false;
}

static const struct link_ops LINK_OPS = {.on_frame = on_frame, .on_gone = on_gone};

static void say_hello(struct hello *h, int fd)
{
	struct wire_event_ready m = {.relay_listening = h->relay_listening};
	health_identify(&m);
	link_open(&h->link, h->reactor, fd, &LINK_OPS, h);
	h->open = true;
	struct buf *out = link_out(&h->link);
	link_flush(&h->link, wire_put_my_hello(out, "guest") && wire_put_event_ready(out, 0, &m));
}

static void on_dialed(void *arg, uint32_t events)
{
	(void)events;
	struct hello *h = arg;
	int fd = h->fd;
	reactor_unwatch(h->watch);
	h->watch = NULL;
	h->fd = -1;
	if (socket_outcome(fd) == 0) {
		say_hello(h, fd);
		return;
	}
	close(fd);
	try_later(h);
}

static void dial(void *arg)
{
	struct hello *h = arg;
	struct err e = ERR_INIT;
	h->fd = h->dial(h->arg, &e);
	if (h->fd >= 0)
		h->watch = reactor_watch(h->reactor, h->fd, EPOLLOUT, on_dialed, h);
	else
		try_later(h);
}

struct hello *hello_start(struct reactor *r, bool relay_listening,
                          int (*dial_events)(void *arg, struct err *e), void *arg)
{
	struct hello *h = mem_alloc(sizeof(*h));
	*h = (struct hello){
	    .reactor = r, .relay_listening = relay_listening, .dial = dial_events, .arg = arg, .fd = -1};
	deadline_init(&h->retry, dial, h);
	deadline_set(&h->retry, r, 0);
	return h;
}

void hello_close(struct hello *h)
{
	if (!h)
		return;
	deadline_clear(&h->retry);
	reactor_unwatch(h->watch);
	fd_close(&h->fd);
	if (h->open)
		link_close(&h->link);
	free(h);
}
