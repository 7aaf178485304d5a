/* The rows of the feed and where the operator is in them: what feed_view draws. Pure state, no I/O.
 *
 * While the feed is held (it has the focus) no row moves: a refusal that comes again counts up where it stands, new rows
 * are added at the end and counted while they are out of sight. A row is known by its id, never by its place. When it is
 * let go, rows are in the order of their newest refusal again, and the end is shown. */
#ifndef CCVM_TUI_FEED_ROWS_H
#define CCVM_TUI_FEED_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/client/feed.h"

enum feed_tab {
	FEED_TAB_DENIED, /* equal refusals as one row; those that are kept denied are left out */
	FEED_TAB_ALL,    /* every entry */
	FEED_TAB_HANDOFFS,
	FEED_TAB_COUNT
};

struct feed_row {
	const struct feed_entry
	    *entry;     /* borrowed from the list of the last feed_rows_update; of a fold, the newest */
	uint64_t id;    /* of this row among those of its tab */
	uint64_t count; /* how many are folded into it; 1 at least */
	int64_t first_ms;
};

#define FEED_RULE_SIZE 352
/* The narrowest rule that would let this through, "host" or "host:port" as an operator would write it. False: no allow
 * would help, and the error says why. */
bool feed_row_rule(const struct feed_row *row, char out[FEED_RULE_SIZE], struct err *e) MUST_USE;

/* Read it, change it only through the functions. */
struct feed_rows {
	enum feed_tab tab;
	struct feed_row *rows; /* owned */
	size_t count;
	size_t top, selected; /* indexes into rows; selected is SIZE_MAX when there is none */
	size_t unseen;        /* new rows below the edge, while held */
	size_t hidden;        /* refusals that are kept denied and are left out of FEED_TAB_DENIED */
	bool held;
	struct feed_rows_state *state; /* owned */
};

void feed_rows_init(struct feed_rows *f);
void feed_rows_finish(struct feed_rows *f);

/* Brings it up to date: before each use of `rows`, in each event. `height`: how many rows are seen at once. Cheap when
 * the generation of the list is the same as before. */
void feed_rows_update(struct feed_rows *f, const struct feed_list *list, int height);

void feed_rows_hold(struct feed_rows *f); /* the cursor is at the newest row */
void feed_rows_release(struct feed_rows *f);
/* Moves the cursor by rows; beyond an end it stays there. Holds. */
void feed_rows_move(struct feed_rows *f, long by);
/* Shows another tab, at its newest row. The rows are those of the next feed_rows_update. */
void feed_rows_show(struct feed_rows *f, enum feed_tab tab);

/* The list of the last update. */
const struct feed_list *feed_rows_list(const struct feed_rows *f);
const struct feed_row *feed_rows_selected(const struct feed_rows *f); /* NULL: there is none */
/* The newest refusal of a VM that is not hidden, whichever tab is shown; NULL: there is none. */
const struct feed_row *feed_rows_newest(const struct feed_rows *f, const char *vm);

/* Keeps a refusal denied: it is left out, also when it comes again. It is gone after the next
 * feed_rows_update, and the cursor on the row after it. False when it is no refusal, or too many are hidden. */
bool feed_rows_hide(struct feed_rows *f, const struct feed_row *row);
void feed_rows_unhide_all(struct feed_rows *f);

#endif
