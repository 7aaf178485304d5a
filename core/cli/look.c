/* The status is watched first: it says which terminals there are, so that looking at one never starts or resizes any. */
#include "core/cli/look.h"

#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/client/client.h"
#include "core/client/terminal.h"
#include "core/loop/loop.h"
#include "core/loop/timer.h"
#include "core/term/screen.h"
#include "core/term/transcript.h"

static void end(struct look *l, enum look_end how)
{
	if (!l->over)
		l->end = how;
	l->over = true;
}

void look_done(struct look *l)
{
	end(l, LOOK_DONE);
}

void look_fail(struct look *l, const struct err *e)
{
	if (!l->over)
		*l->e = *e;
	end(l, LOOK_FAILED);
}

/* ---- the terminal ---- */

static void on_screen(void *arg)
{
	struct look *l = arg;
	struct screen *s = client_term_screen(l->term);
	if (!l->over && l->on_screen && s->whole)
		l->on_screen(l, s);
}

static void on_ended(void *arg, uint32_t code, unsigned signum, const struct err *e)
{
	struct look *l = arg;
	l->code = code;
	l->signum = signum;
	if (e)
		look_fail(l, e);
	else
		end(l, LOOK_ENDED);
}

static const struct client_term_ops TERM_OPS = {.on_screen = on_screen, .on_ended = on_ended};

static const struct vm_terminal *find_terminal(const struct vm_status *s, uint32_t number)
{
	for (uint32_t i = 0; i < s->terminal_count; i++) {
		const struct vm_terminal *t = &s->terminal[i];
		if (number == CLIENT_TERM_FIRST ? t->first : t->number == number)
			return t;
	}
	return NULL;
}

static void fail_no_terminal(struct look *l, const struct vm_status *s)
{
	struct err e = ERR_INIT;
	struct str numbers = STR_INIT(400);
	for (uint32_t i = 0; i < s->terminal_count; i++)
		str_appendf(&numbers, "%s%s:%u", i ? ", " : "", s->name, s->terminal[i].number);
	if (s->state != VM_READY)
		err_set(&e, ERR_INVALID, "VM %s is %s: it has no terminals", s->name,
		        vm_state_name(s->state));
	else if (s->terminal_count == 0)
		err_set(&e, ERR_NOT_FOUND, "VM %s has no terminal; ccvm attach %s starts one", s->name,
		        s->name);
	else
		err_set(&e, ERR_NOT_FOUND, "VM %s has no terminal %u (it has %s)", s->name, l->target->term,
		        numbers.s);
	look_fail(l, &e);
	str_finish(&numbers);
}

static void open_terminal(struct look *l, const struct vm_status *s)
{
	struct err e = ERR_INIT;
	const struct vm_terminal *t = find_terminal(s, l->target->term);
	if (!t) {
		fail_no_terminal(l, s);
		return;
	}
	const struct client_term_spec spec = {.term = t->number};
	l->terminal = *t;
	l->term = client_term_open(l->client, &spec, &TERM_OPS, l, &e);
	if (!l->term)
		look_fail(l, &e);
}

/* ---- what has left the screen ---- */

#define PIECE_MOST 10000 /* lines asked for at a time */

static void ask_for_more(struct look *l);

static void on_lines(void *arg, uint64_t first, uint32_t count, struct bytes lines, const struct err *e)
{
	struct look *l = arg;
	struct err why = ERR_INIT;
	if (e)
		look_fail(l, e);
	else if (!transcript_prepend(l->lines, first, count, lines, &why))
		look_fail(l, &why);
	else
		ask_for_more(l);
}

static void ask_for_more(struct look *l)
{
	struct err gone = ERR_INIT;
	uint64_t first = transcript_first(l->lines);
	if (transcript_is_whole(l->lines) || first <= l->down_to) {
		l->on_back(l);
		return;
	}
	uint32_t most = (uint32_t)MIN(first - l->down_to, (uint64_t)PIECE_MOST);
	if (client_term_history(l->term, first, most, on_lines, l))
		return;
	err_set(&gone, ERR_GONE, "the program in the terminal ended");
	look_fail(l, &gone);
}

void look_back(struct look *l, struct transcript *t, uint64_t down_to, void (*done)(struct look *l))
{
	l->lines = t;
	l->down_to = down_to;
	l->on_back = done;
	ask_for_more(l);
}

/* ---- the VM ---- */

static void on_status(void *arg, const struct vm_status *s, const struct err *e)
{
	struct look *l = arg;
	if (e) {
		look_fail(l, e);
		return;
	}
	if (l->over)
		return;
	const struct vm_terminal *t = l->term ? find_terminal(s, l->terminal.number) : NULL;
	if (l->wants_terminal && !l->term)
		open_terminal(l, s);
	else if (t)
		l->terminal = *t;
	if (!l->over && l->on_status)
		l->on_status(l, s);
}

static void on_closed(void *arg, const struct err *e)
{
	look_fail(arg, e);
}

static const struct client_ops CLIENT_OPS = {.on_closed = on_closed};

static void on_timeout(void *arg)
{
	end(arg, LOOK_TIMEOUT);
}

enum look_end look_run(struct loop *loop, struct look *l, struct err *e)
{
	l->loop = loop;
	l->e = e;
	l->client = client_connect(loop, l->target->vm, &CLIENT_OPS, l, e);
	if (!l->client)
		return LOOK_FAILED;
	struct timer *timer = timer_create_on(loop, on_timeout, l);
	if (l->timeout_ms)
		timer_once(timer, l->timeout_ms);
	client_watch(l->client, on_status, l);
	while (!l->over)
		loop_turn(loop, false);
	timer_close(timer);
	return l->end;
}

void look_close(struct look *l)
{
	client_term_close(l->term);
	client_close(l->client);
	l->term = NULL;
	l->client = NULL;
}
