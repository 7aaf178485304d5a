#include "proxy/dial.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"
#include "proxy/resolve.h"

struct dial {
	struct loop *loop; /* keeps */
	struct timer *timer;
	struct stream *stream; /* of the running try */
	union endpoint to[RESOLVE_MOST];
	size_t count, next; /* to[next - 1] is being tried */
	uint64_t deadline_ms;
	struct err last;
	void (*on_done)(void *arg, struct stream *s, const union endpoint *to, const struct err *e);
	void *arg;
};

void dial_cancel(struct dial *d)
{
	if (!d)
		return;
	stream_close(d->stream, NULL, NULL);
	timer_close(d->timer);
	free(d);
}

static void try_next(struct dial *d);

static void on_open(void *arg)
{
	struct dial *d = arg;
	struct stream *s = mem_steal(&d->stream);
	union endpoint to = d->to[d->next - 1];
	void (*on_done)(void *a, struct stream *st, const union endpoint *ep, const struct err *e) =
	    d->on_done;
	void *done_arg = d->arg;
	dial_cancel(d);
	on_done(done_arg, s, &to, NULL);
}

static void on_error(void *arg, const struct err *e)
{
	struct dial *d = arg;
	d->last = *e;
	try_next(d);
}

/* Nothing is read before the tunnel stands. */
static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
}

static void on_eof(void *arg)
{
	(void)arg;
}

static const struct stream_ops OPS = {
    .on_open = on_open, .on_data = on_data, .on_eof = on_eof, .on_error = on_error};

static void give_up(struct dial *d)
{
	void (*on_done)(void *arg, struct stream *s, const union endpoint *to, const struct err *e) =
	    d->on_done;
	void *arg = d->arg;
	struct err e = d->last;
	dial_cancel(d);
	on_done(arg, NULL, NULL, &e);
}

static void try_next(struct dial *d)
{
	stream_close(d->stream, NULL, NULL);
	d->stream = NULL;
	while (!d->stream && d->next < d->count) {
		err_clear(&d->last);
		d->stream = stream_connect_addr(d->loop, &d->to[d->next].any, &OPS, d, &d->last);
		d->next++;
	}
	if (!d->stream) {
		give_up(d);
		return;
	}
	uint64_t now = clock_mono_ms();
	uint64_t left = d->deadline_ms > now ? d->deadline_ms - now : 0;
	timer_once(d->timer, left / (d->count - d->next + 1));
}

static void on_timer(void *arg)
{
	struct dial *d = arg;
	if (d->next > 0) {
		err_clear(&d->last);
		err_set(&d->last, ERR_TIMEOUT, "no answer");
	}
	try_next(d);
}

struct dial *dial_start(struct loop *loop, const union endpoint *to, size_t count,
                        void (*on_done)(void *arg, struct stream *s, const union endpoint *to,
                                        const struct err *e),
                        void *arg)
{
	CHECK(count >= 1 && count <= RESOLVE_MOST);
	struct dial *d = mem_alloc(sizeof(*d));
	d->loop = loop;
	d->count = count;
	memcpy(d->to, to, count * sizeof(*to));
	d->deadline_ms = clock_mono_ms() + DIAL_LIMIT_MS;
	d->on_done = on_done;
	d->arg = arg;
	d->timer = timer_create_on(loop, on_timer, d);
	timer_once(d->timer, 0); /* the first try, from the loop */
	return d;
}
