#include "core/term/emulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/term/keys.h"
#include "core/term/state.h"
#include "core/term/unicode.h"

#define REPLY_MAX  256
#define SWEEP_WAIT 1024

/* ---- what the engine does to the cells --------------------------------------------------------------------------- */

/* Row -1 of the primary screen is the newest line of the history. */
static void set_wrapped(struct emulator *e, int row, bool on)
{
	if (row >= 0)
		grid_set_flag(&e->screens[e->active], row, ROW_WRAPPED, on);
	else if (row == -1 && e->active == 0)
		scrollback_set_wrapped(e->history, on);
}

/* The engine does not say when it wraps. It did when a glyph lands in column 0 of the row below the one whose end was
 * just reached, and the cursor was not moved in between. A wide character does not fit in one last column. */
static void note_wrap(struct emulator *e, int row, int col, int width)
{
	if (col == 0 && e->wrap_row != NO_WRAP && row == e->wrap_row + 1 && e->wrap_gap < width)
		set_wrapped(e, e->wrap_row, true);
	e->wrap_gap = (int)e->cols - col - width;
	e->wrap_row = e->wrap_gap <= 1 ? row : NO_WRAP;
}

static void on_move(void *arg, int row, int col)
{
	struct emulator *e = arg;
	/* After a glyph at the end of a row it stands on that glyph or on the last column. */
	if (row != e->wrap_row || (col != e->glyph_col && col != (int)e->cols - 1))
		e->wrap_row = NO_WRAP;
}

bool state_wrap_pending(const struct emulator *e)
{
	return e->wrap_row != NO_WRAP && e->wrap_gap == 0 && (e->modes & MODE_AUTOWRAP) != 0;
}

/* Back to where the next glyph was about to wrap: on a screen that has become wider it has its place there. */
void state_restore_wrap(struct emulator *e, int row, int col)
{
	if (col + 1 < (int)e->cols) {
		sequences_move_cursor(e, row, col + 1);
		return;
	}
	sequences_move_cursor(e, row, col);
	engine_cursor(e->engine, &row, &col);
	if (col + 1 < (int)e->cols || (e->modes & MODE_AUTOWRAP) == 0)
		return;
	engine_pend_wrap(e->engine);
	e->wrap_row = row;
	e->wrap_gap = 0;
}

static void on_glyph(void *arg, int row, int col, uint32_t code, int width)
{
	struct emulator *e = arg;
	if (width < 1)
		return;
	struct cell c = e->pen;
	c.code = code;
	c.width = width > 1 ? CELL_WIDE : CELL_NARROW;
	grid_put(&e->screens[e->active], row, col, &c);
	note_wrap(e, row, col, width > 1 ? 2 : 1);
	e->glyph_row = row;
	e->glyph_col = col;
	e->glyph_code = code;
}

void state_put_run(struct emulator *e, int row, int col, const uint8_t *text, size_t n)
{
	int last = col + (int)n - 1;
	grid_put_run(&e->screens[e->active], row, col, &e->pen, text, n);
	note_wrap(e, row, col, 1);
	note_wrap(e, row, last, 1);
	e->glyph_row = row;
	e->glyph_col = last;
	e->glyph_code = text[n - 1];
}

static void on_erase(void *arg, int top, int left, int bottom, int right)
{
	struct emulator *e = arg;
	grid_erase(&e->screens[e->active], (struct rect){top, left, bottom, right}, e->pen.bg);
	if (top <= 0 && left <= 0 && right >= (int)e->cols)
		set_wrapped(e, -1, false);
}

static void on_scroll(void *arg, int top, int left, int bottom, int right, int down, int rightward)
{
	struct emulator *e = arg;
	bool leaves = top <= 0 && e->active == 0 && !e->deleting_lines;
	grid_scroll(&e->screens[e->active], (struct rect){top, left, bottom, right}, down, rightward,
	            e->pen.bg, leaves ? e->history : NULL, &e->clusters);
	if (top <= 0 && (!leaves || down < 0))
		set_wrapped(e, -1, false);
	if (e->wrap_row >= top && e->wrap_row < bottom)
		e->wrap_row = MAX(e->wrap_row - down, NO_WRAP);
}

static void on_alternate(void *arg, bool on)
{
	struct emulator *e = arg;
	int col;
	engine_cursor(e->engine, &e->parked_row[e->active], &col);
	e->active = on ? 1 : 0;
	e->modes = on ? e->modes | TERM_ALT_SCREEN : e->modes & ~(unsigned)TERM_ALT_SCREEN;
	modes_keys_changed(e);
	e->glyph_row = -1;
	e->wrap_row = NO_WRAP;
	state_touch_all(e);
}

static const struct engine_ops ENGINE_OPS = {
    .glyph = on_glyph, .erase = on_erase, .scroll = on_scroll, .moved = on_move, .alternate = on_alternate};

/* ---- shared with sequences.c and strings.c ----------------------------------------------------------------------- */

void state_reply_bytes(struct emulator *e, const void *bytes, size_t len)
{
	if (len > 0 && e->ops.write_reply != NULL)
		e->ops.write_reply(e->arg, bytes, len);
}

void state_reply(struct emulator *e, const char *fmt, ...)
{
	char text[REPLY_MAX];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	CHECK(n >= 0 && (size_t)n < sizeof(text));
	state_reply_bytes(e, text, (size_t)n);
}

void state_set_title(struct emulator *e, const char *title)
{
	if (strcmp(e->title, title) == 0)
		return;
	memmove(e->title, title, strlen(title) + 1);
	e->title_stamp = e->generation;
	char text[EMULATOR_TEXT_MAX + 1];
	utf8_printable(text, sizeof(text), e->title, strlen(e->title));
	state_event(e, EMULATOR_TITLE, 0, 0, text);
}

void state_event(struct emulator *e, enum emulator_event_kind kind, int value, int percent, const char *text)
{
	struct emulator_event ev = {.kind = kind, .value = value, .percent = percent, .text = text};
	if (e->ops.on_event == NULL || e->events_left == 0)
		return;
	e->events_left--;
	e->ops.on_event(e->arg, &ev);
}

void state_sweep(struct emulator *e)
{
	struct clusters fresh = {0};
	for (unsigned i = 0; i < 2; i++)
		grid_recluster(&e->screens[i], &fresh, &e->clusters);
	struct cell glyph = {.code = e->glyph_code};
	e->glyph_code = clusters_copy_cell(&fresh, &e->clusters, &glyph).code;
	e->pen = clusters_copy_cell(&fresh, &e->clusters, &e->pen);
	/* When most of them are on the screen, looking again at once would find no more room. */
	e->sweep_wait = clusters_are_crowded(&fresh) ? SWEEP_WAIT : 0;
	clusters_finish(&e->clusters);
	e->clusters = fresh;
}

void state_touch_all(struct emulator *e)
{
	for (unsigned i = 0; i < 2; i++)
		e->screens[i].stamp = e->generation;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

static unsigned clamp(unsigned v, unsigned low, unsigned high)
{
	return MIN(MAX(v, low), high);
}

struct emulator *emulator_create(unsigned rows, unsigned cols, const struct emulator_ops *ops, void *arg)
{
	struct emulator *e = mem_alloc(sizeof(*e));
	e->rows = clamp(rows, TERM_ROWS_MIN, TERM_ROWS_MAX);
	e->cols = clamp(cols, TERM_COLS_MIN, TERM_COLS_MAX);
	if (ops != NULL)
		e->ops = *ops;
	e->arg = arg;
	e->generation = 1;
	e->glyph_row = -1;
	e->wrap_row = NO_WRAP;
	e->fill_left = e->rows * e->cols;
	e->default_fg = COLOUR_RGB(0xd0, 0xd0, 0xd0);
	e->default_bg = COLOUR_RGB(0, 0, 0);
	e->history = scrollback_create(EMULATOR_SCROLLBACK_DEFAULT);
	for (unsigned i = 0; i < 2; i++)
		grid_init(&e->screens[i], e->rows, e->cols, &e->generation);
	filter_init(&e->filter, &SEQUENCE_OPS, e);
	e->engine = engine_create(e->rows, e->cols, &ENGINE_OPS, e);
	sequences_reset(e, 0);
	return e;
}

void emulator_destroy(struct emulator *e)
{
	if (e == NULL)
		return;
	engine_destroy(e->engine);
	filter_finish(&e->filter);
	for (unsigned i = 0; i < 2; i++)
		grid_finish(&e->screens[i]);
	scrollback_destroy(e->history);
	clusters_finish(&e->clusters);
	free(e);
}

void emulator_set_scrollback(struct emulator *e, unsigned lines)
{
	scrollback_set_limit(e->history, lines);
}

void emulator_set_default_colours(struct emulator *e, uint32_t fg, uint32_t bg)
{
	bool changed = e->default_bg != bg;
	e->default_fg = fg;
	e->default_bg = bg;
	if (changed && (e->modes & MODE_COLOUR_REPORT))
		sequences_report_colours(e);
}

void emulator_write(struct emulator *e, const void *bytes, size_t len)
{
	e->generation++;
	e->events_left = EMULATOR_EVENTS_MOST;
	filter_write(&e->filter, bytes, len);
}

void emulator_reset(struct emulator *e)
{
	static const uint8_t RESET[] = {0x18, 0x1b, 'c'}; /* CAN ends whatever was unfinished */
	emulator_write(e, RESET, sizeof(RESET));
	state_set_title(e, "");
}

/* Margins of the old size must be gone before libvterm sees the new one, and its cursor is put where the grid moved the
 * lines. The screen that is not shown is moved by where its cursor was left. */
void emulator_resize(struct emulator *e, unsigned rows, unsigned cols)
{
	rows = clamp(rows, TERM_ROWS_MIN, TERM_ROWS_MAX);
	cols = clamp(cols, TERM_COLS_MIN, TERM_COLS_MAX);
	if (rows == e->rows && cols == e->cols)
		return;
	int row, col;
	bool wrap = state_wrap_pending(e);
	engine_cursor(e->engine, &row, &col);
	if (wrap)
		col = (int)e->cols - 1;
	engine_csi(e->engine, 'r', -1, -1);
	e->region_top = 0;
	e->generation++;
	for (unsigned i = 0; i < 2; i++) {
		int *cursor_row = i == e->active ? &row : &e->parked_row[i], before = *cursor_row;
		grid_resize(&e->screens[i], rows, cols, cursor_row, i == 0 ? e->history : NULL, &e->clusters);
		e->saved[i].row += *cursor_row - before;
	}
	e->rows = rows;
	e->cols = cols;
	engine_resize(e->engine, rows, cols);
	if (wrap)
		state_restore_wrap(e, row, col);
	else
		sequences_move_cursor(e, row, col);
	e->glyph_row = -1;
	e->filter.after_base = false;
	e->modes &= ~(unsigned)MODE_SYNC; /* the guest will draw anew */
}

/* ---- looking at it ----------------------------------------------------------------------------------------------- */

uint64_t emulator_generation(const struct emulator *e)
{
	return e->generation;
}

unsigned emulator_rows(const struct emulator *e)
{
	return e->rows;
}

unsigned emulator_cols(const struct emulator *e)
{
	return e->cols;
}

struct term_cursor emulator_cursor(const struct emulator *e)
{
	int row, col;
	engine_cursor(e->engine, &row, &col);
	return (struct term_cursor){
	    .row = (uint16_t)row,
	    .col = (uint16_t)col,
	    .visible = (e->modes & MODE_CURSOR_VISIBLE) != 0,
	    .blink = (e->modes & MODE_CURSOR_BLINK) != 0,
	    .shape = e->cursor_shape,
	};
}

unsigned emulator_modes(const struct emulator *e)
{
	return e->modes & TERM_MODE_ALL;
}

const char *emulator_title(const struct emulator *e)
{
	return e->title;
}

uint64_t emulator_title_stamp(const struct emulator *e)
{
	return e->title_stamp;
}

uint32_t emulator_bells(const struct emulator *e)
{
	return e->bells;
}

const struct cell *emulator_row(const struct emulator *e, unsigned row, unsigned *used)
{
	const struct row *r = grid_row(&e->screens[e->active], row);
	*used = MIN(r->used, e->cols);
	return r->cells;
}

uint64_t emulator_row_stamp(const struct emulator *e, unsigned row)
{
	return grid_row_stamp(&e->screens[e->active], row);
}

unsigned emulator_row_flags(const struct emulator *e, unsigned row)
{
	return grid_row(&e->screens[e->active], row)->flags;
}

const struct clusters *emulator_clusters(const struct emulator *e)
{
	return &e->clusters;
}

/* Counted from the first time that somebody wanted to draw and was held off. A guest that draws one frame after another
 * thus delays the screen by no more than the limit, however the reads fall. */
uint64_t emulator_hold_ms(struct emulator *e, uint64_t now_ms)
{
	if (e->modes & MODE_SYNC) {
		if (e->hold_since_ms == 0 || now_ms < e->hold_since_ms)
			e->hold_since_ms = MAX(now_ms, 1);
		uint64_t held = now_ms - e->hold_since_ms;
		if (held < EMULATOR_HOLD_MS)
			return EMULATOR_HOLD_MS - held;
	}
	e->hold_since_ms = 0;
	return 0;
}

unsigned emulator_history_count(const struct emulator *e)
{
	return scrollback_count(e->history);
}

uint64_t emulator_history_first(const struct emulator *e)
{
	return scrollback_first(e->history);
}

size_t emulator_history_row(const struct emulator *e, unsigned index, struct cell *out, size_t most,
                            struct clusters *clusters, unsigned *flags)
{
	return scrollback_line(e->history, index, out, most, clusters, flags);
}

const struct cell *emulator_primary_row(const struct emulator *e, unsigned row, unsigned *used,
                                        unsigned *flags)
{
	const struct row *r = grid_row(&e->screens[0], row);
	*used = MIN(r->used, e->cols);
	*flags = r->flags;
	return r->cells;
}

const struct scrollback *emulator_history(const struct emulator *e)
{
	return e->history;
}

size_t emulator_memory(const struct emulator *e)
{
	return sizeof(*e) + grid_memory(&e->screens[0]) + grid_memory(&e->screens[1]) +
	       scrollback_memory(e->history) + clusters_memory(&e->clusters);
}
