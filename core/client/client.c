#include "core/client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/client/internal.h"
#include "core/config/paths.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"
#include "core/term/unicode.h"
#include "core/wire/wire.h"

/* How it works: everything that waits is a conversation in one list, found by its request id (a handful, so a list
 * will do). One timer serves all time limits. User code may call client_close from any callback: `closed` is looked at
 * after each of them, and the memory goes when the stream has let go of it, which is never inside a callback. */

#define OUTGOING_MOST (4u * 1024 * 1024)
#define LONG_AGO      1 /* a time limit that has passed already */

struct client {
	struct loop *loop; /* keeps */
	char vm[VM_NAME_MAX + 1];
	const struct client_ops *ops;
	void *arg;
	struct stream *stream;
	struct timer *timer;
	struct frame_reader reader;
	struct buf outgoing; /* encoded, not yet handed to the stream */
	struct list conversations;
	uint32_t last_id;
	uint64_t heard_ms;          /* monotonic; when something came last */
	uint64_t hello_deadline_ms; /* 0 once the supervisor said HELLO */
	bool open;                  /* HELLO came */
	bool broken;                /* on_closed was called or is under way */
	bool jammed;                /* over the hard limit: break from the timer, not from inside a request */
	bool closed;
};

/* ---- time ---- */

static void arm_timer(struct client *c)
{
	uint64_t next = c->hello_deadline_ms;
	LIST_FOREACH (item, &c->conversations) {
		uint64_t d = LIST_ENTRY(item, struct conversation, link)->deadline_ms;
		if (d && (!next || d < next))
			next = d;
	}
	uint64_t now = clock_mono_ms();
	if (c->jammed)
		timer_once(c->timer, 0);
	else if (next)
		timer_once(c->timer, next > now ? next - now : 0);
	else
		timer_stop(c->timer);
}

void client_expire(struct client *c)
{
	if (c->hello_deadline_ms)
		c->hello_deadline_ms = LONG_AGO;
	LIST_FOREACH (item, &c->conversations) {
		struct conversation *v = LIST_ENTRY(item, struct conversation, link);
		if (v->deadline_ms)
			v->deadline_ms = LONG_AGO;
	}
	arm_timer(c);
}

/* ---- ends ---- */

static void break_conversation(struct conversation *v, const struct err *e)
{
	conversation_end(v);
	v->ops->on_broken(v, e);
}

/* Tells everybody once. A conversation that a callback begins meanwhile is not told here but by the timer, so that a
 * caller that tries again at once cannot keep this busy. */
static void break_off(struct client *c, const struct err *e)
{
	if (c->broken || c->closed)
		return;
	c->broken = true;
	c->open = false;
	c->jammed = false;
	c->hello_deadline_ms = 0;
	stream_pause(c->stream);
	timer_stop(c->timer);
	while (!c->closed && !list_is_empty(&c->conversations)) {
		struct conversation *v = LIST_ENTRY(c->conversations.next, struct conversation, link);
		if (v->deadline_ms == LONG_AGO)
			break;
		break_conversation(v, e);
	}
	if (!c->closed)
		c->ops->on_closed(c->arg, e);
}

void client_set_hangs(const char *vm, struct err *e)
{
	err_set(e, ERR_TIMEOUT, "the supervisor of VM %s does not answer; 'ccvm kill %s' ends it", vm, vm);
}

static struct conversation *find_late(struct client *c, uint64_t now)
{
	LIST_FOREACH (item, &c->conversations) {
		struct conversation *v = LIST_ENTRY(item, struct conversation, link);
		if (v->deadline_ms && v->deadline_ms <= now)
			return v;
	}
	return NULL;
}

static void on_timer(void *arg)
{
	struct client *c = arg;
	struct err e = ERR_INIT;
	uint64_t now = clock_mono_ms();
	struct conversation *late = find_late(c, now);
	if (c->jammed) {
		err_set(&e, ERR_GONE, "the supervisor of VM %s does not read what it is sent", c->vm);
		break_off(c, &e);
	} else if (c->hello_deadline_ms && c->hello_deadline_ms <= now) {
		client_set_hangs(c->vm, &e);
		break_off(c, &e);
	} else if (late && c->broken) {
		err_set(&e, ERR_GONE, "the connection to VM %s is broken", c->vm);
		break_conversation(late, &e);
	} else if (late && now - c->heard_ms >= CLIENT_TIMEOUT_MS) {
		client_set_hangs(c->vm, &e);
		break_conversation(late, &e);
	} else if (late) {
		err_set(&e, ERR_TIMEOUT, "VM %s: no answer to %s in time", c->vm, late->ops->what);
		break_conversation(late, &e);
	}
	if (!c->closed)
		arm_timer(c);
}

/* ---- messages in ---- */

void client_clean_text(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
			*text = '?';
	}
}

void client_clean_utf8(char *text)
{
	char *out = text;
	size_t left = strlen(text);
	while (left) {
		uint32_t cp;
		size_t n = utf8_decode((const uint8_t *)text, left, &cp);
		if (n && cp != UNICODE_REPLACEMENT && (codepoint_is_base(cp) || codepoint_is_mark(cp))) {
			memmove(out, text, n);
			out += n;
		} else {
			*out++ = '?';
		}
		n = MAX(n, 1);
		text += n;
		left -= n;
	}
	*out = '\0';
}

bool client_read_error(const struct frame *f, struct err *carried, struct err *e)
{
	struct wire_error m;
	if (!wire_get_error(f->body, &m, e))
		return false;
	client_clean_text(m.text);
	bool known = m.kind > ERR_NONE && m.kind < ERR_KIND_COUNT;
	err_set(carried, known ? (enum err_kind)m.kind : ERR_INTERNAL, "%s",
	        m.text[0] ? m.text : "refused without a reason");
	return true;
}

bool client_unexpected(const struct frame *f, struct err *e)
{
	return err_set(e, ERR_PROTOCOL, "unexpected %s message", wire_type_name(f->type));
}

static bool on_hello(struct client *c, const struct frame *f, struct err *e)
{
	struct wire_hello hello;
	if (f->type != WIRE_HELLO)
		return client_unexpected(f, e);
	if (!wire_check_hello(f->body, &hello, e))
		return false;
	c->open = true;
	c->hello_deadline_ms = 0;
	arm_timer(c);
	client_flush(c);
	if (c->ops->on_open)
		c->ops->on_open(c->arg);
	return true;
}

/* The supervisor's last word: an error that answers no request. */
static bool on_farewell(const struct frame *f, struct err *e)
{
	struct err why = ERR_INIT;
	if (!client_read_error(f, &why, e))
		return false;
	*e = why;
	return false;
}

static bool dispatch(struct client *c, const struct frame *f, struct err *e)
{
	if (f->type == WIRE_ERROR && f->id == 0)
		return on_farewell(f, e);
	if (!c->open)
		return on_hello(c, f, e);
	LIST_FOREACH (item, &c->conversations) {
		struct conversation *v = LIST_ENTRY(item, struct conversation, link);
		if (v->id == f->id)
			return v->ops->on_message(v, f, e);
	}
	return true; /* the answer to something that is over here, or news of a newer minor version */
}

static bool on_frame(void *arg, const struct frame *f)
{
	struct client *c = arg;
	struct err e = ERR_INIT;
	if (dispatch(c, f, &e))
		return !c->closed && !c->broken;
	err_wrap(&e, "VM %s", c->vm);
	break_off(c, &e);
	return false;
}

static void on_stream_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct client *c = arg;
	struct err e = ERR_INIT;
	if (c->broken)
		return;
	c->heard_ms = clock_mono_ms();
	if (frame_feed(&c->reader, bytes, len, on_frame, c, &e) == FRAME_BAD) {
		err_wrap(&e, "VM %s", c->vm);
		break_off(c, &e);
	}
}

static void on_stream_eof(void *arg)
{
	struct client *c = arg;
	struct err e = ERR_INIT;
	err_set(&e, ERR_GONE, "the supervisor of VM %s closed the connection", c->vm);
	break_off(c, &e);
}

static void on_stream_error(void *arg, const struct err *why)
{
	struct client *c = arg;
	struct err e = *why;
	if (why->kind == ERR_NOT_FOUND) {
		err_clear(&e);
		err_set(&e, ERR_NOT_FOUND, "VM %s is not running (ccvm up %s starts it)", c->vm, c->vm);
	} else {
		e.kind = ERR_GONE;
		err_wrap(&e, "connection to VM %s", c->vm);
	}
	break_off(c, &e);
}

static void on_stream_drain(void *arg)
{
	struct client *c = arg;
	LIST_FOREACH (item, &c->conversations) {
		struct conversation *v = LIST_ENTRY(item, struct conversation, link);
		if (v->ops->on_drain)
			v->ops->on_drain(v);
		if (c->closed || c->broken)
			return;
	}
}

static void on_stream_open(void *arg)
{
	struct client *c = arg;
	struct buf hello = BUF_INIT(1024);
	bool sent = wire_put_my_hello(&hello, "client") && stream_send(c->stream, hello.data, hello.len);
	buf_finish(&hello);
	if (!sent) {
		struct err e = ERR_INIT;
		err_set(&e, ERR_GONE, "the supervisor of VM %s closed the connection", c->vm);
		break_off(c, &e);
		return;
	}
	stream_resume(c->stream);
}

static const struct stream_ops STREAM_OPS = {
    .on_open = on_stream_open,
    .on_data = on_stream_data,
    .on_eof = on_stream_eof,
    .on_error = on_stream_error,
    .on_drain = on_stream_drain,
};

/* ---- messages out ---- */

struct buf *client_outgoing(struct client *c)
{
	return &c->outgoing;
}

bool client_flush(struct client *c)
{
	if (c->broken || c->jammed) {
		buf_clear(&c->outgoing);
		return false;
	}
	if (!c->open || c->outgoing.len == 0)
		return true; /* it waits for the HELLO */
	bool sent = stream_send(c->stream, c->outgoing.data, c->outgoing.len);
	buf_clear(&c->outgoing);
	if (!sent) {
		c->jammed = true;
		arm_timer(c);
	}
	return sent;
}

bool client_is_full(const struct client *c)
{
	return !c->open || c->jammed || stream_is_full(c->stream);
}

void client_pause(struct client *c)
{
	if (!c->broken)
		stream_pause(c->stream);
}

void client_resume(struct client *c)
{
	if (!c->broken && !c->closed)
		stream_resume(c->stream);
}

void conversation_begin(struct client *c, struct conversation *v, const struct conversation_ops *ops,
                        uint64_t timeout_ms)
{
	CHECK(!c->closed);
	c->last_id = c->last_id == UINT32_MAX ? 1 : c->last_id + 1; /* 0 means "no request" */
	*v = (struct conversation){.client = c, .id = c->last_id, .ops = ops};
	list_append(&c->conversations, &v->link);
	if (c->broken)
		v->deadline_ms = LONG_AGO;
	else if (timeout_ms)
		v->deadline_ms = clock_mono_ms() + timeout_ms;
	arm_timer(c);
}

void conversation_end(struct conversation *v)
{
	list_remove(&v->link);
	v->client = NULL;
}

bool conversation_is_active(const struct conversation *v)
{
	return v->client != NULL;
}

/* ---- life ---- */

struct client *client_connect(struct loop *loop, const char *vm, const struct client_ops *ops, void *arg,
                              struct err *e)
{
	char *dir FREE_ON_EXIT = paths_vm_runtime(vm, e);
	if (!dir)
		return NULL;
	char *path FREE_ON_EXIT = paths_join(dir, "control.sock");
	struct client *c = mem_alloc(sizeof(*c));
	c->stream = stream_connect_unix(loop, path, &STREAM_OPS, c, e);
	if (!c->stream) {
		free(c);
		return NULL;
	}
	c->loop = loop;
	snprintf(c->vm, sizeof(c->vm), "%s", vm);
	c->ops = ops;
	c->arg = arg;
	list_init(&c->conversations);
	frame_reader_init(&c->reader);
	buf_init(&c->outgoing, OUTGOING_MOST);
	c->timer = timer_create_on(loop, on_timer, c);
	c->heard_ms = clock_mono_ms();
	c->hello_deadline_ms = c->heard_ms + CLIENT_TIMEOUT_MS;
	arm_timer(c);
	return c;
}

static void on_stream_closed(void *arg)
{
	struct client *c = arg;
	frame_reader_finish(&c->reader);
	buf_finish(&c->outgoing);
	free(c);
}

void client_close(struct client *c)
{
	if (!c || c->closed)
		return;
	c->closed = true;
	c->open = false;
	while (!list_is_empty(&c->conversations)) {
		struct conversation *v = LIST_ENTRY(c->conversations.next, struct conversation, link);
		conversation_end(v);
		v->ops->release(v);
	}
	timer_close(c->timer);
	stream_close(c->stream, on_stream_closed, c);
}

bool client_is_open(const struct client *c)
{
	return c->open;
}

const char *client_vm(const struct client *c)
{
	return c->vm;
}
