/* The terminals that a client watches: messages to calls, due updates to messages. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/supervisor/session_internal.h"
#include "core/supervisor/terminals.h"
#include "core/term/snapshot.h"

#define UPDATE_MAX  (512 * 1024) /* bigger screens go out in parts */
#define HISTORY_MAX (256 * 1024) /* one piece; screens of others wait no longer than it takes */

struct session_term {
	struct list link;
	struct session *session;
	uint32_t id;     /* the client's request */
	uint32_t number; /* 0 until it is open */
	struct term_watch *watch;
};

static void end_term(struct session_term *t)
{
	list_remove(&t->link);
	t->session->term_count--;
	term_watch_close(t->watch);
	free(t);
}

/* ---- from the terminals ---- */

static void on_opened(void *arg, uint32_t number)
{
	struct session_term *t = arg;
	struct wire_term_opened m = {.term = number};
	t->number = number;
	wire_put_term_opened(session_out(t->session), t->id, &m);
	session_flush(t->session);
}

static void on_failed(void *arg, const struct err *e)
{
	struct session_term *t = arg;
	session_answer_err(t->session, t->id, e);
	end_term(t);
}

/* One TERM_SCREEN, encoded in place; false when nothing is due. */
static bool put_update(struct session_term *t)
{
	struct buf *out = session_out(t->session);
	size_t mark = frame_begin(out, WIRE_TERM_SCREEN, t->id);
	buf_put_u32(out, t->number);
	size_t length_at = out->len;
	buf_put_u32(out, 0);
	if (!term_watch_take(t->watch, UPDATE_MAX, out)) {
		out->len = mark;
		return false;
	}
	buf_set_u32(out, length_at, (uint32_t)(out->len - length_at - 4));
	return frame_end(out, mark);
}

static void on_due(void *arg)
{
	struct session_term *t = arg;
	while (!session_is_full(t->session) && put_update(t))
		session_flush(t->session);
}

static void on_closed(void *arg, uint32_t number, uint32_t code, uint8_t signum)
{
	struct session_term *t = arg;
	struct wire_term_closed m = {.term = number, .code = code, .signum = signum};
	wire_put_term_closed(session_out(t->session), t->id, &m);
	session_flush(t->session);
	end_term(t);
}

static const struct term_watch_ops WATCH_OPS = {
    .on_opened = on_opened, .on_failed = on_failed, .on_due = on_due, .on_closed = on_closed};

/* ---- from the client ---- */

static struct session_term *find_term(struct session *s, uint32_t number)
{
	LIST_FOREACH (item, &s->terms) {
		struct session_term *t = LIST_ENTRY(item, struct session_term, link);
		if (t->number == number && number)
			return t;
	}
	return NULL;
}

static bool open_term(struct session *s, uint32_t id, const struct wire_term_open *m, struct err *why)
{
	if (!session_check_ready(s, why))
		return false;
	if (s->term_count >= SESSION_MOST_THINGS)
		return err_set(why, ERR_LIMIT, "too many terminals on one connection");
	struct session_term *t = mem_alloc(sizeof(*t));
	t->session = s;
	t->id = id;
	t->watch = terminals_open(s->host->terminals, m, &WATCH_OPS, t, why);
	if (!t->watch) {
		free(t);
		return false;
	}
	uint32_t number = term_watch_number(t->watch);
	LIST_FOREACH (item,
	              &s->terms) { /* messages name the terminal: two watches of one cannot be told apart */
		if (term_watch_number(LIST_ENTRY(item, struct session_term, link)->watch) != number)
			continue;
		term_watch_close(t->watch);
		free(t);
		return err_set(why, ERR_EXISTS, "this connection watches terminal %u already", number);
	}
	list_append(&s->terms, &t->link);
	s->term_count++;
	return true;
}

bool session_on_term_open(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_open m;
	struct err why = ERR_INIT;
	if (!wire_get_term_open(f->body, &m, e) || !session_check_strings(m.argv, "argument list", e) ||
	    !session_check_strings(m.env, "environment", e))
		return false;
	if (!open_term(s, f->id, &m, &why))
		session_answer_err(s, f->id, &why);
	return true;
}

/* Input for a terminal that has just closed is dropped, like stdin of a program that has ended. */
bool session_on_term_key(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_key m;
	if (!wire_get_term_key(f->body, &m, e))
		return false;
	struct session_term *t = find_term(s, m.term);
	if (t)
		term_watch_key(t->watch, m.key, m.mods);
	return true;
}

bool session_on_term_text(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_text m;
	if (!wire_get_term_text(f->body, &m, e))
		return false;
	struct session_term *t = find_term(s, m.term);
	if (t)
		term_watch_text(t->watch, m.text);
	return true;
}

bool session_on_term_paste(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_paste m;
	if (!wire_get_term_paste(f->body, &m, e))
		return false;
	if (m.first > 1 || m.last > 1)
		return err_set(e, ERR_PROTOCOL, "malformed term_paste message");
	struct session_term *t = find_term(s, m.term);
	if (t)
		term_watch_paste(t->watch, m.text, m.first, m.last);
	return true;
}

bool session_on_term_resize(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_resize m;
	if (!wire_get_term_resize(f->body, &m, e))
		return false;
	struct session_term *t = find_term(s, m.term);
	if (t)
		term_watch_resize(t->watch, m.rows, m.cols);
	return true;
}

bool session_on_term_mouse(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_mouse m;
	if (!wire_get_term_mouse(f->body, &m, e))
		return false;
	if (m.kind >= MOUSE_KIND_COUNT || m.button >= MOUSE_BUTTON_COUNT || m.mods & ~TERM_MOD_ALL)
		return err_set(e, ERR_PROTOCOL, "malformed term_mouse message");
	struct session_term *t = find_term(s, m.term);
	struct term_mouse mouse = {
	    .kind = m.kind, .button = m.button, .mods = m.mods, .row = m.row, .col = m.col};
	if (t)
		term_watch_mouse(t->watch, &mouse);
	return true;
}

bool session_on_term_focus(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_focus m;
	if (!wire_get_term_focus(f->body, &m, e))
		return false;
	if (m.focused > 1)
		return err_set(e, ERR_PROTOCOL, "malformed term_focus message");
	struct session_term *t = find_term(s, m.term);
	if (t)
		term_watch_focus(t->watch, m.focused != 0);
	return true;
}

static_assert(HISTORY_MAX >= SNAPSHOT_ROW_MAX && HISTORY_MAX <= WIRE_LINES_MAX, "a line fits, a piece fits");

static void send_lines(struct session_term *t, uint32_t id, const struct wire_term_history *m)
{
	struct buf lines = BUF_INIT(WIRE_LINES_MAX);
	struct wire_term_lines answer = {.term = m->term};
	answer.count = term_watch_history(t->watch, m->before, m->most, HISTORY_MAX, &lines, &answer.first);
	answer.lines = (struct bytes){.p = lines.data, .len = lines.len};
	wire_put_term_lines(session_out(t->session), id, &answer);
	session_flush(t->session);
	buf_finish(&lines);
}

bool session_on_term_history(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_history m;
	struct err why = ERR_INIT;
	if (!wire_get_term_history(f->body, &m, e))
		return false;
	struct session_term *t = find_term(s, m.term);
	if (t) {
		send_lines(t, f->id, &m);
		return true;
	}
	err_set(&why, ERR_NOT_FOUND, "this connection does not watch terminal %u", m.term);
	session_answer_err(s, f->id, &why);
	return true;
}

bool session_on_term_signal(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_signal m;
	struct err why = ERR_INIT;
	if (!wire_get_term_signal(f->body, &m, e))
		return false;
	if (session_check_ready(s, &why) && terminals_signal(s->host->terminals, m.term, m.signum, &why))
		session_answer_ok(s, f->id, "");
	else
		session_answer_err(s, f->id, &why);
	return true;
}

bool session_on_term_leave(struct session *s, const struct frame *f, struct err *e)
{
	struct wire_term_leave m;
	if (!wire_get_term_leave(f->body, &m, e))
		return false;
	struct session_term *t = find_term(s, m.term);
	if (t)
		end_term(t);
	return true;
}

/* ---- for the session ---- */

void session_terms_drain(struct session *s)
{
	LIST_FOREACH (item, &s->terms)
		on_due(LIST_ENTRY(item, struct session_term, link));
}

void session_terms_close(struct session *s)
{
	LIST_FOREACH (item, &s->terms)
		end_term(LIST_ENTRY(item, struct session_term, link));
}
