#include "tui/pane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/loop/timer.h"
#include "core/term/screen.h"

#define EARLY_KEYS_MOST 64

/* A key that was pressed while the terminal was being opened. */
struct early_key {
	uint32_t key;
	unsigned mods;
};

struct pane {
	const struct pane_ops *ops; /* kept */
	void *arg;
	char vm[VM_NAME_MAX + 1];
	uint32_t asked, number;
	struct client *client;    /* owned; NULL when it could not even be begun */
	struct client_term *term; /* owned; stays after the end, for its last picture */
	struct timer *timer; /* owned: while it is being opened, or has not the size that was asked for */
	unsigned rows, cols; /* wanted; 0: no size of ours */
	unsigned sent_rows, sent_cols;
	enum pane_link link;
	bool slow, foreign;
	bool told; /* on_opened was called */
	char why[512];
	struct buf paste;
	struct early_key early[EARLY_KEYS_MOST];
	size_t early_count;
};

static void break_link(struct pane *p, const struct err *e)
{
	p->link = PANE_BROKEN;
	timer_stop(p->timer);
	snprintf(p->why, sizeof(p->why), "%s", e->msg);
}

static void tell_failed(struct pane *p)
{
	if (!p->told)
		p->ops->on_opened(p->arg, 0, p->why);
	p->told = true;
}

/* A new size takes effect a moment after it was sent; only one that does not is told. */
static void watch_size(struct pane *p)
{
	const struct screen *s = client_term_screen(p->term);
	bool ours = p->rows > 0 && s->rows == p->rows && s->cols == p->cols;
	if (ours)
		timer_stop(p->timer);
	else if (p->rows > 0 && !p->foreign && !timer_is_active(p->timer))
		timer_once(p->timer, PANE_SETTLE_MS);
	p->foreign = p->rows == 0 || (p->foreign && !ours);
}

static void send_size(struct pane *p)
{
	if (!p->term || !client_term_is_open(p->term) || (p->rows == p->sent_rows && p->cols == p->sent_cols))
		return;
	client_term_resize(p->term, p->rows, p->cols);
	p->sent_rows = p->rows;
	p->sent_cols = p->cols;
	p->foreign = false;
	if (p->link == PANE_LIVE)
		watch_size(p);
}

/* Opening takes long; or it could not even be begun, which the caller of pane_open is told from here; or the terminal keeps
 * another size. */
static void on_timer(void *arg)
{
	struct pane *p = arg;
	p->slow = p->link == PANE_OPENING;
	p->foreign = p->link == PANE_LIVE;
	if (p->link == PANE_BROKEN)
		tell_failed(p);
	p->ops->on_change(p->arg);
}

static void on_opened(void *arg, uint32_t number)
{
	struct pane *p = arg;
	p->number = number;
	p->told = true;
	send_size(p); /* the window may have changed meanwhile */
	for (size_t i = 0; i < p->early_count; i++)
		client_term_key(p->term, p->early[i].key, p->early[i].mods);
	p->early_count = 0;
	p->ops->on_opened(p->arg, number, NULL);
}

static void on_screen(void *arg)
{
	struct pane *p = arg;
	if (p->link == PANE_OPENING) {
		p->link = PANE_LIVE;
		timer_stop(p->timer);
	}
	watch_size(p);
	p->ops->on_change(p->arg);
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	struct pane *p = arg;
	if (e) {
		break_link(p, e);
		tell_failed(p);
	} else {
		p->link = PANE_ENDED;
		timer_stop(p->timer);
		if (signum > 0)
			snprintf(p->why, sizeof(p->why), "the program was ended by signal %u", signum);
		else
			snprintf(p->why, sizeof(p->why), "the program ended with code %" PRIu32, code);
	}
	p->ops->on_change(p->arg);
}

/* The terminal has heard of it before. */
static void on_closed(void *arg, const struct err *e)
{
	struct pane *p = arg;
	if (p->link == PANE_OPENING || p->link == PANE_LIVE) {
		break_link(p, e);
		p->ops->on_change(p->arg);
	}
}

static bool start(struct pane *p, struct loop *loop, const char *const *argv, struct err *e)
{
	static const struct client_ops CLIENT = {.on_closed = on_closed};
	static const struct client_term_ops TERM = {
	    .on_opened = on_opened, .on_screen = on_screen, .on_ended = on_ended};
	struct client_term_spec spec = {.term = p->asked, .rows = p->rows, .cols = p->cols, .argv = argv};
	p->client = client_connect(loop, p->vm, &CLIENT, p, e);
	if (!p->client)
		return false;
	p->term = client_term_open(p->client, &spec, &TERM, p, e);
	return p->term != NULL;
}

struct pane *pane_open(struct loop *loop, const struct pane_wish *wish, const char *const *argv,
                       const struct pane_ops *ops, void *arg)
{
	struct err e = ERR_INIT;
	struct pane *p = mem_alloc(sizeof(*p));
	*p = (struct pane){.ops = ops,
	                   .arg = arg,
	                   .asked = wish->term,
	                   .rows = wish->rows,
	                   .cols = wish->cols,
	                   .sent_rows = wish->rows,
	                   .sent_cols = wish->cols,
	                   .link = PANE_OPENING};
	snprintf(p->vm, sizeof(p->vm), "%s", wish->vm);
	buf_init(&p->paste, PANE_PASTE_MOST);
	p->timer = timer_create_on(loop, on_timer, p);
	timer_once(p->timer, PANE_SLOW_MS);
	if (!start(p, loop, argv, &e)) {
		break_link(p, &e);
		timer_once(p->timer, 0);
	}
	return p;
}

void pane_close(struct pane *p)
{
	if (!p)
		return;
	client_term_close(p->term);
	client_close(p->client);
	timer_close(p->timer);
	buf_finish(&p->paste);
	free(p);
}

const char *pane_vm(const struct pane *p)
{
	return p->vm;
}

bool pane_is(const struct pane *p, uint32_t term)
{
	return p->asked == term || (term != 0 && p->number == term);
}

void pane_resize(struct pane *p, unsigned rows, unsigned cols)
{
	if (rows == 0 || cols == 0)
		return;
	p->rows = rows;
	p->cols = cols;
	send_size(p);
}

void pane_describe(const struct pane *p, struct pane_source *out)
{
	snprintf(out->vm, sizeof(out->vm), "%s", p->vm);
	out->term = p->number || p->asked == CLIENT_TERM_NEW ? p->number : p->asked;
	out->link = p->link;
	out->slow = p->slow;
	out->foreign = p->foreign;
	out->why = p->why;
	out->screen =
	    p->term && (p->link == PANE_LIVE || p->link == PANE_ENDED) ? client_term_screen(p->term) : NULL;
}

/* Whoever types does not wait for the picture: the first keys are kept until there is a terminal. */
bool pane_key(struct pane *p, uint32_t key, unsigned mods)
{
	if (p->link == PANE_OPENING && p->number == 0) {
		if (p->early_count == EARLY_KEYS_MOST)
			return false;
		p->early[p->early_count++] = (struct early_key){.key = key, .mods = mods};
		return true;
	}
	return p->term && client_term_key(p->term, key, mods);
}

bool pane_text(struct pane *p, struct bytes text)
{
	return p->term && client_term_text(p->term, text.p, text.len);
}

bool pane_paste(struct pane *p, struct bytes text, bool first, bool last)
{
	if (first)
		buf_clear(&p->paste);
	buf_put(&p->paste, text.p, text.len);
	if (!last)
		return true;
	bool ok = buf_ok(&p->paste) && p->term && client_term_paste(p->term, p->paste.data, p->paste.len);
	buf_finish(&p->paste);
	buf_init(&p->paste, PANE_PASTE_MOST);
	return ok;
}

void pane_mouse(struct pane *p, const struct term_mouse *m)
{
	if (p->term)
		client_term_mouse(p->term, m);
}

void pane_focus(struct pane *p, bool focused)
{
	if (p->term)
		client_term_focus(p->term, focused);
}

bool pane_history(struct pane *p, uint64_t before, uint32_t most, client_lines_fn *done, void *arg)
{
	return p->term && client_term_history(p->term, before, most, done, arg);
}
