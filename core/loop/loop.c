#include "core/loop/loop.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/list.h"
#include "core/base/log.h"
#include "core/base/mem.h"

#define READ_BUFFER_SIZE (64 * 1024)

struct deferred {
	struct list link;
	void (*fn)(void *arg);
	void *arg;
};

struct loop {
	uv_loop_t uv;
	uv_idle_t wake;      /* runs while something is deferred, so that the loop does not sleep */
	uv_prepare_t asleep; /* right before the loop sleeps, see loop_turn */
	uint64_t turn_ms;    /* loop time at which loop_turn found no timer due */
	struct list deferred;
	char read_buffer[READ_BUFFER_SIZE];
};

static void run_deferred(uv_idle_t *handle)
{
	struct loop *loop = CONTAINER_OF(handle, struct loop, wake);
	struct list now;
	list_init(&now);
	while (!list_is_empty(&loop->deferred)) { /* what these defer waits for the next turn */
		struct list *item = loop->deferred.next;
		list_remove(item);
		list_append(&now, item);
	}
	uv_idle_stop(handle);
	while (!list_is_empty(&now)) {
		struct deferred *d = LIST_ENTRY(now.next, struct deferred, link);
		list_remove(&d->link);
		d->fn(d->arg);
		free(d);
	}
}

struct loop *loop_create(void)
{
	struct loop *loop = mem_alloc(sizeof(*loop));
	signal(SIGPIPE, SIG_IGN);
	if (uv_loop_init(&loop->uv) != 0 || uv_idle_init(&loop->uv, &loop->wake) != 0 ||
	    uv_prepare_init(&loop->uv, &loop->asleep) != 0)
		BUG("cannot create an event loop");
	uv_unref((uv_handle_t *)&loop->asleep); /* never a reason to go on */
	loop->uv.data = loop;
	list_init(&loop->deferred);
	return loop;
}

uv_loop_t *loop_uv(struct loop *loop)
{
	return &loop->uv;
}

void loop_run(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_DEFAULT);
}

/* A timer became due between the look at the clock and the start of the turn: it has run, so do not sleep. */
static void before_sleep(uv_prepare_t *handle)
{
	struct loop *loop = CONTAINER_OF(handle, struct loop, asleep);
	if (uv_now(&loop->uv) != loop->turn_ms)
		uv_stop(&loop->uv);
}

/* UV_RUN_ONCE runs the timers that are due and then sleeps all the same until something else happens: a caller that
 * waits for what a timer did would wait for ever. So nothing sleeps in a turn in which a timer may have run. */
void loop_turn(struct loop *loop, bool no_wait)
{
	uv_update_time(&loop->uv);
	loop->turn_ms = uv_now(&loop->uv);
	if (no_wait || uv_backend_timeout(&loop->uv) == 0) {
		uv_run(&loop->uv, UV_RUN_NOWAIT);
		return;
	}
	uv_prepare_start(&loop->asleep, before_sleep);
	uv_run(&loop->uv, UV_RUN_ONCE);
	uv_prepare_stop(&loop->asleep);
}

void loop_stop(struct loop *loop)
{
	uv_stop(&loop->uv);
}

static void report_left_open(uv_handle_t *handle, void *arg)
{
	bool *found = arg;
	if (uv_is_closing(handle))
		return;
	log_warn("event loop ends with an open %s handle", uv_handle_type_name(handle->type));
	*found = true;
}

void loop_destroy(struct loop *loop)
{
	bool left_open = false;
	uv_run(&loop->uv, UV_RUN_NOWAIT); /* deferred calls that were promised */
	uv_close((uv_handle_t *)&loop->wake, NULL);
	uv_close((uv_handle_t *)&loop->asleep, NULL);
	uv_walk(&loop->uv, report_left_open, &left_open);
	if (left_open) {
		if (getenv("CCVM_STRICT_LOOP"))
			BUG("event loop destroyed with open handles");
		return; /* their memory still points here: leak rather than crash on the way out */
	}
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	if (uv_loop_close(&loop->uv) != 0)
		BUG("event loop does not close");
	free(loop);
}

void loop_defer(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct deferred *d = mem_alloc(sizeof(*d));
	d->fn = fn;
	d->arg = arg;
	list_append(&loop->deferred, &d->link);
	uv_idle_start(&loop->wake, run_deferred);
}

bool err_uv(struct err *e, int code, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	enum err_kind kind = code == UV_ECANCELED   ? ERR_CANCELED
	                     : code == UV_ETIMEDOUT ? ERR_TIMEOUT
	                     : code == UV_EOF       ? ERR_GONE
	                                            : ERR_SYSTEM;
	err_set(e, kind, "%s: %s", text, uv_strerror(code));
	if (kind == ERR_SYSTEM)
		e->sys = -code;
	return false;
}

void loop_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
	(void)suggested;
	struct loop *loop = handle->loop->data;
	*out = uv_buf_init(loop->read_buffer, READ_BUFFER_SIZE);
}
