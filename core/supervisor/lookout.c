/* One struct attention for each terminal, one for hooks that name no terminal (an agent that was started without one), and
 * one that remembers the end of a terminal's program that the operator has not caused himself: the terminal is gone, the
 * news is not. The VM's attention is the most urgent of them. */
#include "core/supervisor/lookout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/loop/timer.h"
#include "core/supervisor/attention.h"
#include "core/supervisor/board.h"
#include "core/term/emulator.h"
#include "core/term/unicode.h"

struct seat {
	uint32_t number; /* 0: free */
	struct attention attention;
};

struct lookout {
	struct board *board;
	struct timer *timer;
	uint64_t timer_ms; /* monotonic: when it fires */
	struct seat seats[VM_TERMINALS_MOST];
	struct attention hooks, ended;
	bool paused, over;
};

static struct attention_time now(void)
{
	return (struct attention_time){.mono_ms = clock_mono_ms(), .wall_ms = clock_wall_ms()};
}

/* ---- to the status ---- */

static void publish(struct lookout *l)
{
	const struct vm_attention *worst = vm_attention_worse(&l->hooks.shown, &l->ended.shown);
	for (size_t i = 0; i < VM_TERMINALS_MOST; i++) {
		const struct seat *s = &l->seats[i];
		struct vm_terminal *entry = s->number ? board_terminal(l->board, s->number) : NULL;
		if (!entry)
			continue;
		entry->attention = s->attention.shown;
		worst = vm_attention_worse(worst, &s->attention.shown);
	}
	board_edit(l->board)->attention = *worst;
	board_changed(l->board);
}

static void arm(struct lookout *l, const struct attention *a)
{
	uint64_t due = attention_deadline(a), mono = clock_mono_ms();
	if (!due || l->paused || (timer_is_active(l->timer) && l->timer_ms <= due))
		return;
	l->timer_ms = due;
	timer_once(l->timer, due > mono ? due - mono : 0);
}

/* True when the status has to change. */
static bool give(struct lookout *l, struct attention *a, const struct attention_signal *s)
{
	bool changed = attention_signal(a, s, now());
	arm(l, a);
	return changed;
}

static void give_all(struct lookout *l, enum attention_kind kind)
{
	const struct attention_signal s = {.kind = kind};
	bool changed = give(l, &l->hooks, &s);
	changed |= give(l, &l->ended, &s);
	for (size_t i = 0; i < VM_TERMINALS_MOST; i++)
		changed |= l->seats[i].number && give(l, &l->seats[i].attention, &s);
	if (changed)
		publish(l);
}

static void on_timer(void *arg)
{
	give_all(arg, ATTENTION_TIME);
}

/* ---- from the terminals ---- */

static struct seat *find_seat(struct lookout *l, uint32_t number)
{
	for (size_t i = 0; i < VM_TERMINALS_MOST; i++) {
		if (l->seats[i].number == number)
			return &l->seats[i];
	}
	return NULL;
}

/* One that never started has no end that is told. */
static void free_seats(struct lookout *l)
{
	for (size_t i = 0; i < VM_TERMINALS_MOST; i++) {
		if (!board_terminal(l->board, l->seats[i].number))
			l->seats[i].number = 0;
	}
}

/* There are as many as there may be terminals. Who opens a new one knows how the last one ended. */
static struct seat *seat_of(struct lookout *l, uint32_t number)
{
	struct seat *s = find_seat(l, number);
	if (s)
		return s;
	free_seats(l);
	s = find_seat(l, 0);
	CHECK(s);
	*s = (struct seat){.number = number};
	if (l->ended.claim.seen)
		l->ended = (struct attention){0};
	return s;
}

static void give_terminal(struct lookout *l, uint32_t number, const struct attention_signal *s)
{
	if (!l->over && give(l, &seat_of(l, number)->attention, s))
		publish(l);
}

static void on_event(void *arg, uint32_t number, const struct emulator_event *ev)
{
	static const enum attention_kind KINDS[] = {
	    [EMULATOR_BELL] = ATTENTION_BELL,
	    [EMULATOR_TITLE] = ATTENTION_TITLE,
	    [EMULATOR_NOTICE] = ATTENTION_NOTICE,
	    [EMULATOR_PROGRESS] = ATTENTION_PROGRESS,
	    [EMULATOR_PROMPT] = ATTENTION_PROMPT,
	    [EMULATOR_COMMAND] = ATTENTION_COMMAND,
	    [EMULATOR_COMMAND_DONE] = ATTENTION_COMMAND_DONE,
	};
	static_assert(ARRAY_LEN(KINDS) == EMULATOR_COMMAND_DONE + 1, "every event is understood");
	give_terminal(
	    arg, number,
	    &(struct attention_signal){
	        .kind = KINDS[ev->kind], .value = ev->value, .percent = ev->percent, .text = ev->text});
}

static void on_output(void *arg, uint32_t number, size_t len)
{
	(void)len;
	give_terminal(arg, number, &(struct attention_signal){.kind = ATTENTION_OUTPUT});
}

static void on_touched(void *arg, uint32_t number)
{
	give_terminal(arg, number, &(struct attention_signal){.kind = ATTENTION_TOUCHED});
}

/* A hook without a terminal may have meant this one. */
static void on_input(void *arg, uint32_t number)
{
	struct lookout *l = arg;
	const struct attention_signal typed = {.kind = ATTENTION_TYPED};
	give_terminal(l, number, &typed);
	if (!l->over && vm_attention_calls(l->hooks.claim.state) && give(l, &l->hooks, &typed))
		publish(l);
}

static void on_ended(void *arg, uint32_t number, uint32_t code, uint8_t signum)
{
	struct lookout *l = arg;
	if (l->over)
		return;
	struct seat *s = seat_of(l, number);
	give(l, &s->attention,
	     &(struct attention_signal){.kind = ATTENTION_EXIT, .value = (int)code, .signum = signum});
	const struct attention *a = &s->attention;
	bool asked_for = board_status(l->board)->state != VM_READY; /* they all end with the VM */
	if (!asked_for && !a->claim.seen && vm_attention_worse(&a->claim, &l->ended.claim) == &a->claim)
		l->ended = *a;
	arm(l, &l->ended);
	s->number = 0;
	publish(l);
}

const struct terminals_ops LOOKOUT_TERMINALS = {
    .on_event = on_event,
    .on_output = on_output,
    .on_input = on_input,
    .on_touched = on_touched,
    .on_ended = on_ended,
};

/* ---- from others ---- */

void lookout_notify(struct lookout *l, const struct wire_event_notify *m)
{
	char text[sizeof(l->hooks.claim.text)];
	utf8_printable(text, sizeof(text), m->text, strlen(m->text));
	struct seat *s = board_terminal(l->board, m->term) ? seat_of(l, m->term) : NULL;
	const struct attention_signal said = {
	    .kind = ATTENTION_HOOK, .state = (enum vm_attention_state)m->attention, .text = text};
	if (!l->over && give(l, s ? &s->attention : &l->hooks, &said))
		publish(l);
}

void lookout_seen(struct lookout *l)
{
	if (!l->over)
		give_all(l, ATTENTION_SEEN);
	else if (!board_status(l->board)->attention.seen) {
		board_edit(l->board)->attention.seen = true;
		board_changed(l->board);
	}
}

void lookout_pause(struct lookout *l, bool paused)
{
	if (l->paused == paused || l->over)
		return;
	l->paused = paused;
	timer_stop(l->timer);
	if (!paused)
		give_all(l, ATTENTION_WOKEN);
}

void lookout_end(struct lookout *l, enum vm_attention_state state, const char *why)
{
	struct vm_attention *a = &board_edit(l->board)->attention;
	l->over = true;
	timer_stop(l->timer);
	*a = (struct vm_attention){
	    .state = state, .seen = !vm_attention_calls(state), .at_ms = clock_wall_ms()};
	if (state == ATTENTION_NONE)
		return;
	a->source = ATTENTION_BY_EXIT;
	snprintf(a->text, sizeof(a->text), "%s", why);
}

/* ---- life ---- */

struct lookout *lookout_create(struct loop *loop, struct board *board)
{
	struct lookout *l = mem_alloc(sizeof(*l));
	l->board = board;
	l->timer = timer_create_on(loop, on_timer, l);
	return l;
}

void lookout_destroy(struct lookout *l)
{
	if (!l)
		return;
	timer_close(l->timer);
	free(l);
}
