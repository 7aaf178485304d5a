#include "tui/pane_view.h"

#include <stdio.h>
#include <string.h>

#include "core/term/screen.h"
#include "tui/copy_mode.h"
#include "tui/keymap.h"
#include "tui/words.h"

#define LINE_MOST  1024 /* bytes of a console line that count for its height */
#define TAB_MOST   24   /* columns */
#define TITLE_SIZE 512  /* bytes */
#define HOW_SIZE   (KEYMAP_KEYS_SIZE + VM_NAME_MAX + 40)
#define NAME_LEAST 12 /* columns with the border before it */

static bool is_of(const struct pane_view *v, enum pane_link link)
{
	const struct pane_source *p = v->source;
	return v->vm && p && p->link == link && p->screen && strcmp(p->vm, v->vm->status.name) == 0;
}

static bool is_live(const struct pane_view *v)
{
	return is_of(v, PANE_LIVE);
}

static bool has_ended(const struct pane_view *v)
{
	return is_of(v, PANE_ENDED) && v->vm->status.state == VM_READY;
}

/* ---- the terminal ---- */

/* Another console may have given the terminal another size. Of a larger one the part around the cursor is shown, and the last row
 * or column of the pane is given up for a mark that says so; beside a smaller one there are dots. */
struct part {
	int top, left;     /* of the terminal, at the top left of the pane */
	int rows, cols;    /* of it that are shown */
	bool below, right; /* the last row and column are marks */
};

static int first_shown(int cursor, int have, int room)
{
	if (have <= room || cursor < room)
		return 0;
	return MIN(cursor - room + 1, have - room);
}

static struct part part_of(const struct pane_source *source, struct rect r)
{
	const struct screen *s = source->screen;
	struct part p = {.below = source->foreign && s->rows > r.rows && r.rows > 1,
	                 .right = source->foreign && s->cols > r.cols && r.cols > 2};
	int rows = r.rows - p.below, cols = r.cols - p.right;
	p.top = first_shown(s->cursor.row, s->rows, rows);
	p.left = first_shown(s->cursor.col, s->cols, cols);
	p.rows = MIN(rows, s->rows - p.top);
	p.cols = MIN(cols, s->cols - p.left);
	return p;
}

static struct cell look_of(const struct screen *s, const struct cell *from, bool under_cursor)
{
	struct cell cell = *from;
	if (s->modes & TERM_REVERSE_VIDEO)
		cell.attrs ^= CELL_REVERSE;
	if (under_cursor) /* an idle cursor: seen, but not taken for the operator's */
		cell.attrs = (uint16_t)((cell.attrs & ~CELL_UNDERLINE_MASK) | UNDERLINE_SINGLE
		                                                                  << CELL_UNDERLINE_SHIFT);
	return cell;
}

static void draw_row(struct canvas *c, struct rect r, int row, const struct screen *s, const struct part *p)
{
	const struct cell *cells = &s->cells[(size_t)(p->top + row) * s->cols + (size_t)p->left];
	if (!(s->modes & TERM_REVERSE_VIDEO)) {
		canvas_put_row(c, r, row, cells, p->cols, &s->clusters);
		return;
	}
	for (int col = 0; col < p->cols; col++) {
		struct cell cell = look_of(s, &cells[col], false);
		canvas_put_cell(c, r, row, col, &cell, &s->clusters);
	}
}

static void draw_outside(struct canvas *c, struct rect r, const struct part *p)
{
	static const uint32_t MORE = 0x2026, NOTHING = 0xb7; /* an ellipsis, a dot */
	struct rect right = {r.row, r.col + p->cols, r.rows, r.cols - p->cols};
	struct rect below = {r.row + p->rows, r.col, r.rows - p->rows, p->cols};
	canvas_fill(c, right, STYLE_MUTED, p->right ? MORE : NOTHING);
	canvas_fill(c, below, STYLE_MUTED, p->below ? MORE : NOTHING);
}

static void draw_cursor(struct canvas *c, struct rect r, const struct pane_view *v, const struct part *p)
{
	const struct screen *s = v->source->screen;
	int row = s->cursor.row - p->top, col = s->cursor.col - p->left;
	if (!s->cursor.visible || row >= p->rows || col >= p->cols || row < 0 || col < 0)
		return;
	if (v->typing) {
		c->cursor_visible = true;
		c->cursor_row = r.row + row;
		c->cursor_col = r.col + col;
		c->cursor_shape = s->cursor.shape;
		return;
	}
	struct cell cell = look_of(s, screen_cell(s, s->cursor.row, s->cursor.col), true);
	canvas_put_cell(c, r, row, col, &cell, &s->clusters);
}

static void draw_screen(struct canvas *c, struct rect r, const struct pane_view *v)
{
	const struct screen *s = v->source->screen;
	struct part p = part_of(v->source, r);
	for (int row = 0; row < p.rows; row++)
		draw_row(c, r, row, s, &p);
	if (v->source->foreign)
		draw_outside(c, r, &p);
	if (is_live(v))
		draw_cursor(c, r, v, &p);
}

bool pane_view_cell_at(const struct pane_view *v, struct rect body, int row, int col, int *term_row,
                       int *term_col)
{
	if (!is_live(v))
		return false;
	struct part p = part_of(v->source, body);
	if (row < 0 || col < 0 || row >= p.rows || col >= p.cols)
		return false;
	*term_row = p.top + row;
	*term_col = p.left + col;
	return true;
}

/* ---- what there is to say without one ---- */

/* The last lines of a text that fit whole, wrapped, at the top of `r`. */
static void draw_tail(struct canvas *c, struct rect r, const char *text)
{
	const char *from = text + strlen(text);
	int rows = 0;
	while (from > text) {
		const char *line = from - 1;
		while (line > text && line[-1] != '\n')
			line--;
		char copy[LINE_MOST];
		snprintf(copy, sizeof(copy), "%.*s", (int)strcspn(line, "\n"), line);
		rows += MAX(canvas_wrap_rows(r.cols, copy), 1);
		if (rows > r.rows)
			break;
		from = line;
	}
	canvas_wrap(c, r, STYLE_MUTED, from);
}

/* A text for people, and under it what the VM's console said last. */
static void draw_story(struct canvas *c, struct rect r, const struct pane_view *v, enum theme_style style,
                       const char *text)
{
	struct rect inner = r;
	if (inner.cols > 20) {
		inner.col++;
		inner.cols -= 2;
	}
	int used = canvas_wrap(c, inner, style, text) + 1;
	inner.row += used;
	inner.rows -= used;
	if (!v->console || !v->console[0] || inner.rows < 2)
		return;
	canvas_text(c, inner, 0, STYLE_HEADING, "Last lines of its console:");
	inner.row++;
	inner.rows--;
	draw_tail(c, inner, v->console);
}

/* A ready VM without a picture: nothing is said while that is only a moment. */
static void tell_ready(struct canvas *c, struct rect r, const struct pane_view *v)
{
	if (v->vm->hangs)
		draw_story(
		    c, r, v, STYLE_STATE_FAILED,
		    "Its supervisor lives but does not answer. Its terminal opens as soon as it does.");
	else if (!v->vm->settled)
		draw_story(c, r, v, STYLE_MUTED, "Asking its supervisor.");
	else if (v->source && v->source->slow)
		draw_story(c, r, v, STYLE_MUTED, "Opening its terminal. A busy machine takes a while.");
}

static void how_to_start(const struct pane_view *v, char out[HOW_SIZE])
{
	char key[KEYMAP_KEYS_SIZE] = "";
	if (v->keys)
		keymap_key_of(v->keys, ACTION_RESTART, KEYS_LIST, key);
	snprintf(out, HOW_SIZE, "Start it again: %s%sccvm up %s", key, key[0] ? ", or " : "",
	         v->vm->status.name);
}

static void tell_state(struct canvas *c, struct rect r, const struct pane_view *v)
{
	const struct vm_status *s = &v->vm->status;
	char age[WORDS_SIZE], how[HOW_SIZE], text[HOW_SIZE + 600];
	words_duration(age, v->now_ms - s->started_ms);
	const char *backend = s->backend[0] ? s->backend : "a backend still to be found";
	switch (s->state) {
	case VM_CREATING:
		snprintf(text, sizeof(text), "Being made%s%s.", s->reason[0] ? ": " : "", s->reason);
		draw_story(c, r, v, STYLE_PLAIN, text);
		return;
	case VM_BOOTING:
		snprintf(text, sizeof(text), "Booting with %s, for %s%s%s.", backend,
		         s->started_ms ? age : "0s", s->reason[0] ? ": " : "", s->reason);
		draw_story(c, r, v, STYLE_PLAIN, text);
		return;
	case VM_STOPPING: draw_story(c, r, v, STYLE_PLAIN, "Stopping."); return;
	case VM_STOPPED:
		how_to_start(v, how);
		snprintf(text, sizeof(text), "Stopped. %s", how);
		draw_story(c, r, v, STYLE_PLAIN, text);
		return;
	case VM_FAILED:
		how_to_start(v, how);
		snprintf(text, sizeof(text), "Failed: %s.\n%s", s->reason[0] ? s->reason : "no reason known",
		         how);
		draw_story(c, r, v, STYLE_STATE_FAILED, text);
		return;
	case VM_READY: tell_ready(c, r, v); return;
	case VM_STATE_COUNT: break;
	}
}

static void draw_last_line(struct canvas *c, struct rect r, const char *text)
{
	struct rect last = rect_row(r, r.rows - 1);
	canvas_fill(c, last, STYLE_NOTICE, ' ');
	canvas_text_cut(c, last, 0, STYLE_NOTICE, text);
}

static void draw_body(struct canvas *c, struct rect r, const struct pane_view *v)
{
	const struct pane_source *p = v->source;
	char text[700];
	if (rect_is_empty(r) || !v->vm)
		return;
	bool ready = v->vm->status.state == VM_READY;
	if (v->copy) {
		copy_mode_draw(v->copy, c, r);
	} else if (is_live(v)) {
		draw_screen(c, r, v);
		if (v->vm->hangs)
			draw_last_line(c, r, "Its supervisor does not answer: this is what it said last.");
		else if (v->vm->status.paused)
			draw_last_line(c, r, "Paused: its CPUs stand still until it is resumed.");
	} else if (has_ended(v)) {
		draw_screen(c, r, v);
		snprintf(text, sizeof(text), "Enter starts a shell: %s.", p->why);
		draw_last_line(c, r, text);
	} else if (ready && p && p->link == PANE_BROKEN && strcmp(p->vm, v->vm->status.name) == 0) {
		snprintf(text, sizeof(text), "No terminal: %s. Enter tries again.", p->why);
		draw_story(c, r, v, STYLE_STATE_FAILED, text);
	} else {
		tell_state(c, r, v);
	}
}

/* ---- title and tabs ---- */

/* Its place among the terminals of its VM; -1: not known (yet). */
static int terminal_index(const struct pane_view *v)
{
	const struct vm_status *s = &v->vm->status;
	for (uint32_t i = 0; v->source && i < s->terminal_count; i++) {
		const struct vm_terminal *t = &s->terminal[i];
		if (v->source->term == 0 ? t->first : t->number == v->source->term)
			return (int)i;
	}
	return -1;
}

/* The parts of the title after the name and the guest's own words, in the order in which they stand. When there is no room for all
 * of them, those with a high `rank` are left out first. */
enum title_part { PART_INDEX, PART_SIZE, PART_POSITION, PART_STATE, PART_COUNT };
static const int RANK[PART_COUNT] = {
    [PART_POSITION] = 0, [PART_STATE] = 1, [PART_SIZE] = 2, [PART_INDEX] = 3};

struct title {
	char part[PART_COUNT][COPY_POSITION_SIZE + 64]; /* "": there is none */
	enum theme_style state_style;
};

static void say_size(const struct pane_view *v, struct rect body, struct title *t)
{
	const struct screen *s = v->source->screen;
	bool other = v->source->foreign && (s->rows != body.rows || s->cols != body.cols);
	snprintf(t->part[PART_SIZE], sizeof(t->part[PART_SIZE]), "%ux%u%s", s->cols, s->rows,
	         other ? s->rows > body.rows || s->cols > body.cols ? " cut" : " set elsewhere" : "");
}

static void say_attention(const struct pane_view *v, const struct vm_attention *a, struct title *t)
{
	char *out = t->part[PART_STATE];
	char age[WORDS_SIZE];
	struct words_look look = words_attention(a);
	if (a->state == ATTENTION_NONE)
		return;
	words_duration(age, v->now_ms - a->at_ms);
	snprintf(out, sizeof(t->part[0]), "%s %s%s %s", look.glyph, look.word,
	         a->state == ATTENTION_WAITING && !a->seen && !v->copy ? " for you" : "", age);
	t->state_style = look.style;
}

/* The first terminal stands for its VM: an agent's hook need not say which terminal it speaks of. */
static const struct vm_attention *attention_of(const struct vm_status *s, int index)
{
	if (index < 0)
		return &s->attention;
	const struct vm_terminal *terminal = &s->terminal[index];
	return terminal->first ? vm_attention_worse(&terminal->attention, &s->attention)
	                       : &terminal->attention;
}

static void say_state(const struct pane_view *v, int index, struct title *t)
{
	struct words_look look = words_vm(v->vm, NULL);
	const struct vm_status *s = &v->vm->status;
	if (has_ended(v)) {
		look = (struct words_look){"", "ended", STYLE_STATE_STOPPED};
	} else if (is_live(v) && !v->vm->hangs && !s->paused) {
		say_attention(v, attention_of(s, index), t);
		return;
	}
	snprintf(t->part[PART_STATE], sizeof(t->part[0]), "%s%s%s", look.glyph, look.glyph[0] ? " " : "",
	         look.word);
	t->state_style = look.style;
}

static void make_title(const struct pane_view *v, struct rect body, struct title *t)
{
	int index = terminal_index(v);
	*t = (struct title){.state_style = STYLE_BORDER};
	if (index >= 0 && v->vm->status.terminal_count > 1)
		snprintf(t->part[PART_INDEX], sizeof(t->part[0]), "%d/%u", index + 1,
		         v->vm->status.terminal_count);
	if (v->copy) {
		char position[COPY_POSITION_SIZE];
		copy_mode_position(v->copy, position);
		snprintf(t->part[PART_POSITION], sizeof(t->part[0]), "copy %s", position);
	}
	if (is_live(v))
		say_size(v, body, t);
	say_state(v, index, t);
}

/* Leaves out what has no room beside `room` columns. Returns the columns of the rest. */
static int fit_title(struct title *t, int room)
{
	int width = 0;
	for (int rank = 0; rank < PART_COUNT; rank++) {
		for (int i = 0; i < PART_COUNT; i++) {
			if (RANK[i] != rank || !t->part[i][0])
				continue;
			int more = canvas_text_width(t->part[i]) + 3; /* "· " before and a blank after it */
			if (width + more > room)
				t->part[i][0] = '\0';
			else
				width += more;
		}
	}
	return width;
}

/* What the guest calls it, or what it was told to run. */
static const char *words_of_guest(const struct pane_view *v)
{
	int index = terminal_index(v);
	if ((is_live(v) || has_ended(v)) && v->source->screen->title[0])
		return v->source->screen->title;
	return index >= 0 ? v->vm->status.terminal[index].command : "";
}

/* " alpha · claude · 1/2 · 66x20 · ● waiting for you 2m ": the guest's own words are cut first. */
static void draw_title(struct canvas *c, const struct layout_pane *place, const struct pane_view *v,
                       bool grid)
{
	enum theme_style style = v->typing || v->broadcast ? STYLE_BORDER_TYPING : STYLE_BORDER;
	struct rect r = place->title;
	struct title t;
	canvas_fill(c, r, style, v->typing || v->broadcast ? 0x2501 : 0x2500); /* heavy or light line */
	if (!v->vm)
		return;
	make_title(v, place->body, &t);
	enum theme_style name = v->typing || v->broadcast ? STYLE_BORDER_TYPING : STYLE_TITLE;
	struct rect front = r; /* the state is never pushed out by a long name */
	front.cols = MAX(r.cols - canvas_text_width(t.part[PART_STATE]) - 6, MIN(r.cols, NAME_LEAST));
	char text[VM_NAME_MAX + 8];
	snprintf(text, sizeof(text), "%s%s", grid && v->selected ? "▸ " : "", v->vm->status.name);
	int at = canvas_text(c, r, 1, name, " ");
	at = canvas_text_cut(c, front, at, name, text);
	at = canvas_text(c, r, at, name, " ");
	if (v->broadcast)
		at = canvas_text(c, r, at, STYLE_TITLE_ALERT, "BROADCAST ");
	int rest = fit_title(&t, r.cols - 1 - at);
	const char *words = words_of_guest(v);
	if (words[0] && r.cols - 1 - at - rest >= 6) {
		struct rect left = r;
		left.cols = r.cols - 1 - rest - 1;
		at = canvas_text(c, left, at, style, "· ");
		at = canvas_text_cut(c, left, at, style, words);
		at = canvas_text(c, r, at, style, " ");
	}
	for (int i = 0; i < PART_COUNT; i++) {
		if (!t.part[i][0])
			continue;
		at = canvas_text(c, r, at, style, "· ");
		at = canvas_textf(c, r, at, i == PART_STATE ? t.state_style : style, "%s ", t.part[i]);
	}
}

/* One tab as text: " 1 claude ", the current one "[1 claude]", so that not only its colour says it. */
static int tab_text(const struct pane_view *v, int index, bool current, char out[TITLE_SIZE])
{
	const struct vm_terminal *t = &v->vm->status.terminal[index];
	bool calls = t->attention.state == ATTENTION_WAITING && !t->attention.seen;
	snprintf(out, TITLE_SIZE, "%c%u %s%s%c", current ? '[' : ' ', t->number, calls ? "● " : "",
	         t->title[0] ? t->title : t->command, current ? ']' : ' ');
	return MIN(canvas_text_width(out), TAB_MOST);
}

/* Tabs from `first` on have room up to the current one: the first such `first`. */
static int first_tab(const struct pane_view *v, int current, int cols)
{
	char text[TITLE_SIZE];
	int first = current, used = tab_text(v, MAX(current, 0), true, text);
	for (; first > 0; first--) {
		used += tab_text(v, first - 1, false, text);
		if (used > cols)
			break;
	}
	return MAX(first, 0);
}

static void draw_tabs(struct canvas *c, struct rect r, const struct pane_view *v)
{
	char text[TITLE_SIZE];
	if (rect_is_empty(r) || !v->vm || v->vm->status.terminal_count == 0)
		return;
	int current = terminal_index(v), at = 0;
	for (int i = first_tab(v, current, r.cols); i < (int)v->vm->status.terminal_count && at < r.cols;
	     i++) {
		int width = tab_text(v, i, i == current, text);
		struct rect tab = {r.row, r.col + at, 1, MIN(width, r.cols - at)};
		canvas_text_cut(c, tab, 0, i == current ? STYLE_SELECTED : STYLE_PLAIN, text);
		at += width;
	}
}

int pane_view_tab_at(const struct pane_view *v, struct rect tabs, int col)
{
	char text[TITLE_SIZE];
	if (rect_is_empty(tabs) || !v->vm || v->vm->status.terminal_count == 0 || col < 0)
		return -1;
	int current = terminal_index(v);
	for (int i = first_tab(v, current, tabs.cols); i < (int)v->vm->status.terminal_count; i++) {
		col -= tab_text(v, i, i == current, text);
		if (col < 0)
			return i;
	}
	return -1;
}

/* One that a heavy neighbour has drawn already stays heavy. */
static void draw_edge(struct canvas *c, struct rect edge, enum theme_style style, bool heavy)
{
	const struct canvas_cell *at = canvas_at(c, edge.row, edge.col);
	if (heavy || (at && at->style != STYLE_BORDER_TYPING))
		canvas_fill(c, edge, style, heavy ? 0x2503 : 0x2502);
}

void pane_view_draw(struct canvas *c, const struct layout *l, int index, const struct pane_view *v)
{
	const struct layout_pane *p = &l->panes[index];
	bool heavy = v->typing || v->broadcast;
	enum theme_style style = heavy ? STYLE_BORDER_TYPING : STYLE_BORDER;
	draw_edge(c, p->edge, style, heavy);
	if (heavy && index + 1 < l->pane_count && l->panes[index + 1].edge.row == p->title.row)
		draw_edge(c, l->panes[index + 1].edge, style, heavy);
	draw_title(c, p, v, l->grid);
	draw_tabs(c, p->tabs, v);
	draw_body(c, p->body, v);
}

/* ---- where lines meet ---- */

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

/* Which way a line glyph goes, 0 for anything else. */
static unsigned arms_at(const struct canvas *c, int row, int col)
{
	const struct canvas_cell *at = canvas_at(c, row, col);
	switch (at && at->style != STYLE_GUEST ? at->cell.code : 0) {
	case 0x2500:
	case 0x2501: return LEFT | RIGHT;
	case 0x2502:
	case 0x2503: return UP | DOWN;
	default: return 0;
	}
}

static void join_at(struct canvas *c, int row, int col)
{
	static const char *const LIGHT[16] = {
	    [DOWN | RIGHT] = "┌",        [DOWN | LEFT] = "┐",       [UP | RIGHT] = "└",
	    [UP | LEFT] = "┘",           [UP | DOWN | RIGHT] = "├", [UP | DOWN | LEFT] = "┤",
	    [DOWN | LEFT | RIGHT] = "┬", [UP | LEFT | RIGHT] = "┴", [UP | DOWN | LEFT | RIGHT] = "┼"};
	static const char *const HEAVY[16] = {
	    [DOWN | RIGHT] = "┏",        [DOWN | LEFT] = "┓",       [UP | RIGHT] = "┗",
	    [UP | LEFT] = "┛",           [UP | DOWN | RIGHT] = "┣", [UP | DOWN | LEFT] = "┫",
	    [DOWN | LEFT | RIGHT] = "┳", [UP | LEFT | RIGHT] = "┻", [UP | DOWN | LEFT | RIGHT] = "╋"};
	const struct canvas_cell *at = canvas_at(c, row, col);
	if (!at || !arms_at(c, row, col))
		return;
	unsigned arms =
	    (arms_at(c, row - 1, col) & DOWN ? UP : 0) | (arms_at(c, row + 1, col) & UP ? DOWN : 0) |
	    (arms_at(c, row, col - 1) & RIGHT ? LEFT : 0) | (arms_at(c, row, col + 1) & LEFT ? RIGHT : 0);
	enum theme_style style = (enum theme_style)at->style;
	const char *glyph = style == STYLE_BORDER_TYPING ? HEAVY[arms] : LIGHT[arms];
	if (glyph)
		canvas_text(c, (struct rect){row, col, 1, 1}, 0, style, glyph);
}

void pane_view_join(struct canvas *c, const struct layout *l)
{
	for (int i = 0; i < l->pane_count; i++) {
		struct rect edge = l->panes[i].edge;
		if (rect_is_empty(edge))
			continue;
		join_at(c, edge.row, edge.col);
		join_at(c, edge.row + edge.rows, edge.col);
	}
}
