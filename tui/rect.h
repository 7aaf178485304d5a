/* A rectangle of screen cells. Plain data; an empty one (rows or cols 0) means: not shown. */
#ifndef CCVM_TUI_RECT_H
#define CCVM_TUI_RECT_H

#include <stdbool.h>

struct rect {
	int row, col;
	int rows, cols;
};

static inline bool rect_is_empty(struct rect r)
{
	return r.rows <= 0 || r.cols <= 0;
}

/* One row of it, counted from its top; empty when outside. */
static inline struct rect rect_row(struct rect r, int row)
{
	if (row < 0 || row >= r.rows)
		return (struct rect){0};
	return (struct rect){.row = r.row + row, .col = r.col, .rows = 1, .cols = r.cols};
}

#endif
