#include "core/supervisor/guest_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/escape.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"
#include "core/wire/wire.h"

#define ANSWER_MAX 32 /* "OK 4294967295\n" is the longest */
#define OUT_MAX    (2 * 1024 * 1024)
#define OUT_HIGH   (256 * 1024)

enum phase { PHASE_ANSWER, PHASE_HELLO, PHASE_OPEN };

struct guest_link {
	struct stream *stream;
	struct timer *limit;
	enum phase phase;
	bool closed;
	bool ended;   /* on_end was called */
	bool overrun; /* more was sent than the guest takes */
	uint32_t port;
	char answer[ANSWER_MAX];
	size_t answer_len;
	struct frame_reader frames;
	struct buf out;     /* waits for "OK", then only during guest_link_flush */
	struct err refused; /* why on_frame said false */
	const struct guest_link_ops *ops;
	void *arg;
};

bool guest_refusal(const struct frame *f, struct err *said, struct err *e)
{
	struct wire_error m;
	char safe[WIRE_TEXT_MAX];
	if (!wire_get_error(f->body, &m, e))
		return false;
	escape_text(safe, sizeof(safe), m.text, strlen(m.text));
	bool known = m.kind > ERR_NONE && m.kind < ERR_KIND_COUNT;
	err_set(said, known ? (enum err_kind)m.kind : ERR_INTERNAL, "%s", safe);
	return true;
}

void guest_incident(const char *what, const struct err *e)
{
	log_warn("incident: the guest broke the protocol on %s: %s", what, e->msg);
}

static void end(struct guest_link *l, const struct err *e)
{
	if (l->closed || l->ended)
		return;
	l->ended = true;
	timer_stop(l->limit);
	stream_pause(l->stream);
	if (e->kind == ERR_PROTOCOL) {
		char what[40];
		snprintf(what, sizeof(what), "port %" PRIu32, l->port);
		guest_incident(what, e);
	}
	l->ops->on_end(l->arg, e);
}

static bool send_out(struct guest_link *l)
{
	bool ok = buf_ok(&l->out) && stream_send(l->stream, l->out.data, l->out.len);
	buf_finish(&l->out);
	buf_init(&l->out, OUT_MAX);
	return ok;
}

static void on_opened(void *arg)
{
	struct guest_link *l = arg;
	char line[ANSWER_MAX];
	int n = snprintf(line, sizeof(line), "CONNECT %" PRIu32 "\n", l->port);
	if (!stream_send(l->stream, line, (size_t)n)) {
		struct err e = ERR_INIT;
		err_set(&e, ERR_GONE, "the vsock device takes no bytes");
		end(l, &e);
	}
}

/* "OK 1073741824\n": digits of the host's port, which do not matter. */
static bool check_answer(const struct guest_link *l, struct err *e)
{
	size_t digits = l->answer_len >= 4 ? strspn(l->answer + 3, "0123456789") : 0;
	if (l->answer_len < 5 || memcmp(l->answer, "OK ", 3) != 0 || digits != l->answer_len - 4) {
		char safe[2 * ANSWER_MAX + 8];
		escape_text(safe, sizeof(safe), l->answer, l->answer_len);
		return err_set(e, ERR_PROTOCOL, "the vsock device answered '%s'", safe);
	}
	return true;
}

/* Takes bytes up to the end of the line; true when it is complete. */
static bool take_answer(struct guest_link *l, const uint8_t **bytes, size_t *len, struct err *e)
{
	while (*len > 0) {
		if (l->answer_len == ANSWER_MAX)
			return err_set(e, ERR_PROTOCOL, "the vsock device answered with a long line");
		char c = (char)**bytes;
		l->answer[l->answer_len++] = c;
		(*bytes)++;
		(*len)--;
		if (c == '\n')
			return check_answer(l, e);
	}
	return false;
}

/* ERROR with id 0 is the guest's way to refuse the whole connection (another version, too many of them). */
static bool refused(const struct frame *f, struct err *e)
{
	struct wire_error m;
	if (!wire_get_error(f->body, &m, e))
		return false;
	char safe[WIRE_TEXT_MAX];
	escape_text(safe, sizeof(safe), m.text, strlen(m.text));
	enum err_kind kind =
	    m.kind > ERR_NONE && m.kind < ERR_KIND_COUNT ? (enum err_kind)m.kind : ERR_INTERNAL;
	return err_set(e, kind == ERR_PROTOCOL ? ERR_INTERNAL : kind, "the guest says: %s", safe);
}

static bool on_hello(struct guest_link *l, const struct frame *f, struct err *e)
{
	struct wire_hello m;
	if (f->type == WIRE_ERROR)
		return refused(f, e);
	if (f->type != WIRE_HELLO)
		return err_set(e, ERR_PROTOCOL, "message %s before hello", wire_type_name(f->type));
	if (!wire_check_hello(f->body, &m, e))
		return false;
	l->phase = PHASE_OPEN;
	timer_stop(l->limit);
	return true;
}

/* False stops the feeding: the link was closed, or l->refused says what is wrong. */
static bool on_frame(void *arg, const struct frame *f)
{
	struct guest_link *l = arg;
	bool ok;
	if (l->phase == PHASE_HELLO)
		ok = on_hello(l, f, &l->refused);
	else if (f->type == WIRE_HELLO)
		ok = err_set(&l->refused, ERR_PROTOCOL, "a second hello");
	else
		ok = l->ops->on_frame(l->arg, f, &l->refused);
	return ok && !l->closed && !l->ended;
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct guest_link *l = arg;
	struct err e = ERR_INIT;
	if (l->phase == PHASE_ANSWER) {
		if (!take_answer(l, &bytes, &len, &e)) {
			if (e.kind != ERR_NONE)
				end(l, &e);
			return;
		}
		l->phase = PHASE_HELLO;
		if (!send_out(l)) {
			err_set(&e, ERR_GONE, "the vsock device takes no bytes");
			end(l, &e);
			return;
		}
	}
	enum frame_result result = frame_feed(&l->frames, bytes, len, on_frame, l, &e);
	if (l->closed || result == FRAME_MORE)
		return;
	end(l, result == FRAME_BAD ? &e : &l->refused);
}

static void on_eof(void *arg)
{
	struct guest_link *l = arg;
	struct err e = ERR_INIT;
	if (l->phase == PHASE_ANSWER)
		err_set(&e, ERR_NOT_FOUND, "nobody in the guest listens on port %" PRIu32, l->port);
	else
		err_set(&e, ERR_GONE, "the guest closed the connection");
	end(l, &e);
}

static void on_error(void *arg, const struct err *e)
{
	end(arg, e);
}

static void on_drain(void *arg)
{
	struct guest_link *l = arg;
	if (!l->ended && l->ops->on_drain)
		l->ops->on_drain(l->arg);
}

static void on_limit(void *arg)
{
	struct guest_link *l = arg;
	struct err e = ERR_INIT;
	if (l->overrun)
		err_set(&e, ERR_LIMIT, "the guest takes no more input on port %" PRIu32, l->port);
	else
		err_set(&e, ERR_TIMEOUT, "the guest did not answer on port %" PRIu32 " within %d s", l->port,
		        GUEST_LINK_HANDSHAKE_MS / 1000);
	end(l, &e);
}

static const struct stream_ops STREAM_OPS = {
    .on_open = on_opened,
    .on_data = on_data,
    .on_eof = on_eof,
    .on_error = on_error,
    .on_drain = on_drain,
};

struct guest_link *guest_link_open(struct loop *loop, const char *vsock_path, uint32_t port,
                                   const struct guest_link_ops *ops, void *arg, struct err *e)
{
	struct guest_link *l = mem_alloc(sizeof(*l));
	l->stream = stream_connect_unix(loop, vsock_path, &STREAM_OPS, l, e);
	if (!l->stream) {
		free(l);
		return NULL;
	}
	stream_set_limits(l->stream, OUT_HIGH, OUT_MAX);
	l->port = port;
	l->ops = ops;
	l->arg = arg;
	l->limit = timer_create_on(loop, on_limit, l);
	timer_once(l->limit, GUEST_LINK_HANDSHAKE_MS);
	frame_reader_init(&l->frames);
	buf_init(&l->out, OUT_MAX);
	wire_put_my_hello(&l->out, "supervisor");
	stream_resume(l->stream);
	return l;
}

static void on_closed(void *arg)
{
	struct guest_link *l = arg;
	frame_reader_finish(&l->frames);
	buf_finish(&l->out);
	free(l);
}

void guest_link_close(struct guest_link *l)
{
	if (!l || l->closed)
		return;
	l->closed = true;
	timer_close(l->limit);
	stream_close(l->stream, on_closed, l);
}

struct buf *guest_link_out(struct guest_link *l)
{
	return &l->out;
}

bool guest_link_flush(struct guest_link *l)
{
	if (l->closed || l->ended)
		return false;
	if (buf_ok(&l->out) && (l->phase == PHASE_ANSWER || send_out(l)))
		return true;
	l->overrun = true;
	timer_once(l->limit, 0); /* on_end comes from the loop */
	return false;
}

bool guest_link_is_full(const struct guest_link *l)
{
	return stream_is_full(l->stream) || (l->phase == PHASE_ANSWER && l->out.len > OUT_HIGH);
}

size_t guest_link_room(const struct guest_link *l)
{
	size_t queued = l->out.len + stream_queued(l->stream);
	return queued < OUT_MAX ? OUT_MAX - queued : 0;
}

void guest_link_pause(struct guest_link *l)
{
	if (!l->closed && !l->ended)
		stream_pause(l->stream);
}

void guest_link_resume(struct guest_link *l)
{
	if (!l->closed && !l->ended)
		stream_resume(l->stream);
}
