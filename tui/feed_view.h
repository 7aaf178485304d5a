/* The feed of what was refused, across all VMs, newest at the bottom. Never moves by itself while it has the focus: the
 * place is held by serial numbers, and what comes in below the edge is counted instead. */
#ifndef CCVM_TUI_FEED_VIEW_H
#define CCVM_TUI_FEED_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/canvas.h"
#include "tui/feed_rows.h"
#include "tui/model.h"

/* Where the operator is in it. Zero is the start: following the newest. */
struct feed_place {
	bool held;         /* false: the newest rows are shown */
	uint64_t selected; /* serial of the row under the cursor, */
	uint64_t top;      /* and of the first row that is shown; of use while held */
	uint64_t seen;     /* the highest serial at the time of the last move to the end */
};

/* The place as rows of the model. */
struct feed_window {
	size_t top, selected; /* selected is SIZE_MAX when the feed is empty */
	size_t unseen;        /* new rows under the lower edge */
};

void feed_place_hold(struct feed_place *p, const struct model *m, int rows); /* at the newest row */
void feed_place_release(struct feed_place *p);
/* Moves the cursor by rows; beyond an end it stays there. Holds. */
void feed_place_move(struct feed_place *p, const struct model *m, int rows, long by);
/* Finds the place in a model that may have changed, and remembers the rows if some of them are gone. */
struct feed_window feed_place_find(struct feed_place *p, const struct model *m, int rows);

struct feed_view {
	const struct model *model;
	struct feed_window window;
	bool focused;
	const struct feed_rows *rows; /* after feed_rows_update; with it, `window` does not count */
	uint64_t denied; /* refusals in all, also those that the feed has never read; 0: not known */
	size_t handoffs;
	int64_t now_ms;
};

/* `rule` may be empty: then the feed is folded into the one row of `r`. */
void feed_view_draw(struct canvas *c, struct rect rule, struct rect r, const struct feed_view *v);
/* Refusals of all VMs, also those that the feed no longer holds. */
uint64_t feed_view_total(const struct model *m);

#endif
