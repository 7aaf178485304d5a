#include "tui/pane.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/client/client.h"
#include "core/client/terminal.h"
#include "core/term/screen.h"

#define PASTE_MOST ((size_t)1024 * 1024)

struct pane {
	struct loop *loop;
	void (*on_change)(void *arg);
	void *arg;
	char vm[VM_NAME_MAX + 1]; /* "": none */
	struct client *client;    /* owned; NULL when there is no connection */
	struct client_term *term; /* owned; stays after the end, for its last picture */
	unsigned rows, cols;      /* wanted */
	enum pane_link link;
	char why[512];
	struct buf paste;
};

struct pane *pane_create(struct loop *loop, void (*on_change)(void *arg), void *arg)
{
	struct pane *p = mem_alloc(sizeof(*p));
	*p = (struct pane){.loop = loop, .on_change = on_change, .arg = arg};
	buf_init(&p->paste, PASTE_MOST);
	return p;
}

void pane_reset(struct pane *p)
{
	client_term_close(p->term);
	client_close(p->client);
	p->term = NULL;
	p->client = NULL;
	p->vm[0] = '\0';
	p->link = PANE_NONE;
}

void pane_destroy(struct pane *p)
{
	if (!p)
		return;
	pane_reset(p);
	buf_finish(&p->paste);
	free(p);
}

static void break_link(struct pane *p, const struct err *e)
{
	p->link = PANE_BROKEN;
	snprintf(p->why, sizeof(p->why), "%s", e->msg);
}

static void on_opened(void *arg, uint32_t term)
{
	struct pane *p = arg;
	(void)term;
	client_term_resize(p->term, p->rows, p->cols); /* the window may have changed meanwhile */
}

static void on_screen(void *arg)
{
	struct pane *p = arg;
	const struct screen *s = client_term_screen(p->term);
	if (p->link == PANE_OPENING && s->generation > 0 && s->whole)
		p->link = PANE_LIVE;
	if (p->link == PANE_LIVE && s->whole) /* half an update is not shown */
		p->on_change(p->arg);
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	struct pane *p = arg;
	if (e) {
		break_link(p, e);
	} else {
		p->link = PANE_ENDED;
		if (signum > 0)
			snprintf(p->why, sizeof(p->why), "the program was ended by signal %u", signum);
		else
			snprintf(p->why, sizeof(p->why), "the program ended with code %" PRIu32, code);
	}
	p->on_change(p->arg);
}

static void on_closed(void *arg, const struct err *e)
{
	struct pane *p = arg;
	if (p->link == PANE_OPENING || p->link == PANE_LIVE) {
		break_link(p, e);
		p->on_change(p->arg);
	}
}

static bool open_terminal(struct pane *p, struct err *e)
{
	static const struct client_ops CLIENT = {.on_closed = on_closed};
	static const struct client_term_ops TERM = {
	    .on_opened = on_opened, .on_screen = on_screen, .on_ended = on_ended};
	struct client_term_spec spec = {.term = CLIENT_TERM_FIRST, .rows = p->rows, .cols = p->cols};
	p->client = client_connect(p->loop, p->vm, &CLIENT, p, e);
	if (!p->client)
		return false;
	p->term = client_term_open(p->client, &spec, &TERM, p, e);
	return p->term != NULL;
}

void pane_sync(struct pane *p, const struct dash_pane *want)
{
	if (strcmp(p->vm, want->vm) != 0)
		pane_reset(p);
	if (!want->vm[0] || want->rows == 0)
		return;
	bool resized = p->rows != want->rows || p->cols != want->cols;
	p->rows = want->rows;
	p->cols = want->cols;
	if (p->link == PANE_NONE) {
		struct err e = ERR_INIT;
		snprintf(p->vm, sizeof(p->vm), "%s", want->vm);
		p->link = PANE_OPENING;
		if (!open_terminal(p, &e))
			break_link(p, &e);
	} else if (resized && p->term) {
		client_term_resize(p->term, p->rows, p->cols); /* nothing unless it is open */
	}
}

void pane_describe(struct pane *p, struct pane_source *out)
{
	snprintf(out->vm, sizeof(out->vm), "%s", p->vm);
	out->link = p->link;
	out->why = p->why;
	out->screen =
	    p->term && (p->link == PANE_LIVE || p->link == PANE_ENDED) ? client_term_screen(p->term) : NULL;
}

void pane_key(struct pane *p, uint32_t key, unsigned mods)
{
	if (p->term)
		client_term_key(p->term, key, mods);
}

bool pane_paste(struct pane *p, struct bytes text, bool first, bool last)
{
	if (first)
		buf_clear(&p->paste);
	buf_put(&p->paste, text.p, text.len);
	if (!last)
		return true;
	bool ok = buf_ok(&p->paste) && (!p->term || client_term_paste(p->term, p->paste.data, p->paste.len));
	buf_finish(&p->paste);
	buf_init(&p->paste, PASTE_MOST);
	return ok;
}
