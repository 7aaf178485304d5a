#include "core/client/terminal.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/client/internal.h"
#include "core/term/screen.h"
#include "core/term/snapshot.h"
#include "core/wire/wire.h"

#define OPEN_TIMEOUT_MS 30000
#define HISTORY_MS      10000

struct client_term {
	struct conversation talk;
	struct client *client; /* keeps, while `talk` is active */
	const struct client_term_ops *ops;
	void *arg;
	struct screen screen;
	uint32_t term;
	bool open;
	size_t pasted;      /* bytes of the paste that goes on */
	bool paste_refused; /* a piece of it was not sent */
	struct list histories;
};

/* One question about the history; it has an id of its own. */
struct history {
	struct conversation talk;
	struct list link; /* in the terminal */
	struct client_term *term;
	client_lines_fn *done;
	void *arg;
};

static struct client_term *from_talk(struct conversation *v)
{
	return CONTAINER_OF(v, struct client_term, talk);
}

static void release(struct conversation *v)
{
	from_talk(v)->open = false;
}

static void end(struct client_term *t)
{
	t->open = false;
	if (conversation_is_active(&t->talk))
		conversation_end(&t->talk);
}

static void on_drain(struct conversation *v)
{
	struct client_term *t = from_talk(v);
	if (t->open && t->ops->on_drain)
		t->ops->on_drain(t->arg);
}

static void on_broken(struct conversation *v, const struct err *e)
{
	struct client_term *t = from_talk(v);
	end(t);
	t->ops->on_ended(t->arg, 0, 0, e);
}

static bool on_refused(struct client_term *t, const struct frame *f, struct err *e)
{
	struct err why = ERR_INIT;
	if (!client_read_error(f, &why, e))
		return false;
	end(t);
	t->ops->on_ended(t->arg, 0, 0, &why);
	return true;
}

static bool on_opened(struct client_term *t, const struct frame *f, struct err *e)
{
	struct wire_term_opened m;
	if (t->open)
		return client_unexpected(f, e);
	if (!wire_get_term_opened(f->body, &m, e))
		return false;
	t->open = true;
	t->term = m.term;
	t->talk.deadline_ms = 0;
	if (t->ops->on_opened)
		t->ops->on_opened(t->arg, m.term);
	return true;
}

static bool on_screen(struct client_term *t, const struct frame *f, struct err *e)
{
	struct wire_term_screen m;
	if (!wire_get_term_screen(f->body, &m, e))
		return false;
	if (m.term != t->term)
		return err_set(e, ERR_PROTOCOL, "a screen of terminal %u instead of %u", m.term, t->term);
	if (!snapshot_apply(&t->screen, m.update, e))
		return false;
	if (t->screen.whole)
		t->ops->on_screen(t->arg);
	return true;
}

static bool on_closed(struct client_term *t, const struct frame *f, struct err *e)
{
	struct wire_term_closed m;
	if (!wire_get_term_closed(f->body, &m, e))
		return false;
	end(t);
	t->ops->on_ended(t->arg, m.code, m.signum, NULL);
	return true;
}

/* ---- history ---- */

static struct history *from_history(struct conversation *v)
{
	return CONTAINER_OF(v, struct history, talk);
}

static void release_history(struct conversation *v)
{
	struct history *h = from_history(v);
	list_remove(&h->link);
	free(h);
}

static void forget_history(struct history *h)
{
	conversation_end(&h->talk);
	release_history(&h->talk);
}

static void history_broken(struct conversation *v, const struct err *e)
{
	struct history h = *from_history(v);
	release_history(v);
	h.done(h.arg, 0, 0, (struct bytes){0}, e);
}

static bool history_message(struct conversation *v, const struct frame *f, struct err *e)
{
	struct history h = *from_history(v);
	struct err refused = ERR_INIT;
	struct wire_term_lines m = {0};
	if (f->type != WIRE_ERROR && f->type != WIRE_TERM_LINES)
		return client_unexpected(f, e);
	if (f->type == WIRE_ERROR ? !client_read_error(f, &refused, e) : !wire_get_term_lines(f->body, &m, e))
		return false;
	if (f->type == WIRE_TERM_LINES && m.term != h.term->term)
		return err_set(e, ERR_PROTOCOL, "lines of terminal %u instead of %u", m.term, h.term->term);
	forget_history(from_history(v));
	h.done(h.arg, m.first, m.count, m.lines, f->type == WIRE_ERROR ? &refused : NULL);
	return true;
}

static const struct conversation_ops HISTORY_OPS = {
    .what = "asking for the history",
    .on_message = history_message,
    .on_broken = history_broken,
    .release = release_history,
};

bool client_term_history(struct client_term *t, uint64_t before, uint32_t most, client_lines_fn *done,
                         void *arg)
{
	if (!t->open)
		return false;
	struct history *h = mem_alloc(sizeof(*h));
	struct wire_term_history m = {.term = t->term, .before = before, .most = most};
	*h = (struct history){.term = t, .done = done, .arg = arg};
	list_append(&t->histories, &h->link);
	conversation_begin(t->client, &h->talk, &HISTORY_OPS, HISTORY_MS);
	wire_put_term_history(client_outgoing(t->client), h->talk.id, &m);
	client_flush(t->client); /* if that breaks the connection, `done` hears of it */
	return true;
}

/* ---- messages ---- */

static const struct {
	uint16_t type;
	bool only_open;
	bool (*handle)(struct client_term *t, const struct frame *f, struct err *e);
} MESSAGES[] = {
    {WIRE_ERROR, false, on_refused},
    {WIRE_TERM_OPENED, false, on_opened},
    {WIRE_TERM_SCREEN, true, on_screen},
    {WIRE_TERM_CLOSED, true, on_closed},
};

static bool on_message(struct conversation *v, const struct frame *f, struct err *e)
{
	struct client_term *t = from_talk(v);
	for (size_t i = 0; i < ARRAY_LEN(MESSAGES); i++) {
		if (f->type == MESSAGES[i].type && (t->open || !MESSAGES[i].only_open))
			return MESSAGES[i].handle(t, f, e);
	}
	return client_unexpected(f, e);
}

static const struct conversation_ops TALK_OPS = {
    .what = "opening a terminal",
    .on_message = on_message,
    .on_broken = on_broken,
    .on_drain = on_drain,
    .release = release,
};

static uint16_t clamp(unsigned v, unsigned min, unsigned max)
{
	return (uint16_t)(v < min ? min : v > max ? max : v);
}

/* Fills everything but the lists; false when the folder's path is too long. */
static bool fill_message(struct wire_term_open *m, const struct client_term_spec *spec, struct err *e)
{
	size_t cwd_len = spec->cwd ? strlen(spec->cwd) : 0;
	*m = (struct wire_term_open){.term = spec->term};
	if (spec->rows && spec->cols) {
		m->rows = clamp(spec->rows, TERM_ROWS_MIN, TERM_ROWS_MAX);
		m->cols = clamp(spec->cols, TERM_COLS_MIN, TERM_COLS_MAX);
	}
	if (cwd_len >= sizeof(m->cwd))
		return err_set(e, ERR_LIMIT, "the folder's path is longer than %zu bytes",
		               sizeof(m->cwd) - 1);
	if (cwd_len)
		memcpy(m->cwd, spec->cwd, cwd_len);
	return true;
}

struct client_term *client_term_open(struct client *c, const struct client_term_spec *spec,
                                     const struct client_term_ops *ops, void *arg, struct err *e)
{
	struct client_term *t = NULL;
	struct buf argv = BUF_INIT(WIRE_ARGV_MAX), env = BUF_INIT(WIRE_ARGV_MAX);
	struct wire_term_open m;
	if (!wire_pack_strings(&argv, spec->argv) || !wire_pack_strings(&env, spec->env)) {
		err_set(e, ERR_LIMIT, "the arguments or the environment are longer than %d bytes",
		        WIRE_ARGV_MAX);
	} else if (fill_message(&m, spec, e)) {
		t = mem_alloc(sizeof(*t));
		t->client = c;
		t->ops = ops;
		t->arg = arg;
		list_init(&t->histories);
		screen_init(&t->screen, MAX(m.rows, TERM_ROWS_MIN), MAX(m.cols, TERM_COLS_MIN));
		m.argv = (struct bytes){.p = argv.data, .len = argv.len};
		m.env = (struct bytes){.p = env.data, .len = env.len};
		conversation_begin(c, &t->talk, &TALK_OPS, OPEN_TIMEOUT_MS);
		wire_put_term_open(client_outgoing(c), t->talk.id, &m);
		client_flush(c);
	}
	buf_finish(&argv);
	buf_finish(&env);
	return t;
}

void client_term_close(struct client_term *t)
{
	if (!t)
		return;
	if (t->open) {
		struct wire_term_leave m = {.term = t->term};
		wire_put_term_leave(client_outgoing(t->client), t->talk.id, &m);
		client_flush(t->client);
	}
	end(t);
	LIST_FOREACH (item, &t->histories)
		forget_history(LIST_ENTRY(item, struct history, link));
	screen_finish(&t->screen);
	free(t);
}

struct screen *client_term_screen(struct client_term *t)
{
	return &t->screen;
}

uint32_t client_term_number(const struct client_term *t)
{
	return t->term;
}

bool client_term_is_open(const struct client_term *t)
{
	return t->open;
}

static bool takes_input(const struct client_term *t)
{
	return t->open && !client_is_full(t->client);
}

bool client_term_key(struct client_term *t, uint32_t key, unsigned mods)
{
	if (!takes_input(t))
		return false;
	struct wire_term_key m = {.term = t->term, .key = key, .mods = (uint8_t)mods};
	wire_put_term_key(client_outgoing(t->client), t->talk.id, &m);
	return client_flush(t->client);
}

bool client_term_text(struct client_term *t, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	if (!takes_input(t) || len > CLIENT_TERM_INPUT_MAX)
		return false;
	while (len) { /* all of it: no more than the limit is queued beyond a full connection */
		size_t n = MIN(len, (size_t)WIRE_DATA_MAX);
		struct wire_term_text m = {.term = t->term, .text = {.p = p, .len = n}};
		wire_put_term_text(client_outgoing(t->client), t->talk.id, &m);
		if (!client_flush(t->client))
			return false;
		p += n;
		len -= n;
	}
	return true;
}

static bool put_paste(struct client_term *t, const uint8_t *p, size_t len, bool first, bool last)
{
	do {
		size_t n = MIN(len, (size_t)WIRE_DATA_MAX);
		struct wire_term_paste m = {
		    .term = t->term, .first = first, .last = last && n == len, .text = {.p = p, .len = n}};
		wire_put_term_paste(client_outgoing(t->client), t->talk.id, &m);
		if (!client_flush(t->client))
			return false;
		first = false;
		p += n;
		len -= n;
	} while (len);
	return true;
}

/* Only the first piece asks whether there is room: what has begun may fill the connection up to the limit of a paste. */
bool client_term_paste_part(struct client_term *t, const void *bytes, size_t len, bool first, bool last)
{
	if (first) {
		t->pasted = 0;
		t->paste_refused = !takes_input(t);
	}
	t->paste_refused |= !t->open || len > CLIENT_TERM_INPUT_MAX - t->pasted;
	if (t->paste_refused)
		return false;
	t->pasted += len;
	t->paste_refused = !put_paste(t, bytes, len, first, last);
	return !t->paste_refused;
}

bool client_term_paste(struct client_term *t, const void *bytes, size_t len)
{
	return len <= CLIENT_TERM_INPUT_MAX && client_term_paste_part(t, bytes, len, true, true);
}

void client_term_mouse(struct client_term *t, const struct term_mouse *mouse)
{
	if (!takes_input(t))
		return;
	struct wire_term_mouse m = {.term = t->term,
	                            .kind = mouse->kind,
	                            .button = mouse->button,
	                            .mods = mouse->mods,
	                            .row = mouse->row,
	                            .col = mouse->col};
	wire_put_term_mouse(client_outgoing(t->client), t->talk.id, &m);
	client_flush(t->client);
}

void client_term_focus(struct client_term *t, bool focused)
{
	if (!t->open)
		return;
	struct wire_term_focus m = {.term = t->term, .focused = focused};
	wire_put_term_focus(client_outgoing(t->client), t->talk.id, &m);
	client_flush(t->client);
}

void client_term_resize(struct client_term *t, unsigned rows, unsigned cols)
{
	struct wire_term_resize m = {.term = t->term,
	                             .rows = clamp(rows, TERM_ROWS_MIN, TERM_ROWS_MAX),
	                             .cols = clamp(cols, TERM_COLS_MIN, TERM_COLS_MAX)};
	if (!t->open)
		return;
	wire_put_term_resize(client_outgoing(t->client), t->talk.id, &m);
	client_flush(t->client);
}
