/* An emulator with everything around it that a test wants to look at. */
#ifndef CCVM_TESTS_LIB_TERM_TEST_H
#define CCVM_TESTS_LIB_TERM_TEST_H

#include "core/base/buf.h"
#include "core/base/str.h"
#include "core/term/emulator.h"
#include "core/term/screen.h"
#include "core/term/snapshot.h"

struct term_test {
	struct emulator *e;
	struct buf replies;
	struct screen screen; /* kept up to date through snapshots by term_test_sync */
	struct snapshot_cursor cursor;
	struct str text;
	struct str events;
	unsigned event_count;
};

void term_test_init(struct term_test *t, unsigned rows, unsigned cols);
void term_test_finish(struct term_test *t);
/* A text with NUL at its end; \0 cannot be in it. */
void term_test_write(struct term_test *t, const char *bytes);
/* Brings the screen up to date through encode and apply; aborts when a good update is refused or differs. */
void term_test_sync(struct term_test *t);
/* Text of a row without blanks at its end; valid until the next call. */
const char *term_test_row(struct term_test *t, unsigned row);
/* All rows, joined by '|', without empty ones at the end. */
const char *term_test_rows(struct term_test *t);
/* Replies since the last call, controls escaped. */
const char *term_test_replies(struct term_test *t);
/* Events since the last call, joined by '|': bell, title TEXT, notice TEXT, progress STATE PERCENT, prompt, command, done STATUS. */
const char *term_test_events(struct term_test *t);
struct cell term_test_cell(struct term_test *t, unsigned row, unsigned col);

/* Aborts unless both screens show the same cells, cursor, modes and title. */
void term_test_same(const struct screen *a, const struct screen *b);
/* And also know the same of their cells and lines: links, flags, numbers. */
void term_test_equal(const struct screen *a, const struct screen *b);

#endif
