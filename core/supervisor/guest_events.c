#include "core/supervisor/guest_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/listener.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"
#include "core/vm/vm.h"
#include "core/wire/frame.h"

#define INCIDENTS_MS 10000
#define BURST_MS     1000
#define ANSWERS_MAX  (64 * 1024) /* bytes */

struct caller {                     /* one connection of the guest */
	struct guest_events *owner; /* NULL: this place is free */
	struct stream *stream;
	struct timer *limit;
	struct frame_reader frames;
	bool greeted, ready_told;
	bool over; /* closed inside a callback */
	struct err refused;
};

struct guest_events {
	struct loop *loop;
	struct listener *listener;
	struct caller callers[GUEST_EVENTS_MOST];
	uint64_t since_ms; /* of the incidents that are counted */
	unsigned incidents;
	unsigned ready_told;
	uint64_t burst_ms; /* since when `heard` counts calls and messages */
	unsigned heard;
	struct timer *rest;
	const struct guest_events_ops *ops;
	void *arg;
};

static void hang_up(struct caller *c)
{
	if (!c->owner)
		return;
	stream_close(c->stream, NULL, NULL);
	timer_close(c->limit);
	frame_reader_finish(&c->frames);
	*c = (struct caller){.over = true};
}

static void incident(struct caller *c, const struct err *e)
{
	struct guest_events *g = c->owner;
	uint64_t now = clock_mono_ms();
	char text[sizeof(e->msg) + 80];
	if (now - g->since_ms > INCIDENTS_MS) {
		if (g->incidents > GUEST_EVENTS_INCIDENTS) {
			snprintf(text, sizeof(text), "%u more on the events port",
			         g->incidents - GUEST_EVENTS_INCIDENTS);
			g->ops->on_incident(g->arg, text);
		}
		g->since_ms = now;
		g->incidents = 0;
	}
	snprintf(text, sizeof(text), "the guest broke the protocol on the events port: %s", e->msg);
	if (++g->incidents <= GUEST_EVENTS_INCIDENTS)
		g->ops->on_incident(g->arg, text);
	hang_up(c);
}

/* ---- how much is heard ---- */

static void on_rested(void *arg)
{
	struct guest_events *g = arg;
	g->heard = 0;
	listener_resume(g->listener);
	for (size_t i = 0; i < GUEST_EVENTS_MOST; i++) {
		if (g->callers[i].owner)
			stream_resume(g->callers[i].stream);
	}
}

/* A piece of data that was read is heard to its end, so a turn may be as long as such a piece. */
static void count_heard(struct guest_events *g)
{
	uint64_t now = clock_mono_ms();
	if (now - g->burst_ms >= BURST_MS) {
		g->burst_ms = now;
		g->heard = 0;
	}
	if (++g->heard <= GUEST_EVENTS_BURST || timer_is_active(g->rest))
		return;
	listener_pause(g->listener);
	for (size_t i = 0; i < GUEST_EVENTS_MOST; i++) {
		if (g->callers[i].owner)
			stream_pause(g->callers[i].stream);
	}
	timer_once(g->rest, GUEST_EVENTS_REST_MS);
}

/* ---- messages ---- */

static bool on_ready(struct caller *c, const struct frame *f, struct err *e)
{
	struct wire_event_ready ready;
	if (c->ready_told)
		return err_set(e, ERR_PROTOCOL, "message event_ready is said twice");
	if (!wire_get_event_ready(f->body, &ready, e))
		return false;
	if (c->owner->ready_told == GUEST_EVENTS_READY_MOST)
		return err_set(e, ERR_PROTOCOL, "message event_ready comes for the %dth time",
		               GUEST_EVENTS_READY_MOST + 1);
	c->owner->ready_told++;
	c->ready_told = true;
	timer_stop(c->limit);
	c->owner->ops->on_ready(c->owner->arg, &ready);
	return true;
}

/* A caller that does not read its answers fills a small queue only. */
static bool answer_ok(struct caller *c, uint32_t id)
{
	struct buf out = BUF_INIT(64);
	struct wire_ok ok = {.text = ""};
	bool sent = wire_put_ok(&out, id, &ok) && stream_send(c->stream, out.data, out.len);
	buf_finish(&out);
	return sent;
}

static bool on_notify(struct caller *c, const struct frame *f, struct err *e)
{
	struct wire_event_notify m;
	if (!wire_get_event_notify(f->body, &m, e))
		return false;
	if (m.attention == ATTENTION_NONE || m.attention >= ATTENTION_STATE_COUNT)
		return err_set(e, ERR_PROTOCOL, "attention %u", m.attention);
	if (c->owner->ops->on_notify)
		c->owner->ops->on_notify(c->owner->arg, &m);
	if (!answer_ok(c, f->id))
		hang_up(c);
	return true;
}

static bool on_hello(struct caller *c, const struct frame *f, struct err *e)
{
	struct wire_hello hello = {0};
	if (f->type != WIRE_HELLO)
		return err_set(e, ERR_PROTOCOL, "message %s before hello", wire_type_name(f->type));
	c->greeted = wire_check_hello(f->body, &hello, e);
	if (!c->greeted && hello.magic == WIRE_MAGIC && hello.major != WIRE_MAJOR)
		c->owner->ops->on_other_version(c->owner->arg);
	return c->greeted;
}

static bool on_message(struct caller *c, const struct frame *f, struct err *e)
{
	count_heard(c->owner);
	if (!c->ready_told)
		timer_once(c->limit, GUEST_EVENTS_SILENCE_MS);
	if (!c->greeted)
		return on_hello(c, f, e);
	if (f->type == WIRE_EVENT_READY)
		return on_ready(c, f, e);
	if (f->type == WIRE_EVENT_NOTIFY)
		return on_notify(c, f, e);
	return err_set(e, ERR_PROTOCOL, "message %s is not expected", wire_type_name(f->type));
}

static bool on_frame(void *arg, const struct frame *f)
{
	struct caller *c = arg;
	return on_message(c, f, &c->refused) && !c->over;
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct caller *c = arg;
	struct err e = ERR_INIT;
	enum frame_result result = frame_feed(&c->frames, bytes, len, on_frame, c, &e);
	if (c->over || result == FRAME_MORE)
		return;
	if (result == FRAME_READY)
		e = c->refused;
	incident(c, &e);
}

static void on_eof(void *arg)
{
	hang_up(arg);
}

static void on_error(void *arg, const struct err *e)
{
	(void)e;
	hang_up(arg);
}

static void on_limit(void *arg)
{
	hang_up(arg);
}

static const struct stream_ops STREAM_OPS = {.on_data = on_data, .on_eof = on_eof, .on_error = on_error};

static void on_accept(void *arg, int fd)
{
	struct guest_events *g = arg;
	struct err e = ERR_INIT;
	struct caller *c = NULL;
	count_heard(g);
	for (size_t i = 0; i < GUEST_EVENTS_MOST && !c; i++)
		c = g->callers[i].owner ? NULL : &g->callers[i];
	if (!c) {
		close(fd);
		return;
	}
	*c = (struct caller){0};
	c->stream = stream_open(g->loop, fd, &STREAM_OPS, c, &e);
	if (!c->stream) {
		log_warn("events port: %s", e.msg);
		return;
	}
	stream_set_limits(c->stream, ANSWERS_MAX, ANSWERS_MAX);
	c->owner = g;
	frame_reader_init(&c->frames);
	c->limit = timer_create_on(g->loop, on_limit, c);
	timer_once(c->limit, GUEST_EVENTS_SILENCE_MS);
	if (!timer_is_active(g->rest))
		stream_resume(c->stream);
}

struct guest_events *guest_events_open(struct loop *loop, const char *path,
                                       const struct guest_events_ops *ops, void *arg, struct err *e)
{
	struct guest_events *g = mem_alloc(sizeof(*g));
	g->loop = loop;
	g->ops = ops;
	g->arg = arg;
	g->listener = listener_open(loop, path, on_accept, g, e);
	if (!g->listener) {
		free(g);
		return NULL;
	}
	g->rest = timer_create_on(loop, on_rested, g);
	return g;
}

void guest_events_close(struct guest_events *g)
{
	if (!g)
		return;
	listener_close(g->listener);
	timer_close(g->rest);
	for (size_t i = 0; i < GUEST_EVENTS_MOST; i++)
		hang_up(&g->callers[i]);
	free(g);
}
