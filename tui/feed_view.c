#include "tui/feed_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/words.h"

#define NAME_COLS_MOST    16
#define TARGET_COLS_LEAST 20 /* below this the time is left out */
#define TARGET_COLS_MOST  52
#define TIME_COLS         8
#define WIDE_COLS         60 /* from here on columns are two apart and aligned */

/* ---- place ---- */

static uint64_t highest_serial(const struct model *m)
{
	uint64_t highest = 0;
	for (size_t i = 0; i < m->denial_count; i++)
		highest = MAX(highest, m->denials[i]->serial);
	return highest;
}

/* The row with this serial, or `otherwise`. Sorted by time, not by serial, hence the search; the feed is bounded. */
static size_t find_serial(const struct model *m, uint64_t serial, size_t otherwise)
{
	for (size_t i = 0; i < m->denial_count; i++) {
		if (m->denials[i]->serial == serial)
			return i;
	}
	return otherwise;
}

static void keep(struct feed_place *p, const struct model *m, size_t top, size_t selected)
{
	if (m->denial_count == 0)
		return;
	p->held = true;
	p->top = m->denials[top]->serial;
	p->selected = m->denials[selected]->serial;
	if (selected == m->denial_count - 1)
		p->seen = highest_serial(m);
}

static size_t last_top(const struct model *m, int rows)
{
	size_t room = (size_t)MAX(rows, 1);
	return m->denial_count > room ? m->denial_count - room : 0;
}

void feed_place_hold(struct feed_place *p, const struct model *m, int rows)
{
	p->seen = highest_serial(m);
	p->held = true;
	p->top = p->selected = 0;
	if (m->denial_count > 0)
		keep(p, m, last_top(m, rows), m->denial_count - 1);
}

void feed_place_release(struct feed_place *p)
{
	*p = (struct feed_place){0};
}

struct feed_window feed_place_find(struct feed_place *p, const struct model *m, int rows)
{
	size_t room = (size_t)MAX(rows, 1), count = m->denial_count;
	struct feed_window w = {.top = last_top(m, rows), .selected = count ? count - 1 : SIZE_MAX};
	if (!p->held || count == 0)
		return w;
	w.selected = find_serial(m, p->selected, 0);
	size_t top = find_serial(m, p->top, 0);
	if (w.selected < top)
		top = w.selected;
	if (w.selected >= top + room)
		top = w.selected - room + 1;
	w.top = MIN(top, last_top(m, rows)); /* no empty rows at the bottom after the area has grown */
	p->top = m->denials[w.top]->serial;
	p->selected = m->denials[w.selected]->serial;
	for (size_t i = w.top + room; i < count; i++)
		w.unseen += m->denials[i]->serial > p->seen;
	return w;
}

void feed_place_move(struct feed_place *p, const struct model *m, int rows, long by)
{
	struct feed_window w = feed_place_find(p, m, rows);
	if (w.selected == SIZE_MAX)
		return;
	size_t to = w.selected;
	if (by < 0)
		to -= MIN(to, (size_t)-by);
	else
		to = MIN(to + (size_t)by, m->denial_count - 1);
	keep(p, m, w.top, to);
	feed_place_find(p, m, rows); /* scrolls as far as it must */
}

/* ---- picture ---- */

uint64_t feed_view_total(const struct model *m)
{
	uint64_t total = 0;
	for (size_t i = 0; i < m->vm_count; i++)
		total += m->vms[i]->status.denied;
	return MAX(total, (uint64_t)m->denial_count);
}

/* A host name that is too long loses its front: its end says who it belongs to. */
static int draw_target(struct canvas *c, struct rect r, int at, int cols, enum theme_style style,
                       const char *target)
{
	int width = (int)strlen(target); /* ASCII: the feed has escaped it */
	if (cols < 2 || width <= cols)
		return canvas_text(c, r, at, style, target);
	return canvas_textf(c, r, at, style, "…%s", target + (width - cols + 1));
}

struct columns {
	int name, target; /* widths */
	int gap;
	int indent;
	bool when; /* there is room for the time */
};

static struct columns plan_columns(const struct model *m, int cols)
{
	struct columns p = {.name = 2, .gap = cols >= WIDE_COLS ? 2 : 1, .indent = 3};
	for (size_t i = 0; i < m->vm_count; i++)
		p.name = MAX(p.name, (int)strlen(m->vms[i]->status.name));
	p.name = MIN(p.name, cols >= WIDE_COLS ? NAME_COLS_MOST : 10);
	if (cols < WIDE_COLS)
		p.indent = 1;
	int left = cols - p.indent - p.name - 2 * p.gap - (TIME_COLS + p.gap);
	p.when = left >= TARGET_COLS_LEAST;
	if (!p.when) /* who and where matter more than when */
		left += TIME_COLS + p.gap;
	p.target = MIN(MAX(left * 2 / 3, MIN(left, TARGET_COLS_LEAST)), TARGET_COLS_MOST);
	return p;
}

static void draw_entry(struct canvas *c, struct rect r, int at, const struct feed_entry *e, int64_t now_ms,
                       const struct columns *p)
{
	char when[WORDS_SIZE];
	words_when(when, e->time_ms, now_ms);
	if (p->when) {
		canvas_text(c, r, at, STYLE_MUTED, when);
		at += TIME_COLS + p->gap;
	}
	struct rect name = {.row = r.row, .col = r.col, .rows = 1, .cols = MIN(at + p->name, r.cols)};
	canvas_text_cut(c, name, at, STYLE_PLAIN, e->vm);
	at += p->name + p->gap;
	draw_target(c, r, at, p->target, STYLE_DENIED, e->target);
	at += p->target + p->gap;
	canvas_text_cut(c, r, at, STYLE_PLAIN, e->why);
}

static void draw_row(struct canvas *c, struct rect r, const struct feed_view *v, size_t i)
{
	struct columns p = plan_columns(v->model, r.cols);
	draw_entry(c, r, p.indent, v->model->denials[i], v->model->now_ms, &p);
	if (v->focused && i == v->window.selected) {
		canvas_text(c, r, p.indent > 1 ? 1 : 0, STYLE_PLAIN, "▸");
		canvas_restyle(c, r, STYLE_SELECTED);
	}
}

static void draw_rule(struct canvas *c, struct rect r, const struct feed_view *v)
{
	canvas_fill(c, r, STYLE_BORDER, 0x2500);
	canvas_textf(c, r, 1, v->focused ? STYLE_KEY : STYLE_TITLE, " Denied %" PRIu64 " ",
	             feed_view_total(v->model));
	if (v->window.unseen > 0) {
		char text[48];
		snprintf(text, sizeof(text), " ▼ %zu new ", v->window.unseen);
		r.cols -= 2;
		canvas_text_right(c, r, 1, STYLE_NOTICE, text);
	}
}

/* One line: how many, and the newest or the one under the cursor. */
static void draw_folded(struct canvas *c, struct rect r, const struct feed_view *v)
{
	int at = canvas_textf(c, r, 0, STYLE_TITLE, " Denied %" PRIu64 " ", feed_view_total(v->model));
	if (v->window.selected == SIZE_MAX)
		return;
	if (v->window.unseen > 0)
		at = canvas_textf(c, r, at, STYLE_NOTICE, "▼ %zu new ", v->window.unseen);
	struct rect rest = {.row = r.row, .col = r.col + at, .rows = 1, .cols = r.cols - at};
	draw_row(c, rest, v, v->window.selected);
}

void feed_view_draw(struct canvas *c, struct rect rule, struct rect r, const struct feed_view *v)
{
	if (rect_is_empty(r))
		return;
	if (rect_is_empty(rule)) {
		draw_folded(c, r, v);
		return;
	}
	draw_rule(c, rule, v);
	if (v->model->denial_count == 0) {
		canvas_text(c, r, 3, STYLE_MUTED, "nothing was refused");
		return;
	}
	for (int row = 0; row < r.rows && v->window.top + (size_t)row < v->model->denial_count; row++)
		draw_row(c, rect_row(r, row), v, v->window.top + (size_t)row);
}
