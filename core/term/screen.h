/* The client's copy of a terminal: a plain grid that updates (snapshot.h) are applied to and that the dashboard,
 * `ccvm attach` and tests draw from. What it holds was checked: every cell is printable and widths fit. */
#ifndef CCVM_TERM_SCREEN_H
#define CCVM_TERM_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/str.h"
#include "core/term/cells.h"
#include "core/term/clusters.h"

struct screen {
	uint16_t rows, cols;
	struct cell *cells; /* owned: rows * cols, row by row */
	bool *changed;      /* owned: per row, set by whoever changes it, cleared by screen_clear_changed */
	uint8_t *flags;     /* owned: per row, enum row_flag */
	struct clusters clusters;
	struct term_cursor cursor;
	unsigned modes; /* enum term_mode */
	char title[TERM_TITLE_MAX + 1];
	uint32_t bells;
	uint32_t history; /* lines in the scrollback, */
	uint64_t
	    history_first; /* and the number of the oldest: row 0 of the primary has history_first + history */
	uint64_t generation; /* of the last update; 0: none yet */
	bool whole;          /* false between the parts of an update that came in several */
};

void screen_init(struct screen *s, unsigned rows, unsigned cols); /* sizes are clamped to the TERM limits */
void screen_finish(struct screen *s);
/* Keeps what fits in the top left corner; every row counts as changed. */
void screen_resize(struct screen *s, unsigned rows, unsigned cols);
void screen_clear_changed(struct screen *s);
/* Makes `to` equal to `from`, `changed` flags included. */
void screen_copy(struct screen *to, const struct screen *from);

/* NULL outside. */
const struct cell *screen_cell(const struct screen *s, unsigned row, unsigned col);
/* The text of a row as UTF-8 without blanks at the end, appended to `out`. */
void screen_row_text(const struct screen *s, unsigned row, struct str *out);
/* All rows, each with a line feed; empty rows at the end are left out. */
void screen_text(const struct screen *s, struct str *out);

#endif
