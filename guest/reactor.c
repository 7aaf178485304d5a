#include "guest/reactor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mem.h"

#define TURN_MOST 64

struct reactor {
	int epoll;
	bool stopped;
	struct list deadlines; /* unordered: there are a few hundred at most */
	struct list graves;    /* closed watches that the running turn may still point at */
};

struct reactor_watch {
	struct list grave;
	struct reactor *reactor;
	int fd;
	bool heard; /* is in the epoll set */
	bool closed;
	uint32_t events;
	void (*fn)(void *arg, uint32_t events);
	void *arg;
};

struct reactor *reactor_create(void)
{
	struct reactor *r = mem_alloc(sizeof(*r));
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		BUG("no epoll instance: errno %d", errno);
	list_init(&r->deadlines);
	list_init(&r->graves);
	return r;
}

static void bury(struct reactor *r)
{
	LIST_FOREACH (item, &r->graves) {
		list_remove(item);
		free(LIST_ENTRY(item, struct reactor_watch, grave));
	}
}

void reactor_destroy(struct reactor *r)
{
	if (!r)
		return;
	bury(r);
	fd_close(&r->epoll);
	free(r);
}

void reactor_stop(struct reactor *r)
{
	r->stopped = true;
}

void reactor_run(struct reactor *r)
{
	r->stopped = false;
	while (!r->stopped)
		reactor_turn(r, -1);
}

static int wait_ms(struct reactor *r, int most_ms)
{
	uint64_t now = clock_mono_ms();
	uint64_t best = most_ms < 0 ? UINT64_MAX : (uint64_t)most_ms;
	LIST_FOREACH (item, &r->deadlines) {
		struct deadline *d = LIST_ENTRY(item, struct deadline, link);
		best = MIN(best, d->at_ms > now ? d->at_ms - now : 0);
	}
	return best == UINT64_MAX ? -1 : (int)MIN(best, INT_MAX);
}

/* One deadline at a time, from the start again: its callback may change the list in any way. */
static void fire_deadlines(struct reactor *r)
{
	uint64_t now = clock_mono_ms();
	bool again = true;
	while (again) {
		again = false;
		LIST_FOREACH (item, &r->deadlines) {
			struct deadline *d = LIST_ENTRY(item, struct deadline, link);
			if (d->at_ms > now)
				continue;
			list_remove(&d->link);
			d->fn(d->arg);
			again = true;
			break;
		}
	}
}

void reactor_turn(struct reactor *r, int most_ms)
{
	struct epoll_event events[TURN_MOST];
	int n = epoll_wait(r->epoll, events, TURN_MOST, wait_ms(r, most_ms));
	for (int i = 0; i < n; i++) {
		struct reactor_watch *w = events[i].data.ptr;
		if (!w->closed && w->heard)
			w->fn(w->arg, events[i].events);
	}
	fire_deadlines(r);
	bury(r);
}

static void control(struct reactor_watch *w, int op, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = w};
	if (epoll_ctl(w->reactor->epoll, op, w->fd, &ev) != 0)
		BUG("epoll_ctl %d of descriptor %d: errno %d", op, w->fd, errno);
}

struct reactor_watch *reactor_watch(struct reactor *r, int fd, uint32_t events,
                                    void (*fn)(void *arg, uint32_t events), void *arg)
{
	struct reactor_watch *w = mem_alloc(sizeof(*w));
	*w = (struct reactor_watch){.reactor = r, .fd = fd, .fn = fn, .arg = arg};
	list_init(&w->grave);
	reactor_want(w, events);
	return w;
}

void reactor_want(struct reactor_watch *w, uint32_t events)
{
	if (w->heard && w->events == events)
		return;
	control(w, w->heard ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, events);
	w->heard = true;
	w->events = events;
}

void reactor_deafen(struct reactor_watch *w)
{
	if (w->heard)
		control(w, EPOLL_CTL_DEL, 0);
	w->heard = false;
}

void reactor_unwatch(struct reactor_watch *w)
{
	if (!w || w->closed)
		return;
	reactor_deafen(w);
	w->closed = true;
	list_append(&w->reactor->graves, &w->grave);
}

void deadline_init(struct deadline *d, void (*fn)(void *arg), void *arg)
{
	*d = (struct deadline){.fn = fn, .arg = arg};
	list_init(&d->link);
}

void deadline_set(struct deadline *d, struct reactor *r, uint64_t ms)
{
	list_remove(&d->link);
	d->at_ms = clock_mono_ms() + ms;
	list_append(&r->deadlines, &d->link);
}

void deadline_clear(struct deadline *d)
{
	list_remove(&d->link);
}

bool deadline_is_set(const struct deadline *d)
{
	return !list_is_empty(&d->link);
}
