#include "tui/layout.h"

#include <stddef.h>

#include "core/base/check.h"

#define SIDE_BY_SIDE_COLS 80
#define STACKED_COLS      50
#define FOLD_ROWS         12 /* below this the feed is one line */
#define LIST_COLS_LEAST   30
#define PANE_ROWS_LEAST   3 /* of a pane under a list: with fewer there is only the list */
#define TABS_ROWS_LEAST   6 /* a lower pane needs its rows for the terminal */
#define FEED_ROWS_LEAST   2
#define FEED_ROWS_MOST    8

/* Takes `n` rows off the top or the bottom of `from`; empty when it does not have them. */
static struct rect take_top(struct rect *from, int n)
{
	if (from->rows < n)
		return (struct rect){0};
	struct rect r = {.row = from->row, .col = from->col, .rows = n, .cols = from->cols};
	from->row += n;
	from->rows -= n;
	return r;
}

static struct rect take_bottom(struct rect *from, int n)
{
	if (from->rows < n)
		return (struct rect){0};
	from->rows -= n;
	return (struct rect){.row = from->row + from->rows, .col = from->col, .rows = n, .cols = from->cols};
}

static struct rect take_left(struct rect *from, int n)
{
	struct rect r = {.row = from->row, .col = from->col, .rows = from->rows, .cols = n};
	from->col += n;
	from->cols -= n;
	return r;
}

static void place_feed(struct layout *l, struct rect *body, int rows)
{
	if (rows < FOLD_ROWS) {
		if (body->rows >= 3)
			l->feed = take_bottom(body, 1);
		return;
	}
	l->feed = take_bottom(body, MIN(MAX(rows / 5, FEED_ROWS_LEAST), FEED_ROWS_MOST));
	l->feed_rule = take_bottom(body, 1);
}

/* Title row, tabs and terminal; too little is no pane at all. */
static void place_pane(struct layout_pane *p, struct rect body, bool tabs)
{
	if (body.rows < 2 || body.cols < 2)
		return;
	p->title = take_top(&body, 1);
	if (tabs && body.rows >= TABS_ROWS_LEAST)
		p->tabs = take_top(&body, 1);
	p->body = body;
}

/* The shapes of a grid, smallest first; of two for the same number the first that fits. */
static const struct {
	int down, across;
} SHAPES[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}, {3, 3}};

static bool shape_fits(struct rect body, int down, int across)
{
	return body.rows / down - 1 >= LAYOUT_GRID_ROWS_LEAST &&
	       (body.cols - (across - 1)) / across >= LAYOUT_GRID_COLS_LEAST;
}

static void place_grid(struct layout *l, struct rect body, int down, int across)
{
	l->pane_count = 0;
	for (int i = 0; i < down; i++) {
		struct rect row = take_top(&body, body.rows / (down - i));
		for (int k = 0; k < across; k++) {
			struct layout_pane *p = &l->panes[l->pane_count++];
			int left = across - k; /* panes, with an edge between each two */
			if (k > 0)
				p->edge = take_left(&row, 1);
			place_pane(p, take_left(&row, (row.cols - (left - 1)) / left), false);
		}
	}
}

/* The smallest shape with a place for all of them, else the largest one that fits. */
static void choose_grid(struct layout *l, struct rect body, int wanted)
{
	size_t best = 0;
	for (size_t i = 1; i < ARRAY_LEN(SHAPES); i++) {
		int have = SHAPES[best].down * SHAPES[best].across, more = SHAPES[i].down * SHAPES[i].across;
		if (have < wanted && more > have && shape_fits(body, SHAPES[i].down, SHAPES[i].across))
			best = i;
	}
	place_grid(l, body, SHAPES[best].down, SHAPES[best].across);
}

static void place_list_and_pane(struct layout *l, struct rect body, const struct layout_wish *w)
{
	struct layout_pane *p = &l->panes[0];
	if (w->cols >= SIDE_BY_SIDE_COLS && body.rows >= 2) {
		l->list = take_left(&body, MAX(MIN(w->list_cols, w->cols * 44 / 100), LIST_COLS_LEAST));
		p->edge = take_left(&body, 1);
		place_pane(p, body, w->tabs);
		return;
	}
	int list_rows = MIN(MAX(w->list_rows, 2), MAX(body.rows * 2 / 5, 2));
	if (w->cols < STACKED_COLS || body.rows < list_rows + 1 + PANE_ROWS_LEAST) {
		l->list = body;
		return;
	}
	l->list = take_top(&body, list_rows);
	place_pane(p, body, w->tabs);
}

void layout_compute(struct layout *l, const struct layout_wish *w)
{
	*l = (struct layout){.pane_count = 1, .grid = w->grid > 0 && !w->zoomed};
	struct rect body = {.rows = w->rows, .cols = w->cols};
	l->status = take_bottom(&body, 1);
	if (body.rows >= 2)
		l->title = take_top(&body, 1);
	if (w->zoomed) {
		place_pane(&l->panes[0], body, w->tabs);
		return;
	}
	place_feed(l, &body, w->rows);
	if (l->grid)
		choose_grid(l, body, w->grid);
	else
		place_list_and_pane(l, body, w);
}

/* ---- what is at a place ---- */

static bool inside(struct rect r, int row, int col)
{
	return !rect_is_empty(r) && row >= r.row && row < r.row + r.rows && col >= r.col &&
	       col < r.col + r.cols;
}

static bool try_hit(struct hit *out, enum hit_kind kind, int pane, struct rect r, int row, int col)
{
	if (!inside(r, row, col))
		return false;
	*out = (struct hit){.kind = kind, .pane = pane, .row = row - r.row, .col = col - r.col};
	return true;
}

struct hit layout_hit(const struct layout *l, int row, int col)
{
	struct hit hit = {.kind = HIT_NOTHING};
	for (int i = 0; i < l->pane_count; i++) {
		const struct layout_pane *p = &l->panes[i];
		if (try_hit(&hit, HIT_PANE, i, p->body, row, col) ||
		    try_hit(&hit, HIT_PANE_TITLE, i, p->title, row, col) ||
		    try_hit(&hit, HIT_PANE_TABS, i, p->tabs, row, col) ||
		    try_hit(&hit, HIT_PANE_EDGE, i, p->edge, row, col))
			return hit;
	}
	const struct {
		enum hit_kind kind;
		const struct rect *rect;
	} OTHERS[] = {{HIT_LIST, &l->list},
	              {HIT_FEED, &l->feed},
	              {HIT_FEED_RULE, &l->feed_rule},
	              {HIT_STATUS, &l->status},
	              {HIT_TITLE, &l->title}};
	for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++) {
		if (try_hit(&hit, OTHERS[i].kind, 0, *OTHERS[i].rect, row, col))
			break;
	}
	return hit;
}
