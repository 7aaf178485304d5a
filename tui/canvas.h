/* A picture of the screen in memory: what every view draws into. Plain cells, no terminal, no I/O, so that a view can
 * be tested by looking at what it drew.
 *
 * Nothing that is drawn can leave its rectangle or the canvas: texts are clipped to the rectangle that they are given,
 * a wide character that does not fit whole becomes a space, and half of a wide one that is written over is blanked.
 * Every string passes through the same filter: a code point that is not printable becomes U+FFFD. */
#ifndef CCVM_TUI_CANVAS_H
#define CCVM_TUI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/check.h"
#include "core/base/str.h"
#include "core/term/cells.h"
#include "core/term/clusters.h"
#include "tui/rect.h"
#include "tui/theme.h"

#define CANVAS_MAX 2000 /* rows and columns; more is clamped */

/* Colours and attributes of `cell` count for STYLE_GUEST only; other styles get theirs from the theme. */
struct canvas_cell {
	struct cell cell;
	uint8_t style; /* enum theme_style */
};

struct canvas {
	int rows, cols;            /* 1 or more after canvas_resize */
	struct canvas_cell *cells; /* owned */
	struct clusters clusters;  /* of all cells */
	int cursor_row, cursor_col;
	bool cursor_visible;
	uint8_t cursor_shape; /* enum cursor_shape */
};

void canvas_init(struct canvas *c, int rows, int cols);
void canvas_finish(struct canvas *c);
/* Clears as well when the size changes. */
void canvas_resize(struct canvas *c, int rows, int cols);
/* All blank and plain, cursor hidden. */
void canvas_clear(struct canvas *c);
/* Same size, same look of every cell, same cursor. */
bool canvas_equal(const struct canvas *a, const struct canvas *b);
bool canvas_row_equal(const struct canvas *a, const struct canvas *b,
                      int row); /* of two with the same size */
void canvas_copy(struct canvas *to, const struct canvas *from);
/* NULL outside. */
const struct canvas_cell *canvas_at(const struct canvas *c, int row, int col);

/* UTF-8 text on the first row of `r`, starting `at` columns into it. Returns the column (relative to r) after the text
 * that was drawn. `at` may lie outside: nothing is drawn then. */
int canvas_text(struct canvas *c, struct rect r, int at, enum theme_style style, const char *text);
int canvas_textf(struct canvas *c, struct rect r, int at, enum theme_style style, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
/* The same with its last column at the right edge of `r`, not left of `least`. Returns the column where it starts. */
int canvas_text_right(struct canvas *c, struct rect r, int least, enum theme_style style, const char *text);
/* The same text as canvas_text draws, but one that does not fit ends in "…". */
int canvas_text_cut(struct canvas *c, struct rect r, int at, enum theme_style style, const char *text);
/* Text broken at blanks over the rows of `r`; a word that is too long is broken anywhere. Returns the rows used. */
int canvas_wrap(struct canvas *c, struct rect r, enum theme_style style, const char *text);
int canvas_wrap_rows(int cols, const char *text); /* rows that it needs with this width */

/* Every cell of `r` becomes this code point (narrow) in this style. */
void canvas_fill(struct canvas *c, struct rect r, enum theme_style style, uint32_t code);
/* Gives the cells another style and leaves their text. */
void canvas_restyle(struct canvas *c, struct rect r, enum theme_style style);
/* A cell of a terminal, with `from` as its table. A wide one needs the next column inside `r`, else it is a space. */
void canvas_put_cell(struct canvas *c, struct rect r, int row, int col, const struct cell *cell,
                     const struct clusters *from);

/* A run of cells from the left edge of `r` on, as canvas_put_cell would put each: what a pane mostly is. Half of a wide one at
 * either end is a space. */
void canvas_put_row(struct canvas *c, struct rect r, int row, const struct cell *cells, int count,
                    const struct clusters *from);

/* Rows of another canvas from `top` on, with their styles; its wide characters must fit into the columns of `r`. */
void canvas_blit(struct canvas *c, struct rect r, const struct canvas *from, int top);

/* Columns that a text needs, after the same filter. */
int canvas_text_width(const char *text);

/* The canvas as text: one line a row without blanks at its end; and the same with the letters of the styles. */
void canvas_dump_text(const struct canvas *c, struct str *out);
void canvas_dump_styles(const struct canvas *c, struct str *out);

#endif
