/* What a guest asks for, piece by piece: text, marks, controls, escape and control sequences. Each is done here, or handed
 * to the engine in a form that it survives, or ignored; nothing is handed on that is not in one of the tables. */
#include <stdio.h>
#include <string.h>

#include "core/term/keys.h"
#include "core/term/sgr.h"
#include "core/term/state.h"
#include "core/term/unicode.h"

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* With a character set other than ASCII active, libvterm picks the decoder of a piece by its first byte only. */
static void text_by_set(struct emulator *e, const uint8_t *bytes, size_t len)
{
	size_t start = 0;
	for (size_t i = 1; i <= len; i++)
		if (i == len || (bytes[i] ^ bytes[i - 1]) & 0x80) {
			engine_text(e->engine, bytes + start, i - start);
			start = i;
		}
}

/* A run shorter than this costs less through the engine. */
#define RUN_LEAST 4

static size_t printable_run(const uint8_t *bytes, size_t len)
{
	size_t n = 0;
	while (n < len && bytes[n] >= 0x20 && bytes[n] < 0x7f)
		n++;
	return n;
}

/* The engine takes text glyph by glyph, and most of what guests write is ASCII that goes on to the right. Such runs are
 * written into the row at once, and the engine only hears how far its cursor went (not even that when a CR follows). Away
 * from the right edge no wrap can be pending, so what is near it goes to the engine, up to the first glyph of the next
 * row. `waiting` is where the text begins that the engine has not got yet. */
static void text_in_ascii(struct emulator *e, const uint8_t *bytes, size_t len)
{
	size_t waiting = 0, at = 0;
	while (at < len) {
		size_t run = printable_run(bytes + at, len - at);
		if (run < RUN_LEAST) {
			at += MAX(run, (size_t)1);
			continue;
		}
		if (waiting < at)
			engine_text(e->engine, bytes + waiting, at - waiting);
		waiting = at;
		int row, col;
		engine_cursor(e->engine, &row, &col);
		int room = (int)e->cols - 2 - col;
		if ((e->modes & (MODE_INSERT | MODE_AUTOWRAP)) != MODE_AUTOWRAP) {
			at += run;
		} else if (room < RUN_LEAST) {
			at += MIN(run, (size_t)(room + 3));
		} else {
			size_t n = MIN(run, (size_t)room);
			state_put_run(e, row, col, bytes + at, n);
			waiting = at += n;
			if (at == len || bytes[at] != '\r')
				engine_csi(e->engine, 'C', (int)n, -1);
		}
	}
	if (waiting < len)
		engine_text(e->engine, bytes + waiting, len - waiting);
}

static void on_text(void *arg, const uint8_t *bytes, size_t len)
{
	struct emulator *e = arg;
	if (e->charsets.set[e->charsets.active] != 'B')
		text_by_set(e, bytes, len);
	else if (len < RUN_LEAST)
		engine_text(e->engine, bytes, len);
	else
		text_in_ascii(e, bytes, len);
}

static void on_mark(void *arg, uint32_t cp)
{
	struct emulator *e = arg;
	uint32_t chars[CLUSTER_MAX + 1];
	size_t n = clusters_get(&e->clusters, e->glyph_code, chars);
	if (e->glyph_row < 0 || n == 0 || n >= CLUSTER_MAX)
		return;
	chars[n++] = cp;
	uint32_t code = clusters_intern(&e->clusters, chars, n);
	if (code == 0 && e->sweep_wait == 0) {
		state_sweep(e);
		code = clusters_intern(&e->clusters, chars, n);
	}
	if (code == 0) {
		e->sweep_wait -= e->sweep_wait > 0;
		return;
	}
	e->glyph_code = code;
	grid_set_code(&e->screens[e->active], e->glyph_row, e->glyph_col, code);
}

/* REP and DECALN draw up to a whole screen for a few bytes; 64 KiB of them would keep a large terminal busy for many
 * seconds. So each sequence earns a line's worth of glyphs, and two screens' worth are saved up at most: no program that
 * draws a picture notices. Counted in sequences, not in time or in calls, so that pieces make no difference. */
#define FILL_SCREENS 2

static void earn_fill(struct emulator *e)
{
	e->fill_left = MIN(e->fill_left + e->cols, FILL_SCREENS * e->rows * e->cols);
}

/* REP: the character right before it again and again. */
static void repeat_glyph(struct emulator *e, int count)
{
	uint32_t chars[CLUSTER_MAX];
	size_t n = clusters_get(&e->clusters, e->glyph_code, chars);
	char text[4];
	if (e->glyph_row < 0 || n == 0)
		return;
	size_t len = utf8_encode(chars[0], text);
	count = MIN(count, (int)MIN(e->rows * e->cols, e->fill_left / (unsigned)n));
	e->fill_left -= (unsigned)(count * (int)n);
	while (count-- > 0) {
		on_text(e, (const uint8_t *)text, len);
		for (size_t i = 1; i < n; i++)
			on_mark(e, chars[i]);
	}
}

/* DECALN: a screen full of E. */
static void align(struct emulator *e)
{
	unsigned cells = e->rows * e->cols;
	if (e->fill_left < cells)
		return;
	e->fill_left -= cells;
	const struct cell pen = e->pen;
	e->pen = (struct cell){0};
	engine_escape(e->engine, '#', '8');
	e->pen = pen;
}

static void on_control(void *arg, uint8_t c)
{
	struct emulator *e = arg;
	if (c == 0x07) {
		e->bells++;
		state_event(e, EMULATOR_BELL, 0, 0, "");
		return;
	}
	e->charsets.active = c == 0x0e ? 1 : 0;
	engine_control(e->engine, c);
}

/* ---- cursor ------------------------------------------------------------------------------------------------------ */

void sequences_move_cursor(struct emulator *e, int row, int col)
{
	if (e->modes & MODE_ORIGIN)
		row -= e->region_top;
	e->wrap_row = NO_WRAP;
	engine_csi(e->engine, 'H', MAX(row, 0) + 1, MAX(col, 0) + 1);
}

/* What moves, erases or shifts also takes back that the next glyph wraps. The engine knows that of movements only. */
void sequences_break_wrap(struct emulator *e)
{
	if (e->wrap_row == NO_WRAP)
		return;
	if (state_wrap_pending(e)) {
		int row, col;
		engine_cursor(e->engine, &row, &col);
		sequences_move_cursor(e, row, col);
	}
	e->wrap_row = NO_WRAP;
}

static void designate(struct emulator *e, unsigned g, char set)
{
	static const char SLOT[] = "()*+";
	if (strchr("0AB", set) == NULL)
		set = 'B';
	e->charsets.set[g] = set;
	engine_escape(e->engine, SLOT[g], set);
}

/* LS0 and LS1 are controls, LS2 and LS3 escapes. */
static void activate_set(struct emulator *e, unsigned g)
{
	e->charsets.active = (uint8_t)g;
	if (g < 2)
		engine_control(e->engine, g == 1 ? 0x0e : 0x0f);
	else
		engine_escape(e->engine, 0, g == 2 ? 'n' : 'o');
}

void sequences_save_cursor(struct emulator *e)
{
	struct saved_cursor *s = &e->saved[e->active];
	engine_cursor(e->engine, &s->row, &s->col);
	s->wrap = state_wrap_pending(e);
	if (s->wrap)
		s->col = (int)e->cols - 1; /* a wide glyph leaves the engine's cursor on itself */
	s->pen = e->pen;
	s->origin = (e->modes & MODE_ORIGIN) != 0;
	s->charsets = e->charsets;
}

/* The saved place may lie outside by now: the engine's CUP stops at the edges. */
void sequences_restore_cursor(struct emulator *e)
{
	const struct saved_cursor s = e->saved[e->active];
	unsigned link = e->pen.link; /* is none of its business */
	e->pen = s.pen;
	e->pen.link = link & CELL_LINK_MASK;
	modes_set_origin(e, s.origin);
	for (unsigned g = 0; g < 4; g++)
		designate(e, g, s.charsets.set[g]);
	activate_set(e, s.charsets.active);
	if (s.wrap)
		state_restore_wrap(e, s.row, s.col);
	else
		sequences_move_cursor(e, s.row, s.col);
}

/* 1-based; missing or 0: the edge of the screen. A region of less than two lines is refused, as everywhere. */
void sequences_set_region(struct emulator *e, int top, int bottom)
{
	int rows = (int)e->rows;
	top = MAX(top, 1);
	bottom = bottom < 1 || bottom > rows ? rows : bottom;
	if (top == 1 && bottom == rows)
		engine_csi(e->engine, 'r', -1, -1);
	else if (top < bottom)
		engine_csi(e->engine, 'r', top, bottom);
	else
		return;
	e->region_top = top - 1;
}

#define SOFT_RESET_KEEPS                                                                              \
	(TERM_ALT_SCREEN | TERM_BRACKETED_PASTE | TERM_FOCUS_EVENTS | TERM_REVERSE_VIDEO |            \
	 TERM_MOUSE_CLICK | TERM_MOUSE_DRAG | TERM_MOUSE_MOVE | TERM_MOUSE_SGR | MODE_COLOUR_REPORT | \
	 MODE_SYNC)

static void soft_reset(struct emulator *e)
{
	int row, col;
	engine_cursor(e->engine, &row, &col);
	sequences_set_region(e, -1, -1);
	sequences_reset(e, SOFT_RESET_KEEPS);
	sequences_move_cursor(e, row, col);
}

static void full_reset(struct emulator *e)
{
	if (e->active != 0)
		engine_dec_mode(e->engine, 1047, false);
	sequences_reset(e, 0);
	state_touch_all(e);
	struct rect all = {0, 0, (int)e->rows, (int)e->cols};
	grid_erase(&e->screens[1], all, COLOUR_DEFAULT);
	engine_escape(e->engine, 0, 'c');
	e->title_depth = 0;
	e->notice = (struct notice){0};
	e->region_top = 0;
	e->glyph_row = -1;
	e->wrap_row = NO_WRAP;
}

void sequences_reset(struct emulator *e, unsigned keep)
{
	modes_reset(e, keep);
	for (unsigned g = 0; g < 4; g++)
		designate(e, g, 'B');
	activate_set(e, 0);
	e->cursor_shape = CURSOR_DEFAULT;
	e->pen = (struct cell){0};
	for (unsigned i = 0; i < 2; i++)
		e->saved[i] = (struct saved_cursor){.charsets = e->charsets};
}

/* ---- control sequences ------------------------------------------------------------------------------------------- */

static void seq_sgr(struct emulator *e, const struct csi *s)
{
	sgr_apply(&e->pen, s);
}

/* Shells clear what lies after the cursor before they write a prompt, when they have already said that it begins here. */
static void erase(struct emulator *e, char final, int what)
{
	int row, col;
	sequences_break_wrap(e);
	engine_cursor(e->engine, &row, &col);
	bool prompt = what == 0 && (emulator_row_flags(e, (unsigned)row) & ROW_PROMPT) != 0;
	engine_csi(e->engine, final, what, -1);
	if (prompt)
		grid_set_flag(&e->screens[e->active], row, ROW_PROMPT, true);
}

static void seq_erase_display(struct emulator *e, const struct csi *s)
{
	int what = csi_param(s, 0, 0);
	if (what == 3)
		scrollback_clear(e->history);
	else if (what < 3)
		erase(e, 'J', what);
}

static void seq_erase_line(struct emulator *e, const struct csi *s)
{
	int what = csi_param(s, 0, 0);
	if (what < 3)
		erase(e, 'K', what);
}

static void seq_delete_lines(struct emulator *e, const struct csi *s)
{
	sequences_break_wrap(e);
	e->deleting_lines = true;
	engine_csi(e->engine, 'M', csi_param(s, 0, -1), -1);
	e->deleting_lines = false;
}

/* With more numbers this is an old kind of mouse tracking. */
static void seq_scroll_down(struct emulator *e, const struct csi *s)
{
	if (s->count == 1)
		engine_csi(e->engine, 'T', csi_param(s, 0, -1), -1);
}

static void seq_clear_tabs(struct emulator *e, const struct csi *s)
{
	int what = csi_param(s, 0, 0);
	if (what == 0 || what == 3)
		engine_csi(e->engine, 'g', what, -1);
}

static void seq_repeat(struct emulator *e, const struct csi *s)
{
	if (s->after_base)
		repeat_glyph(e, MAX(csi_param(s, 0, 1), 1));
}

static void seq_region(struct emulator *e, const struct csi *s)
{
	sequences_set_region(e, csi_param(s, 0, -1), csi_param(s, 1, -1));
}

static void seq_save(struct emulator *e, const struct csi *s)
{
	(void)s;
	sequences_save_cursor(e);
}

static void seq_restore(struct emulator *e, const struct csi *s)
{
	(void)s;
	sequences_restore_cursor(e);
}

static void seq_soft_reset(struct emulator *e, const struct csi *s)
{
	(void)s;
	soft_reset(e);
}

static void seq_attributes(struct emulator *e, const struct csi *s)
{
	if (csi_param(s, 0, 0) != 0)
		return;
	/* A VT100 with advanced video; to the second question the numbers by which editors know this kind of emulator. */
	state_reply(e, s->leader == '>' ? "\x1b[>0;100;0c" : "\x1b[?1;2c");
}

static void seq_version(struct emulator *e, const struct csi *s)
{
	if (csi_param(s, 0, 0) == 0)
		state_reply(e, "\x1bP>|ccvm(%s)\x1b\\", CCVM_VERSION);
}

void sequences_report_colours(struct emulator *e)
{
	unsigned light =
	    2u * COLOUR_RED(e->default_bg) + 5u * COLOUR_GREEN(e->default_bg) + COLOUR_BLUE(e->default_bg);
	state_reply(e, "\x1b[?997;%dn", light >= 8 * 128 ? 2 : 1);
}

static void seq_status(struct emulator *e, const struct csi *s)
{
	const char *leader = s->leader == '?' ? "?" : "";
	int what = csi_param(s, 0, 0), row, col;
	if (what == 5)
		state_reply(e, "\x1b[%s0n", leader);
	if (what == 6) {
		engine_cursor(e->engine, &row, &col);
		if (e->modes & MODE_ORIGIN)
			row -= e->region_top;
		state_reply(e, "\x1b[%s%d;%dR", leader, row + 1, col + 1);
	}
	if (what == 996 && s->leader == '?')
		sequences_report_colours(e);
}

/* 0 and 1: blinking block, 2: steady block, then underline and bar in the same order. */
static void seq_cursor_shape(struct emulator *e, const struct csi *s)
{
	int style = csi_param(s, 0, 0);
	if (style > 6)
		return;
	e->cursor_shape = (uint8_t)((style + 1) / 2);
	modes_put(e, MODE_CURSOR_BLINK, style == 0 || style % 2 == 1);
}

static void seq_window(struct emulator *e, const struct csi *s)
{
	int what = csi_param(s, 0, 0), which = csi_param(s, 1, 0);
	if (what == 18) {
		state_reply(e, "\x1b[8;%u;%ut", e->rows, e->cols);
	} else if (what == 22 && (which == 0 || which == 2)) {
		if (e->title_depth < TITLE_STACK)
			memcpy(e->title_stack[e->title_depth++], e->title, sizeof(e->title));
	} else if (what == 23 && (which == 0 || which == 2)) {
		if (e->title_depth > 0)
			state_set_title(e, e->title_stack[--e->title_depth]);
	}
}

static const struct {
	char leader, intermediate, final;
	void (*handle)(struct emulator *e, const struct csi *s);
} SEQUENCES[] = {
    {0, 0, 'm', seq_sgr},           {0, 0, 'K', seq_erase_line},
    {'?', 0, 'K', seq_erase_line},  {'?', 0, 'h', modes_set},
    {'?', 0, 'l', modes_set},       {0, 0, 'h', modes_set},
    {0, 0, 'l', modes_set},         {0, 0, 'r', seq_region},
    {0, 0, 'J', seq_erase_display}, {'?', 0, 'J', seq_erase_display},
    {0, 0, 'M', seq_delete_lines},  {0, 0, 'T', seq_scroll_down},
    {0, 0, 'b', seq_repeat},        {0, 0, 'g', seq_clear_tabs},
    {0, 0, 's', seq_save},          {0, 0, 'u', seq_restore},
    {'>', 0, 'u', modes_keys_push}, {'<', 0, 'u', modes_keys_pop},
    {'=', 0, 'u', modes_keys_set},  {'?', 0, 'u', modes_keys_query},
    {0, 0, 'n', seq_status},        {'?', 0, 'n', seq_status},
    {0, 0, 'c', seq_attributes},    {'>', 0, 'c', seq_attributes},
    {'>', 0, 'q', seq_version},     {0, ' ', 'q', seq_cursor_shape},
    {0, '!', 'p', seq_soft_reset},  {'?', '$', 'p', modes_request},
    {0, '$', 'p', modes_request},   {0, 0, 't', seq_window},
};

/* What the engine does right with one or two numbers: cursor movement, insertion, deletion, erasing, scrolling up. */
static const char ENGINE_FINALS[] = "@ABCDEFGHILPSXZ`adefjk";

static void on_csi(void *arg, const struct csi *s)
{
	struct emulator *e = arg;
	earn_fill(e);
	if (s->leader == 0 && s->intermediate == 0 && strchr(ENGINE_FINALS, s->final) != NULL) {
		if (e->wrap_row != NO_WRAP && s->final != 'S') /* scrolling leaves the cursor where it is */
			sequences_break_wrap(e);
		engine_csi(e->engine, s->final, csi_param(s, 0, -1), csi_param(s, 1, -1));
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(SEQUENCES); i++)
		if (SEQUENCES[i].final == s->final && SEQUENCES[i].leader == s->leader &&
		    SEQUENCES[i].intermediate == s->intermediate) {
			SEQUENCES[i].handle(e, s);
			return;
		}
}

/* ---- escape sequences -------------------------------------------------------------------------------------------- */

static void on_escape(void *arg, char intermediate, char final)
{
	static const char SLOT[] = "()*+";
	struct emulator *e = arg;
	earn_fill(e);
	if (intermediate != 0) {
		const char *slot = strchr(SLOT, intermediate);
		if (slot != NULL)
			designate(e, (unsigned)(slot - SLOT), final);
		else if (intermediate == '#' && final == '8')
			align(e);
		return;
	}
	switch (final) {
	case 'D':
	case 'E':
	case 'M':
		sequences_break_wrap(e);
		engine_escape(e->engine, 0, final);
		break;
	case 'H': engine_escape(e->engine, 0, final); break;
	case 'n': activate_set(e, 2); break;
	case 'o': activate_set(e, 3); break;
	case '7': sequences_save_cursor(e); break;
	case '8': sequences_restore_cursor(e); break;
	case '=': modes_put(e, TERM_APP_KEYPAD, true); break;
	case '>': modes_put(e, TERM_APP_KEYPAD, false); break;
	case 'c': full_reset(e); break;
	default: break;
	}
}

static void on_string(void *arg, enum filter_string kind, const uint8_t *bytes, size_t len, bool bel)
{
	strings_handle(arg, kind, bytes, len, bel);
}

const struct filter_ops SEQUENCE_OPS = {
    .text = on_text,
    .mark = on_mark,
    .control = on_control,
    .escape = on_escape,
    .csi = on_csi,
    .string = on_string,
};
