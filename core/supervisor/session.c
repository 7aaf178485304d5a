#include "core/supervisor/session_internal.h"
#include "core/supervisor/vitals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/loop/hangup.h"
#include "core/loop/loop.h"
#include "core/loop/stream.h"
#include "core/loop/timer.h"

#define OUT_MAX     (8 * 1024 * 1024)
#define FAREWELL_MS 1000

/* ---- sending ---- */

struct buf *session_out(struct session *s)
{
	return &s->out;
}

/* Nothing more can be said to this client; it goes when nobody is in the middle of it. */
static void break_off(struct session *s)
{
	if (s->closed || s->broken)
		return;
	s->broken = true;
	stream_pause(s->stream);
	timer_once(s->timer, 0);
}

void session_flush(struct session *s)
{
	bool ok = buf_ok(&s->out) && (s->out.len == 0 || stream_send(s->stream, s->out.data, s->out.len));
	if (s->out.cap > 64 * 1024) { /* a big screen: do not keep its memory */
		buf_finish(&s->out);
		buf_init(&s->out, OUT_MAX);
	}
	buf_clear(&s->out);
	s->out.overflow = false;
	if (!ok)
		break_off(s);
}

bool session_is_full(const struct session *s)
{
	return s->broken || stream_is_full(s->stream);
}

void session_answer_err(struct session *s, uint32_t id, const struct err *e)
{
	wire_put_err(&s->out, id, e);
	session_flush(s);
}

void session_answer_ok(struct session *s, uint32_t id, const char *text)
{
	struct wire_ok m;
	snprintf(m.text, sizeof(m.text), "%s", text);
	wire_put_ok(&s->out, id, &m);
	session_flush(s);
}

/* ---- status ---- */

static void put_status(struct session *s, uint32_t id)
{
	session_put_status(&s->out, id, board_status(s->host->board));
	session_flush(s);
}

/* A client that does not read gets the newest status once it does. */
static void push_status(struct session *s)
{
	if (!s->watching || !s->status_due || session_is_full(s))
		return;
	s->status_due = false;
	put_status(s, s->watch_id);
}

static void on_board_change(void *arg)
{
	struct session *s = arg;
	if (s->broken)
		return;
	s->status_due = true;
	push_status(s);
	session_asks_look(s);
}

static bool on_status(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_status m;
	if (!wire_get_status(f->body, &m, e))
		return false;
	if (m.watch > 1 || (m.watch && s->watching))
		return err_set(e, ERR_PROTOCOL, "one watching status request is enough");
	if (m.watch) {
		s->watching = true;
		vitals_watch(s->host->vitals, true);
		s->watch_id = f->id;
	}
	put_status(s, f->id);
	return true;
}

/* ---- messages ---- */

static bool on_hello(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_hello m;
	if (!wire_check_hello(f->body, &m, e))
		return false;
	s->open = true;
	timer_stop(s->timer);
	return true;
}

static const struct {
	uint16_t type;
	bool open; /* the phase in which it may come */
	bool (*handle)(struct session *s, const struct frame *f, struct err *e);
} MESSAGES[] = {
    {WIRE_HELLO, false, on_hello},
    {WIRE_STATUS, true, on_status},
    {WIRE_PING, true, session_on_ping},
    {WIRE_ALLOW, true, session_on_allow},
    {WIRE_DENY, true, session_on_deny},
    {WIRE_STOP, true, session_on_stop},
    {WIRE_KILL, true, session_on_kill},
    {WIRE_PAUSE, true, session_on_pause},
    {WIRE_SEEN, true, session_on_seen},
    {WIRE_EXEC, true, session_on_exec},
    {WIRE_STDIN, true, session_on_stdin},
    {WIRE_STDIN_EOF, true, session_on_stdin_eof},
    {WIRE_SIGNAL, true, session_on_signal},
    {WIRE_TERM_OPEN, true, session_on_term_open},
    {WIRE_TERM_KEY, true, session_on_term_key},
    {WIRE_TERM_TEXT, true, session_on_term_text},
    {WIRE_TERM_PASTE, true, session_on_term_paste},
    {WIRE_TERM_RESIZE, true, session_on_term_resize},
    {WIRE_TERM_MOUSE, true, session_on_term_mouse},
    {WIRE_TERM_FOCUS, true, session_on_term_focus},
    {WIRE_TERM_HISTORY, true, session_on_term_history},
    {WIRE_TERM_SIGNAL, true, session_on_term_signal},
    {WIRE_TERM_LEAVE, true, session_on_term_leave},
};

static bool dispatch(struct session *s, const struct frame *f, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		if (MESSAGES[i].type != f->type)
			continue;
		if (MESSAGES[i].open != s->open)
			return err_set(e, ERR_PROTOCOL, "message %s %s", wire_type_name(f->type),
			               s->open ? "comes a second time" : "comes before hello");
		return MESSAGES[i].handle(s, f, e);
	}
	return err_set(e, ERR_PROTOCOL, "message %s is not for a supervisor", wire_type_name(f->type));
}

static bool on_frame(void *arg, const struct frame *f)
{
	struct session *s = arg;
	return dispatch(s, f, &s->refused) && !s->broken;
}

static void tell_gone(struct session *s)
{
	if (s->closed || s->gone_told)
		return;
	s->gone_told = true;
	s->on_gone(s->arg, s);
}

/* One readable refusal; the bytes get a moment to arrive although the connection is over. */
static void refuse(struct session *s, const struct err *e)
{
	log_info("control connection refused: %s", e->msg);
	session_answer_err(s, 0, e);
	break_off(s);
}

static void on_data(void *arg, const uint8_t *bytes, size_t len)
{
	struct session *s = arg;
	struct err e = ERR_INIT;
	if (s->broken)
		return;
	enum frame_result result = frame_feed(&s->frames, bytes, len, on_frame, s, &e);
	if (result == FRAME_BAD)
		refuse(s, &e);
	else if (s->refused.kind != ERR_NONE && !s->broken)
		refuse(s, &s->refused);
}

static void on_eof(void *arg)
{
	tell_gone(arg);
}

static void on_error(void *arg, const struct err *e)
{
	(void)e;
	tell_gone(arg);
}

static void on_drain(void *arg)
{
	struct session *s = arg;
	if (s->broken)
		return;
	push_status(s);
	session_terms_drain(s);
	session_execs_drain(s);
}

static const struct stream_ops STREAM_OPS = {
    .on_data = on_data, .on_eof = on_eof, .on_error = on_error, .on_drain = on_drain};

static void on_timer(void *arg)
{
	struct session *s = arg;
	if (!s->broken) {
		struct err e = ERR_INIT;
		err_set(&e, ERR_TIMEOUT, "no hello within %d s", SESSION_HELLO_MS / 1000);
		refuse(s, &e);
		return;
	}
	tell_gone(s);
}

/* ---- reading ---- */

static void on_hangup(void *arg)
{
	tell_gone(arg);
}

void session_update_reading(struct session *s)
{
	if (s->closed || s->broken)
		return;
	if (!session_execs_are_full(s)) {
		hangup_close(s->hangup);
		s->hangup = NULL;
		stream_resume(s->stream);
		return;
	}
	stream_pause(s->stream);
	if (s->hangup)
		return;
	struct err e = ERR_INIT;
	s->hangup = hangup_open(s->host->loop, stream_fd(s->stream), on_hangup, s, &e);
	if (!s->hangup) {
		log_warn("control connection: %s", e.msg);
		break_off(s);
	}
}

/* ---- checks ---- */

bool session_check_ready(const struct session *s, struct err *e)
{
	const struct vm_status *v = board_status(s->host->board);
	if (v->state != VM_READY)
		return err_set(e, ERR_INVALID, "VM %s is %s, not ready", v->name, vm_state_name(v->state));
	if (v->paused)
		return err_set(e, ERR_INVALID, "VM %s is paused (ccvm resume %s goes on)", v->name, v->name);
	return true;
}

bool session_check_strings(struct bytes blob, const char *what, struct err *e)
{
	if (blob.len && blob.p[blob.len - 1] != '\0')
		return err_set(e, ERR_PROTOCOL, "malformed %s", what);
	return true;
}

/* ---- life ---- */

struct session *session_open(const struct session_host *host, int fd,
                             void (*on_gone)(void *arg, struct session *s), void *arg, struct err *e)
{
	struct session *s = mem_alloc(sizeof(*s));
	s->stream = stream_open(host->loop, fd, &STREAM_OPS, s, e);
	if (!s->stream) {
		free(s);
		return NULL;
	}
	s->host = host;
	s->on_gone = on_gone;
	s->arg = arg;
	s->timer = timer_create_on(host->loop, on_timer, s);
	timer_once(s->timer, SESSION_HELLO_MS);
	frame_reader_init(&s->frames);
	buf_init(&s->out, OUT_MAX);
	list_init(&s->execs);
	list_init(&s->terms);
	list_init(&s->asks);
	board_watch(host->board, &s->watch, on_board_change, s);
	wire_put_my_hello(&s->out, "supervisor");
	session_flush(s);
	stream_resume(s->stream);
	return s;
}

static void let_go(struct session *s)
{
	session_execs_close(s);
	session_terms_close(s);
	session_asks_close(s);
	if (s->watching)
		vitals_watch(s->host->vitals, false);
	board_unwatch(&s->watch);
	timer_close(s->timer);
	hangup_close(s->hangup);
}

static void free_session(void *arg)
{
	struct session *s = arg;
	frame_reader_finish(&s->frames);
	buf_finish(&s->out);
	free(s);
}

void session_close(struct session *s)
{
	if (!s || s->closed)
		return;
	s->closed = true;
	bool farewell = s->broken; /* a refusal may still be on its way */
	let_go(s);
	if (!farewell) {
		stream_close(s->stream, free_session, s);
		return;
	}
	stream_close_flushed(s->stream, FAREWELL_MS);
	free_session(s);
}

void session_close_told(struct session *s)
{
	if (!s || s->closed)
		return;
	session_asks_look(s);
	if (s->watching && s->status_due &&
	    !s->broken) /* even one that is behind: it waits for nothing else */
		put_status(s, s->watch_id);
	s->broken = true;
	session_close(s);
}
