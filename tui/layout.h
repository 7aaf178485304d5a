/* Where everything goes: from the size of the terminal to rectangles. Pure.
 *
 *   80 columns and more: list left of the pane      50 to 79: list above the pane      under 50: only the list
 *   under 12 rows: the feed folds to one line       zoomed: the pane has all between title and status line
 *
 * Rectangles never overlap and lie inside the screen; one that has no room is empty. */
#ifndef CCVM_TUI_LAYOUT_H
#define CCVM_TUI_LAYOUT_H

#include <stdbool.h>

#include "tui/rect.h"

struct layout_wish {
	int rows, cols; /* of the terminal; 1 or more */
	int list_cols;  /* columns that the list would use, */
	int list_rows;  /* and rows, when it may have all it wants */
	bool zoomed;
};

struct layout {
	struct rect title;
	struct rect list;
	struct rect border;     /* one column between list and pane; empty unless they are side by side */
	struct rect pane_title; /* one row above the pane */
	struct rect pane;       /* the terminal: exactly its size; 1 row and 2 columns at least, or empty */
	struct rect feed_rule;  /* one row above the feed; empty when it is folded */
	struct rect feed;
	struct rect status;
};

void layout_compute(struct layout *l, const struct layout_wish *w);

#endif
