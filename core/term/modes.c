/* Modes: what SM and RM set and reset, what DECRQM is told, and the kinds of keys that programs ask for. */
#include <string.h>

#include "core/term/state.h"

void modes_put(struct emulator *e, unsigned bits, bool on)
{
	e->modes = on ? e->modes | bits : e->modes & ~bits;
}

void modes_set_origin(struct emulator *e, bool on)
{
	e->modes = on ? e->modes | MODE_ORIGIN : e->modes & ~(unsigned)MODE_ORIGIN;
	engine_dec_mode(e->engine, 6, on);
}

static void set_reverse(struct emulator *e, unsigned bits, bool on)
{
	modes_put(e, bits, on);
	state_touch_all(e);
}

static void set_origin_mode(struct emulator *e, unsigned bits, bool on)
{
	(void)bits;
	modes_set_origin(e, on);
}

/* DECCOLM: the width stays, but the screen is cleared and the margins are gone, as on all that have only one. */
static void set_columns(struct emulator *e, unsigned bits, bool on)
{
	(void)bits;
	(void)on;
	sequences_set_region(e, -1, -1);
	engine_csi(e->engine, 'J', 2, -1);
	engine_csi(e->engine, 'H', -1, -1);
}

static void set_wrap(struct emulator *e, unsigned bits, bool on)
{
	if (!on)
		sequences_break_wrap(e);
	modes_put(e, bits, on);
	engine_dec_mode(e->engine, 7, on);
}

static void set_mouse(struct emulator *e, unsigned bits, bool on)
{
	e->modes &= ~(unsigned)(TERM_MOUSE_CLICK | TERM_MOUSE_DRAG | TERM_MOUSE_MOVE);
	modes_put(e, bits, on);
}

static void set_alternate(struct emulator *e, unsigned bits, bool on)
{
	(void)bits;
	engine_dec_mode(e->engine, 1047, on);
}

static void set_saved(struct emulator *e, unsigned bits, bool on)
{
	(void)bits;
	if (on)
		sequences_save_cursor(e);
	else
		sequences_restore_cursor(e);
}

/* Leaving an alternate screen that is not shown must not move the cursor to where nobody saved it. */
static void set_alternate_saved(struct emulator *e, unsigned bits, bool on)
{
	if (on) {
		sequences_save_cursor(e);
		set_alternate(e, bits, true);
	} else if (e->active == 1) {
		set_alternate(e, bits, false);
		sequences_restore_cursor(e);
	}
}

static void set_insert(struct emulator *e, unsigned bits, bool on)
{
	modes_put(e, bits, on);
	engine_csi(e->engine, on ? 'h' : 'l', 4, -1);
}

static void set_newline(struct emulator *e, unsigned bits, bool on)
{
	modes_put(e, bits, on);
	engine_csi(e->engine, on ? 'h' : 'l', 20, -1);
}

struct mode {
	int number;
	char leader;
	unsigned bits; /* that say whether it is set */
	void (*set)(struct emulator *e, unsigned bits, bool on);
};

static const struct mode MODES[] = {
    {1, '?', TERM_APP_CURSOR, modes_put},
    {3, '?', 0, set_columns},
    {5, '?', TERM_REVERSE_VIDEO, set_reverse},
    {6, '?', MODE_ORIGIN, set_origin_mode},
    {7, '?', MODE_AUTOWRAP, set_wrap},
    {12, '?', MODE_CURSOR_BLINK, modes_put},
    {25, '?', MODE_CURSOR_VISIBLE, modes_put},
    {47, '?', TERM_ALT_SCREEN, set_alternate},
    {66, '?', TERM_APP_KEYPAD, modes_put},
    {1000, '?', TERM_MOUSE_CLICK, set_mouse},
    {1002, '?', TERM_MOUSE_DRAG, set_mouse},
    {1003, '?', TERM_MOUSE_MOVE, set_mouse},
    {1004, '?', TERM_FOCUS_EVENTS, modes_put},
    {1006, '?', TERM_MOUSE_SGR, modes_put},
    {1007, '?', MODE_ALT_SCROLL, modes_put},
    {1047, '?', TERM_ALT_SCREEN, set_alternate},
    {1048, '?', 0, set_saved},
    {1049, '?', TERM_ALT_SCREEN, set_alternate_saved},
    {2004, '?', TERM_BRACKETED_PASTE, modes_put},
    {2026, '?', MODE_SYNC, modes_put},
    {2031, '?', MODE_COLOUR_REPORT, modes_put},
    {4, 0, MODE_INSERT, set_insert},
    {20, 0, TERM_NEWLINE, set_newline},
};

static const struct mode *find_mode(char leader, int number)
{
	for (size_t i = 0; i < ARRAY_LEN(MODES); i++)
		if (MODES[i].number == number && MODES[i].leader == leader)
			return &MODES[i];
	return NULL;
}

void modes_set(struct emulator *e, const struct csi *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		const struct mode *m = find_mode(s->leader, csi_param(s, i, -1));
		if (m != NULL)
			m->set(e, m->bits, s->final == 'h');
	}
}

void modes_request(struct emulator *e, const struct csi *s)
{
	int number = csi_param(s, 0, 0);
	const struct mode *m = find_mode(s->leader, number);
	int answer = m == NULL || m->bits == 0 ? 0 : (e->modes & m->bits) != 0 ? 1 : 2;
	state_reply(e, s->leader == '?' ? "\x1b[?%d;%d$y" : "\x1b[%d;%d$y", number, answer);
}

void modes_reset(struct emulator *e, unsigned keep)
{
	keep &= e->modes;
	modes_set_origin(e, false);
	set_wrap(e, MODE_AUTOWRAP, true);
	set_insert(e, MODE_INSERT, false);
	set_newline(e, TERM_NEWLINE, false);
	for (unsigned i = 0; i < 2; i++)
		e->keys[i] = (struct keys_stack){0};
	e->modes = MODE_START | keep;
}

/* ---- kitty's keyboard -------------------------------------------------------------------------------------------- */

#define KEYS_KNOWN 1 /* disambiguate */

void modes_keys_changed(struct emulator *e)
{
	const struct keys_stack *k = &e->keys[e->active];
	modes_put(e, TERM_KEYS_DISAMBIGUATE, (k->flags[k->top] & KEYS_KNOWN) != 0);
}

/* A full stack forgets its oldest entry. */
void modes_keys_push(struct emulator *e, const struct csi *s)
{
	struct keys_stack *k = &e->keys[e->active];
	if (k->top + 1 < KEYS_STACK)
		k->top++;
	else
		memmove(k->flags, k->flags + 1, KEYS_STACK - 1);
	k->flags[k->top] = (uint8_t)(csi_param(s, 0, 0) & KEYS_KNOWN);
	modes_keys_changed(e);
}

void modes_keys_pop(struct emulator *e, const struct csi *s)
{
	struct keys_stack *k = &e->keys[e->active];
	int count = MAX(csi_param(s, 0, 1), 1);
	if (count > k->top)
		*k = (struct keys_stack){0};
	else
		k->top = (uint8_t)(k->top - count);
	modes_keys_changed(e);
}

/* 1: exactly these flags, 2: these too, 3: not these. */
void modes_keys_set(struct emulator *e, const struct csi *s)
{
	struct keys_stack *k = &e->keys[e->active];
	unsigned flags = (unsigned)csi_param(s, 0, 0) & KEYS_KNOWN, old = k->flags[k->top];
	switch (csi_param(s, 1, 1)) {
	case 1: k->flags[k->top] = (uint8_t)flags; break;
	case 2: k->flags[k->top] = (uint8_t)(old | flags); break;
	case 3: k->flags[k->top] = (uint8_t)(old & ~flags); break;
	default: break;
	}
	modes_keys_changed(e);
}

void modes_keys_query(struct emulator *e, const struct csi *s)
{
	(void)s;
	const struct keys_stack *k = &e->keys[e->active];
	state_reply(e, "\x1b[?%uu", k->flags[k->top]);
}
