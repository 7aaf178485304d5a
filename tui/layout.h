/* Where everything goes: from the size of the terminal to rectangles, and back from a place to what is there. Pure.
 *
 *   80 columns and more: list left of the pane      50 to 79: list above the pane      under 50: only the list
 *   under 12 rows: the feed folds to one line       zoomed: the pane has all between title and status line
 *   grid: panes instead of list and pane, as many of 2, 4, 6 or 9 as are wanted and find room
 *
 * Rectangles never overlap and lie inside the screen; one that has no room is empty. */
#ifndef CCVM_TUI_LAYOUT_H
#define CCVM_TUI_LAYOUT_H

#include <stdbool.h>

#include "tui/rect.h"

#define LAYOUT_PANES_MOST      9
#define LAYOUT_GRID_ROWS_LEAST 5  /* of each pane of a grid, inside; */
#define LAYOUT_GRID_COLS_LEAST 20 /* when not even two have that, the grid is one pane */

struct layout_wish {
	int rows, cols; /* of the terminal; 1 or more */
	int list_cols;  /* columns that the list would use, */
	int list_rows;  /* and rows, when it may have all it wants */
	bool zoomed;
	bool tabs; /* the pane has several terminals to show as tabs; counts when it is the only pane */
	int grid; /* 0: no grid; else panes that there is something to show in, at most LAYOUT_PANES_MOST are placed */
};

struct layout_pane {
	struct rect edge;  /* one column at its left; empty when it begins at the screen's edge */
	struct rect title; /* one row above it */
	struct rect tabs;  /* one row between title and body; often empty */
	struct rect body;  /* the terminal: exactly its size; 1 row and 2 columns at least, or empty */
};

struct layout {
	struct rect title;
	struct rect list;
	struct rect feed_rule; /* one row above the feed; empty when it is folded */
	struct rect feed;
	struct rect status;
	struct layout_pane
	    panes[LAYOUT_PANES_MOST]; /* by rows; the first one is empty when there is no room */
	int pane_count;               /* 1 or more */
	bool grid;                    /* several panes, or one that stands for them */
};

void layout_compute(struct layout *l, const struct layout_wish *w);

enum hit_kind {
	HIT_NOTHING,
	HIT_TITLE,
	HIT_LIST,
	HIT_PANE,
	HIT_PANE_TITLE,
	HIT_PANE_TABS,
	HIT_PANE_EDGE,
	HIT_FEED,
	HIT_FEED_RULE, /* its tabs */
	HIT_STATUS
};

struct hit {
	enum hit_kind kind;
	int pane;     /* of the HIT_PANE ones, else 0 */
	int row, col; /* inside the rectangle that was hit */
};
struct hit layout_hit(const struct layout *l, int row, int col);

#endif
