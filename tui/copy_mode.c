/* Lines are unpacked when they are drawn or searched, never kept unpacked. Places are numbers of lines, so that older lines may come
 * in at any time without moving anything. */
#include "tui/copy_mode.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/term/find.h"
#include "core/term/screen.h"
#include "core/term/transcript.h"

#define PIECE_LINES 1000
#define MATCH_MOST  10000
#define CHUNK_LINES 500 /* searched at a time, the newest first */

struct matches {
	struct find_match *items; /* owned; from the oldest to the newest */
	size_t count, room;
};

struct copy_mode {
	struct transcript *text; /* owned */
	int rows, cols;          /* of the pane */
	uint64_t oldest;         /* number of the first line that there is to have */
	uint64_t top;            /* line at the top of the pane, */
	unsigned left;           /* and column at its left */
	struct select_point cursor;
	unsigned want_col; /* where up and down would like to be */
	struct selection selection;
	bool asked, no_more; /* for older lines */
	uint64_t
	    owed; /* lines that are to be scrolled up as soon as they are there; UINT64_MAX: to the oldest */

	struct find_needle needle; /* count 0: no search */
	bool back;
	struct matches matches;
	bool hunting; /* a search back waits for older lines */
	struct {
		uint64_t top;
		unsigned left;
		struct select_point cursor;
	} origin; /* where the search began */
};

#define A(NAME, name, keys, help) {name, keys, help},
static const struct {
	const char *name, *keys, *help;
} ACTIONS[] = {COPY_ACTIONS(A)};
#undef A
static_assert(ARRAY_LEN(ACTIONS) == COPY_ACTION_COUNT, "every action has its words");

const char *copy_action_name(enum copy_action a)
{
	return ACTIONS[a].name;
}

const char *copy_action_keys(enum copy_action a)
{
	return ACTIONS[a].keys;
}

const char *copy_action_help(enum copy_action a)
{
	return ACTIONS[a].help;
}

/* ---- what is shown ---- */

/* The top with which the newest line is in the last row. */
static uint64_t newest_top(const struct copy_mode *c)
{
	uint64_t first = transcript_first(c->text), end = transcript_end(c->text);
	return end - first > (uint64_t)c->rows ? end - (uint64_t)c->rows : first;
}

static void set_top(struct copy_mode *c, uint64_t top)
{
	c->top = MIN(MAX(top, transcript_first(c->text)), newest_top(c));
}

static uint64_t last_shown(const struct copy_mode *c)
{
	return MIN(c->top + (uint64_t)c->rows, transcript_end(c->text)) - 1;
}

static void show_cursor(struct copy_mode *c)
{
	if (c->cursor.line < c->top)
		set_top(c, c->cursor.line);
	else if (c->cursor.line > last_shown(c))
		set_top(c, c->cursor.line - (uint64_t)c->rows + 1);
	unsigned cols = (unsigned)c->cols;
	if (c->cursor.col < c->left)
		c->left = c->cursor.col;
	else if (c->cursor.col >= c->left + cols)
		c->left = c->cursor.col - cols + 1;
}

static void put_cursor(struct copy_mode *c, struct select_point p)
{
	c->cursor = select_clamp(c->text, p);
	if (c->selection.kind != SELECT_NONE)
		c->selection.end = c->selection.kind == SELECT_BLOCK ? p : c->cursor;
	show_cursor(c);
}

static void go(struct copy_mode *c, struct select_point p)
{
	put_cursor(c, p);
	c->want_col = c->cursor.col;
}

struct copy_mode *copy_mode_create(const struct screen *s, int rows, int cols)
{
	struct copy_mode *c = mem_alloc(sizeof(*c));
	*c = (struct copy_mode){.text = transcript_create(s), .rows = MAX(rows, 1), .cols = MAX(cols, 1)};
	uint64_t first = transcript_first(c->text);
	bool alone = s->modes & TERM_ALT_SCREEN; /* a full screen program has no history */
	c->oldest = alone ? first : first - MIN(s->history, first);
	c->top = newest_top(c);
	go(c, (struct select_point){.line = first + s->cursor.row, .col = s->cursor.col});
	return c;
}

void copy_mode_destroy(struct copy_mode *c)
{
	if (!c)
		return;
	transcript_destroy(c->text);
	free(c->matches.items);
	free(c);
}

void copy_mode_resize(struct copy_mode *c, int rows, int cols)
{
	if (rows < 1 || cols < 1 || (rows == c->rows && cols == c->cols))
		return;
	c->rows = rows;
	c->cols = cols;
	set_top(c, c->top);
	show_cursor(c);
}

static bool is_fetching(const struct copy_mode *c)
{
	return !c->no_more && !transcript_is_whole(c->text);
}

/* Up by lines of which some may not be there yet. */
static void scroll_up(struct copy_mode *c, uint64_t by)
{
	uint64_t held = c->top - transcript_first(c->text);
	c->owed = by > held && is_fetching(c) ? by - held : 0;
	set_top(c, c->top - MIN(by, held));
}

static void scroll_by(struct copy_mode *c, int lines)
{
	uint64_t owed = c->owed == UINT64_MAX ? 0 : c->owed;
	c->owed = 0;
	if (lines > 0)
		set_top(c, c->top + (uint64_t)lines);
	else
		scroll_up(c, owed + (uint64_t)(-(int64_t)lines));
	uint64_t line = MIN(MAX(c->cursor.line, c->top), last_shown(c));
	if (line != c->cursor.line)
		put_cursor(c, (struct select_point){.line = line, .col = c->want_col});
}

bool copy_mode_scroll(struct copy_mode *c, int lines)
{
	scroll_by(c, lines);
	return lines > 0 && c->top == newest_top(c) && c->selection.kind == SELECT_NONE;
}

/* ---- searching ---- */

static bool collect(void *arg, const struct find_match *m)
{
	struct matches *list = arg;
	if (list->count == list->room) {
		list->room = MAX(2 * list->room, (size_t)64);
		list->items = mem_resize(list->items, list->room, sizeof(*list->items));
	}
	list->items[list->count++] = *m;
	return list->count < MATCH_MOST;
}

/* Matches that begin in these lines, which come right before those that are known. */
static void search_lines(struct copy_mode *c, uint64_t from, uint64_t to)
{
	struct matches older = {0};
	find_all(c->text, &c->needle, from, to, collect, &older);
	/* One that goes on into the lines after these may lie over one that was found there. */
	size_t drop = 0;
	while (older.count > 0 && drop < c->matches.count &&
	       select_compare(older.items[older.count - 1].last, c->matches.items[drop].first) >= 0)
		drop++;
	for (size_t i = drop; i < c->matches.count; i++)
		collect(&older, &c->matches.items[i]);
	free(c->matches.items);
	c->matches = older;
}

static void search_range(struct copy_mode *c, uint64_t from, uint64_t to)
{
	while (to > from && c->matches.count < MATCH_MOST && c->needle.count > 0) {
		uint64_t start = to - from > CHUNK_LINES ? to - CHUNK_LINES : from;
		search_lines(c, start, to);
		to = start;
	}
}

/* The first match after a place (or at it, when `here`); count when there is none. */
static size_t match_after(const struct copy_mode *c, struct select_point p, bool here)
{
	size_t low = 0, high = c->matches.count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		int cmp = select_compare(c->matches.items[mid].first, p);
		if (cmp < 0 || (cmp == 0 && !here))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* To the next match from a place, and from the last one around to the first. */
static void jump(struct copy_mode *c, struct select_point from, bool back)
{
	size_t count = c->matches.count, at;
	c->hunting = false;
	if (back) {
		at = match_after(c, from, true);
		c->hunting = at == 0 && is_fetching(c);
		at = at > 0 ? at - 1 : count - 1;
	} else {
		at = match_after(c, from, false);
		at = at < count ? at : 0;
	}
	if (count > 0 && !c->hunting)
		go(c, c->matches.items[at].first);
}

static void return_to_origin(struct copy_mode *c)
{
	c->hunting = false;
	c->left = c->origin.left;
	set_top(c, c->origin.top);
	go(c, c->origin.cursor); /* last: the pane may have another size by now */
}

static void forget_search(struct copy_mode *c)
{
	c->matches.count = 0;
	c->needle.count = 0;
	c->hunting = false;
}

void copy_mode_search(struct copy_mode *c, const char *text, bool back)
{
	forget_search(c);
	return_to_origin(c);
	c->back = back;
	find_needle_init(&c->needle, text);
	search_range(c, transcript_first(c->text), transcript_end(c->text));
	if (c->needle.count > 0)
		jump(c, c->origin.cursor, back);
}

void copy_mode_search_done(struct copy_mode *c, bool cancelled)
{
	if (!cancelled)
		return;
	forget_search(c);
	return_to_origin(c);
}

/* ---- older lines ---- */

bool copy_mode_wants(struct copy_mode *c, uint64_t *before, uint32_t *most)
{
	if (c->asked || !is_fetching(c))
		return false;
	c->asked = true;
	*before = transcript_first(c->text);
	*most = PIECE_LINES;
	return true;
}

void copy_mode_lines(struct copy_mode *c, uint64_t first, uint32_t count, struct bytes lines,
                     const struct err *e)
{
	struct err bad = ERR_INIT;
	uint64_t old = transcript_first(c->text);
	bool bottom = c->top == old && newest_top(c) == old; /* the pane was not full */
	c->asked = false;
	if (e || !transcript_prepend(c->text, first, count, lines, &bad))
		c->no_more = true;
	if (!is_fetching(c))
		c->oldest = transcript_first(c->text);
	if (bottom)
		c->top = newest_top(c);
	search_range(c, transcript_first(c->text), old);
	if (c->hunting)
		jump(c, c->cursor, true);
	if (c->owed == UINT64_MAX)
		go(c, select_move(c->text, SELECT_FIRST, c->cursor));
	else if (c->owed > 0)
		scroll_by(c, 0);
	if (!is_fetching(c))
		c->owed = 0;
}

/* ---- actions ---- */

static enum copy_result do_leave(struct copy_mode *c, int arg)
{
	(void)c, (void)arg;
	return COPY_RESULT_LEAVE;
}

static enum copy_result do_move(struct copy_mode *c, int motion)
{
	go(c, select_move(c->text, (enum select_motion)motion, c->cursor));
	return COPY_RESULT_STAY;
}

static enum copy_result do_first(struct copy_mode *c, int arg)
{
	do_move(c, SELECT_FIRST);
	c->owed = is_fetching(c) ? UINT64_MAX : 0;
	(void)arg;
	return COPY_RESULT_STAY;
}

static enum copy_result do_rows(struct copy_mode *c, int by)
{
	uint64_t first = transcript_first(c->text), line = c->cursor.line;
	line = by < 0 ? line - MIN((uint64_t)-by, line - first) : line + (uint64_t)by;
	put_cursor(c, (struct select_point){.line = line, .col = c->want_col});
	return COPY_RESULT_STAY;
}

/* halves: of a page. What is shown moves, and the cursor with it; at the end only the cursor. */
static enum copy_result do_pages(struct copy_mode *c, int halves)
{
	bool whole = halves == 2 || halves == -2; /* two lines of the old page stay in sight */
	int by = whole ? MAX(c->rows - 2, 1) * halves / 2 : MAX(c->rows / 2, 1) * halves;
	uint64_t before = c->top, row = c->cursor.line - c->top;
	scroll_by(c, by);
	if (c->top == before)
		return do_rows(c, c->owed > 0 ? 0 : by);
	put_cursor(c, (struct select_point){.line = c->top + row, .col = c->want_col});
	return COPY_RESULT_STAY;
}

static enum copy_result do_scroll(struct copy_mode *c, int by)
{
	scroll_by(c, by);
	return COPY_RESULT_STAY;
}

/* arg: 0 top, 1 middle, 2 bottom of what is shown. */
static enum copy_result do_window(struct copy_mode *c, int place)
{
	uint64_t last = last_shown(c);
	uint64_t line = place == 0 ? c->top : place == 1 ? c->top + (last - c->top) / 2 : last;
	go(c, (struct select_point){.line = line});
	return COPY_RESULT_STAY;
}

static enum copy_result do_select(struct copy_mode *c, int kind)
{
	if (c->selection.kind == (enum select_kind)kind) {
		c->selection.kind = SELECT_NONE;
		return COPY_RESULT_STAY;
	}
	if (c->selection.kind == SELECT_NONE)
		c->selection.anchor = c->cursor;
	c->selection.kind = (enum select_kind)kind;
	c->selection.end = c->cursor;
	return COPY_RESULT_STAY;
}

static enum copy_result do_swap(struct copy_mode *c, int arg)
{
	(void)arg;
	if (c->selection.kind == SELECT_NONE)
		return COPY_RESULT_STAY;
	struct select_point anchor = c->selection.anchor;
	c->selection.anchor = c->selection.end;
	go(c, anchor);
	return COPY_RESULT_STAY;
}

static enum copy_result do_copy(struct copy_mode *c, int arg)
{
	(void)arg;
	return copy_mode_has_selection(c) ? COPY_RESULT_COPY : COPY_RESULT_LEAVE;
}

static enum copy_result do_search(struct copy_mode *c, int back)
{
	c->back = back;
	c->origin.cursor = c->cursor;
	c->origin.top = c->top;
	c->origin.left = c->left;
	return COPY_RESULT_ASK;
}

static enum copy_result do_again(struct copy_mode *c, int other_way)
{
	if (c->needle.count > 0)
		jump(c, c->cursor, c->back != (bool)other_way);
	return COPY_RESULT_STAY;
}

enum copy_result copy_mode_act(struct copy_mode *c, enum copy_action action)
{
	static const struct {
		enum copy_result (*act)(struct copy_mode *c, int arg);
		int arg;
	} DEEDS[COPY_ACTION_COUNT] = {
	    [COPY_LEAVE] = {do_leave, 0},
	    [COPY_UP] = {do_rows, -1},
	    [COPY_DOWN] = {do_rows, 1},
	    [COPY_LEFT] = {do_move, SELECT_LEFT},
	    [COPY_RIGHT] = {do_move, SELECT_RIGHT},
	    [COPY_PAGE_UP] = {do_pages, -2},
	    [COPY_PAGE_DOWN] = {do_pages, 2},
	    [COPY_HALF_UP] = {do_pages, -1},
	    [COPY_HALF_DOWN] = {do_pages, 1},
	    [COPY_SCROLL_UP] = {do_scroll, -1},
	    [COPY_SCROLL_DOWN] = {do_scroll, 1},
	    [COPY_FIRST] = {do_first, 0},
	    [COPY_LAST] = {do_move, SELECT_LAST},
	    [COPY_WINDOW_TOP] = {do_window, 0},
	    [COPY_WINDOW_MIDDLE] = {do_window, 1},
	    [COPY_WINDOW_BOTTOM] = {do_window, 2},
	    [COPY_WORD_NEXT] = {do_move, SELECT_WORD_NEXT},
	    [COPY_WORD_BACK] = {do_move, SELECT_WORD_BACK},
	    [COPY_WORD_END] = {do_move, SELECT_WORD_END},
	    [COPY_LINE_START] = {do_move, SELECT_LINE_START},
	    [COPY_LINE_TEXT] = {do_move, SELECT_LINE_TEXT},
	    [COPY_LINE_END] = {do_move, SELECT_LINE_END},
	    [COPY_PARAGRAPH_BACK] = {do_move, SELECT_PARAGRAPH_BACK},
	    [COPY_PARAGRAPH_NEXT] = {do_move, SELECT_PARAGRAPH_NEXT},
	    [COPY_PROMPT_PREVIOUS] = {do_move, SELECT_PROMPT_PREVIOUS},
	    [COPY_PROMPT_NEXT] = {do_move, SELECT_PROMPT_NEXT},
	    [COPY_SELECT] = {do_select, SELECT_CHARS},
	    [COPY_SELECT_LINES] = {do_select, SELECT_LINES},
	    [COPY_SELECT_BLOCK] = {do_select, SELECT_BLOCK},
	    [COPY_SELECT_WORDS] = {do_select, SELECT_WORDS},
	    [COPY_SWAP] = {do_swap, 0},
	    [COPY_COPY] = {do_copy, 0},
	    [COPY_SEARCH] = {do_search, 0},
	    [COPY_SEARCH_BACK] = {do_search, 1},
	    [COPY_AGAIN] = {do_again, 0},
	    [COPY_AGAIN_BACK] = {do_again, 1},
	};
	CHECK(action < COPY_ACTION_COUNT && DEEDS[action].act);
	c->owed = 0;
	return DEEDS[action].act(c, DEEDS[action].arg);
}

/* ---- the mouse ---- */

static struct select_point place_at(const struct copy_mode *c, int row, int col)
{
	uint64_t line = c->top + (uint64_t)MIN(MAX(row, 0), c->rows - 1);
	return (struct select_point){.line = MIN(line, transcript_end(c->text) - 1),
	                             .col = c->left + (unsigned)MIN(MAX(col, 0), c->cols - 1)};
}

static void follow_pointer(struct copy_mode *c, struct select_point p)
{
	c->selection.end = p;
	c->cursor = select_clamp(c->text, p);
	c->want_col = c->cursor.col;
	show_cursor(c);
}

void copy_mode_begin(struct copy_mode *c, int row, int col, enum select_kind kind)
{
	struct select_point p = place_at(c, row, col);
	c->selection = (struct selection){.kind = kind, .anchor = p};
	follow_pointer(c, p);
}

void copy_mode_drag(struct copy_mode *c, int row, int col, int beyond)
{
	scroll_by(c, beyond);
	follow_pointer(c, place_at(c, row, col));
}

bool copy_mode_has_selection(const struct copy_mode *c)
{
	return c->selection.kind != SELECT_NONE;
}

void copy_mode_text(const struct copy_mode *c, struct str *out)
{
	select_text(c->text, &c->selection, out);
}

/* ---- picture ---- */

/* Columns of a line, in another style where they are shown. Wide cells by their first column. */
static void restyle(const struct copy_mode *c, struct canvas *canvas, struct rect r, uint64_t line,
                    unsigned from, unsigned to, enum theme_style style)
{
	struct rect part = {.row = r.row + (int)(line - c->top), .rows = 1};
	int first = (int)(MAX(from, c->left) - c->left),
	    end = (int)MIN(MAX(to, c->left) - c->left, (unsigned)r.cols);
	const struct canvas_cell *left = canvas_at(canvas, part.row, r.col + first);
	const struct canvas_cell *right = canvas_at(canvas, part.row, r.col + end - 1);
	first += left && left->cell.width == CELL_TAIL;
	end += right && right->cell.width == CELL_WIDE;
	part.col = r.col + first;
	part.cols = end - first;
	if (!rect_is_empty(part))
		canvas_restyle(canvas, part, style);
}

static void draw_line(const struct copy_mode *c, struct canvas *canvas, struct rect r, int row,
                      const struct select_span *span)
{
	struct cell cells[TERM_COLS_MAX];
	uint64_t line = c->top + (uint64_t)row;
	unsigned from, to, used = (unsigned)transcript_line(c->text, line, cells, TERM_COLS_MAX, NULL);
	if (used > c->left)
		canvas_put_row(canvas, r, row, cells + c->left, (int)(used - c->left),
		               transcript_clusters(c->text));
	if (line >= transcript_end(c->text) || !select_span_cols(span, line, &from, &to))
		return;
	if (!span->block) /* of an empty line one column, so that it is seen to be in it */
		to = MIN(to, MAX(used, 1u));
	restyle(c, canvas, r, line, from, to, STYLE_SELECTED);
}

/* The part of a match that lies in one line that is shown. */
static void draw_match(const struct copy_mode *c, struct canvas *canvas, struct rect r,
                       const struct find_match *m)
{
	bool current = select_compare(m->first, c->cursor) == 0;
	for (uint64_t line = MAX(m->first.line, c->top); line <= MIN(m->last.line, last_shown(c)); line++) {
		unsigned from = line == m->first.line ? m->first.col : 0;
		unsigned to = line == m->last.line ? m->last.col + 1 : c->left + (unsigned)r.cols;
		restyle(c, canvas, r, line, from, to, current ? STYLE_MATCH_CURRENT : STYLE_MATCH);
	}
}

void copy_mode_draw(struct copy_mode *c, struct canvas *canvas, struct rect r)
{
	copy_mode_resize(c, r.rows, r.cols);
	struct select_span span = select_span_of(c->text, &c->selection);
	for (int row = 0; row < r.rows; row++)
		draw_line(c, canvas, r, row, &span);
	/* One that began above the top may reach into it. */
	size_t i = match_after(c, (struct select_point){.line = c->top}, true);
	while (i > 0 && c->matches.items[i - 1].last.line >= c->top)
		i--;
	for (; i < c->matches.count && c->matches.items[i].first.line <= last_shown(c); i++)
		draw_match(c, canvas, r, &c->matches.items[i]);
	int row = (int)(c->cursor.line - c->top), col = (int)(c->cursor.col - c->left);
	if (row < 0 || row >= r.rows || col < 0 || col >= r.cols)
		return;
	canvas->cursor_visible = true;
	canvas->cursor_row = r.row + row;
	canvas->cursor_col = r.col + col;
	canvas->cursor_shape = CURSOR_BLOCK;
}

void copy_mode_position(const struct copy_mode *c, char out[COPY_POSITION_SIZE])
{
	uint64_t newest = newest_top(c), back = newest - c->top;
	int n = snprintf(out, COPY_POSITION_SIZE, "%s%" PRIu64 "/%" PRIu64, back ? "-" : "", back,
	                 newest - MIN(c->oldest, newest));
	if (c->needle.count == 0 || n < 0)
		return;
	size_t count = c->matches.count, at = match_after(c, c->cursor, true);
	bool on_one = at < count && select_compare(c->matches.items[at].first, c->cursor) == 0;
	const char *more = count >= MATCH_MOST ? "+" : is_fetching(c) ? "…" : "";
	char *rest = out + n;
	size_t room = COPY_POSITION_SIZE - (size_t)n;
	if (count == 0)
		snprintf(rest, room, " · %s", is_fetching(c) ? "searching…" : "no match");
	else if (on_one)
		snprintf(rest, room, " · %zu/%zu%s", at + 1, count, more);
	else
		snprintf(rest, room, " · %zu%s matches", count, more);
}
