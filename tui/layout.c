#include "tui/layout.h"

#include "core/base/check.h"

#define SIDE_BY_SIDE_COLS 80
#define STACKED_COLS      50
#define FOLD_ROWS         12 /* below this the feed is one line */
#define LIST_COLS_LEAST   30
#define PANE_ROWS_LEAST   3 /* of a pane under a list: with fewer there is only the list */
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

/* The rest of the body is title row and terminal; too little of it is no pane at all. */
static void place_pane(struct layout *l, struct rect body)
{
	if (body.rows < 2 || body.cols < 2)
		return;
	l->pane_title = take_top(&body, 1);
	l->pane = body;
}

void layout_compute(struct layout *l, const struct layout_wish *w)
{
	*l = (struct layout){0};
	struct rect body = {.rows = w->rows, .cols = w->cols};
	l->status = take_bottom(&body, 1);
	if (body.rows >= 2)
		l->title = take_top(&body, 1);
	if (w->zoomed) {
		place_pane(l, body);
		return;
	}
	place_feed(l, &body, w->rows);
	if (w->cols >= SIDE_BY_SIDE_COLS && body.rows >= 2) {
		l->list = take_left(&body, MAX(MIN(w->list_cols, w->cols * 44 / 100), LIST_COLS_LEAST));
		l->border = take_left(&body, 1);
		place_pane(l, body);
		return;
	}
	int list_rows = MIN(MAX(w->list_rows, 2), MAX(body.rows * 2 / 5, 2));
	if (w->cols < STACKED_COLS || body.rows < list_rows + 1 + PANE_ROWS_LEAST) {
		l->list = body;
		return;
	}
	l->list = take_top(&body, list_rows);
	place_pane(l, body);
}
