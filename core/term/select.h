/* Reading a transcript: places in it, selections and their text, and moving by words, lines and prompts. Pure.
 *
 * A place is the number of a line and a column; it always means a cell that could be there (the column may be beyond the end of
 * the text). The tail of a wide cell counts as the cell itself. */
#ifndef CCVM_TERM_SELECT_H
#define CCVM_TERM_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/str.h"
#include "core/term/transcript.h"

struct select_point {
	uint64_t line;
	unsigned col;
};
int select_compare(struct select_point a, struct select_point b); /* -1, 0, 1 */

/* ---- selections ---- */

enum select_kind {
	SELECT_NONE,
	SELECT_CHARS, /* from one place to the other */
	SELECT_WORDS, /* the same, grown to whole words */
	SELECT_LINES, /* whole lines, with all rows that a long one was wrapped into */
	SELECT_BLOCK  /* the rectangle between two corners */
};

/* Both ends belong to it; either may be the first. */
struct selection {
	enum select_kind kind;
	struct select_point anchor, end;
};

struct select_span {
	struct select_point first, last; /* what `selection` means, first <= last, grown to words or lines */
	bool any, block;
};
/* Looked up once for a picture, as finding the ends of words and lines reads the transcript. */
struct select_span select_span_of(const struct transcript *t, const struct selection *s);
/* The columns [*from, *to) of a line that are selected; *to is UINT_MAX when it is all to the right. False: none. A wide cell is
 * selected when its first column is. */
bool select_span_cols(const struct select_span *s, uint64_t line, unsigned *from, unsigned *to);

/* Its text, appended: rows that were wrapped are joined, blanks at the end of a line dropped, lines ended by a line feed (not the
 * last one, unless kind is SELECT_LINES). Empty for SELECT_NONE. */
void select_text(const struct transcript *t, const struct selection *s, struct str *out);

/* ---- moving ---- */

enum select_motion {
	SELECT_LEFT,
	SELECT_RIGHT,
	SELECT_UP,
	SELECT_DOWN,
	SELECT_WORD_NEXT,       /* vi's w, */
	SELECT_WORD_BACK,       /* b, */
	SELECT_WORD_END,        /* e, */
	SELECT_LINE_START,      /* 0, */
	SELECT_LINE_TEXT,       /* ^, */
	SELECT_LINE_END,        /* $, */
	SELECT_FIRST,           /* gg, */
	SELECT_LAST,            /* G, */
	SELECT_PARAGRAPH_BACK,  /* {, */
	SELECT_PARAGRAPH_NEXT,  /* } */
	SELECT_PROMPT_PREVIOUS, /* the line where the shell asked for a command */
	SELECT_PROMPT_NEXT,
	SELECT_MOTION_COUNT
};
/* Where a motion leads; the same place when there is nothing to go to. The result is a cell of a line that is held. */
struct select_point select_move(const struct transcript *t, enum select_motion motion,
                                struct select_point from);
/* The nearest place that can be stood on: a line that is held, a column inside its text, not the tail of a wide cell. */
struct select_point select_clamp(const struct transcript *t, struct select_point p);

#endif
