/* The feed of what was refused, across all VMs, newest at the bottom. Never moves by itself while it has the focus: the
 * place is held by serial numbers, and what comes in below the edge is counted instead. */
#ifndef CCVM_TUI_FEED_VIEW_H
#define CCVM_TUI_FEED_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/canvas.h"
#include "tui/feed_rows.h"

/* A rule that was given to a VM from here. */
struct feed_allowed {
	char vm[VM_NAME_MAX + 1];
	char rule[FEED_RULE_SIZE];
	int64_t at_ms, until_ms; /* wall clock; until 0: for good */
};

struct feed_view {
	const struct feed_rows *rows; /* after feed_rows_update */
	bool focused;
	uint64_t denied; /* refusals in all, also those that the feed has never read; 0: not known */
	size_t handoffs;
	const struct feed_allowed *allowed; /* refusals that need nobody any more are calm and say so */
	size_t allowed_count;
	int64_t now_ms;
};

/* `rule` may be empty: then the feed is folded into the one row of `r`. */
void feed_view_draw(struct canvas *c, struct rect rule, struct rect r, const struct feed_view *v);
/* The tab (enum feed_tab) at this column of its rule; -1: none. */
int feed_view_tab_at(const struct feed_view *v, struct rect rule, int col);

#endif
