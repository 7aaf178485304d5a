/* The cells of one screen: rows are pointers, so scrolling moves pointers and never cells.
 *
 * Each row knows how many of its cells were ever written (the rest is blank, with one background: erasing and scrolling cost
 * the same in any colour) and the generation of its last change. All
 * functions accept any coordinates: what lies outside is cut off, because they are called with what libvterm makes of a
 * guest's numbers. */
#ifndef CCVM_TERM_GRID_H
#define CCVM_TERM_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/term/cells.h"
#include "core/term/clusters.h"
#include "core/term/scrollback.h"

struct row {
	struct cell *cells; /* owned, NULL while never written */
	uint16_t used, cap;
	uint8_t flags; /* enum row_flag */
	uint32_t fill; /* background of the blank cells after `used`; grid_row makes them cells */
	uint64_t stamp;
};

struct grid {
	struct row **rows; /* owned ring: row r of the screen is rows[(head + r) % count] */
	unsigned count, head, cols;
	uint64_t stamp; /* all rows changed at this generation (they scrolled) */
	uint64_t *now;  /* borrowed: the current generation */
};

struct rect {
	int top, left, bottom, right; /* bottom and right are not part of it */
};

void grid_init(struct grid *g, unsigned rows, unsigned cols, uint64_t *now);
void grid_finish(struct grid *g);

const struct row *grid_row(const struct grid *g, unsigned row);
uint64_t grid_row_stamp(const struct grid *g, unsigned row);

/* Writes a glyph of one or two columns. A half of a wide cell that loses its other half becomes blank. */
void grid_put(struct grid *g, int row, int col, const struct cell *glyph);
/* The same for `n` bytes of printable ASCII, in the style of `pen`. */
void grid_put_run(struct grid *g, int row, int col, const struct cell *pen, const uint8_t *text, size_t n);
/* Changes only the code of a cell (a mark joined it). */
void grid_set_code(struct grid *g, int row, int col, uint32_t code);
/* A row loses ROW_WRAPPED by itself when its last cell changes or what follows it is moved or erased, and ROW_PROMPT when all
 * of it is erased. */
void grid_set_flag(struct grid *g, int row, enum row_flag flag, bool on);
/* Blanks the rectangle with background `bg`. */
void grid_erase(struct grid *g, struct rect r, uint32_t bg);
/* Moves the content of the rectangle up by `down` and left by `right` (negative: the other way); what comes free is blank
 * with background `bg`. Rows that leave the top go to `history` when it is not NULL (their clusters lie in `clusters`). */
void grid_scroll(struct grid *g, struct rect r, int down, int right, uint32_t bg, struct scrollback *history,
                 const struct clusters *clusters);

/* A new size. The cursor's row stays on the screen: lines below it are dropped first, then lines at the top go to
 * `history` (or are lost when it is NULL); new lines come back out of `history` first. Columns to the right of a narrower
 * screen stay until the row changes. *cursor_row is moved along. */
void grid_resize(struct grid *g, unsigned rows, unsigned cols, int *cursor_row, struct scrollback *history,
                 struct clusters *clusters);
/* Moves every cluster to a fresh table. */
void grid_recluster(struct grid *g, struct clusters *to, const struct clusters *from);
size_t grid_memory(const struct grid *g);

#endif
